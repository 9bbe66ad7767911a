"""Who is measured over stdio: how each is started, greeted and called. Nobody is measured here."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import competitors
from .load import Pipes
from .process import Process

HERE = Path(__file__).parent
ECHO = (sys.executable, str(HERE / "echo.py"))

CLIENT = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}

# There is no setting that turns the log off, so its price is measured against a process that lacks the line.
WITHOUT_LOG = """
import sys
from mcp_workbench.journal import Journal
Journal.write = lambda self, call, cost, error=None, answer=(): None
Journal.note = lambda self, call: None
from mcp_workbench.__main__ import main
sys.exit(main())
"""


class Target:
    """The echo server by itself, which is the limit for everyone else."""

    name = "direct"
    what = "a Python echo server, called by the load client itself"

    def prepare(self) -> None:
        """Install or build what is needed. Raises Missing."""

    def start(self, folder: Path) -> Process:
        return Process(ECHO, log=folder / f"{self.name}.log")

    def greet(self, pipes: Pipes) -> None:
        pipes.ask("initialize", CLIENT)
        pipes.tell("notifications/initialized")

    def open(self, pipes: Pipes) -> Any:
        """Have the tools at hand; the answer that lists them."""
        return pipes.ask("tools/list", {})

    def request(self, id: int, text: str) -> bytes:
        return _call(id, "echo", {"text": text})


class Loopback(Target):
    """Gives every line back as it is: what the load client can do at most."""

    name = "loopback"
    what = "`cat`: the load client's own limit"

    def start(self, folder: Path) -> Process:
        return Process(["cat"], log=folder / "loopback.log")


class Pump(Target):
    name = "byte pump"
    what = "`bench/pump.c`, which moves bytes to the echo server and back: the floor of any extra process"

    def __init__(self) -> None:
        self._command = [sys.executable, str(HERE / "pump.py")]

    def prepare(self) -> None:
        compiler = shutil.which("cc")
        if compiler is None:
            self.what = "`bench/pump.py` (no C compiler here), which moves bytes to the echo server and back"
            return
        competitors.CACHE.mkdir(exist_ok=True)
        program = str(competitors.CACHE / "pump")
        subprocess.run([compiler, "-O2", "-pthread", "-o", program, str(HERE / "pump.c")], check=True)
        self._command = [program]

    def start(self, folder: Path) -> Process:
        return Process([*self._command, *ECHO], log=folder / "pump.log")


def children(count: int, tools: int = 1) -> dict[str, Any]:
    """Configuration entries of so many echo servers; the first is `echo`."""
    names = ["echo", *(f"echo{number}" for number in range(1, count))]
    return {name: {"command": ECHO[0], "args": [*ECHO[1:], str(tools)]} for name in names}


@dataclass
class Workbench(Target):
    """The workbench with these servers in one toolbox, of which one tool is called."""

    name: str = "workbench"
    what: str = "MCP Workbench, with the call log and masking on"
    servers: Mapping[str, Any] = field(default_factory=lambda: children(1))
    tool: tuple[str, str] = ("echo", "echo")
    log: bool = True

    def command(self, folder: Path, *arguments: str) -> tuple[list[str], dict[str, str]]:
        """The command and its environment; everything that it writes is below `folder`."""
        home = folder / self.name
        home.mkdir(exist_ok=True)
        config = home / "workbench-config.json"
        toolbox = {"description": "For measuring", "mcpServers": self.servers}
        config.write_text(json.dumps({"toolboxes": {"bench": toolbox}}))
        program = ["-m", "mcp_workbench"] if self.log else ["-c", WITHOUT_LOG]
        env = {"WORKBENCH_CONFIG": str(config), "XDG_STATE_HOME": str(home), "XDG_CONFIG_HOME": str(home)}
        return [sys.executable, *program, *arguments], env

    def start(self, folder: Path) -> Process:
        command, env = self.command(folder)
        return Process(command, log=folder / f"{self.name}.log", env=env)

    def greet(self, pipes: Pipes) -> None:
        super().greet(pipes)
        # `initialize` is answered before all of it is there, and what is measured next is not the start.
        pipes.ask("tools/list", {})

    def open(self, pipes: Pipes) -> Any:
        arguments = {"toolbox": "bench", "detail": "json"}
        result = pipes.ask("tools/call", {"name": "open_toolbox", "arguments": arguments})
        listing = result.get("structuredContent", {})
        if result.get("isError"):
            raise RuntimeError(result["content"][0]["text"])
        if problems := listing.get("_errors"):
            raise RuntimeError(f"{len(problems)} servers: {problems[0]}")
        return listing

    def request(self, id: int, text: str) -> bytes:
        server, name = self.tool
        tool = {"toolbox": "bench", "server": server, "name": name}
        return _call(id, "use_tool", {"tool": tool, "arguments": {"text": text}})


@dataclass
class FastMcp(Target):
    name: str = "FastMCP"
    what: str = (
        f"FastMCP {competitors.FASTMCP}'s proxy, its session to the echo server opened once and reused"
    )
    servers: Mapping[str, Any] = field(default_factory=lambda: children(1))

    def prepare(self) -> None:
        competitors.fastmcp()

    def command(self, *arguments: str) -> list[str]:
        config = json.dumps({"mcpServers": self.servers})
        return [str(competitors.fastmcp()), str(HERE / "fastmcp_proxy.py"), config, *arguments]

    def start(self, folder: Path) -> Process:
        return Process(self.command(), log=folder / "fastmcp.log")


def _call(id: int, name: str, arguments: Mapping[str, Any]) -> bytes:
    """A line of `tools/call`; Python keeps the order of keys, so the text stays the last value."""
    params = {"name": name, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"
