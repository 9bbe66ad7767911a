"""What one stretch of calls came to."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import FrameType


@dataclass
class Sample:
    latencies: list[int] = field(default_factory=list)
    """Nanoseconds from writing a request to having read its answer."""
    elapsed: int = 0
    cpu: int = 0
    """Nanoseconds that the process itself was running for these calls."""

    @property
    def calls(self) -> int:
        return len(self.latencies)

    @property
    def p50_us(self) -> float:
        return self._quantile(0.5)

    @property
    def mean_us(self) -> float:
        return sum(self.latencies) / self.calls / 1000

    @property
    def p99_us(self) -> float:
        return self._quantile(0.99)

    @property
    def per_second(self) -> float:
        return self.calls / self.elapsed * 1e9

    @property
    def cpu_us(self) -> float:
        return self.cpu / self.calls / 1000

    def _quantile(self, part: float) -> float:
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, int(len(ordered) * part))] / 1000

    def __add__(self, other: Sample) -> Sample:
        return Sample(self.latencies + other.latencies, self.elapsed + other.elapsed, self.cpu + other.cpu)


@contextlib.contextmanager
def time_limit(seconds: float, what: str) -> Iterator[None]:
    """Ends a wait that nobody would end. An alarm costs nothing on the hot path, a poll would."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"{what}: no end after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
