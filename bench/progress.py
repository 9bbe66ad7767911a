"""Progress on stderr: where the run is, without a line for every step where nobody scrolls."""

from __future__ import annotations

import sys
import time


class Progress:
    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._began = time.monotonic()
        self._told = -1

    def step(self, what: str) -> None:
        """Tell what comes next."""
        part = 100 * self._done // self._total
        self._done += 1
        line = f"{part:3d} %  {time.monotonic() - self._began:4.0f} s  {what}"
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{line}")
        elif part // 5 > self._told:
            self._told = part // 5
            sys.stderr.write(f"{line}\n")
        sys.stderr.flush()

    def note(self, what: str) -> None:
        """Something that should stay on the screen."""
        sys.stderr.write(f"\r\x1b[K{what}\n" if sys.stderr.isatty() else f"{what}\n")

    def end(self) -> None:
        if sys.stderr.isatty():
            sys.stderr.write("\r\x1b[K")
