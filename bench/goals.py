"""What the workbench is held to: ratios on one machine in one run, and the few figures that are absolute."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .curves import NOISE, steepest
from .figures import Figures


@dataclass(frozen=True)
class Goal:
    what: str
    limit: float
    unit: str
    at_least: bool
    find: Callable[[Figures], float | None]

    def verdict(self, figures: Figures) -> tuple[str, str, str]:
        """The goal, what was measured, and whether it is met."""
        wanted = f"{'≥' if self.at_least else '≤'} {self.limit:g} {self.unit}"
        value = self.find(figures)
        if value is None:
            return wanted, "–", "not in this run"
        met = value >= self.limit if self.at_least else value <= self.limit
        return wanted, f"{value:.3g} {self.unit}", "met" if met else "missed"


SMALL_ONE = "20 B, 1 in flight"
SMALL_16 = "20 B, 16 in flight"


def _ratio(group: str, cell: str, target: str, name: str) -> Callable[[Figures], float | None]:
    return lambda figures: figures.ratio(group, cell, target, name)


def _value(group: str, cell: str, target: str, name: str) -> Callable[[Figures], float | None]:
    return lambda figures: figures.value(group, cell, target, name)


def _against_fastmcp(
    group: str, cell: str, name: str, *, faster_is_less: bool
) -> Callable[[Figures], float | None]:
    one, other = ("FastMCP", "workbench") if faster_is_less else ("workbench", "FastMCP")
    return lambda figures: figures.ratio_between(group, cell, one, other, name)


def _slowest_tool_file(figures: Figures) -> float | None:
    ratios = [
        figure.ratios["p50_us"]
        for figure in figures.group("tool files")
        if figure.cell == SMALL_ONE and figure.target != "child server"
    ]
    return max(ratios, default=None)


GOALS = (
    Goal(
        "small, 1 in flight: p50", 2.5, "× direct", False, _ratio("calls", SMALL_ONE, "workbench", "p50_us")
    ),
    Goal(
        "small, 16 in flight: calls/s",
        0.4,
        "× direct",
        True,
        _ratio("calls", SMALL_16, "workbench", "per_second"),
    ),
    Goal(
        "1 MB, 1 in flight: p50",
        2.0,
        "× direct",
        False,
        _ratio("calls", "1 MB, 1 in flight", "workbench", "p50_us"),
    ),
    Goal(
        "small, 1 in flight: p50",
        12,
        "× faster than FastMCP",
        True,
        _against_fastmcp("calls", SMALL_ONE, "p50_us", faster_is_less=True),
    ),
    Goal(
        "small, 16 in flight: calls/s",
        40,
        "× FastMCP",
        True,
        _against_fastmcp("calls", SMALL_16, "per_second", faster_is_less=False),
    ),
    Goal("small, 1 in flight: CPU", 60, "µs", False, _value("calls", SMALL_ONE, "workbench", "cpu_us")),
    Goal("small, 16 in flight: CPU", 60, "µs", False, _value("calls", SMALL_16, "workbench", "cpu_us")),
    Goal("start to first answer", 3, "× direct", False, _ratio("start", "", "workbench", "start_ms")),
    Goal("start to first answer", 150, "ms", False, _value("start", "", "workbench", "start_ms")),
    Goal("memory after the start", 40, "MB", False, _value("start", "", "workbench", "memory_mb")),
    Goal("open 20 servers", 1.3, "× by hand", False, _ratio("open", "20 servers", "workbench", "open_ms")),
    Goal("a tool file's call: p50", 3, "× a child server's", False, _slowest_tool_file),
    Goal("open again, 1,000 tools", 5, "ms", False, _value("tools", "1,000 tools", "workbench", "again_ms")),
    Goal(
        "HTTP, small, 16 in flight: calls/s",
        5,
        "× FastMCP",
        True,
        _against_fastmcp("http", "16 clients", "per_second", faster_is_less=False),
    ),
    Goal("any cost grows as its cause to the power of", NOISE, "(1, and noise)", False, steepest),
)
