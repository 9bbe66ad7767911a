"""The MCP Inspector as a client: `--cli` for one request, `mcpdo` where one connection makes many calls."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from . import node
from .conftest import BIN, workbench_config, workbench_environment
from .oracle import PATIENCE, Server

pytestmark = pytest.mark.node

LAUNCHER = ("clients", "launcher", "build", "index.js")
MCPDO = ("clients", "mcpdo", "build", "mcp-bin.js")
ECHO = {
    "tool": {"toolbox": "everything", "server": "everything", "name": "echo"},
    "arguments": {"message": "hello"},
}

Run = Callable[..., Any]


@pytest.fixture
def daemon_folder() -> Iterator[Path]:
    """A short path, for there is a socket in it."""
    with tempfile.TemporaryDirectory(prefix="mcpdo-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@pytest.fixture
def inspector(node_program: str, tmp_path: Path, daemon_folder: Path) -> Callable[..., Run]:
    """Runs a program of the Inspector with a home of its own; the JSON that it prints."""
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "MCP_INSPECTOR_SECRET_STORE": "memory",
        "MCP_INSPECTOR_DAEMON_DIR": str(daemon_folder),
    }

    def of(*program: str) -> Run:
        script = node.package("@modelcontextprotocol/inspector", *program)

        def run(*args: str, status: int = 0) -> Any:
            done = subprocess.run(
                [node_program, script, *args],
                cwd=tmp_path,
                env=env,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )
            assert done.returncode == status, done.stderr
            return json.loads(done.stdout)

        return run

    return of


@pytest.fixture
def target(everything: Server, tmp_path: Path) -> list[str]:
    """The workbench on the Inspector's command line."""
    given = workbench_environment(workbench_config(tmp_path, everything))
    variables = [part for name, value in given.items() for part in ("-e", f"{name}={value}")]
    return [*variables, str(BIN / "mcp-workbench")]


@pytest.fixture(params=["legacy", "modern"])
def cli(
    request: pytest.FixtureRequest, inspector: Callable[..., Run], target: list[str]
) -> Callable[..., Any]:
    """The Inspector's `--cli` in either era: one connection, one request."""
    run = inspector(*LAUNCHER)

    def ask(method: str, *args: str, status: int = 0) -> Any:
        era = ("--protocol-era", str(request.param))
        return run("--cli", *target, *era, "--quiet", "--method", method, *args, status=status)

    return ask


def test_the_inspector_lists_the_meta_tools(cli: Callable[..., Any]) -> None:
    open_toolbox, use_tool, _ = cli("tools/list")["tools"]
    assert open_toolbox["name"] == "open_toolbox"
    assert open_toolbox["description"].endswith("- everything: Only everything\n- all: All of them")
    assert use_tool["name"] == "use_tool"


def test_the_inspector_finds_no_fault_with_our_schemas(cli: Callable[..., Any]) -> None:
    assert cli("tools/list", "--strict")["tools"]


def test_the_inspector_opens_a_toolbox(cli: Callable[..., Any]) -> None:
    result = cli("tools/call", "--tool-name", "open_toolbox", "--tool-arg", "toolbox=everything")
    assert not result.get("isError")
    listing = json.loads(result["content"][0]["text"])
    assert listing == result["structuredContent"]
    assert (listing["toolbox"], listing["servers_connected"]) == ("everything", 1)
    assert listing["tools"][0]["name"] == "echo"
    assert {(tool["toolbox"], tool["server"]) for tool in listing["tools"]} == {("everything", "everything")}


def test_the_inspector_is_told_to_open_a_toolbox_first(cli: Callable[..., Any]) -> None:
    # Status 5 is the Inspector's for a tool that says isError.
    call = ("--tool-name", "use_tool", "--tool-args-json", json.dumps(ECHO))
    result = cli("tools/call", *call, status=5)
    text = "Error executing tool: Toolbox 'everything' is not open. Call open_toolbox first."
    assert result["content"] == [{"type": "text", "text": text}]
    assert result["isError"] is True


@pytest.fixture(params=["legacy", "modern"])
def connection(
    request: pytest.FixtureRequest, inspector: Callable[..., Run], target: list[str]
) -> Iterator[Callable[..., Any]]:
    """A connection that the Inspector keeps, to call tools by name and arguments."""
    run = inspector(*MCPDO)
    run("--format", "json", "--connection", "workbench", "connect", "--era", str(request.param), *target)
    try:
        yield lambda tool, arguments: run(
            "--format", "json", "--connection", "workbench", "tools/call", tool, json.dumps(arguments)
        )
    finally:
        run("--format", "json", "daemon", "stop")


def test_the_inspector_opens_a_toolbox_and_uses_a_tool_of_it(connection: Callable[..., Any]) -> None:
    opened = connection("open_toolbox", {"toolbox": "everything"})
    assert opened["structuredContent"]["servers_connected"] == 1
    used = connection("use_tool", ECHO)
    assert used["content"] == [{"type": "text", "text": "Echo: hello"}]
