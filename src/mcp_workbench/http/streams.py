"""Stream: events on their way to one client, kept for a while for a client that lost its connection."""

from __future__ import annotations

import asyncio
import itertools
from collections import deque

from ..wire import messages
from ..wire.lines import Piece
from .request import Request, joined

KEEP_ALIVE = 15.0
"""Seconds of silence after which a stream shows life: proxies close what looks dead."""

MOST_BYTES = 1 << 20
"""What is kept of one stream. Beyond it the oldest events go first; the newest is kept whatever its size."""

RETRY_MS = 1000
"""How long a client whose connection was cut waits before it asks for the rest."""


class Stream:
    """One client reads it at a time: whoever comes later takes over."""

    def __init__(self, number: int | None = None) -> None:
        """With a number, its events have ids, and it can be read from any of them on."""
        self.number = number
        self._kept: deque[tuple[int, bytes]] = deque()
        self.size = 0
        """Bytes that are kept of it."""
        self._last = 0
        self._delivered = 0
        self._news = asyncio.Event()
        self._reader: Request | None = None
        self.left = asyncio.get_running_loop().time()
        """When it was last read, if nobody reads it now."""
        self.ended = False

    @property
    def waiting(self) -> bool:
        """Whether there is something in it that nobody has read."""
        return self._last > self._delivered

    @property
    def read(self) -> bool:
        """Whether a client is reading it now."""
        return self._reader is not None

    def prime(self) -> None:
        """Give the client an id to come back with, before there is anything to say."""
        self._add(b"retry: %d\ndata:\n\n" % RETRY_MS)

    def put(self, *message: Piece) -> None:
        data = joined(message)
        if b"\n" in data or b"\r" in data:  # in JSON they are space between tokens, and here ends of lines
            data = data.replace(b"\n", b" ").replace(b"\r", b" ")
        self._add(b"event: message\ndata: " + data + b"\n\n")

    def notify(self, method: bytes, params: bytes) -> None:
        self.put(*messages.notification(method, params))

    def end(self) -> None:
        self.ended = True
        self._news.set()

    async def feed(self, request: Request, after: int | None = None) -> bool:
        """Answer the request with all events after this one, until the stream ends or its client leaves.

        Whether it ended. Without `after`, it begins with what nobody has read.
        """
        self._reader = request
        self._news.set()  # whoever read until now is to notice
        gone = request.gone
        gone.add_done_callback(lambda _: self._news.set())
        position = self._delivered if after is None else min(after, self._last)
        try:
            await request.begin()
            while self._reader is request and not gone.done():
                self._news.clear()
                for number, event in self._after(position):
                    await request.write(event)
                    if gone.done():  # it was written to nobody
                        break
                    position = number
                self._delivered = max(position, self._delivered)
                if self.number is None:  # then nobody can ask for them again
                    self._forget(position)
                if self.ended and position >= self._last:
                    await request.write(b"", last=True)
                    return True
                await self._wait(request)
            await request.write(b"", last=True)
            return False
        finally:
            if self._reader is request:
                self._reader = None
                self.left = asyncio.get_running_loop().time()

    def _after(self, position: int) -> list[tuple[int, bytes]]:
        if not self._kept:
            return []
        known = max(0, position + 1 - self._kept[0][0])
        return list(itertools.islice(self._kept, known, None))

    def _forget(self, position: int) -> None:
        while self._kept and self._kept[0][0] <= position:
            self.size -= len(self._kept.popleft()[1])

    async def _wait(self, request: Request) -> None:
        try:
            async with asyncio.timeout(KEEP_ALIVE):
                await self._news.wait()
        except TimeoutError:
            await request.write(b":\n\n")

    def _add(self, event: bytes) -> None:
        self._last += 1
        if self.number is not None:
            event = b"id: %d-%d\n" % (self.number, self._last) + event
        self._kept.append((self._last, event))
        self.size += len(event)
        while self.size > MOST_BYTES and len(self._kept) > 1:
            self.size -= len(self._kept.popleft()[1])
        self._news.set()
