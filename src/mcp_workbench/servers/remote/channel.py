"""JSON-RPC with a remote server: requests matched with replies, and what else comes in.

It can do what `wire.peer.Peer` does on a pair of descriptors, so that a `Session` may speak through it. How
messages travel is for the subclasses.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from typing import Protocol

import httpx2
import msgspec
from msgspec import Raw

from ...chores import Chores
from ...errors import RpcError, Unanswered
from ...wire import messages
from ...wire.lines import Piece
from ...wire.peer import Limit, Request
from .failures import BadStatus, Cut, Refused, ServerTrouble, TooLong
from .masking import masked_json
from .site import Site

PROGRESS = "notifications/progress"
QUOTED = 300
"""Characters of a refusal that are worth passing on."""


class Listener(Protocol):
    """Hears what the server says by itself. Must not raise or block.

    `within` is the id of the request on whose stream it was said, where it was said on one.
    """

    def on_request(self, channel: Channel, request: Request, within: bytes) -> None: ...

    def on_notification(self, channel: Channel, method: str, params: Raw, within: bytes) -> None: ...

    def on_lost(self, channel: Channel) -> None:
        """Nothing more can be said on this channel."""


class _Pending:
    __slots__ = ("on_progress", "reply")

    def __init__(self, reply: asyncio.Future[Raw], on_progress: Callable[[Raw], None] | None) -> None:
        self.reply = reply
        self.on_progress = on_progress


class _Progress(msgspec.Struct):
    token: Raw = msgspec.field(name="progressToken", default=Raw())


_decode_progress = msgspec.json.Decoder(_Progress).decode


class Channel(ABC):
    def __init__(self, site: Site, listener: Listener, *, max_message: int) -> None:
        self.site = site
        self.max_message = max_message
        self._listener = listener
        self._ids = itertools.count(1)
        self._pending: dict[bytes, _Pending] = {}
        self._chores = Chores()
        self._announced: asyncio.Task[None] | None = None

    def next_id(self) -> bytes:
        return b"%d" % next(self._ids)

    @abstractmethod
    async def open(self) -> None:
        """Whatever must happen before the first request."""

    @abstractmethod
    async def request(
        self,
        method: bytes,
        *params: Piece,
        id: bytes | None = None,
        on_progress: Callable[[Raw], None] | None = None,
        limit: Limit | None = None,
        cancel: bool = True,
    ) -> Raw:
        """The result of a request. Raises RpcError, or one of `failures`.

        Cancelling the wait cancels the request at the other end (unless `cancel` is false). A `limit` is
        not kept here: RemoteServer keeps its calls' own.
        """

    def send(self, message: Sequence[Piece]) -> None:
        """Say something that has no answer; it arrives before any later request."""
        self._announced = self._soon(*message)

    @abstractmethod
    def listen(self) -> None:
        """Hear what the server says by itself, from now on, where that takes a stream of its own."""

    @abstractmethod
    async def close(self, *, say_goodbye: bool) -> None:
        """End the session. Requests under way are left to end by themselves where they can."""

    # What comes in

    @contextlib.contextmanager
    def _waiting(
        self, id: bytes, on_progress: Callable[[Raw], None] | None
    ) -> Generator[asyncio.Future[Raw]]:
        reply: asyncio.Future[Raw] = asyncio.get_running_loop().create_future()
        self._pending[id] = _Pending(reply, on_progress)
        try:
            yield reply
        finally:
            del self._pending[id]
            if reply.done() and not reply.cancelled():
                reply.exception()  # whoever waited may have been told something better

    def _receive(self, text: bytes, expected: asyncio.Future[Raw] | None = None, within: bytes = b"") -> None:
        """Take one message, or a batch. A reply of any id is the `expected` one, where there is one."""
        text = _one_line(text)
        if text.startswith(b"["):
            for each in messages.read_batch(text) or []:
                self._receive(each, within=within)
            return
        try:
            message = messages.read(text)
        except ValueError as problem:
            self._unreadable(text, problem, expected)
            return
        if message.method is not None:
            if message.id:
                self._listener.on_request(self, self._request_of(message), within)
            elif message.method == PROGRESS:
                self._progressed(message.params, within)
            else:
                self._listener.on_notification(self, message.method, message.params, within)
            return
        pending = self._pending.get(message.key)
        reply = pending.reply if pending is not None else expected
        if reply is None or reply.done():
            return  # late, repeated, or never asked for
        if message.error:
            reply.set_exception(self._error(bytes(message.error)))
        elif message.result:
            reply.set_result(message.result)
        elif expected is not None:
            reply.set_exception(Refused("its answer is no JSON-RPC reply"))

    def _unreadable(self, text: bytes, problem: ValueError, expected: asyncio.Future[Raw] | None) -> None:
        # A reply that cannot be read still ends its call: an error now is better than a time-out.
        pending = self._pending.get(messages.members(text).get("id", b""))
        reply = pending.reply if pending is not None else expected
        if reply is not None and not reply.done():
            unreadable = Refused(f"the server's answer is unreadable: {problem}")
            reply.set_exception(self._error_in(text) or unreadable)

    def _error(self, written: bytes) -> RpcError:
        """The server's error: untouched, for some a client's protocol needs so, unless it quotes a secret."""
        return messages.read_error(Raw(masked_json(written, self.site.masked)))

    def _error_in(self, text: bytes) -> RpcError | None:
        """The error in a reply, whatever its id: a server that refuses a message may not have read as far."""
        found = messages.members(text)
        error = found.get("error", b"") if "jsonrpc" in found else b""
        return self._error(error) if error.startswith(b"{") else None

    def _progressed(self, params: Raw, within: bytes) -> None:
        try:
            pending = self._pending.get(bytes(messages.patiently(_decode_progress, params).token))
        except (msgspec.DecodeError, RecursionError):
            return
        if pending is None:
            self._listener.on_notification(self, PROGRESS, params, within)
        elif pending.on_progress is not None:
            pending.on_progress(params)

    def _request_of(self, message: messages.Message) -> Request:
        def send(*line: Piece) -> None:
            if line:
                self._soon(*line)

        return Request(send, message.id, message.method or "", message.params)

    # What goes out

    async def _announcements(self) -> None:
        """Until what was sent before has arrived: no request may overtake `notifications/initialized`."""
        if self._announced is not None:
            await asyncio.wait({self._announced})

    @abstractmethod
    async def _deliver(self, message: bytes) -> None:
        """Bring one message that has no answer to the server. Raises one of `failures`."""

    def _soon(self, *message: Piece) -> asyncio.Task[None]:
        async def deliver() -> None:
            with contextlib.suppress(Unanswered, RpcError):
                await self._deliver(b"".join(bytes(piece) for piece in message).rstrip(b"\n"))

        return self._chores.begin(deliver())

    # What is no answer

    async def _body(self, response: httpx2.Response) -> bytes:
        """All of it. Raises TooLong or Cut."""
        chunks: list[bytes] = []
        size = 0
        try:
            async for chunk in response.aiter_bytes():
                size += len(chunk)
                if size > self.max_message:
                    raise TooLong(self.max_message)
                chunks.append(chunk)
        except (httpx2.HTTPError, httpx2.StreamError):
            raise Cut from None
        return b"".join(chunks)

    async def _refusal(self, response: httpx2.Response) -> Exception:
        """What a status that is no success comes to: the server's own error, where it wrote one."""
        try:
            body = await self._body(response)
        except Unanswered as error:
            return error
        if error := self._error_in(body):
            return error
        status, phrase = response.status_code, response.reason_phrase
        text = self.site.masked(masked_json(body, self.site.masked).decode(errors="replace"))
        said = _quoted(text) if "html" not in response.headers.get("content-type", "") else ""
        if status >= 500:
            return ServerTrouble(status, phrase, said)
        hint = ' (a server of the older transport needs "transport": "sse")' if status in {404, 405} else ""
        return BadStatus(status, phrase, said, hint)


def _one_line(text: bytes) -> bytes:
    """JSON without its line breaks, all of them between tokens: from here it travels on a line of its own."""
    if b"\n" in text or b"\r" in text:
        text = text.replace(b"\n", b" ").replace(b"\r", b" ")
    return text.strip()


def _quoted(text: str) -> str:
    said = " ".join(text.split())
    return said if len(said) <= QUOTED else said[:QUOTED] + "…"
