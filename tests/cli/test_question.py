from __future__ import annotations

import os
import pty
import signal
import subprocess
from pathlib import Path

import pytest

from tests.support.launch import child, configuration, toolbox, write_config

from .commands import COMMAND, PATIENCE, Place, at_terminal


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def interrupted(place: Place, question: str, *arguments: str) -> tuple[int, str]:
    """The status and the screen of a command at whose question somebody presses Ctrl-C."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=place.project,
        env=place.environ,
    )
    os.close(theirs)
    seen = b""
    try:
        while question.encode() not in seen:
            seen += os.read(ours, 4096)
        process.send_signal(signal.SIGINT)
        status = process.wait(PATIENCE)
        try:
            while data := os.read(ours, 4096):
                seen += data
        except OSError:
            pass  # Linux says so when the other end is closed
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    return status, seen.decode()


@pytest.mark.parametrize(
    ("question", "arguments"),
    [
        ("What is it for", ["new", "toolbox", "web"]),
        ("Write ", ["init", "--config", "other.json"]),
        ("[y/N]", []),
        ("[y/N]", ["serve", "--http", "127.0.0.1:0"]),
    ],
)
def test_ctrl_c_at_a_question_is_status_130(place: Place, question: str, arguments: list[str]) -> None:
    if "new" not in arguments:
        write_config(place.project, configuration(dev=toolbox(echo=child("echo"))))
    status, screen = interrupted(place, question, *arguments)
    assert status == 130
    assert "Traceback" not in screen


def test_an_answer_that_is_none_is_asked_for_again(place: Place) -> None:
    seen = at_terminal(place.project, "init", "--no-proof", typed="perhaps\nn\n", HOME=str(place.home))
    assert seen.status == 0
    assert "Say y or n." in seen.screen
    assert "Nothing was written." in seen.screen


def test_at_a_terminal_serving_over_http_asks_about_a_file_that_is_not_trusted(place: Place) -> None:
    write_config(place.project, configuration(dev=toolbox(echo=child("echo"))))
    asked = at_terminal(
        place.project, "serve", "--http", "nowhere.invalid:0", typed="y\n", HOME=str(place.home)
    )
    assert "Use it, now and later? [y/N]" in asked.screen
    assert "is not trusted" not in asked.screen


@pytest.mark.parametrize("arguments", [[], ["serve", "--http", "nowhere.invalid:0"]])
def test_trust_that_cannot_be_kept_is_said(place: Place, arguments: list[str]) -> None:
    write_config(place.project, configuration(dev=toolbox(echo=child("echo"))))
    asked = at_terminal(place.project, *arguments, typed="y\n\x04", XDG_STATE_HOME="/dev/null/x")
    assert "it cannot be trusted: " in asked.screen
    assert "Traceback" not in asked.screen
