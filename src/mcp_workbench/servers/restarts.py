"""How often a server may be started: a few times a minute, then after a pause that grows and ends."""

from __future__ import annotations

from collections import deque

STARTS = 5
WINDOW = 60.0
FIRST_PAUSE = 30.0
LONGEST_PAUSE = 300.0


class Restarts:
    """Times are those of any steady clock, in seconds."""

    def __init__(self) -> None:
        self._starts: deque[float] = deque()
        self._pause = FIRST_PAUSE
        self._until = 0.0

    def wait(self, now: float) -> float:
        """Seconds until it may be started again; 0 for now."""
        if now < self._until:
            return self._until - now
        while self._starts and self._starts[0] <= now - WINDOW:
            self._starts.popleft()
        if len(self._starts) < STARTS:
            if now > self._until + WINDOW and not self._starts:  # a quiet minute: whatever it was is over
                self._pause = FIRST_PAUSE
            return 0.0
        # Not before the minute has room for another start, either.
        self._until = max(now + self._pause, self._starts[0] + WINDOW)
        self._pause = min(self._pause * 2, LONGEST_PAUSE)
        return self._until - now

    def started(self, now: float) -> None:
        self._starts.append(now)

    def lasted(self) -> None:
        """The last start was a good one: the server stayed until it was sent away."""
        if self._starts:
            self._starts.pop()
