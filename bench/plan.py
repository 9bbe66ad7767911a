"""How much is measured: the full run, and the quick one that takes about a minute."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from .progress import Progress

T = TypeVar("T")


@dataclass
class Plan:
    folder: Path
    """For whatever the targets write."""
    progress: Progress
    rounds: int
    seconds: float
    """Of calls, to a cell, a target and a round."""
    starts: int
    """Rounds of what starts processes, which takes longer."""
    sizes: Sequence[int]
    in_flight: Sequence[int]
    servers: Sequence[int]
    tools: Sequence[int]
    clients: Sequence[int]
    crowds: Sequence[int]
    """Calls in flight, for how cost grows."""
    log_lines: Sequence[int]
    shuffle: random.Random = field(default_factory=lambda: random.Random(6))

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Another order every time, so that nobody always comes after the same one."""
        return self.shuffle.sample(items, len(items))

    def interleaved(self, items: Sequence[T], rounds: int) -> Iterator[T]:
        """Every item once a round."""
        for _ in range(rounds):
            yield from self.shuffled(items)


def full(folder: Path) -> Plan:
    return Plan(
        folder,
        Progress(1),
        rounds=7,
        seconds=0.5,
        starts=5,
        sizes=(20, 100_000, 1_000_000),
        in_flight=(1, 16, 64),
        servers=(1, 5, 20, 100),
        tools=(10, 1_000, 10_000),
        clients=(1, 10, 16, 100),
        crowds=(1, 4, 16, 64, 256),
        log_lines=(0, 10_000, 100_000, 300_000),
    )


def quick(folder: Path) -> Plan:
    return Plan(
        folder,
        Progress(1),
        rounds=2,
        seconds=0.15,
        starts=2,
        sizes=(20, 100_000, 1_000_000),
        in_flight=(1, 16),
        servers=(1, 5, 20),
        tools=(10, 1_000),
        clients=(1, 16),
        crowds=(),
        log_lines=(),
    )
