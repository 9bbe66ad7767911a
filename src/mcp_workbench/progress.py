"""A server's progress on its way to the client: under the client's token, no faster than is useful."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import msgspec
from msgspec import Raw

from .wire.messages import encode

PROGRESS = b'"notifications/progress"'
RATE = 100
"""Notices a second that are passed on for one call; beyond it only the newest is."""

Notify = Callable[[bytes, bytes], None]
"""Sends a notification that belongs to a request: its method and its params, both JSON."""

_decode_members = msgspec.json.Decoder(dict[str, Raw]).decode


class ProgressRelay:
    """For one call; `flush` when it ends, so that the last notice is never lost."""

    def __init__(self, token: bytes, notify: Notify) -> None:
        self._token = Raw(token)
        self._notify = notify
        self._loop = asyncio.get_running_loop()
        self._second = 0.0
        self._sent = 0
        self._held: Raw | None = None

    def tell(self, params: Raw) -> None:
        now = self._loop.time()
        if now - self._second >= 1.0:
            self._second = now
            self._sent = 0
        if self._sent < RATE:
            self._sent += 1
            self._held = None
            self._send(params)
        elif self._held is None:
            self._held = params
            self._loop.call_at(self._second + 1.0, self.flush)
        else:
            self._held = params

    def flush(self) -> None:
        held, self._held = self._held, None
        if held is not None:
            self._send(held)

    def _send(self, params: Raw) -> None:
        try:
            said = _decode_members(params)
        except (msgspec.DecodeError, RecursionError):
            return
        said["progressToken"] = self._token
        self._notify(PROGRESS, encode(said))
