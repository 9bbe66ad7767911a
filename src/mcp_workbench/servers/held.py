"""Held calls: a legacy server asks while it works, a modern client is asked in a result and calls again.

In between the call stays open here. What a client needs to take it up again is a state that only we can
write, that fits this one call of this one caller, and that is good for one time.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw

from ..errors import RpcError, Unanswered
from ..protocol.audience import Audience
from ..wire.messages import INVALID_PARAMS, encode
from .visitor import Visitor

TOGETHER = 0.01
"""Seconds in which a server may ask more, so that the client is asked all of it at once."""

MARK = "workbench"
EXPIRED = "the question has expired, call again"

_decode_responses = msgspec.json.Decoder(dict[str, Raw]).decode
_decode_text = msgspec.json.Decoder(str).decode

Begin = Callable[["HeldCall"], Coroutine[Any, Any, Raw]]


class _Question(NamedTuple):
    method: str
    params: Raw
    answer: asyncio.Future[Raw]


class HeldCall(Audience):
    """One call, for as long as it takes; also whom its server asks. `visitor` is there in rounds alone."""

    quiet = True

    def __init__(self, visitor: Visitor, begin: Begin) -> None:
        self.declared = visitor.declared
        self.level = visitor.level
        self.visitor: Visitor | None = visitor
        self.on_progress: Callable[[Raw], None] | None = None
        self.round = 0
        self.began = asyncio.get_running_loop().time()
        self.expiry: asyncio.TimerHandle | None = None
        self._home = visitor.home
        self._asked = 0
        self._open: dict[str, _Question] = {}
        self._news = asyncio.Event()
        self._answer = asyncio.create_task(begin(self))
        self._answer.add_done_callback(self._ended)

    @property
    def home(self) -> object:
        return self._home

    async def ask(self, method: str, params: Raw) -> Raw:
        self._asked += 1
        key = f"question-{self._asked}"
        question = _Question(method, params, asyncio.get_running_loop().create_future())
        self._open[key] = question
        self._news.set()
        try:
            return await question.answer
        finally:
            self._open.pop(key, None)

    def tell(self, method: bytes, params: Raw | bytes) -> None:
        if self.visitor is not None:
            self.visitor.tell(method, params)

    def progressed(self, params: Raw) -> None:
        if self.visitor is not None and self.on_progress is not None:
            self.on_progress(params)

    def take(self, responses: Raw) -> None:
        """Give the server the answers that there are. Raises RpcError."""
        try:
            answers = _decode_responses(responses) if responses else {}
        except (msgspec.DecodeError, RecursionError):
            raise RpcError(INVALID_PARAMS, "Invalid params: inputResponses must be an object") from None
        for key in self._open.keys() & answers.keys():
            answer = self._open.pop(key).answer
            if not answer.done():
                answer.set_result(answers[key])

    async def until_asked(self) -> bool:
        """Whether there is something to ask; else it has ended. Giving up the wait gives up the call."""
        try:
            while not (self._answer.done() or self._open):
                self._news.clear()
                await self._news.wait()
            if not self._answer.done():
                await asyncio.sleep(TOGETHER)
        except asyncio.CancelledError:
            self._answer.cancel()
            raise
        return not self._answer.done() and bool(self._open)

    @property
    def ended(self) -> bool:
        return self._answer.done()

    def result(self) -> Raw:
        if self._answer.cancelled():
            raise Unanswered("the call was given up")
        return self._answer.result()

    def questions(self, state: str) -> Raw:
        """The result that asks them."""
        requests = {
            key: {"method": each.method, "params": each.params} if each.params else {"method": each.method}
            for key, each in self._open.items()
        }
        return Raw(encode({"resultType": "input_required", "inputRequests": requests, "requestState": state}))

    def give_up(self) -> None:
        """Nobody waits for its end, or it has ended."""
        self._answer.cancel()
        if self.expiry is not None:
            self.expiry.cancel()

    def _ended(self, answer: asyncio.Task[Raw]) -> None:
        if not answer.cancelled():
            answer.exception()  # nobody may come to hear of it
        self._news.set()


class HeldCalls:
    def __init__(self) -> None:
        self._secret = os.urandom(32)
        self._calls: dict[str, HeldCall] = {}

    async def call(
        self,
        visitor: Visitor,
        purpose: bytes,
        limit: float,
        begin: Begin,
        on_progress: Callable[[Raw], None] | None,
    ) -> Raw:
        """One round: the result of a call, or a result that asks for what its server wants to know.

        `purpose` says who calls what, with which arguments; only a visitor with the same one may go on with
        a call. What nobody goes on with is given up after `limit` seconds. Raises RpcError, and what `begin`
        raises.
        """
        if visitor.state:
            id, held = self._find(visitor, purpose)
            held.take(visitor.responses)
            held.round += 1
            held.visitor, held.level = visitor, visitor.level
        else:
            id, held = os.urandom(12).hex(), HeldCall(visitor, begin)
        held.on_progress = on_progress
        try:
            while True:
                if await held.until_asked():
                    self._keep(id, held, limit)
                    return held.questions(self._state(id, held.round, purpose))
                if held.ended:
                    self._forget(id)
                    return held.result()
        except asyncio.CancelledError:
            self._forget(id)
            raise
        finally:
            held.visitor = None

    def close(self) -> None:
        for id in list(self._calls):
            self._forget(id)

    def _keep(self, id: str, held: HeldCall, limit: float) -> None:
        if id not in self._calls:
            self._calls[id] = held
            held.expiry = asyncio.get_running_loop().call_at(held.began + limit, self._expire, id)

    def _expire(self, id: str) -> None:
        if self._calls[id].visitor is None:  # else its own limit is about to end it
            self._forget(id)

    def _forget(self, id: str) -> None:
        held = self._calls.pop(id, None)
        if held is not None:
            held.give_up()

    def _find(self, visitor: Visitor, purpose: bytes) -> tuple[str, HeldCall]:
        """The call that a visitor comes back to. Raises RpcError."""
        import hmac

        try:
            said = _decode_text(visitor.state)
        except msgspec.DecodeError:
            said = ""
        id = said.split(".")[1] if said.count(".") == 3 else ""
        held = self._calls.get(id)
        if held is None or held.visitor is not None:
            raise RpcError(INVALID_PARAMS, EXPIRED)
        if not hmac.compare_digest(said.encode(), self._state(id, held.round, purpose).encode()):
            raise RpcError(INVALID_PARAMS, EXPIRED)
        return id, held

    def _state(self, id: str, round: int, purpose: bytes) -> str:
        import hmac

        text = f"{MARK}.{id}.{round}"
        return f"{text}.{hmac.new(self._secret, text.encode() + purpose, 'sha256').hexdigest()}"


def purpose_of(*facts: object, arguments: Raw | bytes) -> bytes:
    """Who calls what with which arguments, however those are written."""
    from ..wire.messages import decode

    try:
        given = msgspec.json.encode(decode(arguments or b"{}"), order="sorted")
    except (ValueError, UnicodeEncodeError):
        given = bytes(arguments)
    return encode(facts) + given
