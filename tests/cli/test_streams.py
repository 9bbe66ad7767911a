"""Streams that are closed, unread, or of few characters, and folders and paths of that kind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.launch import child, configuration, toolbox, write_config

from .commands import COMMAND, PATIENCE, Place

ODD = b"odd-\xff"
"""Of a path: no UTF-8."""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    config = configuration(dev=toolbox(description="\u65e5 ${WHAT:-}", echo=child("echo")))
    place.environ["WORKBENCH_CONFIG"] = str(write_config(tmp_path, config))
    return place


def in_shell(place: Place, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A script whose `"$@"` is our command with these arguments."""
    return subprocess.run(
        ["bash", "-c", script, "bash", *COMMAND, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        cwd=place.project,
        env=place.environ,
    )


@pytest.mark.parametrize(
    ("arguments", "status"), [([], 0), (["init"], 2), (["toolboxes"], 0), (["serve", "--toolbox", "dev"], 0)]
)
@pytest.mark.parametrize("closed", ["<&-", "<&- >&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_reason_to_fail(
    place: Place, arguments: list[str], status: int, closed: str
) -> None:
    done = in_shell(place, f'"$@" {closed}', *arguments)
    assert done.returncode == status
    assert "Traceback" not in done.stderr


def test_without_stderr_a_command_does_its_work(place: Place) -> None:
    done = in_shell(place, '"$@" 2>&-', "tools")
    assert done.returncode == 0
    assert "dev/echo/slow()" in done.stdout


@pytest.mark.parametrize("arguments", [[], ["toolboxes"]])
def test_a_working_folder_that_is_gone_is_said_in_a_line(place: Place, arguments: list[str]) -> None:
    done = in_shell(place, 'mkdir gone; cd gone; rmdir ../gone; "$@"', *arguments)
    assert done.returncode == 1
    assert done.stderr == "mcp-workbench: the working folder cannot be used: No such file or directory\n"


def test_what_is_to_be_written_is_written_where_nobody_reads_what_is_said(place: Place) -> None:
    done = in_shell(place, '"$@" | true; exit ${PIPESTATUS[0]}', "connect", "cursor", "--yes")
    assert (done.returncode, done.stderr) == (0, "")
    assert "workbench" in json.loads((place.home / ".cursor" / "mcp.json").read_text())["mcpServers"]
    done = in_shell(place, '"$@" | true; exit ${PIPESTATUS[0]}', "init", "--dry-run", "--config", "new.json")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_an_encoding_with_few_characters_is_enough(place: Place, encoding: str) -> None:
    done = place.run("toolboxes", PYTHONIOENCODING=encoding)
    assert (done.returncode, done.stderr) == (0, "")
    done = place.run("demo", PYTHONIOENCODING=encoding)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_variable_that_is_not_in_utf_8_is_shown_as_an_escape(place: Place) -> None:
    what = os.fsdecode(b"\xff")
    assert "\\udcff" in place.run("toolboxes", WHAT=what).stdout
    [listed] = json.loads(place.run("toolboxes", "--json", WHAT=what).stdout)["toolboxes"]
    assert listed["description"] == f"\u65e5 {what}"
    assert json.loads(place.run("check", "--json", WHAT=what).stdout)["valid"]


def test_an_argument_that_is_not_in_utf_8_is_refused(place: Place) -> None:
    for arguments, given in ((["text=\udcff"], ""), (["-"], '{"text": "\\ud800"}')):
        done = place.run("call", "dev/echo/echo", *arguments, given=given)
        assert (done.returncode, "expected text in UTF-8" in done.stderr) == (2, True)


@pytest.mark.skipif(sys.platform == "darwin", reason="its file system has no such names")
def test_a_path_that_is_not_in_utf_8_is_as_good_as_any(place: Place) -> None:
    folder = os.path.join(place.project, os.fsdecode(ODD))
    os.mkdir(folder)
    path = os.path.join(folder, "workbench-config.json")
    os.link(place.environ["WORKBENCH_CONFIG"], path)
    chosen = ("--config", path)
    assert json.loads(place.run("check", "--json", path).stdout)["path"] == path
    assert json.loads(place.run("toolboxes", "--json", *chosen).stdout)["config"] == path
    assert place.run("index", *chosen).returncode == 0
    assert place.run("trust", path).returncode == 0
    assert "odd-" in place.run("trust", "--list").stdout
    assert place.run("new", "toolbox", "web", "--description", "x", *chosen).returncode == 0
    place.project = Path(folder)
    del place.environ["WORKBENCH_CONFIG"]
    done = place.run("toolboxes")
    assert "web" in done.stdout
    assert done.stderr == ""
    served = place.run()
    assert (served.returncode, served.stderr) == (0, "")
    done = place.run("connect", "cursor", "--yes")
    assert (done.returncode, "not in UTF-8" in done.stderr) == (1, True)
