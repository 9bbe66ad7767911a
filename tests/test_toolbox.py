"""Opening a toolbox: once for everybody, side by side, and with the reasons of whoever failed."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.client import Client, invocation, is_notification, text
from tests.support.launch import Launcher, child, configuration, toolbox

PROGRESS = "notifications/progress"


def start_opening(client: Client) -> int:
    return client.start_request("tools/call", {"name": "open_toolbox", "arguments": {"toolbox": "dev"}})


def start_call(client: Client, ref: str, arguments: dict[str, Any]) -> int:
    params = {"name": "use_tool", "arguments": invocation(ref, arguments)}
    return client.start_request("tools/call", params)


def failed(ref: str) -> str:
    toolbox_name, server, name = ref.split("/")
    return f"Error executing tool '{name}' in server '{server}' (toolbox '{toolbox_name}'): "


def test_each_toolbox_has_its_own_connections(workbench: Launcher) -> None:
    client = workbench(
        configuration(one=toolbox(a=child("echo"), b=child("echo")), two=toolbox(a=child("echo")))
    )
    client.open("one")
    client.open("two")
    pids = {json.loads(text(client.use(ref)))["pid"] for ref in ("one/a/about", "one/b/about", "two/a/about")}
    assert len(pids) == 3


def test_many_openings_at_once_start_one_process_per_server(workbench: Launcher, tmp_path: Path) -> None:
    starts = [tmp_path / f"starts{number}" for number in range(3)]
    servers = {f"s{n}": child("echo", env={"STARTS": str(path)}) for n, path in enumerate(starts)}
    client = workbench(configuration(dev=toolbox(**servers)))
    ids = [start_opening(client) for _ in range(20)]
    answers = [client.response(id)["result"]["structuredContent"] for id in ids]
    assert all(answer == answers[0] for answer in answers)
    assert answers[0]["servers_connected"] == 3
    client.open("dev")
    assert [len(path.read_text().splitlines()) for path in starts] == [1, 1, 1]


def test_while_a_toolbox_opens_a_call_waits_for_its_own_server_only(
    workbench: Launcher, tmp_path: Path
) -> None:
    ready = tmp_path / "ready"
    config = configuration(dev=toolbox(late=child("starting", "waits", str(ready)), echo=child("echo")))
    client = workbench(config)
    opening = start_opening(client)
    late = start_call(client, "dev/late/hello", {})
    assert text(client.use("dev/echo/echo", {"a": 1})) == '{"a": 1}'
    assert not [each for each in client.messages if each.get("id") in (opening, late)]
    ready.touch()
    assert text(client.response(late)["result"]) == "hello"
    assert client.response(opening)["result"]["structuredContent"]["servers_connected"] == 2


def test_servers_are_connected_side_by_side(workbench: Launcher) -> None:
    silent = {f"s{number}": child("probed", "silent") for number in range(3)}
    client = workbench(configuration(dev=toolbox(**silent)))
    began = time.monotonic()
    assert client.open("dev")["servers_connected"] == 3
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("how", ["dies", "invalid", "odd", "newer"])
def test_a_legacy_server_that_takes_the_modern_greeting_badly_is_used(workbench: Launcher, how: str) -> None:
    client = workbench(configuration(dev=toolbox(old=child("probed", how))))
    assert [tool["name"] for tool in client.open("dev")["tools"]] == ["hello"]
    assert text(client.use("dev/old/hello")) == "hello"


def test_failures_are_told_with_their_reasons_and_the_others_are_answered(
    workbench: Launcher, tmp_path: Path
) -> None:
    servers = {
        "hangs": child("starting", "hangs", limits={"connectTimeout": 0.5}),
        "fine": child("echo"),
        "exits": child("starting", "exits", "fatal: no licence", "call 555-1234"),
        "missing": {"command": "no-such-program-anywhere"},
        "folder": {"command": str(tmp_path)},
        "refuses": child("starting", "refuses"),
        "leaves": child("starting", "exits_after"),
    }
    client = workbench(configuration(dev=toolbox(**servers)))
    began = time.monotonic()
    listing = client.open("dev")
    assert time.monotonic() - began < 2.5
    assert listing["servers_connected"] == 1
    assert {tool["server"] for tool in listing["tools"]} == {"fine"}
    said = listing["_errors"]
    order = ["hangs", "exits", "missing", "folder", "refuses", "leaves"]
    for line, server in zip(said, order, strict=True):
        assert line.startswith(f"Failed to connect to server '{server}' in toolbox 'dev': ")
    reasons = dict(zip(order, [line.split(": ", 1)[1] for line in said], strict=True))
    assert reasons["hangs"] == "connection timeout"
    assert "fatal: no licence" in reasons["exits"]
    assert "call 555-1234" in reasons["exits"]
    assert "status 4" in reasons["exits"]
    assert "no-such-program-anywhere" in reasons["missing"]
    assert os.environ["PATH"] in reasons["missing"]
    assert str(tmp_path) in reasons["folder"]
    assert "not today" in reasons["refuses"]
    assert "status 5" in reasons["leaves"]
    assert text(client.use("dev/exits/hello")).startswith(failed("dev/exits/hello"))
    assert text(client.use("dev/fine/echo")) == "{}"


def test_a_repaired_server_is_there_at_the_next_opening(workbench: Launcher, tmp_path: Path) -> None:
    repaired = tmp_path / "repaired"
    servers = {"a": child("echo"), "b": child("starting", "repaired", str(repaired)), "c": child("echo")}
    client = workbench(configuration(dev=toolbox(**servers)))
    listing = client.open("dev")
    assert listing["servers_connected"] == 2
    assert len(listing["_errors"]) == 1
    repaired.touch()
    listing = client.open("dev")
    assert listing["servers_connected"] == 3
    assert "_errors" not in listing


def test_a_call_tries_a_failed_server_again(workbench: Launcher, tmp_path: Path) -> None:
    repaired = tmp_path / "repaired"
    servers = {"a": child("echo"), "b": child("starting", "repaired", str(repaired))}
    client = workbench(configuration(dev=toolbox(**servers)))
    client.open("dev")
    said = text(client.use("dev/b/hello"))
    assert said.startswith(failed("dev/b/hello"))
    repaired.touch()
    assert text(client.use("dev/b/hello")) == "hello"
    assert "_errors" not in client.open("dev")


def test_a_toolbox_whose_servers_all_failed_opens_once_one_is_repaired(
    workbench: Launcher, tmp_path: Path
) -> None:
    repaired = tmp_path / "repaired"
    client = workbench(configuration(dev=toolbox(b=child("starting", "repaired", str(repaired)))))
    assert client.call("open_toolbox", {"toolbox": "dev"})["isError"] is True
    repaired.touch()
    assert client.open("dev")["servers_connected"] == 1


def test_a_missing_variable_fails_its_server_alone_with_its_place(workbench: Launcher) -> None:
    servers = {"a": child("echo"), "b": child("echo", env={"KEY": "${NOT_SET_ANYWHERE}"})}
    client = workbench(configuration(dev=toolbox(**servers)))
    listing = client.open("dev")
    assert listing["servers_connected"] == 1
    (said,) = listing["_errors"]
    assert said.startswith("Failed to connect to server 'b' in toolbox 'dev': ")
    assert "NOT_SET_ANYWHERE" in said
    assert "config.toolboxes.dev.mcpServers.b.env.KEY" in said
    assert "NOT_SET_ANYWHERE" in client.stderr


def test_opening_reports_progress_while_it_takes_time(workbench: Launcher, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    config = configuration(dev=toolbox(echo=child("echo"), late=child("starting", "waits", str(ready))))
    client = workbench(config)
    params = {"name": "open_toolbox", "arguments": {"toolbox": "dev"}, "_meta": {"progressToken": 5}}
    id = client.start_request("tools/call", params)
    client.wait_for(lambda each: is_notification(each, PROGRESS))
    ready.touch()
    client.response(id)
    told = [each["params"] for each in client.notifications(PROGRESS)]
    assert {each["progressToken"] for each in told} == {5}
    steps = [each["progress"] for each in told]
    assert steps == sorted(set(steps))
    assert steps[-1] == told[-1]["total"] == 2
