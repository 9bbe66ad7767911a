"""From starting a process to its first answer, and what it then has in memory."""

from __future__ import annotations

import time
from collections.abc import Sequence

from .figures import Figure, from_rounds
from .http_load import HttpClient
from .http_targets import HttpTarget, McpHub
from .load import Pipes
from .plan import Plan
from .targets import CLIENT, Target

GROUP = "start"


def measure(plan: Plan, targets: Sequence[Target], http_targets: Sequence[HttpTarget]) -> list[Figure]:
    """Over stdio the first answer is that to `initialize`; so it is over HTTP, but for mcp-hub's REST."""
    everyone = [*targets, *http_targets]
    rounds: dict[str, list[dict[str, float]]] = {target.name: [] for target in everyone}
    for target in plan.interleaved(everyone, plan.starts):
        plan.progress.step(f"start: {target.name}")
        if isinstance(target, Target):
            rounds[target.name].append(_stdio(plan, target))
        else:
            rounds[target.name].append(_http(plan, target))
    return from_rounds(GROUP, "", rounds, "direct")


def steps(plan: Plan, targets: int) -> int:
    return plan.starts * targets


def _stdio(plan: Plan, target: Target) -> dict[str, float]:
    process = target.start(plan.folder)
    try:
        target.greet(Pipes(process))
        took = time.perf_counter() - process.began
        return {"start_ms": took * 1000, "memory_mb": process.memory() / 1e6}
    finally:
        process.end()


def _http(plan: Plan, target: HttpTarget) -> dict[str, float]:
    process, port = target.start(plan.folder)
    try:
        client = HttpClient(port, target.path)
        if not isinstance(target, McpHub):  # ready when its servers are connected, which was waited for
            client.ask({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": CLIENT})
        took = time.perf_counter() - process.began
        client.close()
        return {"start_ms": took * 1000, "memory_mb": process.memory() / 1e6}
    finally:
        process.end()
