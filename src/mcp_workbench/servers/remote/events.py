"""Server-sent events out of a stream of bytes. What an event means is for whoever reads them."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec


class TooLong(ValueError):
    """An event over the limit."""


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

    def feed(self, chunk: bytes) -> Iterator[Event]:
        """The events that end in this chunk. Raises TooLong."""
        if self._after_cr and chunk.startswith(b"\n"):  # the second half of a line's end
            chunk = chunk[1:]
        if not chunk:
            return
        self._after_cr = chunk.endswith(b"\r")
        for piece in chunk.splitlines(keepends=True):
            self._size += len(piece)
            if self._size > self._limit:
                raise TooLong
            if piece[-1] not in b"\r\n":
                self._line.append(piece)
                continue
            line = b"".join([*self._line, piece]).rstrip(b"\r\n") if self._line else piece.rstrip(b"\r\n")
            self._line.clear()
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
            case b"retry" if value.isdigit():
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
