"""`connect` with Claude Code for real: what we write into its configuration is what it connects to."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from . import node
from .conftest import workbench_config
from .oracle import PATIENCE, Server

pytestmark = pytest.mark.node


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }


def said(*command: str, cwd: Path, env: dict[str, str]) -> str:
    done = subprocess.run(
        command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_claude_code_shows_the_workbench_connected_after_connect_and_not_after_disconnect(
    node_program: str, environ: dict[str, str], time_server: Server, tmp_path: Path
) -> None:
    config = workbench_config(tmp_path, time_server)
    claude = (node_program, node.package("@anthropic-ai/claude-code", "cli-wrapper.cjs"))
    ours = (sys.executable, "-m", "mcp_workbench")
    # Claude Code has been here, with a server of its own.
    entry = (
        "--scope",
        "user",
        "time",
        "--",
        time_server.entry["command"],
        *time_server.entry.get("args", []),
    )
    said(*claude, "mcp", "add", *entry, cwd=tmp_path, env=environ)

    said(*ours, "connect", "claude-code", "--config", str(config), "--yes", cwd=tmp_path, env=environ)
    lines = said(*claude, "mcp", "list", cwd=tmp_path, env=environ).splitlines()
    states = {line.split(":")[0]: line.rsplit(" ", 1)[-1] for line in lines if ": " in line}
    assert states == {"time": "Connected", "workbench": "Connected"}

    said(*ours, "disconnect", "claude-code", "--yes", cwd=tmp_path, env=environ)
    left = said(*claude, "mcp", "list", cwd=tmp_path, env=environ)
    assert "workbench" not in left
    assert "time" in left
