"""The transport of 2024-11-05: one stream of events for all that the server says, and POSTs to an address
that the stream begins with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import httpx2
from msgspec import Raw

from ...wire import messages
from ...wire.lines import Piece
from ...wire.peer import Limit
from .channel import Channel, Listener
from .events import EventStream
from .failures import Cut, Refused, SessionLost
from .site import Site, same_origin


class SseChannel(Channel):
    def __init__(self, site: Site, listener: Listener, *, max_message: int) -> None:
        super().__init__(site, listener, max_message=max_message)
        self._endpoint: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._ended = False

    async def open(self) -> None:
        response = await self.site.send("GET", {"accept": "text/event-stream", "cache-control": "no-store"})
        if not response.is_success:
            refusal = await self._refusal(response)
            await response.aclose()
            raise refusal
        self._chores.begin(self._hear(response))
        await asyncio.shield(self._endpoint)

    async def request(
        self,
        method: bytes,
        *params: Piece,
        id: bytes | None = None,
        on_progress: Callable[[Raw], None] | None = None,
        limit: Limit | None = None,
        cancel: bool = True,
    ) -> Raw:
        if self._ended:
            raise SessionLost
        await self._announcements()
        id = id or self.next_id()
        with self._waiting(id, on_progress) as reply:
            body = b"".join(bytes(piece) for piece in messages.request(id, method, *params))
            try:
                await self._deliver(body.rstrip(b"\n"))
                return await reply
            except asyncio.CancelledError:
                if cancel:
                    reason = b'{"requestId":%b,"reason":"no longer needed"}' % id
                    self._soon(*messages.notification(b'"notifications/cancelled"', reason))
                raise

    def listen(self) -> None:
        return  # there is but one stream, and it is open

    async def close(self, *, say_goodbye: bool) -> None:
        await self._chores.end()

    async def _deliver(self, message: bytes) -> None:
        headers = {"content-type": "application/json"}
        response = await self.site.send("POST", headers, message, to=self._endpoint.result())
        if response.is_success:
            self._chores.begin(EventStream(response, self.max_message).drain())
            return
        refusal = await self._refusal(response)
        await response.aclose()
        raise SessionLost if response.status_code == 404 else refusal

    async def _hear(self, response: httpx2.Response) -> None:
        stream = EventStream(response, self.max_message)
        failure: Exception = Cut()
        try:
            async for event in stream:
                if event.kind == b"endpoint":
                    self._take_endpoint(event.data.decode(errors="replace"))
                elif event.kind == b"message" and event.data:
                    self._receive(event.data)
        except (Cut, Refused) as error:
            failure = error
        finally:
            self._ended = True
            self._fail(failure)
            self._listener.on_lost(self)
            await stream.close()

    def _take_endpoint(self, said: str) -> None:
        if not same_origin(self.site.here, self.site.here.join(said)):
            raise Refused("it wants its messages sent to another host")
        if not self._endpoint.done():
            self._endpoint.set_result(said)

    def _fail(self, failure: Exception) -> None:
        for waiting in (self._endpoint, *(pending.reply for pending in self._pending.values())):
            if not waiting.done():
                waiting.set_exception(failure)
        self._endpoint.exception()  # whoever waited for it may be gone
