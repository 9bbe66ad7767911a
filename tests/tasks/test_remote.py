"""Tasks of a remote server: what is true of a child is true of it, and its requests carry `Mcp-Name`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.direct.clients import OnStdio
from tests.support.client import Client, text
from tests.support.launch import Launcher, configuration, toolbox

from .clients import StdioEar, Tasked, Way, server
from .remote import RemoteTasks


@pytest.fixture(params=["one", "several", "meta"])
def way(request: pytest.FixtureRequest) -> Way:
    return request.param


@pytest.fixture
def remote() -> Iterator[RemoteTasks]:
    with RemoteTasks() as remote:
        yield remote
        remote.over.set()


@pytest.fixture
def raw(workbench: Launcher, remote: RemoteTasks, way: Way) -> Client:
    twin = {"twin": server("extended")} if way == "several" else {}
    config = configuration(dev=toolbox(it={"url": remote.url()}, **twin))
    return workbench(config, args=() if way == "meta" else ("serve", "--toolbox", "dev"))


def test_a_remote_task_is_begun_polled_updated_and_cancelled(
    raw: Client, remote: RemoteTasks, way: Way
) -> None:
    client = Tasked(OnStdio(raw, modern=True), way)
    id = client.call("ask")["taskId"]
    assert client.get(id)["status"] == "input_required"
    given = {"name": {"action": "accept", "content": {"name": "Luca"}}}
    assert client.ask("tasks/update", {"taskId": id, "inputResponses": given})["result"]
    assert text(client.get(id)["result"]) == "Hello, Luca!"
    assert client.ask("tasks/cancel", {"taskId": id})["result"] == {"resultType": "complete"}
    for method in ("tasks/get", "tasks/update", "tasks/cancel"):
        assert {each.headers["mcp-name"] for each in remote.posts(method)} == {"task-1"}


def test_how_a_remote_task_stands_is_told(raw: Client, way: Way) -> None:
    client = Tasked(OnStdio(raw, modern=True), way)
    id = client.call("begin")["taskId"]
    ear = StdioEar(raw, [id])
    assert ear.heard()["params"]["notifications"] == {"taskIds": [id]}
    client.call("finish", {"task": "task-1"})
    assert ear.heard()["params"]["taskId"] == id


@pytest.mark.parametrize("way", ["one"])
def test_a_task_of_a_remote_server_outlives_the_workbench(
    workbench: Launcher, remote: RemoteTasks, raw: Client
) -> None:
    id = Tasked(OnStdio(raw, modern=True), "one").call("begin")["taskId"]
    raw.end()
    again = workbench(
        configuration(dev=toolbox(it={"url": remote.url()})), args=("serve", "--toolbox", "dev")
    )
    assert Tasked(OnStdio(again, modern=True), "one").get(id)["status"] == "working"


def test_a_ticket_outlives_the_workbench_where_its_configuration_holds_a_secret(
    workbench: Launcher, remote: RemoteTasks
) -> None:
    entry = {"url": remote.url(), "headers": {"Authorization": "Bearer of-the-remote-server"}}
    config = configuration(dev=toolbox(it=entry))
    before = workbench(config)
    id = Tasked(OnStdio(before, modern=True), "meta").call("begin")["taskId"]
    before.end()
    assert Tasked(OnStdio(workbench(config), modern=True), "meta").get(id)["status"] == "working"
