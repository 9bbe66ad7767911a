"""Rounds: several ways of doing one thing, each tried once a round. One that fails does not end the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .figures import Figure, from_rounds
from .plan import Plan

FAILURES = (RuntimeError, EOFError, OSError)
"""What is raised where a target does not do its part; running out of time is one of them."""

Way = Callable[[], dict[str, float]]


def in_rounds(
    plan: Plan, group: str, cell: str, ways: Mapping[str, Way], rounds: int, baseline: str
) -> list[Figure]:
    """A figure for each way; for one that failed, the reason in place of values."""
    series: dict[str, list[dict[str, float]]] = {name: [] for name in ways}
    failures: dict[str, Figure] = {}
    for name in plan.interleaved(list(ways), rounds):
        plan.progress.step(f"{group}: {cell}: {name}" if cell else f"{group}: {name}")
        if name in failures:
            continue
        try:
            series[name].append(ways[name]())
        except FAILURES as error:
            plan.progress.note(f"{group}: {cell}: {name}: {error}")
            failures[name] = Figure(group, cell, name, why=f"failed: {str(error)[:120]}")
    measured = {name: each for name, each in series.items() if name not in failures}
    return [*from_rounds(group, cell, measured, baseline), *failures.values()]
