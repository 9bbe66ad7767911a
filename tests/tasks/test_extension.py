"""The extension `io.modelcontextprotocol/tasks`: of one server and of several, and through `use_tool`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.direct.clients import OnHttp, OnStdio
from tests.http.served import Served
from tests.support.client import invocation, text
from tests.support.launch import Launcher, configuration, toolbox

from .clients import CAPABILITIES, DECLARED, EXTENSION, REQUIRED, HttpEar, StdioEar, Tasked, Way, server

SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
Listen = Callable[..., StdioEar | HttpEar]


@pytest.fixture(params=["one", "several", "meta"])
def way(request: pytest.FixtureRequest) -> Way:
    return request.param


@pytest.fixture(params=["stdio", "http"])
def transport(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def config(way: Way) -> dict[str, Any]:
    twin = {"twin": server("extended")} if way == "several" else {}
    return configuration(dev=toolbox(it=server("extended"), **twin))


@pytest.fixture
def met(
    workbench: Launcher, tmp_path: Path, transport: str, way: Way, config: dict[str, Any]
) -> Iterator[tuple[Tasked, Listen]]:
    if transport == "http":
        path = "/mcp" if way == "meta" else "/toolboxes/dev/mcp"
        home = tmp_path / "served"
        home.mkdir()
        with Served(home, config) as served:
            yield (
                Tasked(OnHttp(served, path, modern=True), way),
                lambda ids, meta=DECLARED: HttpEar(served, path, ids, meta),
            )
    else:
        client = workbench(config, args=() if way == "meta" else ("serve", "--toolbox", "dev"))
        yield (
            Tasked(OnStdio(client, modern=True), way),
            lambda ids, meta=DECLARED: StdioEar(client, ids, meta),
        )


@pytest.fixture
def client(met: tuple[Tasked, Listen]) -> Tasked:
    return met[0]


@pytest.fixture
def listen(met: tuple[Tasked, Listen]) -> Listen:
    return met[1]


def test_a_task_is_begun_polled_and_finished_with_its_result(client: Tasked) -> None:
    begun = client.call("begin")
    id = begun.pop("taskId")
    assert (id == "task-1") == (client.way == "one")
    assert begun == {
        "resultType": "task",
        "status": "working",
        "createdAt": "2026-07-28T10:00:00Z",
        "lastUpdatedAt": "2026-07-28T10:00:00Z",
        "ttlMs": 60000,
        "pollIntervalMs": 50,
        "_meta": {"own": True},
    }
    polled = client.get(id)
    assert polled["taskId"] == id
    assert polled["status"] == "working"
    client.call("finish", {"task": "task-1"})
    done = client.get(id)
    assert done["taskId"] == id
    assert done["resultType"] == "complete"
    assert done["status"] == "completed"
    assert done["result"]["taskId"] == "not a task's"
    assert text(done["result"]) == "done"


def test_what_a_task_asks_is_answered_by_an_update(client: Tasked) -> None:
    id = client.call("ask")["taskId"]
    assert client.get(id)["inputRequests"]["name"]["method"] == "elicitation/create"
    given = {"name": {"action": "accept", "content": {"name": "Luca"}}}
    updated = client.ask("tasks/update", {"taskId": id, "inputResponses": given})
    assert updated["result"] == {"resultType": "complete"}
    assert text(client.get(id)["result"]) == "Hello, Luca!"


def test_a_task_is_cancelled(client: Tasked) -> None:
    id = client.call("begin")["taskId"]
    assert client.ask("tasks/cancel", {"taskId": id})["result"] == {"resultType": "complete"}
    assert client.get(id)["status"] == "cancelled"


def test_what_is_done_at_once_is_no_task(client: Tasked) -> None:
    assert text(client.call("quick")) == "quick"


def test_the_parameter_of_the_experiment_is_ignored(client: Tasked) -> None:
    name = {"one": "quick", "several": "it__quick", "meta": "use_tool"}[client.way]
    arguments = invocation("dev/it/quick") if client.way == "meta" else {}
    params = {"name": name, "arguments": arguments, "task": {"ttl": 1}}
    assert text(client.ask("tools/call", params)["result"]) == "quick"
    (called,) = [each for each in client.seen("tools/call") if each["name"] == "quick"]
    assert "task" not in called


def test_an_unknown_task_is_an_invalid_parameter(client: Tasked) -> None:
    client.call("begin")
    for id in ("task-9", "", "AAAA", "="):
        for method in ("tasks/get", "tasks/update", "tasks/cancel"):
            answer = client.ask(method, {"taskId": id, "inputResponses": {}})
            assert answer["error"]["code"] == -32602, answer


def test_the_servers_own_id_is_nobodys_among_several(client: Tasked) -> None:
    client.call("begin")
    answer = client.ask("tasks/get", {"taskId": "task-1"})
    assert ("result" in answer) == (client.way == "one")


def test_a_client_that_does_not_declare_the_extension_gets_no_task(client: Tasked) -> None:
    refused = client.start("begin", meta={})
    assert refused["error"]["code"] == -32021
    assert refused["error"]["data"] == REQUIRED
    id = client.call("begin")["taskId"]
    for method in ("tasks/get", "tasks/update", "tasks/cancel"):
        refused = client.ask(method, {"taskId": id, "inputResponses": {}}, meta={})
        assert refused["error"]["code"] == -32021
        assert refused["error"]["data"] == REQUIRED


def test_the_server_sees_what_the_client_declared_and_its_own_id(client: Tasked) -> None:
    id = client.call("begin")["taskId"]
    client.get(id)
    (polled,) = client.seen("tasks/get")
    assert polled["taskId"] == "task-1"
    assert polled["_meta"][CAPABILITIES] == DECLARED[CAPABILITIES]


def test_methods_of_the_experiment_are_unknown(client: Tasked) -> None:
    id = client.call("begin")["taskId"]
    for method in ("tasks/list", "tasks/result"):
        assert client.ask(method, {"taskId": id})["error"]["code"] == -32601


def test_the_extension_is_declared(client: Tasked) -> None:
    capabilities = client.ask("server/discover")["result"]["capabilities"]
    assert capabilities["extensions"] == {EXTENSION: {}}


def test_how_a_task_stands_is_told_to_whoever_listens(client: Tasked, listen: Listen) -> None:
    first, second = (client.call("begin")["taskId"] for _ in range(2))
    ear = listen([first, "task-9", second])
    agreed = ear.heard()
    assert agreed["method"] == "notifications/subscriptions/acknowledged"
    assert agreed["params"]["notifications"] == {"taskIds": [first, second]}
    client.call("finish", {"task": "task-2"})
    told = ear.heard()
    assert told["method"] == "notifications/tasks"
    assert told["params"]["taskId"] == second
    assert told["params"]["status"] == "completed"
    assert told["params"]["_meta"] == {SUBSCRIPTION: ear.id}
    assert {key: value for key, value in client.get(second).items() if key != "resultType"} == {
        key: value for key, value in told["params"].items() if key != "_meta"
    }


def test_who_does_not_declare_the_extension_cannot_listen_to_tasks(client: Tasked, listen: Listen) -> None:
    id = client.call("begin")["taskId"]
    refused = listen([id], meta={}).heard()
    assert refused["error"]["code"] == -32021
    assert refused["error"]["data"] == REQUIRED


def test_the_call_is_one_line_of_the_log_and_polls_are_none(workbench: Launcher) -> None:
    raw = workbench(configuration(dev=toolbox(it=server("extended"))))
    client = Tasked(OnStdio(raw, modern=True), "meta")
    id = client.call("begin")["taskId"]
    client.get(id)
    client.ask("tasks/cancel", {"taskId": id})
    log = Path(raw.mark).parent / "log" / "ToolBox.log"
    (line,) = map(json.loads, log.read_text().splitlines())
    assert (line["tool"], line["stat"]) == ("begin", "success")


@pytest.mark.parametrize("way", ["one", "several"])
def test_the_extension_is_not_declared_where_no_server_does(workbench: Launcher, way: Way) -> None:
    servers = {"it": server("extended", "plain")}
    if way == "several":
        servers["twin"] = servers["it"]
    raw = workbench(configuration(dev=toolbox(**servers)), args=("serve", "--toolbox", "dev"))
    client = Tasked(OnStdio(raw, modern=True), way)
    assert "extensions" not in client.ask("server/discover")["result"]["capabilities"]
    # What the client declares does not reach a server that does not know of it.
    assert client.start("begin")["error"]["code"] == -32021
    (called,) = [each for each in client.seen("tools/call") if each["name"] == "begin"]
    assert called["_meta"][CAPABILITIES] == {"extensions": {}, "elicitation": {}}


def test_a_legacy_client_is_told_nothing_of_the_extension(workbench: Launcher) -> None:
    raw = workbench(configuration(dev=toolbox(it=server("extended"))), args=("serve", "--toolbox", "dev"))
    assert set(raw.initialize()["capabilities"]) == {"tools"}
    refused = raw.request("tools/call", {"name": "begin", "arguments": {}})
    assert refused["error"]["code"] == -32021
    assert raw.request("tasks/get", {"taskId": "task-1"})["error"]["code"] == -32601
