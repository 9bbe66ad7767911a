"""Rounds: a modern server asks in its results and is called again, which we do for a legacy client."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable

import msgspec
from msgspec import Raw

from ..errors import RpcError
from ..protocol.audience import QUESTIONS, Audience, refusal_of
from ..protocol.results import Result
from ..wire.messages import EMPTY_OBJECT, INTERNAL_ERROR, encode, members

MOST_ROUNDS = 100

Again = Callable[[dict[str, Raw]], Awaitable[Result]]
"""Makes the request again with these parameters beside its own."""


class _Request(msgspec.Struct):
    method: str
    params: Raw = Raw()


class _InputRequired(msgspec.Struct):
    requests: dict[str, _Request] = msgspec.field(name="inputRequests", default={})
    state: Raw = msgspec.field(name="requestState", default=Raw())


async def see_through(
    result: Result, audience: Audience, again: Again, waits_for: Callable[[int], None]
) -> Result:
    """The last result, after the client has answered whatever the server asked for. Raises RpcError.

    `waits_for` hears when its answers are waited for (1) and when no longer (-1).
    """
    for _ in range(MOST_ROUNDS):
        if not result.needs_input:
            return result
        try:
            needed = msgspec.json.decode(result.raw, type=_InputRequired)
        except (msgspec.DecodeError, RecursionError) as error:
            raise RpcError(INTERNAL_ERROR, f"what the server asks for is unreadable: {error}") from None
        more: dict[str, Raw] = {}
        if needed.requests:
            waits_for(1)
            try:
                more["inputResponses"] = Raw(encode(await _answers(needed.requests, audience)))
            finally:
                waits_for(-1)
        if needed.state:
            more["requestState"] = needed.state
        result = await again(more)
    raise RpcError(INTERNAL_ERROR, f"the server had more questions after {MOST_ROUNDS} rounds")


async def _answers(requests: dict[str, _Request], audience: Audience) -> dict[str, Raw]:
    """All of them are asked at once; one that is refused ends the call."""
    for request in requests.values():
        if request.method not in QUESTIONS:
            raise RpcError(INTERNAL_ERROR, f"the server asks for {request.method}, which no client answers")
        if (refusal := refusal_of(request.method, request.params, audience.declared)) is not None:
            raise refusal
    asking = {
        key: asyncio.ensure_future(audience.ask(request.method, _legacy_params(request)))
        for key, request in requests.items()
    }
    try:
        await asyncio.gather(*asking.values())
    finally:
        for each in asking.values():
            each.cancel()
    return {key: each.result() for key, each in asking.items()}


def _legacy_params(request: _Request) -> Raw:
    """Up to 2025-11-25 an elicitation that sends the user elsewhere has an id."""
    said = members(bytes(request.params))
    if request.method != "elicitation/create" or said.get("mode") != b'"url"' or "elicitationId" in said:
        return request.params or Raw(EMPTY_OBJECT)
    params = {key: Raw(value) for key, value in said.items()}
    return Raw(encode({**params, "elicitationId": os.urandom(16).hex()}))
