"""Connection: uvicorn's HTTP connection, with an end to its patience. What is said on it is the App's."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

SPEAK_WITHIN = 10.0
"""Seconds for the head of a request, from the first byte (or from the connection, for the first request)."""

FINISH_WITHIN = 60.0
"""Seconds for all of a request."""

LISTEN_WITHIN = 60.0
"""Seconds in which a client must take something of what waits for it."""

LONGEST_HEAD = 64 * 1024


class Connection(HttpToolsProtocol):
    """Notes since when it waits; `overdue` is asked from outside, so that no request costs a timer."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._awaiting_head: float | None = self.loop.time()
        self._awaiting_end: float | None = None
        self._blocked: float | None = None
        self._unsent = 0
        self._head = 0

    def overdue(self, now: float) -> bool:
        if self._blocked is not None and (unsent := self.transport.get_write_buffer_size()) != self._unsent:
            self._blocked, self._unsent = now, unsent
        if self.pipeline:  # what we do not read yet is not late
            return False
        return (
            _past(self._awaiting_head, SPEAK_WITHIN, now)
            or _past(self._awaiting_end, FINISH_WITHIN, now)
            or _past(self._blocked, LISTEN_WITHIN, now)
        )

    def abort(self) -> None:
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        if self._awaiting_end is None:
            self._head += len(data)
            if self._awaiting_head is None and self.cycle.response_complete:
                # Whatever it is, it ended uvicorn's own wait for the next request.
                self._awaiting_head = self.loop.time()
        super().data_received(data)
        if self._awaiting_head is not None and self._head > LONGEST_HEAD:
            self.send_400_response("The head of the request is too long.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._awaiting_head is None:
            self._awaiting_head = self.loop.time()

    def on_headers_complete(self) -> None:
        self._awaiting_end, self._awaiting_head = self._awaiting_head, None
        self._head = 0
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._awaiting_end = None
        super().on_message_complete()

    def pause_writing(self) -> None:
        self._blocked = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        self._blocked = None
        super().resume_writing()


def _past(since: float | None, patience: float, now: float) -> bool:
    return since is not None and now - since > patience


def end_overdue(connections: set[Any]) -> None:
    now = asyncio.get_running_loop().time()
    for connection in list(connections):
        if isinstance(connection, Connection) and connection.overdue(now):
            connection.abort()
