"""The proof that a configuration works: every toolbox opened, and one harmless tool called."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import msgspec

from ..config import Config
from ..errors import ToolError
from ..names import ToolRef
from ..servers.call import Call
from ..servers.tool import Tool
from ..workbench import Workbench
from .session import Session, Settled
from .terminal import counted, error, good, plain

PATIENCE = 30.0
"""Seconds for the call."""


class _Shape(msgspec.Struct):
    required: list[str] = []


class _Definition(msgspec.Struct):
    inputs: _Shape = msgspec.field(name="inputSchema", default_factory=_Shape)


class CallMade(msgspec.Struct):
    """`failure` is None where the tool gave a result."""

    tool: ToolRef
    seconds: float
    failure: str | None = None

    def line(self) -> str:
        if self.failure is not None:
            return error(f"{self.tool} was called and failed: {self.failure}")
        return f"{good('✓')} called {plain(str(self.tool))}, which gave a result after {self.seconds:.2f} s"


class Proof(msgspec.Struct):
    servers: list[Settled]
    call: CallMade | None

    @property
    def works(self) -> bool:
        return not self.servers or any(each.failure is None for each in self.servers)

    def summary(self) -> str:
        working = [each for each in self.servers if each.failure is None]
        tools = counted(sum(each.tools for each in working), "tool")
        return f"{len(working)} of {counted(len(self.servers), 'server')} connected, {tools}."

    def as_json(self) -> dict[str, Any]:
        return {
            "servers": [each.as_json() for each in self.servers],
            "call": None if self.call is None else msgspec.to_builtins(self.call),
        }


async def prove(config: Config, tell: Callable[[Settled], None]) -> Proof:
    async with Session(config) as session:
        servers = await session.open(config.toolboxes, tell)
        ref = _harmless(session.workbench)
        return Proof(servers, await _call(session.workbench, ref) if ref is not None else None)


async def _call(workbench: Workbench, ref: ToolRef) -> CallMade:
    began = time.perf_counter()
    failure: str | None = None
    try:
        async with asyncio.timeout(PATIENCE):
            call = Call(ref=ref, arguments=b"{}", caller="mcp-workbench init")
            result = await workbench.call(call)
        failure = result.error_text
    except ToolError as problem:
        failure = str(problem)
    except TimeoutError:
        failure = f"no answer within {PATIENCE:g} s"
    return CallMade(ref, time.perf_counter() - began, failure)


def _harmless(workbench: Workbench) -> ToolRef | None:
    """A tool that declares to change nothing, and needs no argument."""
    for toolbox in workbench.toolboxes.values():
        for server in toolbox.servers.values():
            for tool in server.tools.values():
                if tool.read_only and _needs_nothing(tool):
                    return ToolRef(toolbox.config.name, server.config.name, tool.name)
    return None


def _needs_nothing(tool: Tool) -> bool:
    try:
        return not msgspec.json.decode(tool.definition, type=_Definition).inputs.required
    except (msgspec.DecodeError, RecursionError):
        return False
