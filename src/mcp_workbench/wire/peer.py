"""One end of a JSON-RPC connection: requests and replies in both directions, matched and cancelled.

What a method means is for the receiver; a peer only knows which reply belongs to which request.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterator
from time import monotonic
from typing import Any, Protocol

import msgspec
from msgspec import Raw

from ..errors import RpcError, WorkbenchError
from . import messages
from .lines import Line, LineReader, LineWriter, Piece, Pieces
from .messages import BRACE, CLOSING

NEVER = float("inf")
TICK = 0.002
"""Seconds that are too short to be worth another timer."""

CANCELLED = b'"notifications/cancelled"'
PROGRESS = "notifications/progress"


class PeerClosed(WorkbenchError):
    """The other end went away; nobody will answer. `unread`: it had not read a byte of the request."""

    def __init__(self, unread: bool = False) -> None:
        self.unread = unread
        super().__init__("the other end went away")


class Request:
    """A request from the other end, which is owed exactly one answer, or none where it was cancelled."""

    __slots__ = ("_send", "id", "method", "params")

    def __init__(self, send: Callable[..., None], id: Raw, method: str, params: Raw) -> None:
        self._send = send
        self.id = id
        self.method = method
        self.params = params

    def answer(self, *result: Piece) -> None:
        self._send(*messages.answer(self.id, *result))

    def fail(self, error: RpcError) -> None:
        self._send(*messages.failure(self.id, error))

    def drop(self) -> None:
        """No answer: the other end has cancelled it."""
        self._send()


class Receiver(Protocol):
    """What is done with what comes in. Nothing here may raise or block."""

    def on_request(self, peer: Peer, request: Request) -> None: ...

    def on_notification(self, peer: Peer, method: str, params: Raw) -> None:
        """Progress too, where no request under way is meant by it."""

    def on_junk(self, peer: Peer, line: bytes, problem: ValueError) -> None:
        """A line that is no message (`problem` says why: NotJson, NotAMessage or TooDeep)."""

    def on_overlong(self, peer: Peer) -> None:
        """A line over the limit was dropped."""

    def on_closed(self, peer: Peer) -> None:
        """Nothing more will come in; requests under way have failed with PeerClosed."""


class TimedOut(WorkbenchError):
    """No reply in time; `idle` where the limit was on silence, and not on the whole."""

    def __init__(self, idle: bool) -> None:
        self.idle = idle
        super().__init__("no reply in time")


class Limit(msgspec.Struct, frozen=True):
    """How long a request may take, in seconds: in all, and without a sign of progress."""

    total: float
    idle: float | None = None


class Pending(msgspec.Struct, eq=False):
    """A request of ours that waits for its reply. One of `replied` and `failed` is called, once.

    They are called while lines are being handled, and may neither raise nor block.
    """

    on_progress: Callable[[Raw], None] | None = None
    start: int = 0
    """Where it begins in what we have written."""
    idle: float | None = None
    end: float = NEVER
    due: float = NEVER

    @staticmethod
    def read(result: Piece, /) -> Any:
        """What there is to know of a result that is a JSON object. Raises ValueError or RecursionError."""
        return _decode_object(result)

    def replied(self, result: Piece, read: Any) -> None:
        """`read` is what `read` made of the result, or None where it was not asked to."""
        raise NotImplementedError

    def failed(self, problem: RpcError | PeerClosed | TimedOut) -> None:
        raise NotImplementedError

    def keep_alive(self, now: float) -> None:
        if self.idle is not None:
            self.due = min(self.end, now + self.idle)


class _Awaited(Pending, kw_only=True):
    """One that a coroutine waits for."""

    reply: asyncio.Future[Raw]

    def replied(self, result: Piece, read: Any) -> None:
        if not self.reply.done():
            self.reply.set_result(result if isinstance(result, Raw) else Raw(result))

    def failed(self, problem: RpcError | PeerClosed | TimedOut) -> None:
        if not self.reply.done():
            self.reply.set_exception(problem)


class _Object(msgspec.Struct):
    """One of which nothing is of interest but that it is there, as a whole."""


class _Progress(msgspec.Struct):
    progress_token: Raw = msgspec.field(name="progressToken", default=Raw())


_decode_progress = msgspec.json.Decoder(_Progress).decode
_decode_object = msgspec.json.Decoder(_Object).decode

_TWO_DIGITS = tuple(b"%02d" % number for number in range(100))


def _ids() -> Iterator[bytes]:
    """Numbers from 100 on, of two parts each: those are put together in half the time of writing a number."""
    for hundreds in itertools.count(1):
        head = b"%d" % hundreds
        for rest in _TWO_DIGITS:
            yield head + rest


class Peer:
    """Speaks through two descriptors, which it owns from here on.

    With `throttle`, nothing is read while more than `max_line` bytes wait to be taken by the other end.
    `shortcut` is shown every line first, and says whether that was all that there is to do about it.
    """

    def __init__(
        self,
        read_fd: int,
        write_fd: int,
        receiver: Receiver,
        *,
        max_line: int,
        throttle: bool = False,
        shortcut: Callable[[Line], bool] | None = None,
    ) -> None:
        self._receiver = receiver
        self._loop = asyncio.get_running_loop()
        self._pending: dict[bytes, Pending] = {}
        self._wording = messages.WORDINGS[0]
        """How the other end words its replies."""
        self.ids = _ids()
        self.max_line = max_line
        self.closed = False
        self.heard = monotonic()
        """When the other end last said something, or else when we began to listen; of a server alone."""
        self.strays = 0
        """Replies that nobody waits for: late, repeated, or never asked for."""
        self._owed = 0
        """Requests of the other end that have no answer yet."""
        self._alarm: asyncio.TimerHandle | None = None
        self._alarm_at = NEVER
        self._throttle = throttle
        self.writer = LineWriter(
            write_fd, on_full=self._full, on_drained=self._drained, on_broken=self._ended, high=max_line
        )
        self.send = self.writer.write
        """Sends one line."""
        self._reader = LineReader(
            read_fd,
            shortcut=shortcut or self._plain_reply,
            on_line=self._line,
            on_end=self._ended,
            on_overlong=self._overlong,
            max_line=max_line,
        )

    def next_id(self) -> bytes:
        """For `request`, where its parameters must name it (a progress token)."""
        return next(self.ids)

    async def request(
        self,
        method: bytes,
        *params: Piece,
        id: bytes | None = None,
        on_progress: Callable[[Raw], None] | None = None,
        limit: Limit | None = None,
        cancel: bool = True,
    ) -> Raw:
        """The result of a request. Raises RpcError, PeerClosed or, with a limit, TimedOut.

        Giving up the wait cancels the request at the other end (unless `cancel` is false).
        """
        if self.closed:
            raise PeerClosed(unread=True)
        if id is None:
            id = self.next_id()
        reply: asyncio.Future[Raw] = self._loop.create_future()
        # Where more is under way, more is likely to be said before the loop's next turn.
        line = messages.request(id, method, *params)
        self.begin(id, _Awaited(on_progress, reply=reply), line, limit, soon=bool(self._pending))
        try:
            return await reply
        except (asyncio.CancelledError, TimedOut):
            if cancel:
                self.cancel(id)
            raise
        finally:
            self._pending.pop(id, None)

    def begin(
        self,
        id: bytes,
        pending: Pending,
        line: Pieces,
        limit: Limit | None = None,
        *,
        soon: bool = False,
    ) -> None:
        """Send a request with one of our next ids; `pending` gets the reply. We must not be closed."""
        pending.start = self.writer.written
        self._pending[id] = pending
        if limit is not None:
            now = monotonic()
            pending.end = pending.due = now + limit.total
            if limit.idle is not None:
                pending.idle = limit.idle
                pending.keep_alive(now)
            if pending.due < self._alarm_at:
                self._set_alarm(pending.due)
        self.writer.write(line, soon)

    def cancel(self, id: bytes) -> None:
        """Wait no more for the reply to a request, and have the other end hear of it."""
        self._pending.pop(id, None)
        self.notify(CANCELLED, b'{"requestId":%b,"reason":"no longer needed"}' % id)

    def keep_alive(self, id: bytes) -> None:
        """A sign of progress for a request of ours, wherever it came from."""
        if id in self._pending:
            self._pending[id].keep_alive(self._loop.time())

    def bear_silence(self, id: bytes, idle: float | None) -> None:
        """From now on, let a request of ours go on for so long without progress; None for all its time."""
        if (pending := self._pending.get(id)) is not None:
            pending.idle, pending.due = idle, pending.end
            pending.keep_alive(self._loop.time())
            if pending.due < self._alarm_at:
                self._set_alarm(pending.due)

    def notify(self, method: bytes, *params: Piece) -> None:
        self.writer.write(messages.notification(method, *params))

    def answer(self, *line: Piece) -> None:
        """Send what is owed for one request; nothing, where it was cancelled."""
        self._owed -= 1
        if line:
            self.writer.write(line, soon=self._owed > 0)

    async def drain(self) -> None:
        await self.writer.drain()

    def begin_with(self, chunk: bytes) -> None:
        """Receive what somebody else has read, before anything that is still to be read."""
        self._reader.begin_with(chunk)

    def pause(self) -> None:
        self._reader.pause()

    def close(self) -> None:
        self._reader.close()
        self.writer.close()
        self._set_alarm(NEVER)
        self._fail_pending()

    # Limits: one timer for all requests, set for the first that is due. Most are answered long before.

    def _set_alarm(self, at: float) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm_at = at
        self._alarm = self._loop.call_at(at, self._ring) if at < NEVER else None

    def _ring(self) -> None:
        now = self._loop.time() + TICK  # a timer may ring a little early
        late = [id for id, pending in self._pending.items() if pending.due <= now]
        for pending in [self._pending.pop(id) for id in late]:
            pending.failed(TimedOut(idle=pending.due < pending.end))
        self._set_alarm(min((pending.due for pending in self._pending.values()), default=NEVER))

    # What comes in

    def _line(self, line: Line) -> None:
        if not line or line.isspace():
            return
        try:
            message = messages.read(line)
        except ValueError as problem:
            self._unreadable(line, problem)
            return
        self._owed += message.method is not None and bool(message.id)
        self.receive(message, self.answer)

    def _plain_reply(self, line: Line) -> bool:
        """Take a reply of the usual form without reading it as a message first.

        That the result is JSON, and an object, is found out by whoever waits for it, with the one look that
        it takes into it anyway. Whatever does not fit is left for the reading that fits everything.
        """
        self.heard = monotonic()
        is_small = len(line) < messages.COPIED
        words = messages.ends_of(line) if not is_small else line if type(line) is bytes else bytes(line)
        id, result = self._wording(words)
        pending = self._pending.get(id)
        if pending is None:
            for wording in messages.WORDINGS:
                id, result = wording(words)
                if (pending := self._pending.get(id)) is not None:
                    self._wording = wording  # and so will be its other replies
                    break
            else:
                return False
        # Both begin with a brace: all else that JSON can begin with, or a blank, is before that in order.
        if words < BRACE or result < BRACE or result[-1] != CLOSING:
            return False
        whole = result if is_small else Raw(messages.between(line, words, result))
        try:
            if not line.isascii():
                messages.check_utf8(line)
            read = pending.read(whole)
        except (ValueError, RecursionError):
            return False
        del self._pending[id]
        pending.replied(whole, read)
        return True

    def receive(self, message: messages.Message, send: Callable[..., None]) -> None:
        """Take one message; the answer to a request goes through `send`."""
        if message.method is not None:
            if message.id:
                self._receiver.on_request(self, Request(send, message.id, message.method, message.params))
            elif message.method == PROGRESS and self._pending:
                self._progressed(message.params)
            else:
                self._receiver.on_notification(self, message.method, message.params)
            return
        pending = self._pending.pop(message.key, None)
        if pending is None:
            self.strays += 1
        elif message.error:
            pending.failed(messages.read_error(message.error))
        else:
            pending.replied(message.result, None)

    def _progressed(self, params: Raw) -> None:
        try:
            token = bytes(messages.patiently(_decode_progress, params).progress_token)
        except (msgspec.DecodeError, RecursionError):
            return
        pending = self._pending.get(token)
        if pending is None:
            self._receiver.on_notification(self, PROGRESS, params)
            return
        pending.keep_alive(self._loop.time())
        if pending.on_progress is not None:
            pending.on_progress(params)

    def _unreadable(self, line: Line, problem: ValueError) -> None:
        # A reply that cannot be read still ends its call: an error now is better than a time-out.
        found = messages.members(line) if self._pending else {}
        id = found.get("id", b"")
        if id in self._pending and "method" not in found:
            self._pending.pop(id).failed(
                RpcError(messages.INTERNAL_ERROR, f"the server's answer is unreadable: {problem}")
            )
        else:
            self._receiver.on_junk(self, bytes(line), problem)

    def _overlong(self) -> None:
        self._receiver.on_overlong(self)

    def _ended(self) -> None:
        if not self.closed:
            self._fail_pending()
            self._receiver.on_closed(self)

    def _fail_pending(self) -> None:
        self.closed = True
        pendings, self._pending = self._pending, {}
        taken = self.writer.taken() if pendings else 0
        for pending in pendings.values():
            pending.failed(PeerClosed(unread=pending.start >= taken))

    # A client that asks and does not read the answers is not listened to until it does. A server is
    # always listened to: one that is blocked on its output would otherwise never get to its input.

    def _full(self) -> None:
        if self._throttle:
            self._reader.pause()

    def _drained(self) -> None:
        if self._throttle and not self.closed:
            self._reader.resume()
