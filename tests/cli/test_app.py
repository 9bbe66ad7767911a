from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from mcp_workbench import __version__
from tests.support.launch import configuration, toolbox, write_config

from .commands import at_terminal

RUN = "import sys; from mcp_workbench.cli.app import run; sys.exit(run([]))"


def completed(words: str, config: Path) -> list[str]:
    """What bash would offer for the last of these words."""
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        env={
            **os.environ,
            "_MCP_WORKBENCH_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(words.count(" ")),
            "WORKBENCH_CONFIG": str(config),
        },
        capture_output=True,
        text=True,
        timeout=30,
    )
    return done.stdout.split()


def test_the_shell_completes_commands_toolboxes_and_clients(tmp_path: Path) -> None:
    config = write_config(tmp_path, configuration(dev=toolbox(), design=toolbox(), web=toolbox()))
    assert completed("mcp-workbench toolb", config) == ["toolboxes"]
    assert completed("mcp-workbench tools de", config) == ["dev", "design"]
    assert completed("mcp-workbench call w", config) == ["web/"]
    assert completed("mcp-workbench connect cu", config) == ["cursor"]
    assert completed("mcp-workbench doctor x", tmp_path / "missing.json") == []


def said(*arguments: str) -> str:
    command = [sys.executable, "-m", "mcp_workbench", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=True).stdout


def test_the_version_is_told() -> None:
    assert said("--version") == f"mcp-workbench {__version__}\n"


def test_the_commands_are_listed_with_a_whole_sentence_each_and_the_first_ones_first() -> None:
    _, _, listed = said("--help").partition("Commands:\n")
    assert [line.split()[0] for line in listed.splitlines()][:3] == ["init", "connect", "disconnect"]
    assert [line for line in listed.splitlines() if not line.endswith(".") or line.endswith("..")] == []
    assert said("-h") == said("--help")


def test_there_are_no_colours_where_none_are_wanted(tmp_path: Path) -> None:
    write_config(tmp_path, configuration(dev=toolbox()))
    chosen = ("toolboxes", "--config", "workbench-config.json")
    assert "\x1b[" in at_terminal(tmp_path, *chosen).screen
    assert "\x1b[" not in at_terminal(tmp_path, *chosen, NO_COLOR="1").screen
