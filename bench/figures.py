"""Figures: what was measured of one target in one cell, and how they are kept."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from .sample import Sample


@dataclass
class Figure:
    """`values` are named with their unit; `ratios` are to the baseline, paired round by round."""

    group: str
    cell: str
    target: str
    values: dict[str, float] = field(default_factory=dict)
    ratios: dict[str, float] = field(default_factory=dict)
    rounds: list[dict[str, float]] = field(default_factory=list)
    why: str = ""
    """Why there are no values."""


class Figures:
    def __init__(self, figures: Iterable[Figure] = ()) -> None:
        self.all = list(figures)

    def add(self, figures: Iterable[Figure]) -> None:
        self.all += figures

    def group(self, group: str) -> list[Figure]:
        return [figure for figure in self.all if figure.group == group]

    def find(self, group: str, cell: str, target: str) -> Figure:
        """An empty one where that was not measured."""
        for figure in self.group(group):
            if (figure.cell, figure.target) == (cell, target):
                return figure
        return Figure(group, cell, target)

    def value(self, group: str, cell: str, target: str, name: str) -> float | None:
        return self.find(group, cell, target).values.get(name)

    def ratio(self, group: str, cell: str, target: str, name: str) -> float | None:
        """To the baseline of the group."""
        return self.find(group, cell, target).ratios.get(name)

    def ratio_between(self, group: str, cell: str, one: str, other: str, name: str) -> float | None:
        ours, theirs = self.find(group, cell, one).rounds, self.find(group, cell, other).rounds
        return paired(ours, theirs, name) if ours and theirs else None

    def dump(self) -> list[dict[str, Any]]:
        return [asdict(figure) for figure in self.all]


Round = Mapping[str, float]


def paired(ours: Sequence[Round], theirs: Sequence[Round], name: str) -> float:
    """The median of the ratios round by round: what slowed both in one round cancels out."""
    return statistics.median(one[name] / other[name] for one, other in zip(ours, theirs, strict=True))


def from_rounds(
    group: str, cell: str, rounds: Mapping[str, list[dict[str, float]]], baseline: str
) -> list[Figure]:
    """A figure for each target, from what each round gave; the median is the value."""
    base = rounds.get(baseline, [{}])
    figures: list[Figure] = []
    for target, series in rounds.items():
        values = {name: statistics.median(each[name] for each in series) for name in series[0]}
        ratios = {name: paired(series, base, name) for name in series[0] if name in base[0]}
        figures.append(Figure(group, cell, target, values, ratios, series))
    return figures


def from_samples(
    group: str, cell: str, samples: Mapping[str, Sequence[Sample]], baseline: str
) -> list[Figure]:
    rounds = {
        target: [
            {"p50_us": each.p50_us, "per_second": each.per_second, "cpu_us": each.cpu_us} for each in series
        ]
        for target, series in samples.items()
    }
    figures = from_rounds(group, cell, rounds, baseline)
    for figure in figures:
        # A slice has too few calls to know its slowest hundredth; all of them together do.
        figure.values["p99_us"] = sum(samples[figure.target], Sample()).p99_us
    return figures
