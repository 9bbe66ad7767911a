"""One end of a JSON-RPC connection: requests and replies in both directions, matched and cancelled.

What a method means is for the receiver; a peer only knows which reply belongs to which request.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from typing import NamedTuple, Protocol

import msgspec
from msgspec import Raw

from ..errors import RpcError, WorkbenchError
from . import messages
from .lines import Line, LineReader, LineWriter, Piece

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


class Limit(NamedTuple):
    """How long a request may take, in seconds: in all, and without a sign of progress."""

    total: float
    idle: float | None = None


class _Pending:
    __slots__ = ("due", "end", "idle", "on_progress", "reply", "start")

    def __init__(
        self, reply: asyncio.Future[Raw], on_progress: Callable[[Raw], None] | None, start: int
    ) -> None:
        self.reply = reply
        self.on_progress = on_progress
        self.start = start
        """Where it begins in what we have written."""
        self.idle: float | None = None
        self.end = self.due = NEVER

    def keep_alive(self, now: float) -> None:
        if self.idle is not None:
            self.due = min(self.end, now + self.idle)


class _Progress(msgspec.Struct):
    progress_token: Raw = msgspec.field(name="progressToken", default=Raw())


_decode_progress = msgspec.json.Decoder(_Progress).decode


class Peer:
    """Speaks through two descriptors, which it owns from here on.

    With `throttle`, nothing is read while more than `max_line` bytes wait to be taken by the other end.
    """

    def __init__(
        self, read_fd: int, write_fd: int, receiver: Receiver, *, max_line: int, throttle: bool = False
    ) -> None:
        self._receiver = receiver
        self._loop = asyncio.get_running_loop()
        self._pending: dict[bytes, _Pending] = {}
        self._ids = itertools.count(1)
        self.max_line = max_line
        self.closed = False
        self.heard = self._loop.time()
        """When the other end last said something."""
        self.strays = 0
        """Replies that nobody waits for: late, repeated, or never asked for."""
        self._owed = 0
        """Requests of the other end that have no answer yet."""
        self._alarm: asyncio.TimerHandle | None = None
        self._alarm_at = NEVER
        self._throttle = throttle
        self._writer = LineWriter(
            write_fd, on_full=self._full, on_drained=self._drained, on_broken=self._ended, high=max_line
        )
        self._reader = LineReader(
            read_fd, on_line=self._line, on_end=self._ended, on_overlong=self._overlong, max_line=max_line
        )

    @property
    def waiting(self) -> int:
        """Bytes written that the other end has not taken yet."""
        return self._writer.waiting

    def next_id(self) -> bytes:
        """For `request`, where its parameters must name it (a progress token)."""
        return b"%d" % next(self._ids)

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
            id = b"%d" % next(self._ids)
        reply: asyncio.Future[Raw] = self._loop.create_future()
        pending = self._pending[id] = _Pending(reply, on_progress, self._writer.written)
        if limit is not None:
            self._begin_limit(pending, limit)
        # Where more is under way, more is likely to be said before the loop's next turn.
        self._writer.write(*messages.request(id, method, *params), soon=len(self._pending) > 1)
        try:
            return await reply
        except (asyncio.CancelledError, TimedOut):
            if cancel:
                self.notify(CANCELLED, b'{"requestId":%b,"reason":"no longer needed"}' % id)
            raise
        finally:
            self._pending.pop(id, None)

    def keep_alive(self, id: bytes) -> None:
        """A sign of progress for a request of ours, wherever it came from."""
        if id in self._pending:
            self._pending[id].keep_alive(self._loop.time())

    def notify(self, method: bytes, *params: Piece) -> None:
        self._writer.write(*messages.notification(method, *params))

    def send(self, *line: Piece) -> None:
        if line:
            self._writer.write(*line)

    def answer(self, *line: Piece) -> None:
        """Send what is owed for one request; nothing, where it was cancelled."""
        self._owed -= 1
        if line:
            self._writer.write(*line, soon=self._owed > 0)

    async def drain(self) -> None:
        await self._writer.drain()

    def pause(self) -> None:
        self._reader.pause()

    def close(self) -> None:
        self._reader.close()
        self._writer.close()
        self._set_alarm(NEVER)
        self._fail_pending()

    # Limits: one timer for all requests, set for the first that is due. Most are answered long before.

    def _begin_limit(self, pending: _Pending, limit: Limit) -> None:
        now = self._loop.time()
        pending.idle = limit.idle
        pending.end = pending.due = now + limit.total
        pending.keep_alive(now)
        if pending.due < self._alarm_at:
            self._set_alarm(pending.due)

    def _set_alarm(self, at: float) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm_at = at
        self._alarm = self._loop.call_at(at, self._ring) if at < NEVER else None

    def _ring(self) -> None:
        now = self._loop.time() + TICK  # a timer may ring a little early
        for pending in self._pending.values():
            if pending.due <= now and not pending.reply.done():
                pending.reply.set_exception(TimedOut(idle=pending.due < pending.end))
        waiting = (pending.due for pending in self._pending.values() if not pending.reply.done())
        self._set_alarm(min(waiting, default=NEVER))

    # What comes in

    def _line(self, line: Line) -> None:
        self.heard = self._loop.time()
        if not line or line.isspace():
            return
        try:
            message = messages.read(line)
        except ValueError as problem:
            self._unreadable(line, problem)
            return
        self._owed += message.method is not None and bool(message.id)
        self.receive(message, self.answer)

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
        pending = self._pending.get(message.key)
        if pending is None or pending.reply.done():
            self.strays += 1
        elif message.error:
            pending.reply.set_exception(messages.read_error(message.error))
        else:
            pending.reply.set_result(message.result)

    def _progressed(self, params: Raw) -> None:
        try:
            token = bytes(_decode_progress(params).progress_token)
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
        pending = self._pending.get(found.get("id", b""))
        if pending is not None and "method" not in found and not pending.reply.done():
            pending.reply.set_exception(
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
        taken = self._writer.taken() if self._pending else 0
        for pending in self._pending.values():
            if not pending.reply.done():
                pending.reply.set_exception(PeerClosed(unread=pending.start >= taken))

    # A client that asks and does not read the answers is not listened to until it does. A server is
    # always listened to: one that is blocked on its output would otherwise never get to its input.

    def _full(self) -> None:
        if self._throttle:
            self._reader.pause()

    def _drained(self) -> None:
        if self._throttle and not self.closed:
            self._reader.resume()
