from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

from tests.support.client import Client
from tests.support.launch import Launcher, child, configuration, toolbox

from .shifting import eventually, names, running, shifting, work


def opened(workbench: Launcher, pause: object, **servers: Any) -> Client:
    client = workbench(configuration(dev={**toolbox(**servers), "limits": {"idleShutdown": pause}}))
    client.initialize()
    client.open("dev")
    return client


def test_a_server_that_nobody_uses_is_ended_and_started_by_the_next_call(
    tmp_path: Path, workbench: Launcher
) -> None:
    client = opened(workbench, 0.3, s=shifting(tmp_path / "t.json"))
    pid = work(client, "dev/s/work")["pid"]
    eventually(lambda: not running(pid))
    assert work(client, "dev/s/work")["pid"] != pid


def test_a_server_that_was_listed_and_never_called_is_ended_too(tmp_path: Path, workbench: Launcher) -> None:
    starts = tmp_path / "starts"
    opened(workbench, "300ms", s=child("echo", env={"STARTS": str(starts)}))
    (pid,) = map(int, starts.read_text().split())
    eventually(lambda: not running(pid))


def test_the_listing_stays_and_asking_for_it_wakes_nobody(tmp_path: Path, workbench: Launcher) -> None:
    starts = tmp_path / "starts"
    entry = shifting(tmp_path / "t.json")
    entry["env"]["STARTS"] = str(starts)
    client = opened(workbench, 0.3, s=entry)
    first = client.open("dev")
    (pid,) = map(int, starts.read_text().split())
    eventually(lambda: not running(pid))
    assert client.open("dev") == first
    assert len(starts.read_text().split()) == 1
    work(client, "dev/s/work")
    assert len(starts.read_text().split()) == 2
    assert client.notifications("notifications/tools/list_changed") == []


def test_a_server_is_not_ended_while_a_call_is_in_flight(tmp_path: Path, workbench: Launcher) -> None:
    client = opened(workbench, 0.2, s=shifting(tmp_path / "t.json"))
    long = work(client, "dev/s/work", seconds=1.2)
    assert work(client, "dev/s/work") == long


def test_a_call_made_by_a_tool_keeps_its_folder_awake(tmp_path: Path, workbench: Launcher) -> None:
    folder = tmp_path / "tools"
    folder.mkdir()
    (folder / "outer.py").write_text(
        "import os\n"
        "from mcp_workbench import call_tool\n"
        "schema = {'name': 'outer', 'description': 'Calls', 'type': 'object', 'properties': {}}\n"
        "async def default(request):\n"
        "    await call_tool('work', {'seconds': 1})\n"
        "    return {'content': [{'type': 'text', 'text': str(os.getpid())}]}\n"
    )
    mine = {"path": str(folder)}
    client = opened(workbench, 0.2, mine=mine, s=shifting(tmp_path / "t.json"))
    result = client.use("dev/mine/outer")
    assert not result.get("isError"), result
    pid = int(result["content"][0]["text"])
    eventually(lambda: not running(pid))


def test_use_keeps_a_server_awake(tmp_path: Path, workbench: Launcher) -> None:
    client = opened(workbench, 0.6, s=shifting(tmp_path / "t.json"))
    pids = set[int]()
    for _ in range(10):
        pids.add(work(client, "dev/s/work")["pid"])
        time.sleep(0.15)
    assert len(pids) == 1


def test_calls_that_come_just_as_it_falls_asleep_are_all_answered(
    tmp_path: Path, workbench: Launcher
) -> None:
    client = opened(workbench, 0.02, s=shifting(tmp_path / "t.json"))
    for number in range(30):
        time.sleep(0.015 + number % 10 / 1000)
        work(client, "dev/s/work")
    log = Path(client.mark).parent / "log" / "ToolBox.log"
    assert [json.loads(line)["stat"] for line in log.read_text().splitlines()] == ["success"] * 30


def test_without_the_setting_a_server_stays(tmp_path: Path, workbench: Launcher) -> None:
    client = workbench(configuration(dev=toolbox(s=shifting(tmp_path / "t.json"))))
    client.initialize()
    assert names(client.open("dev")) == ["work"]
    pid = work(client, "dev/s/work")["pid"]
    time.sleep(1)
    os.kill(pid, 0)
