"""Tasks of 2025-11-25, which was an experiment: passed through on a direct endpoint of one server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .places import Place, Spot, Stage, Way, new_tag, text

RELATED = "io.modelcontextprotocol/related-task"
OWN_ID = "job ☃ "
"""How the servers' own ids begin."""


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Servers that have tasks, each in its era's way."""
    with Stage(tmp_path_factory.mktemp("tasks"), script="tasks_{era}") as stage:
        yield stage


@pytest.fixture(
    params=[
        Spot("legacy", "legacy", behind, "toolbox", transport)
        for behind in ("child", "remote")
        for transport in ("stdio", "http")
    ]
    + [Spot("legacy", "legacy", "remote", "alone", "http")],
    ids=str,
)
def place(tasks: Stage, request: pytest.FixtureRequest) -> Place:
    return tasks.place(request.param)


def advance(place: Place, tag: str, to: str) -> None:
    assert text(place.call("advance", {"tag": tag, "to": to})) == "advanced"


def created(place: Place, **meta: object) -> tuple[str, str]:
    tag = new_tag()
    params = {"name": "job", "arguments": {"tag": tag}, "task": {"ttl": 30_000}}
    result = place.asker.result("tools/call", params, **meta)
    assert result == {
        "task": {
            "taskId": result["task"]["taskId"],
            "status": "working",
            "createdAt": "2026-08-01T10:30:00Z",
            "lastUpdatedAt": "2026-08-01T10:40:00Z",
            "ttl": 30_000,
            "pollInterval": 500,
            "example.com/kept": {"a": None},
        },
        "_meta": {"example.com/kept": 1},
    }
    assert result["task"]["taskId"].startswith(OWN_ID)
    return result["task"]["taskId"], tag


def test_a_legacy_toolbox_of_one_server_declares_its_tasks(place: Place) -> None:
    declared = place.asker.introduction["capabilities"]["tasks"]
    assert declared == {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}
    (job,) = [each for each in place.asker.result("tools/list")["tools"] if each["name"] == "job"]
    assert job["execution"] == {"taskSupport": "optional"}


def test_a_legacy_task_is_followed_to_its_result(place: Place) -> None:
    id, tag = created(place)
    asker = place.asker
    assert asker.result("tasks/get", {"taskId": id})["status"] == "working"
    assert id in [each["taskId"] for each in asker.result("tasks/list")["tasks"]]
    waiting = asker.start("tasks/result", {"taskId": id})
    advance(place, tag, "completed")
    assert asker.response(waiting)["result"] == {
        "content": [{"type": "text", "text": f"{tag} is done"}],
        "_meta": {RELATED: {"taskId": id}},
    }
    told = asker.wait_for_notice("notifications/tasks/status", lambda params: params["taskId"] == id)
    assert told["status"] == "completed"


def test_a_legacy_task_that_failed_answers_with_its_error(place: Place) -> None:
    id, tag = created(place)
    advance(place, tag, "failed")
    error = place.asker.once("tasks/result", {"taskId": id})["error"]
    assert error == {"code": -32603, "message": f"{tag} went wrong"}


def test_a_legacy_task_is_cancelled(place: Place) -> None:
    id, _ = created(place)
    assert place.asker.result("tasks/cancel", {"taskId": id})["status"] == "cancelled"
    assert place.asker.once("tasks/cancel", {"taskId": id})["error"]["code"] == -32602
    assert place.asker.once("tasks/get", {"taskId": "nobody"})["error"]["code"] == -32602


def test_a_legacy_task_asks_while_its_result_is_waited_for(place: Place) -> None:
    id, tag = created(place)
    advance(place, tag, "input_required")
    result = place.asker.result("tasks/result", {"taskId": id})
    assert result["structuredContent"] == {"action": "accept", "content": {"name": tag}}
    assert place.asker.questions[-1].params["_meta"] == {RELATED: {"taskId": id}}


def test_the_progress_of_a_legacy_task_comes_under_the_clients_token(place: Place) -> None:
    token = new_tag()
    _, tag = created(place, progressToken=token)
    (call,) = place.record.calls(tag)
    own = call["_meta"]["progressToken"]
    assert text(place.call("advance", {"tag": tag, "to": "working", "token": own})) == "advanced"
    told = place.asker.wait_for_notice(
        "notifications/progress", lambda params: params["progressToken"] == token
    )
    assert told["progress"] == 1


def test_a_legacy_tool_that_may_be_a_task_is_called_without_one_too(place: Place) -> None:
    tag = new_tag()
    assert text(place.call("job", {"tag": tag})) == f"{tag} is done"


def test_legacy_tasks_are_not_offered_behind_the_meta_tools(tasks: Stage) -> None:
    place = tasks.new_place(Spot("legacy", "legacy", "child", "use_tool", "http"))
    assert "tasks" not in place.asker.introduction["capabilities"]
    tag = new_tag()
    result = place.asker.result("tools/call", {**place.params("job", {"tag": tag}), "task": {"ttl": 1}})
    assert text(result) == f"{tag} is done"


@pytest.mark.parametrize("way", ["toolbox", "use_tool"])
def test_legacy_tasks_are_not_offered_to_a_modern_client(tasks: Stage, way: Way) -> None:
    place = tasks.new_place(Spot("modern", "legacy", "child", way, "http"))
    assert "tasks" not in place.asker.introduction["capabilities"]
    tag = new_tag()
    assert text(place.call("job", {"tag": tag})) == f"{tag} is done"
