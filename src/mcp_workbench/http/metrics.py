"""Metrics: what Prometheus is told about calls, servers and traffic. The call log is another matter."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator

from ..config import Config
from ..names import Scope, ToolRef
from ..protocol.audience import Audience
from ..protocol.results import Result
from ..servers.base import Server
from ..servers.call import Call
from ..toolbox import Toolbox
from ..workbench import Workbench

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
KIND = b"text/plain; version=0.0.4; charset=utf-8"


class _Tally:
    """The calls of one tool."""

    __slots__ = ("buckets", "errors", "seconds")

    def __init__(self) -> None:
        self.buckets = [0] * (len(BUCKETS) + 1)
        self.errors = 0
        self.seconds = 0.0

    @property
    def calls(self) -> int:
        return sum(self.buckets)


class MeteredWorkbench(Workbench):
    """A workbench that counts what it does."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.tallies: dict[ToolRef, _Tally] = {}
        self.restarts: dict[tuple[str, str], int] = {}
        self._starting: set[Server] = set()

    async def call(self, call: Call) -> Result:
        toolbox = self.toolboxes.get(call.ref.toolbox)
        server = toolbox.servers.get(call.ref.server) if toolbox is not None else None
        began = time.perf_counter()
        failed = True
        lost = self._lost([server] if server is not None else [])
        try:
            result = await super().call(call)
            failed = result.is_error
            return result
        finally:
            self._found_again(lost)
            # There was such a tool: made-up names would fill the memory.
            if call.id and (call.listed or self.tool(call.ref) is not None):
                tally = self.tallies.get(call.ref)
                if tally is None:
                    tally = self.tallies[call.ref] = _Tally()
                seconds = time.perf_counter() - began
                tally.buckets[bisect_left(BUCKETS, seconds)] += 1
                tally.seconds += seconds
                tally.errors += failed

    async def open(
        self,
        name: str,
        scope: Scope = None,
        on_settled: Callable[[Server], None] | None = None,
        audience: Audience | None = None,
    ) -> Toolbox:
        toolbox = self.toolboxes.get(name)
        lost = self._lost(toolbox.servers.values() if toolbox is not None else [])
        try:
            return await super().open(name, scope, on_settled, audience)
        finally:
            self._found_again(lost)

    def _lost(self, servers: Iterable[Server]) -> list[Server]:
        """Those that were connected once, are not now, and that nobody else is about to count."""
        lost = [each for each in servers if each.listed and not each.connected and each not in self._starting]
        self._starting.update(lost)
        return lost

    def _found_again(self, lost: list[Server]) -> None:
        for server in lost:
            self._starting.discard(server)
            if server.connected:
                key = (server.config.toolbox, server.config.name)
                self.restarts[key] = self.restarts.get(key, 0) + 1


class Metrics:
    """Counts what goes in and out; the rest it reads from the workbench when asked."""

    def __init__(self, workbench: MeteredWorkbench) -> None:
        self._workbench = workbench
        self.received = 0
        self.sent = 0

    def text(self, scope: Scope, sessions: int) -> bytes:
        """For a caller that may know of the toolboxes in `scope`."""
        return "".join(f"{line}\n" for line in self._lines(scope, sessions)).encode()

    def _lines(self, scope: Scope, sessions: int) -> Iterator[str]:
        bench = self._workbench
        seen = bench.seen(scope)
        tools = [(_tool(ref), tally) for ref, tally in bench.tallies.items() if ref.toolbox in seen]
        yield from _head("calls_total", "counter", "Calls of tools.")
        yield from (f"mcp_workbench_calls_total{{{tool}}} {tally.calls}" for tool, tally in tools)
        yield from _head("call_errors_total", "counter", "Calls that ended in an error.")
        yield from (f"mcp_workbench_call_errors_total{{{tool}}} {tally.errors}" for tool, tally in tools)
        yield from _head("call_duration_seconds", "histogram", "How long calls took.")
        for tool, tally in tools:
            yield from _histogram(tool, tally)
        servers = [each for toolbox in seen.values() for each in toolbox.servers.values()]
        yield from _head("server_open", "gauge", "Whether a server is connected.")
        for server in servers:
            place = _labels(toolbox=server.config.toolbox, server=server.config.name)
            yield f"mcp_workbench_server_open{{{place}}} {int(server.connected)}"
        yield from _head("server_restarts_total", "counter", "Connections made anew after one was lost.")
        for server in servers:
            key = (server.config.toolbox, server.config.name)
            place = _labels(toolbox=key[0], server=key[1])
            yield f"mcp_workbench_server_restarts_total{{{place}}} {bench.restarts.get(key, 0)}"
        yield from _head("questions_refused_total", "counter", "Questions of servers to no one client.")
        for server in servers:
            place = _labels(toolbox=server.config.toolbox, server=server.config.name)
            yield f"mcp_workbench_questions_refused_total{{{place}}} {server.unasked}"
        yield from _head("messages_dropped_total", "counter", "Log messages of servers to no one client.")
        for server in servers:
            place = _labels(toolbox=server.config.toolbox, server=server.config.name)
            yield f"mcp_workbench_messages_dropped_total{{{place}}} {server.untold}"
        for name, kind, says, value in (
            ("http_received_bytes_total", "counter", "Bytes of request bodies.", self.received),
            ("http_sent_bytes_total", "counter", "Bytes of response bodies.", self.sent),
            ("http_sessions", "gauge", "Sessions of clients up to 2025-11-25.", sessions),
            ("log_dropped_total", "counter", "Lines that the call log lost.", bench.journal.dropped),
        ):
            yield from _head(name, kind, says)
            yield f"mcp_workbench_{name} {value}"


def _head(name: str, kind: str, says: str) -> Iterator[str]:
    yield f"# HELP mcp_workbench_{name} {says}"
    yield f"# TYPE mcp_workbench_{name} {kind}"


def _histogram(tool: str, tally: _Tally) -> Iterator[str]:
    name = "mcp_workbench_call_duration_seconds"
    total = 0
    for bound, count in zip((*map(str, BUCKETS), "+Inf"), tally.buckets, strict=True):
        total += count
        yield f'{name}_bucket{{{tool},le="{bound}"}} {total}'
    yield f"{name}_sum{{{tool}}} {tally.seconds}"
    yield f"{name}_count{{{tool}}} {total}"


def _tool(ref: ToolRef) -> str:
    return _labels(toolbox=ref.toolbox, server=ref.server, tool=ref.name)


def _labels(**labels: str) -> str:
    return ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
