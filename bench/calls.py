"""Calls over stdio: every target in every cell, a slice of time in every round."""

from __future__ import annotations

from collections.abc import Sequence

from .figures import Figure, from_samples
from .load import Pipes
from .plan import Plan
from .sample import Sample
from .targets import Target

WARM_UP = 0.1


def cell_name(size: int, in_flight: int) -> str:
    """As the tables call it."""
    amount = {20: "20 B", 100_000: "100 KB", 1_000_000: "1 MB"}.get(size, f"{size} B")
    return f"{amount}, {in_flight} in flight"


def measure(
    plan: Plan,
    group: str,
    targets: Sequence[Target],
    cells: Sequence[tuple[int, int]],
    baseline: str,
) -> list[Figure]:
    """A cell is a payload's size and a number in flight. Targets live throughout, idle but in their turn."""
    running = {target.name: _ready(plan, target) for target in targets}
    samples: dict[tuple[int, int], dict[str, list[Sample]]] = {
        cell: {target.name: [] for target in targets} for cell in cells
    }
    try:
        for cell in plan.interleaved(cells, plan.rounds):
            size, in_flight = cell
            for target in plan.shuffled(targets):
                plan.progress.step(f"{group}: {cell_name(size, in_flight)}: {target.name}")
                sample = running[target.name].measure(target, "x" * size, in_flight, plan.seconds)
                samples[cell][target.name].append(sample)
        memory = {name: pipes.process.memory() / 1e6 for name, pipes in running.items()}
    finally:
        for pipes in running.values():
            pipes.process.end()
    figures: list[Figure] = []
    for cell in cells:
        figures += from_samples(group, cell_name(*cell), samples[cell], baseline)
    for figure in figures:
        figure.values["memory_mb"] = memory[figure.target]
    return figures


def steps(plan: Plan, targets: int, cells: int) -> int:
    return plan.rounds * targets * cells


def _ready(plan: Plan, target: Target) -> Pipes:
    """Started, greeted, found to give the right answer, and warm."""
    pipes = Pipes(target.start(plan.folder))
    if target.name != "loopback":
        target.greet(pipes)
        target.open(pipes)
        pipes.check(target, "there?")
    pipes.measure(target, "x" * 20, 1, WARM_UP)
    return pipes
