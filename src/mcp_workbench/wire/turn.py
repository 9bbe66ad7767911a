"""A turn: the handling of lines that came together. What they have written goes out in a few lots.

Every write enters the kernel, and most wake somebody: that costs more than all that we do with a line.
"""

from __future__ import annotations

from collections.abc import Callable


class Turn:
    """One for the process: lines are handled by its event loop alone."""

    __slots__ = ("_records", "_sends", "lasts")

    def __init__(self) -> None:
        self.lasts = False
        """Whether lines are being handled, and more of them are to come."""
        self._records: list[Callable[[], None]] = []
        self._sends: list[Callable[[], None]] = []

    def record_then(self, write: Callable[[], None]) -> None:
        """Have this called at the end, before anything is sent: what is on record must be so by then."""
        self._records.append(write)

    def send_then(self, write: Callable[[], None]) -> None:
        """Have this called at the end."""
        self._sends.append(write)

    def record(self) -> None:
        """Something is about to be sent, at the end or before it."""
        if self._records:
            for write in self._records:
                write()
            self._records.clear()

    def end(self) -> None:
        self.lasts = False
        self.record()
        if self._sends:
            for write in self._sends:
                write()
            self._sends.clear()


turn = Turn()
