"""The 2026-07-28 revision over HTTP: every request stands for itself, nothing is remembered between two."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Callable
from typing import Any, cast

from msgspec import Raw

from ..endpoint.base import Endpoint
from ..endpoint.question import Question
from ..endpoint.subscription import Subscription
from ..errors import RpcError
from ..protocol import revisions, tasks
from ..wire import messages
from ..wire.messages import Message, decode
from .callers import Caller
from .exchange import Exchange
from .request import EVENTS, STATUS, Refused, Request, joined
from .streams import Stream

_MARK = b"x-mcp-header"
_NAMED = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    **dict.fromkeys(tasks.METHODS, "task_id"),
}
"""The methods that repeat one of their parameters in a header, and which."""


class Modern:
    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._listening: dict[Stream, tuple[Subscription, Caller]] = {}

    async def post(self, request: Request, message: Message, caller: Caller, version: str | None) -> None:
        """`version` is that of the header."""
        if message.method is None:
            raise Refused(400, "a client sends requests and notifications, no responses")
        if not message.id:
            # This revision has no notification that a client could send over HTTP, so there is nothing to do.
            if version not in revisions.MODERN:
                raise Refused(400, "unsupported protocol version", code=revisions.UNSUPPORTED_VERSION)
            await request.answer(202)
            return
        try:
            client = caller.as_client(revisions.MODERN[-1])
            question = Question(message.method, message.params, client, declared=version)
            _check_headers(request, question, version)
            if question.method == "subscriptions/listen":
                await self._listen(request, message, question, caller)
                return
            if question.method == "tools/call":
                await self._check_arguments(request, question)
            result = self._endpoint.at_once(question)
            if result is None:
                await Exchange(request, message.id, Stream(), statuses=True).run(self._endpoint, question)
                return
        except RpcError as error:
            await request.fail(error, message.id, status=STATUS.get(error.code, 200))
        else:
            await request.answer(200, joined(messages.answer(message.id, result)))

    async def _listen(self, request: Request, message: Message, question: Question, caller: Caller) -> None:
        if not request.accepts(EVENTS):
            raise Refused(406, "subscriptions/listen answers with text/event-stream alone")
        stream = Stream()
        subscription = Subscription(
            stream.notify, question.params.notifications, id=message.key, scope=question.client.scope
        )
        await self._endpoint.listen(question, subscription)
        self._listening[stream] = (subscription, caller)
        try:
            await stream.feed(request)
        finally:
            self._endpoint.unsubscribe(subscription)
            del self._listening[stream]

    async def _check_arguments(self, request: Request, question: Question) -> None:
        """A tool's schema may say that headers repeat some of its arguments. Raises RpcError."""
        definition = await self._endpoint.definition(question)
        if definition is None or _MARK not in bytes(definition):
            return
        said = {name.decode("latin-1"): value.decode("latin-1") for name, value in request.headers.items()}
        # In a thread, for what it may have to import.
        problem = await asyncio.to_thread(_disagreement, definition, question.params.arguments, said)
        if problem is not None:
            raise RpcError(revisions.HEADER_MISMATCH, f"Header mismatch: {problem}")

    def dismiss(self, admits: Callable[[Caller], bool]) -> None:
        """End the subscriptions of callers that are let in no longer, as a server should that ends them."""
        for stream, (subscription, caller) in self._listening.items():
            if not (stream.ended or admits(caller)):
                self._endpoint.unsubscribe(subscription)
                stream.put(*subscription.result())
                stream.end()

    def close(self) -> None:
        """End all subscriptions."""
        self.dismiss(lambda _: False)


def _check_headers(request: Request, question: Question, version: str | None) -> None:
    """Proxies go by the headers, so they must say what the body says. Raises RpcError."""
    if version is None:
        raise RpcError(revisions.HEADER_MISMATCH, "Header mismatch: MCP-Protocol-Version is missing")
    _same("Mcp-Method", request.header(b"mcp-method"), question.method)
    if (field := _NAMED.get(question.method)) is not None:
        name = getattr(question.params, field)
        if name is not None:
            _same("Mcp-Name", _decoded(request.header(b"mcp-name")), name)


def _disagreement(definition: Raw, arguments: Raw, headers: dict[str, str]) -> str | None:
    from mcp.shared.inbound import validate_mcp_param_headers

    try:
        schema, given = decode(definition).get("inputSchema"), decode(arguments)
    except ValueError:
        return None  # too deep for anybody here; the server may still read it
    if not isinstance(given, dict):
        return None
    found = validate_mcp_param_headers(schema, cast("dict[str, Any]", given), headers)
    return found.message if found is not None else None


def _same(header: str, given: str | None, meant: str) -> None:
    if given is None:
        raise RpcError(revisions.HEADER_MISMATCH, f"Header mismatch: {header} is missing or malformed")
    if given != meant:
        raise RpcError(
            revisions.HEADER_MISMATCH, f"Header mismatch: {header} is '{given}', the body says '{meant}'"
        )


def _decoded(value: str | None) -> str | None:
    """A header's value, which is in base64 where headers could not hold it; None where it is broken."""
    if value is None or not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[9:-2], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
