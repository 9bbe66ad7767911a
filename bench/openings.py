"""Opening: many servers at once, and one with many tools."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

from .figures import Figure, from_rounds
from .http_targets import McpHub
from .load import Pipes
from .plan import Plan
from .process import Process
from .targets import CLIENT, ECHO, FastMcp, Target, Workbench, children

SERVERS = "open"
TOOLS = "tools"
AGAIN = 20
BY_HAND = "by hand"
MOST_FOR_RIVALS = 20
"""Beyond that it is only about how our own cost grows."""


def measure_servers(plan: Plan, rivals: set[str]) -> list[Figure]:
    """`from_start_ms`: from starting the process to having every tool; `open_ms`: the opening by itself."""
    figures: list[Figure] = []
    ways = {BY_HAND: _by_hand, "workbench": _workbench, "FastMCP": _fastmcp, "mcp-hub": _mcp_hub}
    for count in plan.servers:
        names = _contestants(count, rivals)
        failures: dict[str, Figure] = {}
        rounds: dict[str, list[dict[str, float]]] = {name: [] for name in names}
        for name in plan.interleaved(names, plan.starts):
            plan.progress.step(f"open {count} servers: {name}")
            if name not in failures:
                try:
                    rounds[name].append(ways[name](plan, count))
                except (RuntimeError, TimeoutError, EOFError) as error:
                    failures[name] = Figure(
                        SERVERS, cell_name(count), name, why=f"failed: {str(error)[:120]}"
                    )
        measured = {name: series for name, series in rounds.items() if name not in failures}
        figures += [*from_rounds(SERVERS, cell_name(count), measured, BY_HAND), *failures.values()]
    why = "each of its servers has an address of its own; there is nothing to open together"
    return [*figures, Figure(SERVERS, "", "mcp-proxy", why=why)]


def server_steps(plan: Plan, rivals: set[str]) -> int:
    return plan.starts * sum(len(_contestants(count, rivals)) for count in plan.servers)


def _contestants(count: int, rivals: set[str]) -> list[str]:
    theirs = sorted(rivals & {"FastMCP", "mcp-hub"}) if count <= MOST_FOR_RIVALS else []
    return [BY_HAND, "workbench", *theirs]


def cell_name(servers: int) -> str:
    return f"{servers} server{'' if servers == 1 else 's'}"


def measure_tools(plan: Plan) -> list[Figure]:
    """A toolbox of so many tools: opening it, opening it again, and a call."""
    figures: list[Figure] = []
    for count in plan.tools:
        targets = [_Direct(count), Workbench(servers=children(1, tools=count))]
        rounds: dict[str, list[dict[str, float]]] = {target.name: [] for target in targets}
        for target in plan.interleaved(targets, plan.starts):
            plan.progress.step(f"{count} tools: {target.name}")
            rounds[target.name].append(_many_tools(plan, target))
        figures += from_rounds(TOOLS, f"{count:,} tools", rounds, "direct")
    return figures


def tool_steps(plan: Plan) -> int:
    return plan.starts * len(plan.tools) * 2


class _Direct(Target):
    def __init__(self, tools: int) -> None:
        self._tools = tools

    def start(self, folder: Path) -> Process:
        return Process([*ECHO, str(self._tools)], log=folder / "direct.log")


def _many_tools(plan: Plan, target: Target) -> dict[str, float]:
    process = target.start(plan.folder)
    try:
        pipes = Pipes(process)
        target.greet(pipes)
        first = _timed(pipes, target)
        again = statistics.median(_timed(pipes, target) for _ in range(AGAIN))
        sample = pipes.measure(target, "x" * 20, 1, plan.seconds / 2)
        return {
            "first_ms": first,
            "again_ms": again,
            "p50_us": sample.p50_us,
            "memory_mb": process.memory() / 1e6,
        }
    finally:
        process.end()


def _timed(pipes: Pipes, target: Target) -> float:
    began = time.perf_counter()
    target.open(pipes)
    return (time.perf_counter() - began) * 1000


def _by_hand(plan: Plan, count: int) -> dict[str, float]:
    began = time.perf_counter()
    servers = [Pipes(Process(ECHO, log=plan.folder / "by-hand.log")) for _ in range(count)]
    try:
        greetings = [server.begin("initialize", CLIENT) for server in servers]
        for server, id in zip(servers, greetings, strict=True):
            server.result(id)
            server.tell("notifications/initialized")
        lists = [server.begin("tools/list", {}) for server in servers]
        for server, id in zip(servers, lists, strict=True):
            server.result(id)
        took = (time.perf_counter() - began) * 1000
        return {"open_ms": took, "from_start_ms": took}
    finally:
        for server in servers:
            server.process.end()


def _workbench(plan: Plan, count: int) -> dict[str, float]:
    target = Workbench(servers=children(count))
    process = target.start(plan.folder)
    try:
        pipes = Pipes(process)
        target.greet(pipes)
        took = _timed(pipes, target)
        whole = (time.perf_counter() - process.began) * 1000
        sample = pipes.measure(target, "x" * 20, 1, plan.seconds / 2)
        return {
            "open_ms": took,
            "from_start_ms": whole,
            "p50_us": sample.p50_us,
            "memory_mb": process.memory() / 1e6,
        }
    finally:
        process.end()


def _fastmcp(plan: Plan, count: int) -> dict[str, float]:
    target = FastMcp(servers=children(count))
    process = target.start(plan.folder)
    try:
        pipes = Pipes(process)
        target.greet(pipes)
        target.open(pipes)
        return {
            "from_start_ms": (time.perf_counter() - process.began) * 1000,
            "memory_mb": process.memory() / 1e6,
        }
    finally:
        process.end()


def _mcp_hub(plan: Plan, count: int) -> dict[str, float]:
    process, _ = McpHub(count).start(plan.folder)
    took = (time.perf_counter() - process.began) * 1000
    try:
        return {"from_start_ms": took, "memory_mb": process.memory() / 1e6}
    finally:
        process.end()
