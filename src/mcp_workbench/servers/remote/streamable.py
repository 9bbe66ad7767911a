"""Streamable HTTP: every message is a POST, and its answer a JSON body or a stream of events.

A session id, resumable streams and the GET stream belong to the older revisions; from 2026-07-28 on a
request stands for itself.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

import httpx2
import msgspec
from msgspec import Raw

from ...errors import RpcError, Unanswered
from ...wire import messages
from ...wire.lines import Piece
from .channel import Channel, Listener, cut_when_broken
from .events import Event, EventReader, TooLong
from .failures import BadStatus, Cut, NotReached, Refused, ServerTrouble, SessionLost
from .site import Site
from .stamps import Stamps

ACCEPT = "application/json, text/event-stream"
EVENTS = "text/event-stream"
DISCOVER = b'"server/discover"'
LISTEN = b'"subscriptions/listen"'

DEFAULT_RETRY = 1.0
"""Seconds before a stream is taken up again where the server did not say."""

MOST_RESUMPTIONS = 5
"""Attempts to take up a stream that brought nothing."""

LONGEST_PAUSE = 60.0
FAREWELL_TIME = 1.0
DRAIN_TIME = 1.0


class _Initialized(msgspec.Struct):
    version: str = msgspec.field(name="protocolVersion")


class _Place(msgspec.Struct):
    """How far a stream was read."""

    last_id: str | None = None
    retry: float = DEFAULT_RETRY


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
        cancel: bool = True,
    ) -> Raw:
        await self._announcements()
        id = id or self.next_id()
        said = b"".join(bytes(piece) for piece in params)
        stamped = self._stamps.headers(method[1:-1].decode(), said)
        body = b"".join(bytes(piece) for piece in messages.request(id, method, said)).rstrip(b"\n")
        # A subscription stands for hours and must not take the place of a call.
        places = contextlib.nullcontext() if method == LISTEN else self._places
        async with places:
            with self._waiting(id, on_progress) as reply:
                try:
                    await self._exchange(body, stamped, reply)
                except asyncio.CancelledError:
                    # From 2026-07-28 on the closed stream says it all.
                    if cancel and stamped is None:
                        reason = b'{"requestId":%b,"reason":"no longer needed"}' % id
                        self._soon(*messages.notification(b'"notifications/cancelled"', reason))
                    raise
                except (BadStatus, ServerTrouble) as error:
                    if method == DISCOVER:  # an older server may say anything to that
                        raise RpcError(messages.METHOD_NOT_FOUND, error.reason) from None
                    raise
                result = reply.result()
        if method == b'"initialize"':
            with contextlib.suppress(msgspec.DecodeError):
                self._version = msgspec.json.decode(result, type=_Initialized).version
        return result

    def listen(self) -> None:
        self._chore(self._hear())

    async def close(self, *, say_goodbye: bool) -> None:
        await self._end_chores()
        session, self._session = self._session, None
        if say_goodbye and session is not None:
            with contextlib.suppress(Unanswered, TimeoutError):
                async with asyncio.timeout(FAREWELL_TIME):
                    headers = {**self._headers(), "mcp-session-id": session}
                    await (await self.site.send("DELETE", headers)).aclose()

    # Asking

    async def _exchange(
        self, body: bytes, stamped: dict[str, str] | None, reply: asyncio.Future[Raw]
    ) -> None:
        """POST a request and see to it that `reply` is done."""
        session = self._session if stamped is None else None
        headers = {"accept": ACCEPT, "content-type": "application/json"}
        headers |= self._headers() if stamped is None else stamped
        response = await self.site.send("POST", headers, body)
        try:
            self._check_session(response, session)
            if not response.is_success:
                refusal = await self._refusal(response)
                if _means_no_session(response.status_code, refusal, session):
                    raise SessionLost
                raise refusal
            if stamped is None and session is None:
                self._session = response.headers.get("mcp-session-id")
            if not _is_stream(response):
                self._receive(await self._body(response), reply)
                if not reply.done():
                    raise Refused(f"HTTP {response.status_code} without an answer to the request")
                return
            place = _Place()
            with contextlib.suppress(Cut):
                await self._read(response, place, reply)
        finally:
            await self._let_go(response, reply)
        if not reply.done():
            if stamped is not None or place.last_id is None:
                raise Cut
            await self._resume(place, reply)

    async def _resume(self, place: _Place, reply: asyncio.Future[Raw]) -> None:
        """Take up a stream that ended too soon, from where it was read to. Raises Cut."""
        attempts = 0
        while not reply.done():
            await asyncio.sleep(place.retry)
            attempts += 1
            try:
                response = await self._get(place)
            except (NotReached, Cut, ServerTrouble):
                if attempts >= MOST_RESUMPTIONS:
                    raise Cut from None
                continue
            except (BadStatus, Refused):
                raise Cut from None
            try:
                with contextlib.suppress(Cut):
                    # A server may answer each time with nothing but "not yet".
                    await self._read(response, place, reply)
                    attempts = 0
            finally:
                await self._let_go(response, reply)

    async def _get(self, place: _Place) -> httpx2.Response:
        """A stream of events. Raises SessionLost, Refused, or what `Site.send` raises."""
        headers = {"accept": EVENTS, "cache-control": "no-store", **self._headers()}
        if place.last_id is not None:
            headers["last-event-id"] = place.last_id
        response = await self.site.send("GET", headers)
        if response.is_success and _is_stream(response):
            return response
        try:
            self._check_session(response, self._session)
            raise await self._refusal(response) if not response.is_success else Refused("no stream of events")
        finally:
            await response.aclose()

    async def _read(
        self, response: httpx2.Response, place: _Place, reply: asyncio.Future[Raw] | None
    ) -> None:
        """Take what comes until the reply is there or the stream ends. Raises Cut."""
        async for event in self._events(response):
            if event.id is not None:
                place.last_id = event.id
            if event.retry is not None:
                place.retry = min(event.retry, LONGEST_PAUSE)
            if event.data and event.kind == b"message":
                self._receive(event.data)
            if reply is not None and reply.done():
                return

    async def _events(self, response: httpx2.Response) -> AsyncIterator[Event]:
        reader = EventReader(self.max_message)
        try:
            with cut_when_broken():
                async for chunk in response.aiter_bytes():
                    for event in reader.feed(chunk):
                        yield event
        except TooLong:
            raise Refused(f"its answer is over limits.maxLine ({self.max_message} bytes)") from None

    async def _let_go(self, response: httpx2.Response, reply: asyncio.Future[Raw]) -> None:
        """A stream that has brought its answer is about to end, and its connection good for the next call."""
        if reply.done() and not response.is_closed and not response.is_stream_consumed:
            self._chore(_drain(response))
        else:
            await response.aclose()

    # Saying, and hearing what was not asked for

    async def _deliver(self, message: bytes) -> None:
        headers = {"accept": ACCEPT, "content-type": "application/json", **self._headers()}
        response = await self.site.send("POST", headers, message)
        await response.aclose()

    async def _hear(self) -> None:
        """The GET stream, taken up again whenever it ends; many servers have none."""
        place = _Place()
        pause = DEFAULT_RETRY
        while True:
            try:
                response = await self._get(place)
                try:
                    pause = DEFAULT_RETRY
                    await self._read(response, place, None)
                finally:
                    await response.aclose()
                await asyncio.sleep(place.retry)
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

    def _check_session(self, response: httpx2.Response, session: str | None) -> None:
        if response.status_code == 404 and session is not None:
            raise SessionLost


def _means_no_session(status: int, refusal: Exception, session: str | None) -> bool:
    """Some servers, those of the TypeScript examples among them, say 400 where 404 is meant."""
    return status == 400 and session is not None and "session" in str(refusal).lower()


def _is_stream(response: httpx2.Response) -> bool:
    return response.headers.get("content-type", "").partition(";")[0].strip().lower() == EVENTS


async def _drain(response: httpx2.Response) -> None:
    try:
        with contextlib.suppress(TimeoutError, httpx2.HTTPError, httpx2.StreamError):
            async with asyncio.timeout(DRAIN_TIME):
                async for _ in response.aiter_raw():
                    pass
    finally:
        await response.aclose()
