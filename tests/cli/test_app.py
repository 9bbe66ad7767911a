from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_workbench import __version__
from tests.support.launch import child, configuration, toolbox, write_config

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


def told(*arguments: str, cwd: Path) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "mcp_workbench", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
        cwd=cwd,
    )
    return done.returncode, done.stderr


def test_the_configuration_to_serve_is_named_in_both_usual_forms_and_before_no_command(
    tmp_path: Path,
) -> None:
    config = str(write_config(tmp_path, configuration(dev=toolbox())))
    assert told("--config", config, cwd=tmp_path) == (0, "")
    assert told(f"--config={config}", cwd=tmp_path) == (0, "")
    assert told(f"--config={config}x", cwd=tmp_path)[0] == 1
    for missing in (["--config"], ["--config="], ["--config", ""]):
        status, said = told(*missing, cwd=tmp_path)
        assert (status, "--config needs a path" in said) == (2, True)
    for before in (["--config", config], [f"--config={config}"]):
        status, said = told(*before, "toolboxes", cwd=tmp_path)
        assert (status, "mcp-workbench toolboxes --config PATH" in said) == (2, True)


@pytest.mark.parametrize(
    "command", [["serve", "--http", "127.0.0.1:0", "--json"], ["logs", "--follow", "--json"]]
)
def test_what_goes_on_until_ctrl_c_ends_by_it_with_status_0(tmp_path: Path, command: list[str]) -> None:
    config = str(write_config(tmp_path, configuration(dev=toolbox(echo=child("echo")))))
    environ = {**os.environ, "XDG_STATE_HOME": str(tmp_path)}
    call = ["call", "dev/echo/echo", "--config", config]
    subprocess.run([sys.executable, "-m", "mcp_workbench", *call], env=environ, timeout=30, check=True)
    with subprocess.Popen(
        [sys.executable, "-m", "mcp_workbench", *command, "--config", config],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environ,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline()
            process.send_signal(signal.SIGINT)
            assert process.communicate(timeout=30)[1] == b""
            assert process.returncode == 0
        finally:
            process.kill()
