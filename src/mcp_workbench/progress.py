"""A server's progress on its way to the client: under the client's token, no faster than is useful."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

import msgspec
from msgspec import Raw

from .wire.messages import encode, patiently

PROGRESS = b'"notifications/progress"'
RATE = 100
"""Notices a second that are passed on for one call; beyond it only the newest are."""

HELD = 20
"""How many of the newest: a steady hundred a second, heard in bursts, is not too many."""

Notify = Callable[[bytes, bytes], None]
"""Sends a notification that belongs to a request: its method and its params, both JSON."""

_decode_members = msgspec.json.Decoder(dict[str, Raw]).decode


class ProgressRelay:
    """For one call; `flush` when it ends, so that the last notices are never lost."""

    def __init__(self, token: bytes, notify: Notify) -> None:
        self._token = Raw(token)
        self._notify = notify
        self._loop = asyncio.get_running_loop()
        self._second = 0.0
        self._sent = 0
        self._held: deque[Raw] = deque(maxlen=HELD)

    def tell(self, params: Raw) -> None:
        now = self._loop.time()
        if now - self._second >= 1.0:
            self._second = now
            self._sent = 0
            self.flush()
        if self._sent < RATE:
            self._send(params)
            return
        if not self._held:
            self._loop.call_at(self._second + 1.0, self.flush)
        self._held.append(params)

    def flush(self) -> None:
        while self._held:
            self._send(self._held.popleft())

    def _send(self, params: Raw) -> None:
        self._sent += 1
        try:
            said = patiently(_decode_members, params)
        except (msgspec.DecodeError, RecursionError):
            return
        said["progressToken"] = self._token
        self._notify(PROGRESS, encode(said))
