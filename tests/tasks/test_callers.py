"""Whose a task is: callers over HTTP, with a server whose ids can be guessed."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.http.served import Answer, Served, Session, modern_body, modern_headers, use
from tests.living.shifting import eventually
from tests.support.launch import configuration, toolbox

from .clients import DECLARED, server

ONE = "/toolboxes/dev/mcp"
HTTP = {"tokens": {name: {"token": f"t-{name}"} for name in ("alice", "bob")}}
CONFIG = {**configuration(dev=toolbox(it=server("extended"))), "http": HTTP, "openOnUse": True}

Serve = Callable[[Mapping[str, Any]], Served]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    with ExitStack() as stack:
        count = 0

        def start(config: Mapping[str, Any]) -> Served:
            nonlocal count
            count += 1
            home = tmp_path / str(count)
            home.mkdir()
            return stack.enter_context(Served(home, config))

        yield start


def ask(
    served: Served,
    who: str,
    method: str,
    params: Mapping[str, Any],
    path: str = "/mcp",
    headers: Mapping[str, str | None] | None = None,
) -> Answer:
    given = {**params, "_meta": DECLARED}
    said = {"Authorization": f"Bearer t-{who}", **modern_headers(method, params, headers)}
    return served.request("POST", path, modern_body(method, given), said)


def begin(served: Served, who: str, path: str = "/mcp") -> str:
    params = {"name": "begin", "arguments": {}} if path == ONE else use("dev/it/begin")
    return ask(served, who, "tools/call", params, path).json["result"]["taskId"]


@pytest.mark.parametrize("path", ["/mcp", ONE], ids=["meta", "one"])
def test_a_task_of_one_caller_does_not_exist_for_another(serve: Serve, path: str) -> None:
    served = serve(CONFIG)
    id = begin(served, "alice", path)
    for method in ("tasks/get", "tasks/update", "tasks/cancel"):
        refused = ask(served, "bob", method, {"taskId": id, "inputResponses": {}}, path)
        assert refused.status == 400
        assert refused.json["error"]["code"] == -32602
    assert ask(served, "alice", "tasks/get", {"taskId": id}, path).json["result"]["status"] == "working"


def test_a_task_begun_behind_the_meta_tools_is_its_callers_at_the_direct_endpoint_too(serve: Serve) -> None:
    served = serve(CONFIG)
    begin(served, "alice")
    assert ask(served, "bob", "tasks/get", {"taskId": "task-1"}, ONE).json["error"]["code"] == -32602
    assert "result" in ask(served, "alice", "tasks/get", {"taskId": "task-1"}, ONE).json


def test_a_ticket_is_of_no_use_once_its_toolbox_may_not_be_seen(serve: Serve) -> None:
    both = {**CONFIG, **configuration(dev=toolbox(it=server("extended")), other=toolbox())}
    served = serve(both)
    id = begin(served, "alice")
    limited = {"alice": {"token": "t-alice", "toolboxes": ["other"]}, "bob": {"token": "t-bob"}}
    served.config.write_text(json.dumps({**both, "http": {"tokens": limited}}))
    os.kill(served.process.pid, signal.SIGHUP)

    def gone() -> bool:
        return "error" in ask(served, "alice", "tasks/get", {"taskId": id}).json

    eventually(gone)
    assert ask(served, "alice", "tasks/get", {"taskId": id}).json["error"]["code"] == -32602


def test_the_header_must_name_the_task_that_the_body_names(serve: Serve) -> None:
    served = serve(CONFIG)
    id = begin(served, "alice")
    for given in ({"Mcp-Name": None}, {"Mcp-Name": "task-1"}):
        for method in ("tasks/get", "tasks/update", "tasks/cancel"):
            refused = ask(served, "alice", method, {"taskId": id, "inputResponses": {}}, headers=given)
            assert refused.status == 400
            assert refused.json["error"]["code"] == -32020


def test_processes_with_one_configuration_know_each_others_tickets(serve: Serve) -> None:
    first, second = serve(CONFIG), serve(CONFIG)
    id = begin(first, "alice")
    # The ticket is understood, though the child of the second process knows nothing of the task yet.
    unknown = ask(second, "alice", "tasks/get", {"taskId": id}).json["error"]
    assert unknown["message"] == "Failed to retrieve task: Task not found"
    begin(second, "alice")
    assert ask(second, "alice", "tasks/get", {"taskId": id}).json["result"]["taskId"] == id


def test_a_list_of_the_experiment_has_ones_own_tasks_alone(serve: Serve) -> None:
    served = serve({**configuration(dev=toolbox(it=server("experimental"))), "http": HTTP})
    alice, bob = (
        Session(served, "2025-11-25", {"Authorization": f"Bearer t-{who}"}, ONE) for who in ("alice", "bob")
    )
    work = {"name": "work", "arguments": {}, "task": {}}
    for session in (alice, bob, alice):
        assert "result" in session.ask("tools/call", work).message
    listed = alice.ask("tasks/list").message["result"]["tasks"]
    assert [task["taskId"] for task in listed] == ["task-1", "task-3"]
    for method in ("tasks/get", "tasks/result", "tasks/cancel"):
        assert alice.ask(method, {"taskId": "task-2"}).message["error"]["code"] == -32602
