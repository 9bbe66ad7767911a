"""The experimental tasks of 2025-11-25: on the direct endpoint of one server of that era, as it says them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.direct.clients import OnHttp, OnStdio
from tests.http.served import Served, Session
from tests.support.client import Client, text
from tests.support.launch import Launcher, configuration, toolbox

from .clients import DECLARED, server

DIRECT = ("serve", "--toolbox", "dev")
PATH = "/toolboxes/dev/mcp"
STATUS = "notifications/tasks/status"
CONFIG = configuration(dev=toolbox(it=server("experimental")))
TASK = {
    "taskId": "task-1",
    "status": "working",
    "createdAt": "2025-11-25T10:00:00Z",
    "lastUpdatedAt": "2025-11-25T10:00:00Z",
    "ttl": 60000,
}


def work(**more: Any) -> dict[str, Any]:
    return {"name": "work", "arguments": {}, "task": {"ttl": 60000}, **more}


def finish(task: str = "task-1") -> dict[str, Any]:
    return {"name": "finish", "arguments": {"task": task}}


@pytest.fixture(params=["stdio", "http"])
def client(request: pytest.FixtureRequest, workbench: Launcher, tmp_path: Path) -> Iterator[OnStdio | OnHttp]:
    if request.param == "stdio":
        yield OnStdio(workbench(CONFIG, args=DIRECT), modern=False)
        return
    with Served(tmp_path, CONFIG) as served:
        yield OnHttp(served, PATH, modern=False)


def result(answer: dict[str, Any]) -> Any:
    assert "result" in answer, answer
    return answer["result"]


def test_a_task_is_made_asked_about_and_its_result_fetched(client: OnStdio | OnHttp) -> None:
    made = result(client.ask("tools/call", work()))
    assert made == {"task": TASK, "_meta": {"own": True}}
    assert result(client.ask("tasks/get", {"taskId": "task-1"})) == TASK
    assert result(client.ask("tasks/list")) == {"tasks": [TASK]}
    result(client.ask("tools/call", finish()))
    fetched = result(client.ask("tasks/result", {"taskId": "task-1"}))
    assert text(fetched) == "worked"
    assert fetched["_meta"] == {"io.modelcontextprotocol/related-task": {"taskId": "task-1"}}


def test_a_task_is_cancelled_and_an_unknown_one_is_an_invalid_parameter(client: OnStdio | OnHttp) -> None:
    result(client.ask("tools/call", work()))
    assert result(client.ask("tasks/cancel", {"taskId": "task-1"}))["status"] == "cancelled"
    for method in ("tasks/get", "tasks/result", "tasks/cancel"):
        assert client.ask(method, {"taskId": "task-9"})["error"]["code"] == -32602


def test_errors_are_the_servers_own(client: OnStdio | OnHttp) -> None:
    error = client.ask("tools/call", {"name": "work", "arguments": {}})["error"]
    assert error == {"code": -32601, "message": "only as a task"}


def test_a_method_of_the_extension_is_unknown(client: OnStdio | OnHttp) -> None:
    assert client.ask("tasks/update", {"taskId": "task-1"})["error"]["code"] == -32601


@pytest.fixture
def direct(workbench: Launcher) -> Client:
    return workbench(CONFIG, args=DIRECT)


def test_the_capability_is_declared_as_the_server_says_it(direct: Client) -> None:
    said = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}
    assert direct.initialize()["capabilities"] == {"tools": {}, "tasks": said}
    work = direct.request("tools/list")["result"]["tools"][0]
    assert work["execution"] == {"taskSupport": "required"}


def test_a_result_may_be_waited_for_while_others_are_answered(direct: Client) -> None:
    direct.initialize()
    direct.request("tools/call", work())
    waiting = direct.start_request("tasks/result", {"taskId": "task-1"})
    assert direct.request("tasks/get", {"taskId": "task-1"})["result"]["status"] == "working"
    direct.request("tools/call", finish())
    assert text(direct.response(waiting)["result"]) == "worked"


def test_a_result_is_waited_for_longer_than_a_call_and_takes_no_place(workbench: Launcher) -> None:
    limits = {"timeout": 0.5, "concurrency": 1, "queue": 0}
    client = workbench(
        configuration(dev={**toolbox(it=server("experimental")), "limits": limits}), args=DIRECT
    )
    client.initialize()
    client.request("tools/call", work())
    waiting = client.start_request("tasks/result", {"taskId": "task-1"})
    with pytest.raises(TimeoutError):
        client.response(waiting, timeout=0.8)
    client.request("tools/call", finish())
    assert text(client.response(waiting)["result"]) == "worked"


def test_how_a_task_stands_is_told_from_its_first_moment_on(direct: Client) -> None:
    direct.initialize()
    direct.request("tools/call", work())
    first = direct.wait_for(lambda each: each.get("method") == STATUS)
    assert first["params"] == TASK
    direct.request("tools/call", finish())
    direct.wait_for(lambda each: each.get("params") == {**TASK, "status": "completed"})


def test_how_a_task_stands_is_told_to_the_session_that_made_it(tmp_path: Path) -> None:
    with Served(tmp_path, CONFIG) as served:
        makes, other = (Session(served, "2025-11-25", {}, PATH) for _ in range(2))
        assert "result" in makes.ask("tools/call", work()).message
        assert "result" in other.ask("tools/call", work()).message
        hears = makes.listen()
        assert "result" in other.ask("tools/call", finish("task-2")).message
        assert "result" in makes.ask("tools/call", finish("task-1")).message
        told: list[Any] = []
        while len(told) < 2:
            if (event := hears.event()).get("data"):
                told.append(json.loads(event["data"])["params"])
        assert told == [TASK, {**TASK, "status": "completed"}]


@pytest.mark.parametrize("busy", [False, True], ids=["at-rest", "while-another-is-asked"])
def test_progress_goes_on_after_the_call_was_answered_with_a_task(direct: Client, busy: bool) -> None:
    direct.initialize()
    direct.request("tools/call", work(_meta={"progressToken": "mine"}))
    if busy:
        direct.start_request("tasks/result", {"taskId": "task-1"})
    direct.request("tools/call", finish())
    told = direct.wait_for(lambda each: each.get("method") == "notifications/progress")
    assert told["params"] == {"progressToken": "mine", "progress": 1}


def test_a_modern_client_sees_nothing_of_the_experiment(direct: Client) -> None:
    about = direct.request("server/discover", modern=True)["result"]
    assert about["capabilities"] == {"tools": {}}
    refused = direct.request("tools/call", work(_meta=DECLARED), modern=True)
    assert refused["error"] == {"code": -32601, "message": "only as a task"}
    assert direct.request("tasks/get", {"taskId": "task-1"}, modern=True)["error"]["code"] == -32601


def test_several_servers_have_no_experimental_tasks(workbench: Launcher) -> None:
    config = configuration(dev=toolbox(it=server("experimental"), twin=server("experimental")))
    client = workbench(config, args=DIRECT)
    assert set(client.initialize()["capabilities"]) == {"tools"}
    refused = client.request("tools/call", {**work(), "name": "it__work"})
    assert refused["error"] == {"code": -32601, "message": "only as a task"}
    assert client.request("tasks/get", {"taskId": "task-1"})["error"]["code"] == -32601
