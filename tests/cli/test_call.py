from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.launch import child, configuration, toolbox, write_config

from .commands import COMMAND, PATIENCE, Place, at_terminal

ADD = """\
schema = {
    "name": "add",
    "description": "Adds",
    "type": "object",
    "properties": {
        "numbers": {"type": "array", "items": {"type": "integer"}, "description": "What to add"},
        "unit": {"type": "string", "description": "Of what"},
    },
    "required": ["numbers"],
}

def default(request):
    arguments = request.params.arguments
    return f"{sum(arguments['numbers'])} {arguments.get('unit', '')}".strip()
"""


WAIT = """\
import asyncio, os, pathlib

HERE = pathlib.Path(__file__).parent
schema = {"name": "wait", "description": "Waits", "type": "object", "properties": {}}

async def default(request):
    (HERE / "new").write_text(str(os.getpid()))
    (HERE / "new").rename(HERE / "started")
    try:
        await asyncio.sleep(600)
    except asyncio.CancelledError:
        (HERE / "cancelled").write_text("")
        raise
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    (place.project / "tools").mkdir()
    (place.project / "tools" / "add.py").write_text(ADD)
    servers = {"echo": child("echo"), "mine": {"path": "./tools"}, "a/b": child("echo")}
    config = write_config(place.project, configuration(dev=toolbox(**servers)), "c.json")
    place.environ["WORKBENCH_CONFIG"] = str(config)
    return place


def result(*content: dict[str, Any], **more: Any) -> str:
    """Arguments for the echo server's tool that answers with what it is told."""
    return json.dumps({"json": json.dumps({"content": list(content), **more})})


def test_arguments_are_read_by_the_tools_schema(place: Place) -> None:
    done = place.run("call", "dev/mine/add", "numbers=1", "numbers=[2,3]", "unit=007")
    assert (done.returncode, done.stdout) == (0, "6 007\n")
    assert place.run("call", "dev/mine/add", "--args", '{"numbers": [4]}').stdout == "4\n"
    assert place.run("call", "dev/mine/add", "-", given='{"numbers": [5]}').stdout == "5\n"


def test_the_call_has_its_line_in_the_log(place: Place) -> None:
    place.run("call", "dev/mine/add", "numbers=1")
    [line] = (place.project / "log" / "ToolBox.log").read_text().splitlines()
    assert {"tool": "add", "caller": "mcp-workbench call", "stat": "success"}.items() <= json.loads(
        line
    ).items()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["dev/mine/ad", "numbers=1"], "Tool 'ad' not found in server 'mine'. Did you mean 'add'?"),
        (["dev/mime/add"], "Server 'mime' not found in toolbox 'dev'. Did you mean 'mine'?"),
        (["de/mine/add"], "Toolbox 'de' not found. Did you mean 'dev'?"),
    ],
)
def test_a_name_with_a_typing_error_is_guessed(place: Place, arguments: list[str], said: str) -> None:
    done = place.run("call", *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["dev/mine/add"], "missing: numbers=…; expected add(numbers: integer[], unit?: string)"),
        (["dev/mine/add", "numbers=x"], "numbers=x; expected integer"),
        (["dev/mine/add", "numbers"], "numbers; expected key=value"),
        (["dev/mine/add", "--args", "[]"], "--args; expected a JSON object"),
        (["dev/mine/add", "--args", "{}", "a=1"], "--args; expected all arguments in it"),
        (["add"], "add; expected TOOLBOX/SERVER/TOOL"),
    ],
)
def test_a_command_line_that_makes_no_sense_says_what_would(
    place: Place, arguments: list[str], said: str
) -> None:
    done = place.run("call", *arguments)
    assert done.returncode == 2
    assert said in done.stderr


def test_an_argument_with_a_typing_error_is_warned_of(place: Place) -> None:
    done = place.run("call", "dev/mine/add", "numbers=1", "unti=x")
    assert "the tool declares no argument 'unti'. Did you mean 'unit'?" in done.stderr


def test_a_slash_in_a_servers_name_is_percent_encoded(place: Place) -> None:
    done = place.run("call", "dev/a%2Fb/raw", "--args", result({"type": "text", "text": "hi"}))
    assert (done.returncode, done.stdout) == (0, "hi\n")


def test_an_error_result_is_shown_with_status_1(place: Place) -> None:
    said = result({"type": "text", "text": "no such thing"}, isError=True)
    done = place.run("call", "dev/echo/raw", "--args", said)
    assert (done.returncode, done.stdout) == (1, "no such thing\n")
    failed = place.run("call", "dev/echo/fail", "message=broken")
    assert failed.returncode == 1
    assert "broken" in failed.stderr


def test_pictures_are_saved_and_structured_content_is_json(place: Place, tmp_path: Path) -> None:
    picture = {"type": "image", "mimeType": "image/png", "data": base64.b64encode(b"picture").decode()}
    saved = tmp_path / "saved"
    arguments = ["--args", result(picture, picture)]
    done = place.run("call", "dev/echo/raw", *arguments, "--save", str(saved))
    assert done.stdout.splitlines() == [f"{saved}/raw-1.png (7 bytes)", f"{saved}/raw-2.png (7 bytes)"]
    assert (saved / "raw-1.png").read_bytes() == b"picture"
    structured = place.run("call", "dev/echo/raw", "--args", result(structuredContent={"a": 1}))
    assert json.loads(structured.stdout) == {"a": 1}


def test_json_is_the_result_itself(place: Place) -> None:
    whole = {"content": [{"type": "new kind", "x": [1]}], "unknown": True}
    done = place.run("call", "dev/echo/raw", "--json", "--args", json.dumps({"json": json.dumps(whole)}))
    assert json.loads(done.stdout) == whole


def test_progress_is_a_bar_at_a_terminal_and_nothing_elsewhere(place: Place, tmp_path: Path) -> None:
    arguments = ["call", "dev/echo/progress", "steps:=3"]
    seen = at_terminal(tmp_path, *arguments, WORKBENCH_CONFIG=place.environ["WORKBENCH_CONFIG"])
    assert seen.status == 0
    assert "##] 3/3" in seen.screen
    assert "done" in seen.screen
    assert place.run(*arguments).stderr == ""


def test_ctrl_c_cancels_the_call_downstream_and_leaves_nothing_running(place: Place) -> None:
    (place.project / "tools" / "wait.py").write_text(WAIT)
    process = subprocess.Popen(
        [*COMMAND, "call", "dev/mine/wait"],
        cwd=place.project,
        env=place.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        _until((place.project / "tools" / "started").exists)
        worker = int((place.project / "tools" / "started").read_text())
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130
    assert errors.strip() == "Cancelled."
    assert (place.project / "tools" / "cancelled").exists()
    log = place.project / "log" / "ToolBox.log"
    assert json.loads(log.read_text())["err"] == "cancelled"
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)


def _until(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.05)
