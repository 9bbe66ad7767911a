"""The first exchange: what a client has said before we are up is answered once, whole and in order."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.client import MODERN_META, Client
from tests.support.launch import Launcher, child, configuration, environment, toolbox, write_config

CONFIG = configuration(dev=toolbox(echo=child("echo")))
INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw"}}


class Early:
    """A client that speaks before anybody listens: what it says is in the pipe when the workbench starts."""

    def __init__(self, workbench: Launcher) -> None:
        self._workbench = workbench
        self._reading, self._writing = os.pipe()

    def say(self, data: bytes) -> None:
        os.write(self._writing, data)

    def start(self) -> Client:
        return self._workbench(CONFIG, stdin=self._reading)

    def close(self) -> None:
        os.close(self._reading)
        os.close(self._writing)


@pytest.fixture
def early(workbench: Launcher) -> Iterator[Early]:
    early = Early(workbench)
    yield early
    early.close()


def request(id: int, method: str, params: dict[str, Any] | None = None) -> bytes:
    message = {"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}}
    return json.dumps(message).encode() + b"\n"


def test_what_was_said_before_the_start_is_answered_once_and_in_order(early: Early) -> None:
    early.say(request(1, "initialize", INITIALIZE))
    early.say(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    early.say(request(2, "tools/list") + request(3, "ping"))
    client = early.start()
    client.response(3)
    assert [message["id"] for message in client.messages] == [1, 2, 3]
    assert client.messages[0]["result"]["protocolVersion"] == "2025-11-25"
    assert "**dev** (1 server)" in client.messages[0]["result"]["instructions"]


def test_both_ways_give_the_same_answer(early: Early, workbench: Launcher) -> None:
    early.say(request(1, "initialize", INITIALIZE))
    at_first = early.start().response(1)
    client = workbench(CONFIG)
    client.request("ping")
    assert client.request("initialize", INITIALIZE)["result"] == at_first["result"]


def test_a_client_that_was_answered_early_is_known_afterwards(early: Early, tmp_path: Path) -> None:
    early.say(request(1, "initialize", {**INITIALIZE, "clientInfo": {"name": "early bird"}}))
    client = early.start()
    client.response(1)
    tool = {"toolbox": "dev", "server": "echo", "name": "echo"}
    early.say(request(2, "tools/call", {"name": "open_toolbox", "arguments": {"toolbox": "dev"}}))
    client.response(2)
    early.say(request(3, "tools/call", {"name": "use_tool", "arguments": {"tool": tool}}))
    client.response(3)
    (log,) = tmp_path.rglob("ToolBox.log")
    assert json.loads(log.read_text())["caller"] == "early bird"


def test_a_client_that_was_answered_early_hears_of_changes(early: Early, tmp_path: Path) -> None:
    early.say(request(1, "initialize", INITIALIZE) + request(2, "ping"))
    client = early.start()
    client.response(2)
    (path,) = tmp_path.rglob("workbench-config.json")
    write_config(path.parent, configuration(dev=toolbox(), more=toolbox()))
    client.wait_for(lambda message: message.get("method") == "notifications/tools/list_changed")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_right_after_the_first_answer_is_taken_as_any_other(early: Early, number: int) -> None:
    early.say(request(1, "initialize", INITIALIZE))
    client = early.start()
    client.response(1)
    client.process.send_signal(number)
    if number == signal.SIGHUP:
        early.say(request(2, "ping"))
        client.response(2)
    else:
        assert client.wait() == 0, client.stderr


def test_a_modern_client_is_told_of_us_before_anything_else(early: Early) -> None:
    early.say(request(1, "server/discover", {"_meta": MODERN_META}))
    early.say(request(2, "tools/list", {"_meta": MODERN_META}))
    client = early.start()
    client.response(2)
    first, second = (message["result"] for message in client.messages)
    assert first["supportedVersions"] == ["2026-07-28"]
    assert second["tools"][0]["name"] == "open_toolbox"


def test_a_first_line_that_is_half_there_is_answered_when_it_is_whole(early: Early) -> None:
    line = request(1, "initialize", INITIALIZE)
    early.say(line[:40])
    client = early.start()
    with pytest.raises(TimeoutError):
        client.response(1, timeout=0.5)
    early.say(line[40:])
    assert client.response(1)["result"]["protocolVersion"] == "2025-11-25"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (request(1, "initialize"), -32602),
        (request(1, "server/discover"), -32602),
        (request(1, "initialize", {"protocolVersion": 5}), -32602),
        (request(1, "tools/destroy"), -32601),
        (b"hello\n", -32700),
        (b"\n[]\n", -32600),
    ],
)
def test_a_first_line_that_is_wrong_is_answered_as_any_other(early: Early, line: bytes, code: int) -> None:
    early.say(line + request(2, "ping"))
    client = early.start()
    client.response(2)
    assert [message.get("error", {}).get("code") for message in client.messages] == [code, None]


def test_an_answer_that_does_not_fit_into_the_pipe_comes_when_there_is_room(tmp_path: Path) -> None:
    """The pipe never blocks and is full but for a little, so that the answer's beginning goes out early."""
    config = write_config(tmp_path, configuration(dev=toolbox(description="long " * 2000)))
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    os.write(writing, b"\n" * (65536 - 8192))
    process = subprocess.Popen(
        [sys.executable, "-m", "mcp_workbench"],
        stdin=subprocess.PIPE,
        stdout=writing,
        env={**environment(tmp_path), "WORKBENCH_CONFIG": str(config)},
        cwd=tmp_path,
    )
    os.close(writing)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.communicate(request(1, "initialize", INITIALIZE) + request(2, "ping"), timeout=0.5)
    with open(reading, "rb") as output:
        lines = [json.loads(line) for line in output if line.strip()]
    assert process.wait(10) == 0
    assert [line["id"] for line in lines] == [1, 2]
    assert lines[0]["result"]["instructions"].count("long ") == 2000
