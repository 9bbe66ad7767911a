"""Calls over HTTP: every target with every number of clients, a slice of time in every round."""

from __future__ import annotations

from collections.abc import Sequence

from . import http_load
from .figures import Figure, from_samples
from .http_load import HttpClient
from .http_targets import HttpTarget, NotServing
from .plan import Plan
from .process import Process
from .sample import Sample

GROUP = "http"
SIZE = 20
SLOWNESS = 2.0
"""Slices are longer than over stdio: some do no more than two hundred calls a second."""


class _Running:
    def __init__(self, process: Process, port: int, target: HttpTarget, most: int) -> None:
        self.process = process
        self.clients: list[HttpClient] = [target.connect(port) for _ in range(most)]


def measure(plan: Plan, targets: Sequence[HttpTarget]) -> list[Figure]:
    running: dict[str, _Running] = {}
    absent: list[Figure] = []
    try:
        for target in targets:
            try:
                process, port = target.start(plan.folder)
            except NotServing as error:
                absent.append(Figure(GROUP, "", target.name, why=str(error)))
            else:
                running[target.name] = _Running(process, port, target, max(plan.clients))
        present = [target for target in targets if target.name in running]
        samples: dict[int, dict[str, list[Sample]]] = {
            count: {target.name: [] for target in present} for count in plan.clients
        }
        for count in plan.interleaved(plan.clients, plan.rounds):
            for target in plan.shuffled(present):
                plan.progress.step(f"http: {count} clients: {target.name}")
                run = running[target.name]
                sample = http_load.measure(
                    run.process, run.clients[:count], target.body("x" * SIZE), plan.seconds * SLOWNESS
                )
                samples[count][target.name].append(sample)
    finally:
        for run in running.values():
            for client in run.clients:
                client.close()
            run.process.end()
    figures: list[Figure] = []
    for count in plan.clients:
        figures += from_samples(GROUP, cell_name(count), samples[count], "direct")
    return figures + absent


def steps(plan: Plan, targets: int) -> int:
    return plan.rounds * targets * len(plan.clients)


def cell_name(clients: int) -> str:
    return f"{clients} client{'' if clients == 1 else 's'}"
