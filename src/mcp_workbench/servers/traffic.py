"""Traffic: the calls that one connection carries, and what its server asks and tells their clients meanwhile.

Whatever cannot be tied to one client is refused or dropped, and counted; nothing is guessed.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Literal, Protocol

import msgspec
from msgspec import Raw

from ..errors import RpcError, Unanswered
from ..protocol.audience import LEVELS, NOTHING, QUESTIONS, Audience, refusal_of
from ..protocol.session import Asked, Session
from ..wire.messages import EMPTY_OBJECT, INTERNAL_ERROR, METHOD_NOT_FOUND, encode
from ..wire.peer import PeerClosed, Request

MESSAGE = "notifications/message"
CANCELLED = "notifications/cancelled"
COMPLETE = "notifications/elicitation/complete"

UNSAID = "info"
"""The level for a client that named none, where an earlier one has."""

LEVEL_TIME = 5.0
"""Seconds that a server may take over a new log level."""

MOST_ELICITATIONS = 256
"""How many elicitations are remembered whose end the server may yet tell of."""


OnUntied = Callable[[Literal["question", "message"]], None]


class Errand(Protocol):
    """A call, or another request, on its way for somebody."""

    @property
    def audience(self) -> Audience | None: ...

    def waits_for(self, more: int) -> None:
        """Its server waits for so many answers more, or less."""
        ...


class _Cancelled(msgspec.Struct):
    request_id: Raw = msgspec.field(name="requestId", default=Raw())


class _Elicitation(msgspec.Struct):
    id: str = msgspec.field(name="elicitationId", default="")


class _Required(msgspec.Struct):
    elicitations: list[_Elicitation] = []


class _Pending:
    def __init__(
        self, request: Request, audience: Audience, answer: asyncio.Task[Raw], errands: list[Errand]
    ) -> None:
        """`errands` are those that wait for the answer, as far as we know."""
        self.request = request
        self.audience = audience
        self.answer = answer
        self.in_a_call = bool(errands)
        self._waiting: set[Errand] = set()
        self.withdrawn = False
        """Whether the server no longer wants an answer."""

        for errand in errands:
            self.hold_up(errand)

    def hold_up(self, errand: Errand) -> None:
        """This one waits for the answer too, or may have to."""
        self._waiting.add(errand)
        errand.waits_for(1)

    def let_go(self, errand: Errand) -> None:
        """This one is over, or the answer is there."""
        if errand in self._waiting:
            self._waiting.remove(errand)
            errand.waits_for(-1)

    def withdraw(self) -> None:
        self.withdrawn = True
        self.answer.cancel()

    def settle(self) -> None:
        """Give the server what came of it."""
        for errand in [*self._waiting]:
            self.let_go(errand)
        if self.withdrawn:
            self.request.drop()
        elif self.answer.cancelled():
            self.request.fail(RpcError(INTERNAL_ERROR, "The call that this belongs to has ended"))
        elif (error := self.answer.exception()) is not None:
            self.request.fail(error if isinstance(error, RpcError) else RpcError(INTERNAL_ERROR, str(error)))
        else:
            self.request.answer(self.answer.result())


def askable(audience: Audience | None) -> bool:
    """Whether it is a legacy client that can be asked something. A server of both eras then asks as it would
    ask that client, were there nobody in between.
    """
    return audience is not None and bool(audience.declared) and not audience.modern


class Traffic:
    def __init__(self, audience: Audience | None, on_untied: OnUntied) -> None:
        """`audience` is the one that the connection is opened for: what it declared, the server was told."""
        self.declared = audience.declared if audience is not None else NOTHING
        self.last: object = audience.home if audience is not None else None
        """The home of whoever used it last."""
        self._sole = audience if audience is not None and audience.sole else None
        self.modern = False
        """Whether its server is, which is told of the client in each request: then many may share it."""
        self.modern_alone = False
        """Whether it is known that there is no use in speaking with its server as a legacy client would."""
        self.tells_apart = False
        """Whether the server says of everything which call it belongs to."""
        self.calls: set[Errand] = set()
        self.level: str | None = None
        """The log level that the server was told."""
        self.used = asyncio.get_running_loop().time()
        """When it was last chosen for a call."""
        self.on_free: Callable[[], None] | None = None
        """Who hears that it carries nothing any more, where somebody waits for that."""
        self._on_untied = on_untied
        self._named: dict[bytes, Errand] = {}
        self._pending: dict[bytes, _Pending] = {}
        self._elicitations: dict[str, Audience] = {}

    @property
    def hears_of_roots(self) -> bool:
        """Whether the server was told that it would hear when its client's roots change."""
        return not self.modern and b'"roots":{"listChanged":true}' in self.declared

    def takes(self, audience: Audience | None) -> bool:
        """Whether it may carry a call of this one now.

        Where nothing was declared it may carry those of many clients, else those of one at a time.
        """
        if self.modern:
            return (self.modern_alone or not askable(audience)) and self._takes_level(audience)
        if audience is None or not audience.declared:
            return not self.declared
        if self.declared != audience.declared:
            return False
        if not self.calls:
            return True
        holder = next(iter(self.calls)).audience
        return holder is not None and holder.key is audience.key

    def _takes_level(self, audience: Audience | None) -> bool:
        """The log messages of two calls could not be told apart, where they do not say whose they are."""
        if self.tells_apart or audience is None or audience.level is None:
            return True
        others = (call.audience for call in self.calls)
        return all(each is None or each.level is None or each.key is audience.key for each in others)

    def begin(self, errand: Errand, id: bytes = b"") -> bool:
        """Whether it is for another client than the last, where the server may have kept something of that.

        `id` is that of its request, where what the server says meanwhile may come with it.
        """
        self.calls.add(errand)
        if id:
            self._named[id] = errand
        elif self._pending:  # the server may do one thing at a time
            for pending in self._pending.values():
                pending.hold_up(errand)
        if not self.declared or errand.audience is None:
            return False
        before, self.last = self.last, errand.audience.home
        return before != self.last

    def end(self, errand: Errand, id: bytes = b"") -> None:
        self.calls.discard(errand)
        if id:
            del self._named[id]
        if self._pending:
            for pending in self._pending.values():
                pending.let_go(errand)
            self._withdraw_orphans()
        if self.on_free is not None and not self.calls:
            self.on_free()

    def close(self) -> None:
        """The connection is gone, and with it whoever waited for an answer."""
        for pending in self._pending.values():
            pending.withdraw()

    # What the server asks

    def asked(self, request: Request, within: bytes = b"") -> None:
        """Have the client asked that the server means; `within` is the id of a request, where it said one."""
        if request.method not in QUESTIONS or self.modern:
            request.fail(RpcError(METHOD_NOT_FOUND, "Method not found", encode(request.method)))
            return
        if (refusal := refusal_of(request.method, request.params, self.declared)) is not None:
            request.fail(refusal)
            return
        audience = self._audience(within)
        if audience is None:
            self._on_untied("question")
            said = f"{request.method} is not answered: it belongs to no call, or to none of one client alone"
            request.fail(RpcError(INTERNAL_ERROR, said))
            return
        if request.method == "elicitation/create":
            self._remember(request.params, audience)
        key = bytes(request.id)
        answer = asyncio.ensure_future(audience.ask(request.method, request.params))
        # Where the server does not say which call it asks in, all of them are of one client.
        errands = [self._named[within]] if within in self._named else [*self.calls]
        self._pending[key] = pending = _Pending(request, audience, answer, errands)

        def settled(_: asyncio.Task[Raw]) -> None:
            if self._pending.get(key) is pending:
                del self._pending[key]
            pending.settle()

        answer.add_done_callback(settled)

    def _withdraw_orphans(self) -> None:
        """A question that was asked in a call does not outlive the calls of its client."""
        keys = {call.audience.key for call in self.calls if call.audience is not None}
        for pending in self._pending.values():
            if pending.in_a_call and pending.audience.key not in keys:
                pending.answer.cancel()

    # What the server tells

    def heard(self, method: str, params: Raw, within: bytes = b"") -> bool:
        """Take a notification; false where it is about something else than calls."""
        if method == MESSAGE:
            audience = self._audience(within)
            if audience is None:
                self._on_untied("message")
            else:
                audience.tell_message(params or Raw(EMPTY_OBJECT))
        elif method == CANCELLED:
            with contextlib.suppress(msgspec.DecodeError, KeyError):
                key = bytes(msgspec.json.decode(params, type=_Cancelled).request_id)
                self._pending[key].withdraw()
        elif method == COMPLETE:
            with contextlib.suppress(msgspec.DecodeError, KeyError):
                id = msgspec.json.decode(params, type=_Elicitation).id
                self._elicitations.pop(id).tell(encode(method), params)
        else:
            return False
        return True

    def required(self, error: RpcError, audience: Audience | None) -> None:
        """A call ended in URL elicitations; whoever made it is told when they are over."""
        if audience is not None and error.data is not None:
            with contextlib.suppress(msgspec.DecodeError):
                for each in msgspec.json.decode(error.data, type=_Required).elicitations:
                    self._remember(encode({"elicitationId": each.id}), audience)

    def _remember(self, params: Raw | bytes, audience: Audience) -> None:
        with contextlib.suppress(msgspec.DecodeError):
            id = msgspec.json.decode(params, type=_Elicitation).id
            # The one that outlasts the call: what the user does elsewhere takes its time.
            home = audience.home
            if id and isinstance(home, Audience):
                self._elicitations[id] = home
                if len(self._elicitations) > MOST_ELICITATIONS:
                    del self._elicitations[next(iter(self._elicitations))]

    def _audience(self, within: bytes) -> Audience | None:
        """Whom the server means, where that is certain."""
        if within in self._named:
            return self._named[within].audience
        if self._sole is not None and not self.modern and not self.calls:
            return self._sole
        audiences = [call.audience for call in self.calls]
        if self.modern:  # it speaks of those calls alone for which it was given a level
            audiences = [each for each in audiences if each is not None and each.level is not None]
        first = audiences[0] if audiences else None
        if first is None or any(each is None or each.key is not first.key for each in audiences):
            return None
        return first

    # Log levels

    async def agree_on_level(self, session: Session) -> None:
        """Tell a legacy server the most verbose level that anybody wants whose calls it answers now."""
        if session.modern or not session.about.can("logging"):
            return
        wanted = {call.audience.level or UNSAID for call in self.calls if call.audience is not None}
        level = min(wanted, key=LEVELS.index, default=self.level)
        if level == self.level:
            return
        self.level = level
        with contextlib.suppress(RpcError, Unanswered, PeerClosed, TimeoutError):
            async with asyncio.timeout(LEVEL_TIME):
                await session.ask(Asked("logging/setLevel", {"level": Raw(encode(level))}))
