"""Real clients over HTTP: the official SDK, the Inspector's command line in both eras, Claude Code."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.real import node
from tests.support.client import invocation

from .served import Served

PATIENCE = 60.0


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_official_client_opens_a_toolbox_and_uses_a_tool(served: Served, mode: str) -> None:
    async def run() -> None:
        async with (
            httpx2.AsyncClient(headers=served.headers, timeout=30) as http,
            Client(streamable_http_client(served.url, http_client=http), mode=mode) as client,
        ):
            expected = "2025-11-25" if mode == "legacy" else "2026-07-28"
            assert client.protocol_version == expected
            assert client.server_capabilities.prompts is not None
            opened = await client.call_tool("open_toolbox", {"toolbox": "dev"})
            assert not opened.is_error
            heard: list[float] = []

            async def progressed(progress: float, total: float | None, message: str | None) -> None:
                heard.append(progress)

            used = await client.call_tool(
                "use_tool",
                invocation("dev/echo/progress", {"steps": 4, "pause": 0.05}),
                progress_callback=progressed,
            )
            assert used.content[0].model_dump()["text"] == "done"
            assert heard == [1, 2, 3, 4]
            slow = await client.call_tool("use_tool", invocation("dev/echo/slow", {"seconds": 0.3}))
            assert slow.content[0].model_dump()["text"] == "slept 0.3"

    asyncio.run(asyncio.wait_for(run(), PATIENCE))


@pytest.fixture
def inspector(node_program: str, tmp_path: Path, served: Served) -> Callable[..., Any]:
    """The Inspector's `--cli`: one connection, one request; the JSON that it prints."""
    script = node.package("@modelcontextprotocol/inspector", "clients", "launcher", "build", "index.js")
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "MCP_INSPECTOR_SECRET_STORE": "memory",
        "MCP_INSPECTOR_DAEMON_DIR": str(tmp_path / "daemon"),
    }

    def ask(era: str, method: str, *args: str) -> Any:
        token = served.headers["Authorization"]
        target = [served.url, "--transport", "http", "--header", f"Authorization: {token}"]
        done = subprocess.run(
            [
                node_program,
                script,
                "--cli",
                *target,
                "--protocol-era",
                era,
                "--quiet",
                "--method",
                method,
                *args,
            ],
            cwd=tmp_path,
            env=env,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return ask


@pytest.mark.node
@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_lists_opens_and_uses(inspector: Callable[..., Any], era: str) -> None:
    names = [tool["name"] for tool in inspector(era, "tools/list", "--strict")["tools"]]
    assert names[0] == "open_toolbox"
    assert "use_tool" in names
    opened = inspector(era, "tools/call", "--tool-name", "open_toolbox", "--tool-arg", "toolbox=dev")
    assert opened["structuredContent"]["servers_connected"] == 1
    call = json.dumps(invocation("dev/echo/echo", {"x": [1]}))
    used = inspector(era, "tools/call", "--tool-name", "use_tool", "--tool-args-json", call)
    assert json.loads(used["content"][0]["text"]) == {"x": [1]}


@pytest.mark.node
def test_claude_code_connects_with_the_command_that_a_start_prints(
    served: Served, node_program: str, tmp_path: Path
) -> None:
    script = node.package("@anthropic-ai/claude-code", "cli-wrapper.cjs")
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }

    def run(command: str) -> str:
        done = subprocess.run(
            ["sh", "-c", f'claude() {{ "{node_program}" "{script}" "$@"; }}; {command}'],
            cwd=tmp_path,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    [line] = [line for line in served.stderr.splitlines() if line.startswith("Claude Code: ")]
    run(line.removeprefix("Claude Code: "))
    [listed] = [line for line in run("claude mcp list").splitlines() if line.startswith("workbench:")]
    assert served.url in listed
    assert listed.endswith("Connected")
