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
    beginnings: int
    """Rounds of the start itself, which is short and uneven."""
    sizes: Sequence[int]
    in_flight: Sequence[int]
    servers: Sequence[int]
    tools: Sequence[int]
    clients: Sequence[int]
    growths: int
    """Rounds of how cost grows, with so many of each:"""
    many_servers: Sequence[int]
    many_tools: Sequence[int]
    many_sessions: Sequence[int]
    many_calls: Sequence[int]
    many_lines: Sequence[int]
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
        seconds=0.4,
        starts=5,
        beginnings=9,
        sizes=(20, 100_000, 1_000_000),
        in_flight=(1, 16, 64),
        servers=(1, 5, 20),
        tools=(10, 1_000, 10_000),
        clients=(1, 10, 16, 100),
        growths=3,
        many_servers=(1, 10, 100),
        many_tools=(10, 100, 1_000, 10_000),
        many_sessions=(1, 10, 100, 1_000),
        many_calls=(1, 4, 16, 64, 256),
        many_lines=(1_000, 10_000, 100_000, 300_000),
    )


def quick(folder: Path) -> Plan:
    return Plan(
        folder,
        Progress(1),
        rounds=2,
        seconds=0.15,
        starts=2,
        beginnings=3,
        sizes=(20, 100_000, 1_000_000),
        in_flight=(1, 16),
        servers=(1, 20),
        tools=(10, 1_000),
        clients=(1, 16),
        growths=1,
        many_servers=(1, 10),
        many_tools=(10, 1_000),
        many_sessions=(1, 100),
        many_calls=(1, 16),
        many_lines=(1_000, 30_000),
    )
