"""A toolbox used through a recording workbench, and then served again from what that left behind."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.client import Client, text
from tests.support.launch import Launcher, child, configuration, environment, toolbox, write_config

ODD = {
    "content": [
        {"type": "text", "text": "tab\there", "annotations": {"x": 1}},
        {"type": "hologram", "z": [1]},
    ],
    "structuredContent": {"n": 1.50, "large": 12345678901234567890},
    "_meta": {"example.com/a": True},
    "unheardOf": "🎺",
}

Record = Callable[..., Client]


@pytest.fixture
def record(workbench: Launcher) -> Record:
    """A recording workbench with the toolbox `dev` of these servers, opened."""

    def start(**servers: Any) -> Client:
        config = {**configuration(dev=toolbox(**servers)), "log": {"record": True}}
        client = workbench(write_config(workbench.folder, config))
        client.initialize()
        client.open("dev")
        return client

    return start


Serve = Callable[..., Client]


@pytest.fixture
def serve(workbench: Launcher) -> Serve:
    """What was recorded, as a server; its client has said hello."""

    def start(log: Path | None = None) -> Client:
        path = log or workbench.folder / "log" / "ToolBox.log"
        client = workbench(
            workbench.folder / "no-config.json", args=("replay", str(path), "--toolbox", "dev")
        )
        client.initialize()
        return client

    return start


def test_tools_and_results_are_as_they_were(record: Record, serve: Serve) -> None:
    client = record(echo=child("echo"))
    listing = client.open("dev")["tools"]
    odd = json.dumps(ODD)
    results = [
        client.use("dev/echo/echo", {"b": [1, 2.0], "a": {"y": 1, "x": None}}),
        client.use("dev/echo/echo"),
        client.use("dev/echo/raw", {"json": odd}),
        client.use("dev/echo/large", {"size": 100_000}),
    ]
    client.end()
    server = serve()
    tools = server.request("tools/list")["result"]["tools"]
    assert tools == [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in listing]
    assert [
        server.call("echo", {"a": {"x": None, "y": 1.0}, "b": [1, 2]}),
        server.call("echo", {}),
        server.call("raw", {"json": odd}),
        server.call("large", {"size": 100_000}),
    ] == results
    assert results[2] == ODD


def test_replay_starts_no_server_and_leaves_the_log_as_it_is(
    record: Record, serve: Serve, workbench: Launcher
) -> None:
    client = record(echo=child("echo"))
    client.use("dev/echo/echo", {"n": 1})
    client.end()
    before = {file: file.read_bytes() for file in workbench.folder.glob("log/**/*") if file.is_file()}
    server = serve()
    assert text(server.call("echo", {"n": 1})) == '{"n": 1}'
    assert server.remember_processes() == set()
    server.end()
    after = {file: file.read_bytes() for file in workbench.folder.glob("log/**/*") if file.is_file()}
    assert after == before


def test_a_recording_can_be_moved(record: Record, serve: Serve, workbench: Launcher) -> None:
    client = record(echo=child("echo"))
    client.use("dev/echo/echo", {"n": 1})
    client.end()
    shutil.move(workbench.folder / "log", workbench.folder / "fixtures")
    server = serve(workbench.folder / "fixtures" / "ToolBox.log")
    assert text(server.call("echo", {"n": 1})) == '{"n": 1}'


def test_an_unknown_call_is_an_error_with_the_nearest_recorded_one(record: Record, serve: Serve) -> None:
    client = record(echo=child("echo"))
    for path in ("/etc/hosts", "/etc/passwd", "/var/log/syslog"):
        client.use("dev/echo/echo", {"path": path, "head": 10})
    client.end()
    server = serve()
    error = server.request(
        "tools/call", {"name": "echo", "arguments": {"path": "/etc/passwords", "head": 10}}
    )["error"]
    assert error == {
        "code": -32602,
        "message": (
            'No recorded call of \'echo\' has the arguments {"head": 10, "path": "/etc/passwords"}. '
            'The nearest of 3 has {"head": 10, "path": "/etc/passwd"}. '
            'The difference: path: "/etc/passwd" → "/etc/passwords"'
        ),
    }
    error = server.request("tools/call", {"name": "slow", "arguments": {"seconds": 1}})["error"]
    assert error["message"] == "No call of 'slow' is on record; it was called with {\"seconds\": 1}"
    error = server.request("tools/call", {"name": "nobody", "arguments": {}})["error"]
    assert error["message"] == "No call of 'nobody' is on record; it was called with {}"


def test_failures_are_as_they_were(record: Record, serve: Serve) -> None:
    client = record(echo=child("echo", limits={"timeout": 0.5}))
    client.use("dev/echo/fail", {"code": -32050, "message": "no", "data": {"why": [1]}})
    client.use("dev/echo/raw", {"json": '{"content":[],"isError":true}'})
    late = client.use("dev/echo/slow", {"seconds": 60})
    client.end()
    server = serve()
    params = {"name": "fail", "arguments": {"code": -32050, "message": "no", "data": {"why": [1]}}}
    assert server.request("tools/call", params)["error"] == {
        "code": -32050,
        "message": "no",
        "data": {"why": [1]},
    }
    assert server.call("raw", {"json": '{"content":[],"isError":true}'}) == {"content": [], "isError": True}
    assert server.call("slow", {"seconds": 60}) == late
    assert "time-out" in text(late)


def test_a_call_that_was_made_several_times_is_answered_in_the_same_order(
    record: Record, serve: Serve
) -> None:
    client = record(echo=child("echo"))
    first = client.use("dev/echo/about")
    client.use("dev/echo/die")
    second = client.use("dev/echo/about")
    assert first != second
    client.end()
    server = serve()
    assert [server.call("about", {}) for _ in range(4)] == [first, second, second, second]


def test_what_was_masked_may_be_anything(record: Record, serve: Serve) -> None:
    client = record(echo=child("echo"))
    client.use("dev/echo/slow", {"seconds": 0, "password": "hunter22"})
    client.end()
    server = serve()
    assert text(server.call("slow", {"seconds": 0, "password": "something else"})) == "slept 0"


def test_a_secret_is_masked_in_data_and_in_the_text_that_says_the_same(record: Record, serve: Serve) -> None:
    def holding(password: object) -> dict[str, Any]:
        data = {"user": "ann", "password": password, "more": json.dumps({"token": "canary-7", "n": [1]})}
        return {"content": [{"type": "text", "text": json.dumps(data)}], "structuredContent": data}

    client = record(echo=child("echo"))
    for password in ("canary-1", 4711):
        assert client.use("dev/echo/raw", {"json": json.dumps(holding(password))}) == holding(password)
    client.end()
    server = serve()
    for password in ("another", 815):
        result = server.call("raw", {"json": json.dumps(holding(password))})
        assert "canary" not in json.dumps(result)
        more = json.dumps({"token": "[masked]", "n": [1]})
        assert result["structuredContent"] == {"user": "ann", "password": "[masked]", "more": more}
        assert json.loads(text(result)) == result["structuredContent"]


def test_several_servers_are_served_as_one(record: Record, serve: Serve) -> None:
    client = record(one=child("echo", "alone"), two=child("echo"))
    client.use("dev/one/alone", {"n": 1})
    client.use("dev/two/echo", {"n": 2})
    client.end()
    server = serve()
    names = [tool["name"] for tool in server.request("tools/list")["result"]["tools"]]
    assert {"alone", "one__echo", "two__echo"} < set(names)
    assert text(server.call("alone", {"n": 1})) == '{"n": 1}'
    assert text(server.call("two__echo", {"n": 2})) == '{"n": 2}'
    error = server.request("tools/call", {"name": "one__echo", "arguments": {"n": 2}})["error"]
    assert error["message"].startswith("No call of 'echo' is on record")


@pytest.mark.parametrize("modern", [False, True])
def test_a_modern_servers_results_reach_clients_of_either_era(
    record: Record, serve: Serve, modern: bool
) -> None:
    client = record(new=child("modern"))
    said = {"json": '{"resultType":"complete","content":[],"structuredContent":[1,2]}'}
    live = client.use("dev/new/raw", said, modern=modern)
    assert live["structuredContent"] == ([1, 2] if modern else {"result": [1, 2]})
    client.end()
    assert serve().call("raw", said, modern=modern) == live


def test_the_recording_survives_a_killed_workbench(record: Record, serve: Serve, workbench: Launcher) -> None:
    client = record(echo=child("echo"))
    workbench.expected_status[client] = -signal.SIGKILL
    client.use("dev/echo/echo", {"n": 1})
    client.signal(signal.SIGKILL)
    client.wait()
    assert text(serve().call("echo", {"n": 1})) == '{"n": 1}'


def replay(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mcp_workbench", "replay", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=30, cwd=folder, env=environment(folder), input=""
    )


def test_a_toolbox_that_is_not_recorded_is_an_error_that_names_the_recorded_ones(
    record: Record, workbench: Launcher
) -> None:
    record(echo=child("echo")).end()
    done = replay(workbench.folder, "log/ToolBox.log", "--toolbox", "prod")
    assert (done.returncode, done.stdout) == (1, "")
    assert "Toolbox 'prod' is not recorded beside log/ToolBox.log. Recorded toolboxes: dev" in done.stderr


def test_a_log_without_a_recording_is_an_error_that_says_how_to_record(tmp_path: Path) -> None:
    done = replay(tmp_path, "nowhere.log", "--toolbox", "dev")
    assert done.returncode == 1
    assert 'Nothing is recorded beside nowhere.log. To record, set "log": {"record": true}' in done.stderr


def test_a_damaged_recording_is_an_error(record: Record, workbench: Launcher) -> None:
    record(echo=child("echo")).end()
    listing = workbench.folder / "log" / "ToolBox.log.recorded" / "toolboxes" / "dev.json"
    os.truncate(listing, 10)
    done = replay(workbench.folder, "log/ToolBox.log", "--toolbox", "dev")
    assert done.returncode == 1
    assert "The recording of toolbox 'dev' beside log/ToolBox.log cannot be used" in done.stderr
