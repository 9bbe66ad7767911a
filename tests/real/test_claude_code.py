"""Claude Code as a client: the entry that people add, and whether it connects."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from . import node
from .conftest import BIN, workbench_config, workbench_environment
from .oracle import PATIENCE, Server

pytestmark = pytest.mark.node


@pytest.fixture
def claude(node_program: str, tmp_path: Path) -> Callable[..., str]:
    """Claude Code with a home of its own, and without anything that it would ask the network for."""
    script = node.package("@anthropic-ai/claude-code", "cli-wrapper.cjs")
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }

    def run(*args: str) -> str:
        done = subprocess.run(
            [node_program, script, *args],
            cwd=tmp_path,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def test_claude_code_connects_to_the_workbench_that_was_added(
    claude: Callable[..., str], time_server: Server, tmp_path: Path
) -> None:
    given = workbench_environment(workbench_config(tmp_path, time_server))
    variables = [part for name, value in given.items() for part in ("-e", f"{name}={value}")]
    command = str(BIN / "mcp-workbench")
    claude("mcp", "add", "--scope", "user", "workbench", *variables, "--", command)
    [line] = [line for line in claude("mcp", "list").splitlines() if line.startswith("workbench:")]
    assert command in line
    assert line.endswith("Connected")
    assert "Connected" in claude("mcp", "get", "workbench")


def test_claude_code_connects_to_the_entry_that_the_documentation_gives(
    claude: Callable[..., str], time_server: Server, tmp_path: Path
) -> None:
    entry = {
        "type": "stdio",
        "command": str(BIN / "mcp-workbench"),
        "env": workbench_environment(workbench_config(tmp_path, time_server)),
    }
    claude("mcp", "add-json", "--scope", "user", "workbench", json.dumps(entry))
    assert "Connected" in claude("mcp", "list")


def test_claude_code_shows_a_workbench_without_its_configuration_as_failed(
    claude: Callable[..., str], tmp_path: Path
) -> None:
    missing = f"WORKBENCH_CONFIG={tmp_path / 'missing.json'}"
    claude("mcp", "add", "--scope", "user", "workbench", "-e", missing, "--", str(BIN / "mcp-workbench"))
    assert "Failed to connect" in claude("mcp", "list")
