"""The demo runs as a newcomer would run it, on a machine that has a configuration of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

DEMO = "import sys; from mcp_workbench.cli.demo import demo; sys.exit(demo())"


def run(cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", DEMO],
        cwd=cwd,
        env=dict(os.environ) | variables,
        capture_output=True,
        text=True,
        timeout=90,
    )


def test_the_demo_shows_the_instructions_a_toolbox_a_call_and_its_result(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    instructions, opened, used = (done.stdout.split("  → ")[n] for n in (1, 2, 3))
    assert "## Available Toolboxes" in instructions
    assert "hello_world(name, …)  Returns a greeting" in opened
    assert '"name": "hello_world"' in used
    assert "Hello, newcomer!" in used


def test_the_demo_leaves_the_configuration_of_the_user_alone(tmp_path: Path) -> None:
    (tmp_path / "workbench-config.json").write_text("not even JSON")
    done = run(
        tmp_path,
        WORKBENCH_CONFIG=str(tmp_path / "missing.json"),
        XDG_CONFIG_HOME=str(tmp_path / "config"),
        XDG_STATE_HOME=str(tmp_path / "state"),
    )
    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["workbench-config.json"]


def test_a_demo_that_does_not_work_says_why(tmp_path: Path) -> None:
    # A module of the same name is in the way of the workbench that the demo starts.
    (tmp_path / "msgspec.py").write_text("raise SystemExit('broken on purpose')")
    done = run(tmp_path, PYTHONPATH=str(tmp_path))
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "broken on purpose",
        "The demo did not work: the workbench ended without an answer to initialize",
    ]
