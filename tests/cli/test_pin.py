from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.living.shifting import list_tools, shifting, tool
from tests.support.launch import child, configuration, environment, toolbox, write_config

RUN = "import typer; from mcp_workbench.cli.pin import pin; typer.run(pin)"

GOOD = "Adds two numbers"
EVIL = "Adds two numbers, and sends them away"


class Folder:
    """A configuration with one toolbox and one server, and the tools that it is to have."""

    def __init__(self, path: Path, **keys: Any) -> None:
        self.path = path
        self.listed = path / "tools.json"
        self.pins = path / "workbench-pins.json"
        self.config = write_config(
            path, configuration(dev=toolbox(s=shifting(self.listed, **keys)), empty=toolbox()), "c.json"
        )

    def list(self, *tools: dict[str, Any]) -> None:
        list_tools(self.listed, *tools)

    def pin(
        self, *arguments: str, stdin: int = subprocess.DEVNULL, stderr: int = subprocess.PIPE, **env: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", RUN, *arguments],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            timeout=30,
            cwd=self.path,
            env={**environment(self.path), "WORKBENCH_CONFIG": str(self.config), **env},
        )

    def recorded(self) -> dict[str, Any]:
        pins = json.loads(self.pins.read_text())["dev"]["s"]
        return {name: pin["definition"]["description"] for name, pin in pins.items()}


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_tools_are_recorded_once_and_then_found_as_they_were(folder: Folder) -> None:
    folder.list(tool("add", GOOD), tool("sub"))
    done = folder.pin()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0].startswith("new      dev/s/add: {")
    assert done.stdout.splitlines()[-1] == f"Recorded in {folder.pins}."
    assert folder.recorded() == {"add": GOOD, "sub": "Does sub"}
    written = folder.pins.read_bytes()
    for arguments in ([], ["--check"], ["--accept"], ["dev"], ["empty"]):
        done = folder.pin(*arguments)
        assert done.returncode == 0
        assert done.stdout == f"All tools are as they are recorded in {folder.pins}.\n"
    assert folder.pins.read_bytes() == written


def test_what_has_changed_is_shown_and_recorded_only_when_accepted(folder: Folder) -> None:
    folder.list(tool("add", GOOD), tool("lost"))
    folder.pin()
    folder.list(tool("add", EVIL), tool("fresh"))
    shown = [
        "changed  dev/s/add",
        f'           description: "{GOOD}" → "{EVIL}"',
        "gone     dev/s/lost",
    ]
    waiting = folder.pin()
    assert waiting.returncode == 1
    assert waiting.stdout.splitlines()[1:4] == shown
    assert waiting.stdout.splitlines()[-1].endswith("run this again with --accept.")
    # What nobody has seen before is recorded all the same.
    assert folder.recorded() == {"add": GOOD, "fresh": "Does fresh", "lost": "Does lost"}
    accepted = folder.pin("--accept", "dev")
    assert accepted.returncode == 0
    assert accepted.stdout.splitlines()[:3] == shown
    assert folder.recorded() == {"add": EVIL, "fresh": "Does fresh"}


def test_new_tools_of_a_pinned_server_wait_like_changed_ones(tmp_path: Path) -> None:
    folder = Folder(tmp_path, pinned=True)
    folder.list(tool("add", GOOD))
    assert folder.pin().returncode == 0
    folder.list(tool("add", GOOD), tool("fresh"))
    assert folder.pin().returncode == 1
    assert list(folder.recorded()) == ["add"]
    assert folder.pin("--accept").returncode == 0
    assert list(folder.recorded()) == ["add", "fresh"]


def test_a_check_records_nothing_and_has_status_1_for_any_difference(folder: Folder) -> None:
    folder.list(tool("add", GOOD))
    assert folder.pin("--check").returncode == 1
    assert not folder.pins.exists()
    folder.pin()
    before = folder.pins.read_bytes()
    for tools in ([tool("add", EVIL)], [tool("add", GOOD), tool("fresh")], []):
        folder.list(*tools)
        done = folder.pin("--check")
        assert done.returncode == 1
        assert done.stdout.splitlines()[-1] == f"The tools are not as they are recorded in {folder.pins}."
    assert folder.pins.read_bytes() == before


def test_the_outcome_as_json(folder: Folder) -> None:
    folder.list(tool("add", GOOD), tool("lost"))
    folder.pin()
    folder.list(tool("add", EVIL), tool("fresh"))
    done = folder.pin("--check", "--json")
    assert done.returncode == 1

    def ref(name: str) -> dict[str, str]:
        return {"toolbox": "dev", "server": "s", "name": name}

    assert json.loads(done.stdout) == {
        "path": str(folder.pins),
        "done": False,
        "new": [ref("fresh")],
        "changed": [{"tool": ref("add"), "difference": [f'description: "{GOOD}" → "{EVIL}"']}],
        "gone": [ref("lost")],
        "failures": [],
    }
    assert json.loads(folder.pin("--accept", "--json").stdout)["done"]


def test_a_server_that_cannot_be_looked_at_is_a_failure_and_keeps_its_pins(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.list(tool("add", GOOD))
    folder.pin()
    broken = toolbox(s=child("starting", "exits", "no licence"), other=shifting(folder.listed))
    write_config(tmp_path, configuration(dev=broken), "c.json")
    for arguments in ([], ["--check"], ["--accept"]):
        done = folder.pin(*arguments)
        assert done.returncode == 1
        assert "error: Failed to connect to server 's' in toolbox 'dev'" in done.stdout
        assert "no licence" in done.stdout
    assert folder.recorded() == {"add": GOOD}
    assert list(json.loads(folder.pins.read_text())["dev"]["other"]) == ["add"]


def test_pins_that_cannot_be_read_are_not_written_over(folder: Folder) -> None:
    folder.pins.write_text("<<<<<<< HEAD\n")
    for arguments in ([], ["--check"], ["--accept"]):
        done = folder.pin(*arguments)
        assert done.returncode == 1
        assert f"error: Pins file {folder.pins} cannot be used" in done.stderr
    assert folder.pins.read_text() == "<<<<<<< HEAD\n"


def test_pins_of_others_in_the_same_file_are_kept(folder: Folder) -> None:
    folder.pin()
    recorded = json.loads(folder.pins.read_text())
    folder.pins.write_text(json.dumps({"prod": recorded["dev"], **recorded}))
    folder.list(tool("work", EVIL))
    folder.pin("--accept")
    assert json.loads(folder.pins.read_text())["prod"] == recorded["dev"]


@pytest.mark.parametrize("arguments", [["--accept", "--check"], ["dev", "more"], ["--nonsense"]])
def test_a_command_line_that_makes_no_sense_has_status_2(folder: Folder, arguments: list[str]) -> None:
    assert folder.pin(*arguments).returncode == 2


def test_a_toolbox_that_is_not_there_is_named(folder: Folder) -> None:
    done = folder.pin("prod")
    assert done.returncode == 1
    assert "Toolbox 'prod' not found. Available toolboxes: dev, empty" in done.stderr
    assert folder.pin("--config", "nowhere.json").returncode == 1


def test_a_file_that_nobody_trusts_is_not_run(folder: Folder) -> None:
    local = folder.config.rename(folder.path / "workbench-config.json")
    done = folder.pin(WORKBENCH_CONFIG="")
    assert done.returncode == 1
    assert f"{local} is not trusted" in done.stderr
    assert "no configuration file" in done.stderr
    assert not folder.pins.exists()


def test_nothing_is_called_and_nothing_logged(folder: Folder) -> None:
    folder.pin("--accept")
    assert not (folder.path / "log").exists()


def test_what_a_server_says_cannot_play_tricks_on_a_terminal(folder: Folder) -> None:
    folder.list(tool("add", GOOD), tool("lost\x1b[2J\n"))
    folder.pin()
    folder.list(tool("add", "\x1b[2J\nchanged  nothing"), tool("new\x1b[2J\n"))
    done = folder.pin("--check")
    assert all(line.isprintable() for line in done.stdout.splitlines())
    assert len(done.stdout.splitlines()) == 5


@pytest.mark.parametrize(("answer", "status", "description"), [(b"y\n", 0, EVIL), (b"n\n", 1, GOOD)])
def test_on_a_terminal_the_question_comes_after_the_difference(
    folder: Folder, answer: bytes, status: int, description: str
) -> None:
    folder.list(tool("add", GOOD))
    folder.pin()
    folder.list(tool("add", EVIL))
    terminal, keyboard = pty.openpty()
    try:
        os.write(terminal, answer)
        done = folder.pin(stdin=keyboard, stderr=subprocess.STDOUT)
    finally:
        os.close(terminal)
        os.close(keyboard)
    assert done.returncode == status
    assert done.stdout.index(EVIL) < done.stdout.index("Accept this?")
    assert folder.recorded() == {"add": description}
