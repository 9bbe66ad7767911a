"""How the workbench's cost grows with what is asked of it: one cause at a time, everything else small.

What the others would cost is for `openings` and `http_calls`; whether a growth is too fast, for `curves`.
"""

from __future__ import annotations

import resource
from collections import defaultdict
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import curves, http_load, openings
from .figures import Figure, from_rounds
from .http_load import HttpClient
from .http_targets import HttpWorkbench
from .load import Pipes
from .plan import Plan
from .process import Process
from .rounds import FAILURES
from .targets import Workbench, children

TEXT = "x" * 20
MOST_FILES = 4096
"""A connection to a session is an open file here, and many systems allow 1024."""

LINE = (
    b'{"ts":"2025-01-01T00:00:00.000Z","tool":"echo","caller":"bench","args":{"text":"xxxxxxxxxxxxxxxxxxxx"},'
    b'"stat":"success","cost":0.1,"id":"0123456789abcdef","root":"0123456789abcdef","toolbox":"bench","server":"echo"}\n'
)

Costs = dict[str, float]


@dataclass(frozen=True)
class Cause:
    what: str
    counts: Callable[[Plan], Sequence[int]]
    grow: Callable[[Plan, Sequence[int]], Generator[Costs]]
    """One round: what it costs with so many, for one count after the other."""


def measure(plan: Plan) -> list[Figure]:
    """A cause that cannot be had in full is told, and costs the others nothing."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, MOST_FILES)), hard))
    figures: list[Figure] = []
    for cause in CAUSES:
        group = curves.GROUP + cause.what
        try:
            rounds = _rounds(plan, cause)
        except FAILURES as error:
            plan.progress.note(f"{group}: {error}")
            figures.append(Figure(group, "", "workbench", why=f"failed: {str(error)[:200]}"))
            continue
        for count, series in rounds.items():
            cell = curves.cell_name(count, cause.what)
            figures += from_rounds(group, cell, {"workbench": series}, "workbench")
    return figures


def steps(plan: Plan) -> int:
    return plan.growths * sum(len(cause.counts(plan)) for cause in CAUSES)


def _rounds(plan: Plan, cause: Cause) -> dict[int, list[Costs]]:
    counts = cause.counts(plan)
    rounds: dict[int, list[Costs]] = defaultdict(list)
    for _ in range(plan.growths):
        costs = cause.grow(plan, counts)
        for count in counts:
            plan.progress.step(f"growth: {count:,} {cause.what}")
            rounds[count].append(next(costs))
        costs.close()
    return rounds


def _servers(plan: Plan, counts: Sequence[int]) -> Generator[Costs]:
    for count in counts:
        costs = openings.open_servers(plan, count)
        del costs["from_start_ms"]  # most of it is the start, which does not grow
        yield costs


def _tools(plan: Plan, counts: Sequence[int]) -> Generator[Costs]:
    for count in counts:
        yield openings.open_tools(plan, Workbench(servers=children(1, tools=count)))


def _sessions(plan: Plan, counts: Sequence[int]) -> Generator[Costs]:
    """Each with a connection of its own: first one of them calls while the others wait, then all at once."""
    target = HttpWorkbench()
    process, port = target.start(plan.folder)
    clients: list[HttpClient] = []
    try:
        for count in counts:
            clients += [target.connect(port) for _ in range(count - len(clients))]
            memory = process.memory() / 1e6
            alone = http_load.measure(process, clients[:1], target.body(TEXT), plan.seconds)
            together = http_load.measure(process, clients, target.body(TEXT), plan.seconds)
            yield {
                "p50_us": alone.p50_us,
                "per_call_us": 1e6 / together.per_second,
                "cpu_us": together.cpu_us,
                "memory_mb": memory,
            }
    finally:
        for client in clients:
            client.close()
        process.end()


def _calls(plan: Plan, counts: Sequence[int]) -> Generator[Costs]:
    target = Workbench()
    process = target.start(plan.folder)
    try:
        pipes = Pipes(process)
        target.greet(pipes)
        target.open(pipes)
        for count in counts:
            sample = pipes.measure(target, TEXT, count, plan.seconds)
            yield {
                "mean_us": sample.mean_us,  # the median leaves out who waits for the rest
                "per_call_us": 1e6 / sample.per_second,
                "cpu_us": sample.cpu_us,
                "memory_mb": process.memory() / 1e6,
            }
    finally:
        process.end()


def _lines(plan: Plan, counts: Sequence[int]) -> Generator[Costs]:
    for count in counts:
        target = _Logged(count)
        process = target.start(plan.folder)
        try:
            pipes = Pipes(process)
            target.greet(pipes)
            began = process.age_ms
            target.open(pipes)
            sample = pipes.measure(target, TEXT, 1, plan.seconds)
            yield {"listed_ms": began, "p50_us": sample.p50_us, "memory_mb": process.memory() / 1e6}
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


CAUSES = (
    Cause("servers", lambda plan: plan.many_servers, _servers),
    Cause("tools", lambda plan: plan.many_tools, _tools),
    Cause("sessions", lambda plan: plan.many_sessions, _sessions),
    Cause("calls in flight", lambda plan: plan.many_calls, _calls),
    Cause("lines in the log", lambda plan: plan.many_lines, _lines),
)
