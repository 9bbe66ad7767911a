"""Opening: many servers at once, and one with many tools."""

from __future__ import annotations

import statistics
import time
from functools import partial
from pathlib import Path

from .figures import Figure
from .http_targets import McpHub
from .load import Pipes
from .plan import Plan
from .process import Process
from .rounds import in_rounds
from .targets import CLIENT, ECHO, FastMcp, Target, Workbench, children

SERVERS = "open"
TOOLS = "tools"
AGAIN = 20
BY_HAND = "by hand"


def measure_servers(plan: Plan, rivals: set[str]) -> list[Figure]:
    """`from_start_ms`: from starting the process to having every tool; `open_ms`: the opening by itself."""
    figures: list[Figure] = []
    everyone = {BY_HAND: _by_hand, "workbench": open_servers, "FastMCP": _fastmcp, "mcp-hub": _mcp_hub}
    for count in plan.servers:
        ways = {name: partial(everyone[name], plan, count) for name in _contestants(rivals)}
        figures += in_rounds(plan, SERVERS, cell_name(count), ways, plan.starts, BY_HAND)
    why = "each of its servers has an address of its own; there is nothing to open together"
    return [*figures, Figure(SERVERS, "", "mcp-proxy", why=why)]


def server_steps(plan: Plan, rivals: set[str]) -> int:
    return plan.starts * len(_contestants(rivals)) * len(plan.servers)


def _contestants(rivals: set[str]) -> list[str]:
    return [BY_HAND, "workbench", *sorted(rivals & {"FastMCP", "mcp-hub"})]


def cell_name(servers: int) -> str:
    return f"{servers} server{'' if servers == 1 else 's'}"


def measure_tools(plan: Plan) -> list[Figure]:
    """A toolbox of so many tools: opening it, opening it again, and a call."""
    figures: list[Figure] = []
    for count in plan.tools:
        targets = [_Direct(count), Workbench(servers=children(1, tools=count))]
        ways = {target.name: partial(open_tools, plan, target) for target in targets}
        figures += in_rounds(plan, TOOLS, f"{count:,} tools", ways, plan.starts, "direct")
    return figures


def tool_steps(plan: Plan) -> int:
    return plan.starts * len(plan.tools) * 2


class _Direct(Target):
    def __init__(self, tools: int) -> None:
        self._tools = tools

    def start(self, folder: Path) -> Process:
        return Process([*ECHO, str(self._tools)], log=folder / "direct.log")


def open_tools(plan: Plan, target: Target) -> dict[str, float]:
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
    return (pipes.answered - began) * 1000


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


def open_servers(plan: Plan, count: int) -> dict[str, float]:
    target = Workbench(servers=children(count))
    process = target.start(plan.folder)
    try:
        pipes = Pipes(process)
        target.greet(pipes)
        took = _timed(pipes, target)
        whole = process.age_ms
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
            "from_start_ms": process.age_ms,
            "memory_mb": process.memory() / 1e6,
        }
    finally:
        process.end()


def _mcp_hub(plan: Plan, count: int) -> dict[str, float]:
    process, _ = McpHub(count).start(plan.folder)
    try:
        return {"from_start_ms": process.age_ms, "memory_mb": process.memory() / 1e6}
    finally:
        process.end()
