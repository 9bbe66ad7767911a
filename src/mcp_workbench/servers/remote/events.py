"""Server-sent events: out of bytes, and out of a response. What an event means is for whoever reads them."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Iterator

import httpx2
import msgspec

from .failures import Cut, TooLong

KIND = "text/event-stream"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
RETRY_DIGITS = 9
"""Of a pause in milliseconds that somebody may mean: eleven days."""

DRAIN_TIME = 1.0
"""Seconds that a stream may take to end after it has brought what was waited for."""


class Event(msgspec.Struct):
    """`id` and `retry` (seconds) are what this event said of them; `data` is as it came."""

    kind: bytes = b"message"
    data: bytes = b""
    id: str | None = None
    retry: float | None = None


class EventReader:
    """Keeps what is unfinished from one chunk to the next."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._line: list[bytes] = []
        self._data: list[bytes] = []
        self._size = 0
        self._event = Event()
        self._after_cr = False
        self._begun = False

    def feed(self, chunk: bytes) -> Iterator[Event]:
        """The events that end in this chunk. Raises TooLong."""
        if not chunk:
            return
        if self._after_cr and chunk.startswith(b"\n"):  # the second half of a line's end
            chunk = chunk[1:]
        self._after_cr = chunk.endswith(b"\r")
        for piece in chunk.splitlines(keepends=True):
            self._size += len(piece)
            if self._size > self._limit:
                raise TooLong(self._limit)
            if piece[-1] not in b"\r\n":
                self._line.append(piece)
                continue
            line = b"".join([*self._line, piece]).rstrip(b"\r\n") if self._line else piece.rstrip(b"\r\n")
            self._line.clear()
            if not self._begun:
                line = line.removeprefix(BYTE_ORDER_MARK)
                self._begun = True
            if line:
                self._field(line)
            elif (event := self._finished()) is not None:
                yield event

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        match name:
            case b"data":
                self._data.append(value)
            case b"event":
                self._event.kind = value
            case b"id" if b"\0" not in value:
                self._event.id = value.decode(errors="replace")
            case b"retry" if value.isdigit() and len(value) <= RETRY_DIGITS:
                self._event.retry = int(value) / 1000
            case _:
                pass  # a comment, which keeps the connection alive, or a field from the future

    def _finished(self) -> Event | None:
        event, data = self._event, self._data
        self._event, self._data, self._size = Event(), [], 0
        if not data and event.id is None and event.retry is None:
            return None
        event.data = b"\n".join(data)
        return event


class EventStream:
    """The events of a response, which it owns from here on."""

    def __init__(self, response: httpx2.Response, limit: int) -> None:
        self._response = response
        self._chunks = response.aiter_bytes()
        self._reader = EventReader(limit)
        self._ready: deque[Event] = deque()

    def __aiter__(self) -> EventStream:
        return self

    async def __anext__(self) -> Event:
        """Raises Cut, or TooLong."""
        while not self._ready:
            try:
                chunk = await anext(self._chunks)
            except (httpx2.HTTPError, httpx2.StreamError):
                raise Cut from None
            self._ready.extend(self._reader.feed(chunk))
        return self._ready.popleft()

    async def drain(self) -> None:
        """Read on to an end that is near, so that the connection is good for the next request; then close."""
        try:
            with contextlib.suppress(TimeoutError, httpx2.HTTPError, httpx2.StreamError):
                async with asyncio.timeout(DRAIN_TIME):
                    async for _ in self._chunks:
                        pass
        finally:
            await self.close()

    async def close(self) -> None:
        await self._response.aclose()


def is_stream(response: httpx2.Response) -> bool:
    return response.headers.get("content-type", "").partition(";")[0].strip().lower() == KIND
