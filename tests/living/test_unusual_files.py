"""Configuration files that are pipes, have names that are no UTF-8, or hold what nobody thought of."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.support.client import Client, text
from tests.support.launch import Launcher, configuration, environment, toolbox, write_config

from .shifting import eventually, names, shifting
from .test_reload import Config, hang_up, rewrite, state

FEW_LOOKS = 1.5
"""Seconds in which a running workbench looks at its configuration more than once."""


@pytest.mark.parametrize(
    "faulty", ['"search": "\\ud800"', '"log": {"path": "\\udcff"}', '"search": {"\\ud800": 1}']
)
def test_half_a_character_is_refused_and_the_next_version_is_used(
    config_file: Config, workbench: Launcher, faulty: str
) -> None:
    file = config_file(configuration(dev=toolbox()))
    client = workbench(file)
    client.initialize()
    file.write_text(f'{{"toolboxes": {{}}, {faulty}}}')
    eventually(lambda: "half a character" in client.stderr.lower())
    eventually(lambda: "half a character" in (state(client)["reload_error"] or "").lower())
    rewrite(client, file, configuration(prod=toolbox()))
    assert client.open("prod")["tools"] == []
    eventually(lambda: state(client)["reload_error"] is None)


def test_a_folder_whose_name_is_no_utf8(tmp_path: Path, workbench: Launcher) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("the file system takes UTF-8 alone")
    tools = folder / "tools"
    tools.mkdir(mode=0o755)
    schema = {"name": "hello", "description": "Greets", "type": "object", "properties": {}}
    (tools / "hello.py").write_text(f"schema = {schema}\n\n\nasync def default(request):\n    return 'hi'\n")
    file = write_config(folder, configuration(dev=toolbox(s={"path": "./tools"})))
    client = workbench(file)
    client.initialize()
    assert names(client.open("dev")) == ["hello"]
    found = client.request("tools/call", {"name": "find_tools", "arguments": {"queries": ["greets"]}})
    assert "dev/s/hello" in text(found["result"])
    eventually(lambda: state(client)["config"] == f"{tmp_path}/caf\\udce9/workbench-config.json")
    rewrite(client, file, configuration(prod=toolbox()))
    assert client.open("prod")["tools"] == []
    assert "Traceback" not in client.stderr


def test_a_pipe_is_read_once_and_not_watched(tmp_path: Path, workbench: Launcher) -> None:
    pipe = tmp_path / "c.json"
    os.mkfifo(pipe)
    config = configuration(dev=toolbox(s=shifting(tmp_path / "t.json")))
    writing = threading.Thread(target=pipe.write_text, args=(json.dumps(config),), daemon=True)
    writing.start()
    client = workbench(pipe)
    client.initialize()
    assert names(client.open("dev")) == ["work"]
    time.sleep(FEW_LOOKS)
    client.request("ping")
    hang_up(client)
    eventually(lambda: f"{pipe} is no regular file: it was read at the start" in client.stderr)
    client.request("ping")
    assert state(client)["reload_error"] is None
    client.process.send_signal(signal.SIGTERM)
    client.process.wait(10)


def test_the_output_of_a_command_is_read_once(tmp_path: Path) -> None:
    file = write_config(tmp_path, configuration(dev=toolbox()))
    start = f"exec {sys.executable} -m mcp_workbench --config <(cat {file})"
    client = Client(["bash", "-c", start], env=environment(tmp_path), cwd=tmp_path, mark=f"{tmp_path}/state")
    client.initialize()
    time.sleep(FEW_LOOKS)
    assert client.open("dev")["tools"] == []
    assert client.stderr == ""
    assert client.end() == 0
    assert client.left_behind() == []


def test_a_file_that_became_a_pipe_is_not_waited_for(config_file: Config, workbench: Launcher) -> None:
    file = config_file(configuration(dev=toolbox()))
    client = workbench(file)
    client.initialize()
    assert client.open("dev")["tools"] == []
    file.unlink()
    os.mkfifo(file)
    eventually(lambda: "cannot be read: it is no regular file" in client.stderr)
    client.request("ping")
    file.unlink()
    rewrite(client, file, configuration(prod=toolbox()))
    assert client.open("prod")["tools"] == []
