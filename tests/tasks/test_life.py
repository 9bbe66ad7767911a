"""How long a server is kept for its tasks."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from tests.direct.clients import OnStdio
from tests.living.shifting import eventually, running
from tests.support.client import Client
from tests.support.launch import Launcher, configuration, toolbox
from tests.support.processes import kill

from .clients import Tasked, server

PAUSE = 0.3


def kept(workbench: Launcher, *args: str, script: str = "extended", direct: bool = False) -> Client:
    config = configuration(dev={**toolbox(it=server(script, *args)), "limits": {"idleShutdown": PAUSE}})
    return workbench(config, args=("serve", "--toolbox", "dev") if direct else ())


def pid(answer: Any) -> int:
    return json.loads(answer["content"][0]["text"])["pid"]


@pytest.mark.parametrize("end", ["finished", "cancelled"])
def test_a_server_is_kept_until_its_task_is_over(workbench: Launcher, end: str) -> None:
    client = Tasked(OnStdio(kept(workbench, "endless"), modern=True), "meta")
    process = pid(client.call("seen"))
    id = client.call("begin")["taskId"]
    time.sleep(3 * PAUSE)
    assert running(process)
    if end == "finished":
        client.call("finish", {"task": "task-1"})
        time.sleep(3 * PAUSE)
        assert running(process)  # nobody has the result yet
        assert client.get(id)["status"] == "completed"
    else:
        client.ask("tasks/cancel", {"taskId": id})
    eventually(lambda: not running(process))


def test_a_task_that_is_kept_for_a_while_keeps_its_server_no_longer(workbench: Launcher) -> None:
    client = Tasked(OnStdio(kept(workbench, "brief"), modern=True), "meta")
    process = pid(client.call("seen"))
    client.call("begin")
    time.sleep(2 * PAUSE)
    assert running(process)
    eventually(lambda: not running(process))


def test_a_server_that_died_has_no_tasks_to_be_kept_for(workbench: Launcher) -> None:
    client = Tasked(OnStdio(kept(workbench, "endless"), modern=True), "meta")
    id = client.call("begin")["taskId"]
    kill(pid(client.call("seen")))
    assert client.ask("tasks/get", {"taskId": id})["error"]["code"] == -32602
    process = pid(client.call("seen"))
    eventually(lambda: not running(process))


def test_a_server_of_the_experiment_is_kept_until_the_result_was_fetched(workbench: Launcher) -> None:
    client = kept(workbench, script="experimental", direct=True)
    client.initialize()
    client.request("tools/call", {"name": "work", "arguments": {}, "task": {}})
    process = pid(client.request("tools/call", {"name": "seen", "arguments": {}})["result"])
    client.request("tools/call", {"name": "finish", "arguments": {"task": "task-1"}})
    assert client.request("tasks/get", {"taskId": "task-1"})["result"]["status"] == "completed"
    time.sleep(3 * PAUSE)
    assert running(process)
    client.request("tasks/result", {"taskId": "task-1"})
    eventually(lambda: not running(process))
