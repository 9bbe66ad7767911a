"""Sessions: what is remembered of clients that began with `initialize`, and for how long."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol

from ..endpoint.question import Client
from ..endpoint.subscription import EVERYTHING, Subscription
from .callers import Caller
from .request import Refused
from .respondent import Respondent
from .streams import Stream

IDLE = 30 * 60.0
"""Seconds without a request or an open stream after which a session ends."""

MOST = 1000
COME_BACK = 60.0
"""Seconds in which a client whose connection was cut may ask for the rest of a stream."""

MOST_TOLD = 16
"""Streams that one session keeps for that though they were written to their end."""

STREAM_BYTES = 2048
"""What a stream needs besides its events."""

MOST_BYTES = 256 * 2**20
"""What all sessions together keep. Beyond it, those that were not used for the longest time give way: first
with what was read to its end, then with all that has ended."""

PRIMED = "2025-11-25"
"""The revision from which on clients understand an event without data."""

_EVENT = re.compile(r"([0-9]{1,18})-([0-9]{1,18})")


class Running(Protocol):
    """A call under way."""

    def cancel(self) -> None:
        """Give it up: nobody wants its answer any more."""

    def abandoned(self, now: float, patience: float) -> bool:
        """Whether its client left, could come back for it, and has not for so many seconds."""
        ...


class Session:
    """One client, from its `initialize` on."""

    def __init__(self, client: Client, caller: Caller) -> None:
        self.id = secrets.token_urlsafe(24)
        self.client = client
        self.caller = caller
        self.primed = client.version >= PRIMED
        self.running: dict[bytes, Running] = {}
        """Calls under way by the id of their request; the later one where a client uses an id twice."""
        self.requests = 0
        """How many are being answered now."""
        self.used = asyncio.get_running_loop().time()
        self.own = Stream(0 if self.primed else None)
        """What is said without being asked, to whoever reads it."""
        self.subscription = Subscription(self._tell, EVERYTHING, scope=caller.scope)
        self.audience = Respondent(client.declared, self.own)
        self._untold: set[tuple[bytes, bytes]] = set()
        self._streams: dict[int, Stream] = {0: self.own}
        self._told: dict[int, None] = {}
        """Those that were written to their end, the longest ago first."""
        self._numbers = 0

    def new_stream(self) -> Stream:
        """The stream of one request; kept for a client that loses it only once it is `keep`t."""
        if not self.primed:
            return Stream()
        self._numbers += 1
        return Stream(self._numbers)

    def keep(self, stream: Stream) -> None:
        stream.prime()
        if stream.number is not None:
            self._streams[stream.number] = stream

    def told(self, stream: Stream) -> None:
        """A client has read it. Of those that were read to their end, as far as we know, few are kept."""
        number = stream.number
        if number not in self._streams or not stream.ended or stream.waiting:
            return
        self._told.pop(number, None)
        self._told[number] = None
        if len(self._told) > MOST_TOLD:
            self._forget(next(iter(self._told)))

    @property
    def size(self) -> int:
        return sum(stream.size + STREAM_BYTES for stream in self._streams.values())

    def forget_told(self) -> None:
        """Give back the memory of streams whose clients have most likely heard everything."""
        for number in list(self._told):
            self._forget(number)

    def forget_ended(self) -> None:
        """Give back the memory of streams that nothing will be added to."""
        for number in [number for number, each in self._streams.items() if each.ended]:
            self._forget(number)

    def _forget(self, number: int) -> None:
        del self._streams[number]
        self._told.pop(number, None)

    def resume(self, event_id: str) -> tuple[Stream, int]:
        """The stream of that event, and the event's place in it. Raises Refused."""
        if (found := _EVENT.fullmatch(event_id)) is not None:
            stream = self._streams.get(int(found[1]))
            if stream is not None:
                return stream, int(found[2])
        raise Refused(400, "no stream is kept for this Last-Event-ID")

    def _tell(self, method: bytes, params: bytes) -> None:
        if not self.own.read:
            if not self.own.waiting:
                self._untold.clear()
            if (method, params) in self._untold:  # once is enough for whoever comes later
                return
            self._untold.add((method, params))
        self.own.notify(method, params)

    def sweep(self, now: float) -> None:
        """Forget what nobody came back for."""
        for exchange in list(self.running.values()):
            if exchange.abandoned(now, COME_BACK):
                exchange.cancel()
        for number, stream in list(self._streams.items()):
            if stream.ended and not stream.read and now - stream.left > COME_BACK:
                self._forget(number)

    def dismiss(self) -> None:
        """Its client hears nothing unasked and may ask for nothing more; what it waits for may finish."""
        self.sweep(float("inf"))  # whoever has left cannot come back
        self.audience.leave()
        self.own.end()

    def end(self) -> None:
        for exchange in list(self.running.values()):
            exchange.cancel()
        self.audience.leave()
        for stream in self._streams.values():
            stream.end()


class Sessions:
    def __init__(self, on_end: Callable[[Session], None]) -> None:
        self._on_end = on_end
        self._all: OrderedDict[str, Session] = OrderedDict()  # the longest unused first

    def __len__(self) -> int:
        return len(self._all)

    def start(self, client: Client, caller: Caller) -> Session:
        """A new one, at the cost of the longest unused where there are too many. Raises Refused."""
        if len(self._all) >= MOST:
            idle = next((each for each in self._all.values() if not each.requests), None)
            if idle is None:
                raise Refused(503, f"all {MOST} sessions are in use", headers=[(b"retry-after", b"10")])
            self.end(idle)
        session = Session(client, caller)
        self._all[session.id] = session
        return session

    def find(self, id: str, caller: Caller) -> Session:
        """Raises Refused where there is none of that id, or where it belongs to somebody else."""
        session = self._all.get(id)
        if session is None or session.caller != caller:
            raise Refused(404, "no such session; begin a new one with initialize", code=-32001)
        self._all.move_to_end(id)
        session.used = asyncio.get_running_loop().time()
        return session

    def end(self, session: Session) -> None:
        self._all.pop(session.id, None)
        session.end()
        self._on_end(session)

    def dismiss(self, admits: Callable[[Caller], bool]) -> None:
        """End those of callers that are let in no longer."""
        for session in list(self._all.values()):
            if not admits(session.caller):
                del self._all[session.id]
                session.dismiss()
                self._on_end(session)

    def sweep(self) -> None:
        now = asyncio.get_running_loop().time()
        for session in list(self._all.values()):
            if not session.requests and now - session.used > IDLE:
                self.end(session)
            else:
                session.sweep(now)
        kept = sum(session.size for session in self._all.values())
        for forget in (Session.forget_told, Session.forget_ended):
            for session in self._all.values():
                if kept <= MOST_BYTES:
                    return
                kept -= session.size
                forget(session)
                kept += session.size

    def close(self) -> None:
        """End the streams that would not end by themselves; calls under way may finish."""
        for session in self._all.values():
            session.own.end()
