"""Tasks, the extension of 2026-07-28: wherever both sides declare it, and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from .client import EVERYTHING, PREFIX, Json, Question, header
from .places import ERAS, PAIR, Behind, Era, Place, Spot, Stage, Transport, Way, new_tag, text
from .servers import offers

EXTENSION = "io.modelcontextprotocol/tasks"
TASKS = {**EVERYTHING, "extensions": {EXTENSION: {}}}
REQUIRED = {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
RELATED = "io.modelcontextprotocol/related-task"
OWN_ID = "job ☃ "
"""How the servers' own ids begin."""

BOTH = pytest.mark.parametrize("behind", ["child", "remote"])
TRANSPORTS = pytest.mark.parametrize("transport", ["stdio", "http"])
WAYS = pytest.mark.parametrize("way", ["use_tool", "toolbox"])


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Servers that have tasks, each in its era's way."""
    folder = tmp_path_factory.mktemp("tasks")
    tokens = ("ada-token", "bob-token")
    with Stage(folder, script="tasks_{era}", tokens=tokens, capabilities=TASKS) as stage:
        stage.served.headers = {"Authorization": "Bearer ada-token"}
        yield stage


# The extension


@pytest.fixture(
    params=[
        Spot("modern", "modern", behind, way, transport)
        for behind in ("child", "remote")
        for way in ("use_tool", "toolbox")
        for transport in ("stdio", "http")
    ]
    + [Spot("modern", "modern", "remote", "alone", "http")],
    ids=str,
)
def place(tasks: Stage, request: pytest.FixtureRequest) -> Place:
    return tasks.place(request.param)


def created(place: Place, **more: object) -> tuple[str, str]:
    """The id and the tag of a new task."""
    tag = new_tag()
    result = place.call("job", {"tag": tag, **more})
    assert result["resultType"] == "task"
    return result["taskId"], tag


def advance(place: Place, tag: str, to: str) -> None:
    assert text(place.call("advance", {"tag": tag, "to": to})) == "advanced"


def got(place: Place, id: str) -> Json:
    return place.asker.result("tasks/get", {"taskId": id})


def test_a_call_that_becomes_a_task_is_answered_as_its_server_says(place: Place) -> None:
    tag = new_tag()
    result = place.call("job", {"tag": tag})
    id = result.pop("taskId")
    assert result == {
        "resultType": "task",
        "status": "working",
        "createdAt": "2026-08-01T10:30:00Z",
        "lastUpdatedAt": "2026-08-01T10:40:00Z",
        "ttlMs": 60_000,
        "pollIntervalMs": 500,
        "example.com/kept": {"a": None},
    }
    if place.way == "use_tool":
        assert OWN_ID not in id
        assert id.isascii()  # it travels in a header
    else:
        assert id.startswith(OWN_ID)


def test_a_task_is_followed_to_its_end(place: Place) -> None:
    id, tag = created(place)
    assert got(place, id)["status"] == "working"
    advance(place, tag, "completed")
    done = got(place, id)
    assert (done["resultType"], done["taskId"], done["status"]) == ("complete", id, "completed")
    assert done["result"] == {"content": [{"type": "text", "text": f"{tag} is done"}]}
    assert done["example.com/kept"] == {"a": None}


def test_a_task_that_failed_says_so(place: Place) -> None:
    id, tag = created(place)
    advance(place, tag, "failed")
    failed = got(place, id)
    assert (failed["taskId"], failed["status"]) == (id, "failed")
    assert failed["error"] == {"code": -32603, "message": f"{tag} went wrong"}


def test_a_task_that_asks_is_answered_by_an_update(place: Place) -> None:
    id, tag = created(place)
    advance(place, tag, "input_required")
    assert got(place, id)["inputRequests"] == {"q-1": offers.question("form", tag)}
    answers = {"q-1": {"action": "accept", "content": {"name": "Ada"}}}
    said = place.asker.result("tasks/update", {"taskId": id, "inputResponses": answers})
    assert said["resultType"] == "complete"
    assert "taskId" not in said
    assert got(place, id)["result"]["structuredContent"] == answers


def test_a_task_is_cancelled(place: Place) -> None:
    id, _ = created(place)
    said = place.asker.result("tasks/cancel", {"taskId": id})
    assert said["resultType"] == "complete"
    assert got(place, id)["status"] == "cancelled"


def test_a_call_may_ask_before_it_becomes_a_task(place: Place) -> None:
    before = len(place.asker.questions)
    id, tag = created(place, ask=True)
    assert place.asker.questions[before:] == [Question(**offers.question("form", tag))]
    assert got(place, id)["status"] == "working"


def test_many_tasks_are_kept_apart(place: Place) -> None:
    jobs = [created(place) for _ in range(5)]
    assert len({id for id, _ in jobs}) == 5
    for id, tag in reversed(jobs):
        advance(place, tag, "completed")
        assert text(got(place, id)["result"]) == f"{tag} is done"


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
def test_an_unknown_task_is_an_error(place: Place, method: str) -> None:
    id, _ = created(place)
    for wrong in (id + "x", "nobody", ""):
        params = {"taskId": wrong, "inputResponses": {}}
        assert place.asker.once(method, params)["error"]["code"] == -32602


@pytest.mark.parametrize("method", ["tasks/list", "tasks/result"])
def test_what_the_extension_left_behind_is_unknown(place: Place, method: str) -> None:
    id, _ = created(place)
    assert place.asker.once(method, {"taskId": id})["error"]["code"] == -32601


def test_whoever_listens_to_a_task_hears_of_it(place: Place) -> None:
    (id, tag), (other, other_tag) = created(place), created(place)
    subscription = place.asker.start("subscriptions/listen", {"notifications": {"taskIds": [id, "nobody"]}})
    meta = {PREFIX + "subscriptionId": subscription}
    acknowledged = place.asker.wait_for_notice(
        "notifications/subscriptions/acknowledged", lambda params: params["_meta"] == meta
    )
    assert acknowledged["notifications"] == {"taskIds": [id]}
    advance(place, other_tag, "completed")
    advance(place, tag, "completed")
    told = place.asker.wait_for_notice("notifications/tasks", lambda params: params["taskId"] == id)
    assert told["_meta"] == meta
    assert told["status"] == "completed"
    assert text(told["result"]) == f"{tag} is done"
    assert other not in [params["taskId"] for params in place.asker.heard("notifications/tasks")]
    place.asker.cancel(subscription)


# Where it is offered


@BOTH
@TRANSPORTS
def test_a_toolbox_of_one_server_offers_what_that_server_offers(
    stage: Stage, tasks: Stage, behind: Behind, transport: Transport
) -> None:
    spot = Spot("modern", "modern", behind, "toolbox", transport)
    offered = tasks.new_place(spot).asker.introduction["capabilities"]
    assert offered["extensions"] == {EXTENSION: {}}
    assert "extensions" not in stage.place(spot).asker.introduction["capabilities"]


@BOTH
@WAYS
@pytest.mark.parametrize("client", ERAS)
def test_a_server_makes_no_task_for_a_client_that_does_not_know_of_them(
    tasks: Stage, client: Era, behind: Behind, way: Way
) -> None:
    """Before 2026-07-28 nobody can: the extension says so, whatever a client declares."""
    capabilities = TASKS if client == "legacy" else EVERYTHING
    place = tasks.new_place(Spot(client, "modern", behind, way, "http"), capabilities=capabilities)
    tag = new_tag()
    assert text(place.call("job", {"tag": tag})) == f"{tag} is done"
    (seen,) = place.record.calls(tag)
    assert EXTENSION not in seen["_meta"][PREFIX + "clientCapabilities"].get("extensions", {})
    response = place.once("job", {"tag": new_tag(), "must": True})
    if client == "modern":
        assert response["error"]["code"] == -32021
        assert response["error"]["data"] == REQUIRED
    elif way == "use_tool":
        assert response["result"]["isError"] is True


@WAYS
@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
def test_a_client_that_does_not_declare_the_extension_cannot_ask_for_tasks(
    tasks: Stage, way: Way, method: str
) -> None:
    spot = Spot("modern", "modern", "child", way, "http")
    id, _ = created(tasks.new_place(spot))
    plain = tasks.new_place(spot, capabilities=EVERYTHING).asker
    request = plain.start(method, {"taskId": id, "inputResponses": {}})
    error = plain.response(request)["error"]
    assert (error["code"], error["data"]) == (-32021, REQUIRED)
    assert plain.statuses[request] == 400
    listening = plain.once("subscriptions/listen", {"notifications": {"taskIds": [id]}})
    assert listening["error"]["code"] == -32021


@pytest.mark.parametrize("method", ["tasks/get", "tasks/cancel", "tasks/result", "tasks/list"])
def test_a_legacy_client_has_no_tasks_behind_the_meta_tools(tasks: Stage, method: str) -> None:
    place = tasks.new_place(Spot("legacy", "modern", "child", "use_tool", "stdio"))
    assert "tasks" not in place.asker.introduction["capabilities"]
    assert place.asker.once(method, {"taskId": "x"})["error"]["code"] == -32601


# Whose task it is


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
def test_a_task_behind_the_meta_tools_is_its_callers_alone(tasks: Stage, method: str) -> None:
    spot = Spot("modern", "modern", "child", "use_tool", "http")
    ada = tasks.new_place(spot, token="ada-token")
    bob = tasks.new_place(spot, token="bob-token")
    id, _ = created(ada)
    assert bob.asker.once(method, {"taskId": id, "inputResponses": {}})["error"]["code"] == -32602
    bob.asker.start("subscriptions/listen", {"notifications": {"taskIds": [id]}})
    told = bob.asker.wait_for_notice("notifications/subscriptions/acknowledged")
    assert not told["notifications"].get("taskIds")
    assert got(ada, id)["status"] == "working"


def test_two_servers_with_the_same_ids_are_told_apart(tasks: Stage) -> None:
    pair = tasks.pair()
    assert pair.introduction["capabilities"]["extensions"] == {EXTENSION: {}}
    ids: dict[str, str] = {}
    for server in PAIR:
        arguments = {"tag": server}
        task = pair.result("tools/call", {"name": f"{server}__job", "arguments": arguments})
        assert task["resultType"] == "task"
        assert OWN_ID not in task["taskId"]
        ids[server] = task["taskId"]
    advance = {"tag": PAIR[0], "to": "completed"}
    pair.result("tools/call", {"name": f"{PAIR[0]}__advance", "arguments": advance})
    states = [pair.result("tasks/get", {"taskId": ids[server]}) for server in PAIR]
    assert [state["status"] for state in states] == ["completed", "working"]
    assert [state["taskId"] for state in states] == list(ids.values())


@WAYS
def test_the_name_of_a_request_for_a_task_is_its_id(tasks: Stage, way: Way) -> None:
    place = tasks.new_place(Spot("modern", "modern", "remote", way, "http"))
    id, _ = created(place)
    path = "/mcp" if way == "use_tool" else f"/toolboxes/{place.toolbox}/mcp"
    meta = {
        PREFIX + "protocolVersion": "2026-07-28",
        PREFIX + "clientCapabilities": TASKS,
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": {"taskId": id, "_meta": meta}}
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tasks/get"}
    for named in ({}, {"Mcp-Name": "another"}):
        answer = tasks.served.request("POST", path, body, {**headers, **named})
        assert (answer.status, answer.json["error"]["code"]) == (400, -32020)
    answer = tasks.served.request("POST", path, body, {**headers, "Mcp-Name": header(id)})
    assert answer.message["result"]["taskId"] == id


def test_a_call_that_becomes_a_task_is_a_success_in_the_log(tmp_path: Path) -> None:
    with Stage(tmp_path, script="tasks_{era}", capabilities=TASKS) as stage:
        spot = Spot("modern", "modern", "child", "use_tool", "stdio")
        created(stage.new_place(spot))
        (log,) = tmp_path.glob("home*/log/ToolBox.log")
        (entry,) = [json.loads(line) for line in log.read_text().splitlines()]
        assert (entry["tool"], entry["stat"]) == ("job", "success")
