"""How cost grows with what is asked of the workbench: calls in flight, and lines already in the log.

Servers and tools are grown by `openings`, clients by `http_calls`.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from . import calls
from .figures import Figure, from_rounds
from .load import Pipes
from .plan import Plan
from .process import Process
from .targets import Workbench

CROWD = "crowd"
LINES = "log lines"

LINE = (
    b'{"ts":"2025-01-01T00:00:00.000Z","tool":"echo","caller":"bench","args":{"text":"xxxxxxxxxxxxxxxxxxxx"},'
    b'"stat":"success","cost":0.1,"id":"0123456789abcdef","root":"0123456789abcdef","toolbox":"bench","server":"echo"}\n'
)


def measure_crowds(plan: Plan) -> list[Figure]:
    cells = [(20, count) for count in plan.crowds]
    return calls.measure(plan, CROWD, [Workbench()], cells, "workbench") if cells else []


def measure_lines(plan: Plan) -> list[Figure]:
    figures: list[Figure] = []
    rounds: dict[int, list[dict[str, float]]] = defaultdict(list)
    for count in plan.interleaved(plan.log_lines, plan.starts):
        plan.progress.step(f"{count} lines in the log")
        rounds[count].append(_with_lines(plan, count))
    for count in plan.log_lines:
        figures += from_rounds(LINES, f"{count:,} lines", {"workbench": rounds[count]}, "workbench")
    return figures


def steps(plan: Plan) -> int:
    return calls.steps(plan, 1, len(plan.crowds)) + plan.starts * len(plan.log_lines)


def _with_lines(plan: Plan, count: int) -> dict[str, float]:
    target = _Logged(count)
    process = target.start(plan.folder)
    try:
        pipes = Pipes(process)
        target.greet(pipes)
        target.open(pipes)
        sample = pipes.measure(target, "x" * 20, 1, plan.seconds)
        return {"p50_us": sample.p50_us, "memory_mb": process.memory() / 1e6}
    finally:
        process.end()


class _Logged(Workbench):
    """One whose log has so many lines when it starts."""

    def __init__(self, lines: int) -> None:
        super().__init__("workbench-lines")
        self._lines = lines

    def start(self, folder: Path) -> Process:
        log = folder / self.name / "log"
        log.mkdir(parents=True, exist_ok=True)
        with (log / "ToolBox.log").open("wb") as file:
            for _ in range(self._lines // 100):
                file.write(LINE * 100)
        return super().start(folder)
