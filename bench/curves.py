"""Curves: how a cost grows with its cause, and whether it grows faster. Measuring is for `growth`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .figures import Figures

GROUP = "growth: "
"""Groups of figures whose cells are amounts of what follows."""

COSTS = (
    "listed_ms",
    "open_ms",
    "first_ms",
    "again_ms",
    "p50_us",
    "mean_us",
    "per_call_us",
    "cpu_us",
    "memory_mb",
)

NOISE = 1.1
"""The exponent up to which a step counts as no faster than its cause."""


@dataclass(frozen=True)
class Curve:
    cause: str
    cost: str
    points: Sequence[tuple[float, float]]
    """The amount of the cause, and the cost then."""

    @property
    def times(self) -> float:
        """What the cost is in the end, as a multiple of the first."""
        return self.points[-1][1] / self.points[0][1]

    @property
    def cause_times(self) -> float:
        return self.points[-1][0] / self.points[0][0]

    @property
    def steepest(self) -> float:
        """The greatest exponent from one point to the next: 1 is as fast as the cause, 0 not at all."""
        steps = zip(self.points, self.points[1:], strict=False)
        return max(math.log(b / a) / math.log(y / x) for (x, a), (y, b) in steps)

    @property
    def tame(self) -> bool:
        return self.steepest <= NOISE


def curves(figures: Figures) -> list[Curve]:
    """Every cost against every cause that was measured at two amounts or more."""
    found: list[Curve] = []
    for group in dict.fromkeys(figure.group for figure in figures.all if figure.group.startswith(GROUP)):
        members = [figure for figure in figures.group(group) if figure.values]
        for cost in COSTS:
            points = [
                (amount(figure.cell), figure.values[cost]) for figure in members if cost in figure.values
            ]
            if len(points) > 1:
                found.append(Curve(group.removeprefix(GROUP), cost, points))
    return found


def cell_name(count: int, what: str) -> str:
    return f"{count:,} {what}"


def amount(cell: str) -> float:
    """How much there is of the cause, as its cell is called."""
    return float(cell.split()[0].replace(",", ""))


def steepest(figures: Figures) -> float | None:
    return max((curve.steepest for curve in curves(figures)), default=None)
