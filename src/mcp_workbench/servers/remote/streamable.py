"""Streamable HTTP: every message is a POST, and its answer a JSON body or a stream of events.

A session id, resumable streams and the GET stream belong to the older revisions; from 2026-07-28 on a
request stands for itself.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

import httpx2
import msgspec
from msgspec import Raw

from ...errors import RpcError, Unanswered
from ...wire import messages
from ...wire.lines import Piece
from ...wire.peer import Limit
from .channel import Channel, Listener
from .events import EventStream, is_stream
from .failures import Cut, NotReached, Refused, ServerTrouble, SessionLost
from .site import Site
from .stamps import Stamps

ACCEPT = "application/json, text/event-stream"
DISCOVER = b'"server/discover"'
INITIALIZE = b'"initialize"'
CALL = b'"tools/call"'

DEFAULT_RETRY = 1.0
"""Seconds before a stream is taken up again where the server did not say."""

MOST_RESUMPTIONS = 5
"""Attempts to take up a stream that brought nothing."""

LONGEST_PAUSE = 60.0

SHORTEST_RETRY = 0.1
LONGEST_SILENCE = 2.0
"""Seconds between looks at a stream that ends without a word each time, where the server asks for fewer."""

FAREWELL_TIME = 1.0


class _Initialized(msgspec.Struct):
    version: str = msgspec.field(name="protocolVersion")


class _Place(msgspec.Struct):
    """How far a stream was read."""

    of: bytes = b""
    """The request that it answers, where it does."""
    last_id: str | None = None
    retry: float = DEFAULT_RETRY
    silences: int = 0
    """How often it ended, one time after the other, soon and without a message."""

    @property
    def pause(self) -> float:
        """Seconds before it is taken up again: as the server asks, but no loop that keeps both of us busy."""
        doublings = min(max(self.silences - 1, 0), 10)
        return max(self.retry, min(SHORTEST_RETRY * 2**doublings, LONGEST_SILENCE))


class StreamableChannel(Channel):
    def __init__(
        self, site: Site, listener: Listener, stamps: Stamps, *, max_message: int, connections: int
    ) -> None:
        super().__init__(site, listener, max_message=max_message)
        self._stamps = stamps
        self._places = asyncio.Semaphore(connections)
        self._session: str | None = None
        self._version: str | None = None
        """The revision that `initialize` agreed on; a later one stands in every request."""

    async def open(self) -> None:
        return

    async def request(
        self,
        method: bytes,
        *params: Piece,
        id: bytes | None = None,
        on_progress: Callable[[Raw], None] | None = None,
        limit: Limit | None = None,
        cancel: bool = True,
    ) -> Raw:
        await self._announcements()
        id = id or self.next_id()
        said = b"".join(bytes(piece) for piece in params)
        stamped = self._stamps.headers(method[1:-1].decode(), said)
        body = b"".join(bytes(piece) for piece in messages.request(id, method, said)).rstrip(b"\n")
        # Nothing but calls may be kept waiting by calls, and a subscription stands for hours.
        async with self._places if method == CALL else contextlib.nullcontext():
            with self._waiting(id, on_progress) as reply:
                try:
                    await self._exchange(id, body, stamped, reply)
                    result = reply.result()
                except asyncio.CancelledError:
                    # From 2026-07-28 on the closed stream says it all.
                    if cancel and stamped is None:
                        reason = b'{"requestId":%b,"reason":"no longer needed"}' % id
                        self._soon(*messages.notification(b'"notifications/cancelled"', reason))
                    raise
                except (Refused, ServerTrouble, Cut) as error:
                    if method == DISCOVER:  # an older server may say anything to that, or hang up
                        raise RpcError(messages.METHOD_NOT_FOUND, error.reason) from None
                    raise
        if method == INITIALIZE:
            with contextlib.suppress(msgspec.DecodeError):
                self._version = msgspec.json.decode(result, type=_Initialized).version
        return result

    def listen(self) -> None:
        self._chores.begin(self._hear())

    async def close(self, *, say_goodbye: bool) -> None:
        await self._chores.end()
        session, self._session = self._session, None
        if say_goodbye and session is not None:
            with contextlib.suppress(Unanswered, TimeoutError):
                async with asyncio.timeout(FAREWELL_TIME):
                    headers = {**self._headers(), "mcp-session-id": session}
                    await (await self.site.send("DELETE", headers)).aclose()

    # Asking

    async def _exchange(
        self, id: bytes, body: bytes, stamped: dict[str, str] | None, reply: asyncio.Future[Raw]
    ) -> None:
        """POST a request and see to it that `reply` is done."""
        session = self._session if stamped is None else None
        headers = {"accept": ACCEPT, "content-type": "application/json"}
        headers |= self._headers() if stamped is None else stamped
        response = await self.site.send("POST", headers, body)
        try:
            await self._check(response, session)
            if stamped is None and session is None:
                self._session = response.headers.get("mcp-session-id")
            if not is_stream(response):
                if text := await self._body(response):
                    self._receive(text, reply, id)
                if not reply.done():
                    raise Refused(f"HTTP {response.status_code} without an answer to the request")
                return
        except BaseException:
            await response.aclose()
            raise
        place = _Place(of=id)
        await self._read(response, place, reply)
        if not reply.done():
            if stamped is not None or place.last_id is None:
                raise Cut
            await self._resume(place, reply)

    async def _resume(self, place: _Place, reply: asyncio.Future[Raw]) -> None:
        """Take up a stream that ended too soon, from where it was read to. Raises Cut, or TooLong."""
        attempts = 0
        while not reply.done():
            await asyncio.sleep(place.pause)
            attempts += 1
            try:
                response = await self._get(place)
            except (NotReached, Cut, ServerTrouble):
                if attempts >= MOST_RESUMPTIONS:
                    raise Cut from None
            except (Unanswered, RpcError):
                # Even if the session is gone: the tool may have run, so this must not look like it had not.
                raise Cut from None
            else:
                attempts = 0  # a server may answer each time with nothing but "not yet"
                await self._read(response, place, reply)

    async def _get(self, place: _Place) -> httpx2.Response:
        """A stream of events. Raises one of `failures`, or RpcError."""
        headers = {"accept": "text/event-stream", "cache-control": "no-store", **self._headers()}
        if place.last_id is not None:
            headers["last-event-id"] = place.last_id
        response = await self.site.send("GET", headers)
        try:
            await self._check(response, self._session)
            if not is_stream(response):
                raise Refused("no stream of events")
        except BaseException:
            await response.aclose()
            raise
        return response

    async def _read(
        self, response: httpx2.Response, place: _Place, reply: asyncio.Future[Raw] | None = None
    ) -> None:
        """Take what comes until the reply is there or the stream has ended, in whichever way."""
        stream = EventStream(response, self.max_message)
        began = asyncio.get_running_loop().time()
        place.silences += 1
        try:
            with contextlib.suppress(Cut):
                async for event in stream:
                    if event.id is not None:
                        place.last_id = event.id
                    if event.retry is not None:
                        place.retry = event.retry
                    if event.data and event.kind == b"message":
                        place.silences = 0
                        self._receive(event.data, within=place.of)
                    if reply is not None and reply.done():
                        self._chores.begin(stream.drain())
                        return
        except BaseException:
            await stream.close()
            raise
        await stream.close()
        if asyncio.get_running_loop().time() - began > LONGEST_SILENCE:
            place.silences = 0

    # Saying, and hearing what was not asked for

    async def _deliver(self, message: bytes) -> None:
        headers = {"accept": ACCEPT, "content-type": "application/json", **self._headers()}
        response = await self.site.send("POST", headers, message)
        await EventStream(response, self.max_message).drain()

    async def _hear(self) -> None:
        """The GET stream, taken up again whenever it ends; many servers have none."""
        place = _Place()
        pause = DEFAULT_RETRY
        while True:
            try:
                await self._read(await self._get(place), place)
                pause = DEFAULT_RETRY
                await asyncio.sleep(place.pause)
            except SessionLost:
                self._listener.on_lost(self)
                return
            except (Cut, NotReached, ServerTrouble):
                await asyncio.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE)
            except (Unanswered, RpcError):
                return

    # Sessions

    def _headers(self) -> dict[str, str]:
        headers: dict[str, str] = {}
        if self._session is not None:
            headers["mcp-session-id"] = self._session
        if self._version is not None:
            headers["mcp-protocol-version"] = self._version
        return headers

    async def _check(self, response: httpx2.Response, session: str | None) -> None:
        """Raises what a status that is no success comes to."""
        if response.is_success:
            return
        refusal = await self._refusal(response)
        if session is not None and _means_no_session(response.status_code, refusal):
            raise SessionLost
        raise refusal


def _means_no_session(status: int, refusal: Exception) -> bool:
    if isinstance(refusal, RpcError) and refusal.code == messages.INVALID_PARAMS:
        return False
    # Some servers, those of the TypeScript SDK's examples among them, say 400 where 404 is meant.
    return status == 404 or (status == 400 and "session" in str(refusal).lower())
