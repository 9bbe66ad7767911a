"""From starting a process to its first answer and to its list of tools, and what it then has in memory."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from .figures import Figure
from .http_load import HttpClient
from .http_targets import HttpTarget, McpHub
from .load import Pipes
from .plan import Plan
from .rounds import Way, in_rounds
from .targets import CLIENT, Target

GROUP = "start"


def measure(plan: Plan, targets: Sequence[Target], http_targets: Sequence[HttpTarget]) -> list[Figure]:
    """Over stdio the first answer is that to `initialize`; so it is over HTTP, but for mcp-hub's REST.

    An answer can be given before all of a process is there, so the list of tools is waited for as well, which
    is what clients ask for next.
    """
    ways: dict[str, Way] = {
        **{target.name: partial(_stdio, plan, target) for target in targets},
        **{target.name: partial(_http, plan, target) for target in http_targets},
    }
    return in_rounds(plan, GROUP, "", ways, plan.beginnings, "direct")


def steps(plan: Plan, targets: int) -> int:
    return plan.beginnings * targets


def _stdio(plan: Plan, target: Target) -> dict[str, float]:
    process = target.start(plan.folder)
    try:
        pipes = Pipes(process)
        pipes.ask("initialize", CLIENT)
        first = process.age_ms
        pipes.tell("notifications/initialized")
        pipes.ask("tools/list", {})
        return {"start_ms": first, "listed_ms": process.age_ms, "memory_mb": process.memory() / 1e6}
    finally:
        process.end()


def _http(plan: Plan, target: HttpTarget) -> dict[str, float]:
    process, port = target.start(plan.folder)
    try:
        if isinstance(target, McpHub):  # ready when its servers are connected, which was waited for
            return {"start_ms": process.age_ms, "memory_mb": process.memory() / 1e6}
        client = HttpClient(port, target.path)
        client.ask({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": CLIENT})
        first = process.age_ms
        client.ask({"jsonrpc": "2.0", "method": "notifications/initialized"})
        client.ask({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}})
        client.close()
        return {"start_ms": first, "listed_ms": process.age_ms, "memory_mb": process.memory() / 1e6}
    finally:
        process.end()
