"""A child's standard error: always read, the end of it kept, and quoted where it explains a failure."""

from __future__ import annotations

import asyncio
import os
import re
from collections import deque

KEPT = 64 * 1024

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
# With what breaks lines or turns their direction in a terminal or a page.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class Stderr:
    """Reads until the end without ever making the child wait."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self._loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[None] = self._loop.create_future()
        self._loop.add_reader(fd, self._readable)

    def _readable(self) -> None:
        try:
            chunk = os.read(self._fd, KEPT)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            chunk = b""
        if not chunk:
            self.close()
            return
        self._chunks.append(chunk)
        self._size += len(chunk)
        while self._size - len(self._chunks[0]) >= KEPT:
            self._size -= len(self._chunks.popleft())

    def close(self) -> None:
        if not self.ended.done():
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self.ended.set_result(None)

    def last_words(self, lines: int = 6, characters: int = 800) -> str:
        """The last lines, on one line, safe for a terminal; empty where nothing was said."""
        text = b"".join(self._chunks)[-KEPT:].decode(errors="replace")
        text = _CONTROL.sub("", _ANSI.sub("", text.replace("\r", "\n")))
        said = [line.strip() for line in text.split("\n") if line.strip()][-lines:]
        words = " | ".join(said)
        return words if len(words) <= characters else "…" + words[-characters:]
