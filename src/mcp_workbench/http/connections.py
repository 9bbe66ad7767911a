"""Connection: uvicorn's HTTP connection, with an end to its patience. What is said on it is the App's."""

from __future__ import annotations

import asyncio
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

SPEAK_WITHIN = 10.0
"""Seconds for the head of a request, from the first byte (or from the connection, for the first request)."""

FINISH_WITHIN = 60.0
"""Seconds for all of a request."""

LISTEN_WITHIN = 60.0
"""Seconds in which a client must take something of what waits for it."""

LONGEST_HEAD = 64 * 1024


class _TooLong(Exception):
    """A head is over LONGEST_HEAD."""


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
        if _past(self._blocked, LISTEN_WITHIN, now):
            return True
        if self.pipeline:  # what we do not read yet is not late
            return False
        return _past(self._awaiting_head, SPEAK_WITHIN, now) or _past(self._awaiting_end, FINISH_WITHIN, now)

    def abort(self) -> None:
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        if self._awaiting_end is None:
            self._head += len(data)
            if self._awaiting_head is None and self.cycle.response_complete:
                # Whatever it is, it ended uvicorn's own wait for the next request.
                self._awaiting_head = self.loop.time()
        self._unset_keepalive_if_required()
        try:
            self._parse(data)
        except _TooLong:
            self.send_400_response("The head of the request is too long.")
        except httptools.HttpParserError:
            self.send_400_response("Invalid HTTP request received.")

    def _parse(self, data: bytes | memoryview) -> None:
        """Raises HttpParserError and _TooLong."""
        try:
            while data:
                try:
                    self.parser.feed_data(data)
                    break
                except httptools.HttpParserUpgrade as upgrade:
                    # The parser takes the rest for another protocol. We speak none, and may ignore the wish
                    # (RFC 9110, 7.8): the head is parsed once more without it, and the rest as its body.
                    data = memoryview(data)[upgrade.args[0] :]
                    self._begin_again()
        except httptools.HttpParserCallbackError as failed:
            if isinstance(failed.__context__, _TooLong):
                raise failed.__context__ from None
            raise
        if self._awaiting_head is not None and self._head > LONGEST_HEAD:
            raise _TooLong

    def _begin_again(self) -> None:
        """Parse the head that wanted an upgrade as one that does not. Raises HttpParserError."""
        method, version = self.parser.get_method(), self.parser.get_http_version().encode()
        if method == b"CONNECT":
            raise httptools.HttpParserError("no proxy is here")
        lines = [b"%b %b HTTP/%b" % (method, self.url, version)]
        lines += [b"%b: %b" % header for header in self.headers if header[0] != b"upgrade"]
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn does
        self.parser.feed_data(b"\r\n".join((*lines, b"\r\n")))

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._awaiting_head is None:
            self._awaiting_head = self.loop.time()

    def on_headers_complete(self) -> None:
        if len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers) > LONGEST_HEAD:
            raise _TooLong
        if self.parser.should_upgrade():
            return
        self._awaiting_end, self._awaiting_head = self._awaiting_head, None
        self._head = 0
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        if self.parser.should_upgrade():
            return
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
