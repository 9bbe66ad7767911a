"""A legacy client and a legacy server: questions are relayed as requests, on connections of their own."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from tests.asking.asked import ACCEPTED, FORM, greet, question, reply, said, start
from tests.support.client import Client, text
from tests.support.launch import Launcher, child, configuration, toolbox

ASKING = configuration(dev=toolbox(asking=child("asking")))
ELICIT = {"method": "elicitation/create", "params": FORM}

OUTER = """
from mcp_workbench import call_tool

schema = {"name": "outer", "description": "Has the user asked", "type": "object", "properties": {}}

async def default(request):
    return await call_tool("ask", %r)
"""


def test_a_question_reaches_the_client_and_its_answer_the_server_a_hundred_times(workbench: Launcher) -> None:
    client = workbench(ASKING)
    greet(client)
    client.open("dev")
    for _ in range(100):
        since = len(client.messages)
        call = start(client, "dev/asking/ask", ELICIT)
        asked = question(client, since=since)
        assert asked["params"] == FORM
        reply(client, asked)
        assert said(client.response(call))["result"] == ACCEPTED


def test_sampling_and_roots_are_relayed_as_they_are(workbench: Launcher) -> None:
    client = workbench(ASKING)
    greet(client)
    client.open("dev")
    params = {"messages": [], "maxTokens": 5, "newField": {"x": 1}}
    call = start(client, "dev/asking/ask", {"method": "sampling/createMessage", "params": params})
    asked = question(client, "sampling/createMessage")
    assert asked["params"] == params
    reply(client, asked, {"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m"})
    assert said(client.response(call))["result"]["model"] == "m"
    call = start(client, "dev/asking/ask", {"method": "roots/list"})
    reply(client, question(client, "roots/list"), {"roots": [{"uri": "file:///x"}]})
    assert said(client.response(call))["result"] == {"roots": [{"uri": "file:///x"}]}


def test_an_error_of_the_client_reaches_the_server_as_it_is(workbench: Launcher) -> None:
    client = workbench(ASKING)
    greet(client)
    client.open("dev")
    call = start(client, "dev/asking/ask", ELICIT)
    error = {"code": -1, "message": "the user has left", "data": {"x": 1}}
    client.send({"jsonrpc": "2.0", "id": question(client)["id"], "error": error})
    assert said(client.response(call))["error"] == error


def test_a_client_without_the_capability_is_not_asked_and_the_server_is_told_so(workbench: Launcher) -> None:
    client = workbench(ASKING)
    greet(client, {"sampling": {"tools": {}}})
    client.open("dev")
    assert said(client.request("tools/call", use("seen")))["capabilities"] == {"sampling": {"tools": {}}}
    refused = said(client.response(start(client, "dev/asking/ask", ELICIT)))
    assert refused["error"] == {"code": -32601, "message": "The client does not support elicitation"}


def test_a_mode_that_was_not_declared_is_refused(workbench: Launcher) -> None:
    client = workbench(ASKING)
    greet(client, {"elicitation": {}})
    client.open("dev")
    url = {"mode": "url", "message": "go", "url": "https://e.test", "elicitationId": "e"}
    asked = {"method": "elicitation/create", "params": url}
    assert said(client.response(start(client, "dev/asking/ask", asked)))["error"]["code"] == -32602


def test_several_questions_of_several_calls_are_answered_in_any_order(workbench: Launcher) -> None:
    client = workbench(ASKING)
    greet(client)
    client.open("dev")
    calls = [start(client, "dev/asking/both") for _ in range(3)]
    asked: list[dict] = []
    while len(asked) < 6:
        asked = [each for each in client.messages if "id" in each and "method" in each]
        time.sleep(0.01)
    for each in reversed(asked):
        reply(client, each, {"action": "accept", "content": {"a": each["params"]["message"]}})
    for call in calls:
        answers = said(client.response(call))
        assert {key: each["result"]["content"]["a"] for key, each in answers.items()} == {
            "first": "first",
            "second": "second",
        }


PATIENT = {"timeout": 20, "idleTimeout": 0.4}


def patient(workbench: Launcher, **servers: Any) -> Client:
    client = workbench(configuration(dev=toolbox(**servers)))
    greet(client)
    client.open("dev")
    return client


def test_a_server_is_not_blamed_for_its_silence_while_the_user_thinks(workbench: Launcher) -> None:
    client = patient(workbench, asking=child("asking", limits=PATIENT))
    call = start(client, "dev/asking/ask", ELICIT)
    asked = question(client)
    time.sleep(1)
    reply(client, asked)
    assert said(client.response(call))["result"] == ACCEPTED
    silent = start(client, "dev/asking/slow", {"seconds": 20})
    assert "no progress for 0.4 s" in text(client.response(silent)["result"])


def test_a_call_that_comes_while_the_user_thinks_may_have_to_wait_too(workbench: Launcher) -> None:
    client = patient(workbench, asking=child("asking", limits=PATIENT))
    asking = start(client, "dev/asking/ask", ELICIT)
    asked = question(client)
    late = start(client, "dev/asking/slow", {"seconds": 1})
    later = start(client, "dev/asking/slow", {"seconds": 20})
    assert text(client.response(late)["result"]) == "slept"
    reply(client, asked)
    assert said(client.response(asking))["result"] == ACCEPTED
    assert "no progress for 0.4 s" in text(client.response(later)["result"])


def test_silence_counts_again_once_the_user_has_answered(workbench: Launcher) -> None:
    client = patient(workbench, asking=child("asking", limits=PATIENT))
    call = start(client, "dev/asking/ask", {**ELICIT, "then": 20})
    asked = question(client)
    time.sleep(1)
    reply(client, asked)
    assert "no progress for 0.4 s" in text(client.response(call)["result"])


@pytest.mark.parametrize(
    ("server", "arguments"), [("asking", ELICIT), ("asking_modern", {"questions": {"q": ELICIT}})]
)
def test_a_tool_is_not_blamed_for_the_user_whom_its_inner_call_asks(
    workbench: Launcher, tmp_path: Path, server: str, arguments: object
) -> None:
    (tmp_path / "outer.py").write_text(OUTER % arguments)
    mine = {"path": str(tmp_path), "limits": PATIENT}
    # Of one connection alone, since another is a process that would have to start in that time.
    asking = child(server, limits={"connections": 1})
    client = patient(workbench, asking=asking, mine=mine)
    call = start(client, "dev/mine/outer")
    asked = question(client)
    time.sleep(1)
    reply(client, asked)
    assert ACCEPTED in said(client.response(call)).values()


def test_one_client_needs_one_process(workbench: Launcher) -> None:
    client = workbench(ASKING)
    greet(client)
    client.open("dev")
    calls = [start(client, "dev/asking/slow", {"seconds": 0.2}) for _ in range(3)]
    pids = {said(client.request("tools/call", use("seen")))["pid"] for _ in range(3)}
    for call in calls:
        client.response(call)
    assert len(pids) == 1


def test_a_question_between_calls_reaches_the_one_client_of_its_connection(workbench: Launcher) -> None:
    client = workbench(ASKING)
    greet(client)
    client.open("dev")
    assert text(client.use("dev/asking/later")) == "soon"
    reply(client, question(client, "roots/list"), {"roots": []})


def test_a_cancelled_call_takes_its_question_back(workbench: Launcher) -> None:
    client = workbench(ASKING)
    greet(client)
    client.open("dev")
    call = start(client, "dev/asking/ask", ELICIT)
    asked = question(client)
    client.notify("notifications/cancelled", {"requestId": call})
    cancelled = client.wait_for(lambda each: each.get("method") == "notifications/cancelled")
    assert cancelled["params"]["requestId"] == asked["id"]


def test_a_question_that_the_server_takes_back_is_taken_back_from_the_client(workbench: Launcher) -> None:
    client = workbench(ASKING)
    greet(client)
    client.open("dev")
    assert text(client.use("dev/asking/withdraw")) == "withdrawn"
    asked = question(client)
    cancelled = client.wait_for(lambda each: each.get("method") == "notifications/cancelled")
    assert cancelled["params"]["requestId"] == asked["id"]


def test_the_end_of_an_elicitation_elsewhere_reaches_the_client_that_was_asked(workbench: Launcher) -> None:
    client = workbench(ASKING)
    greet(client)
    client.open("dev")
    response = client.request("tools/call", use("url"))
    assert response["error"]["code"] == -32042
    client.use("dev/asking/complete", {"id": "e1"})
    client.use("dev/asking/complete", {"id": "unknown"})
    told = client.notifications("notifications/elicitation/complete")
    assert [each["params"] for each in told] == [{"elicitationId": "e1"}]


def test_other_roots_are_told_to_a_server_that_was_told_of_roots(workbench: Launcher) -> None:
    client = workbench(ASKING)
    greet(client)
    client.open("dev")
    client.notify("notifications/roots/list_changed")
    assert "notifications/roots/list_changed" in said(client.request("tools/call", use("seen")))["noticed"]


def test_a_prompt_may_ask_too(workbench: Launcher) -> None:
    client = workbench(ASKING)
    greet(client)
    client.open("dev")
    asking = client.start_request("prompts/get", {"name": "asks"})
    reply(client, question(client))
    content = client.response(asking)["result"]["messages"][0]["content"]
    assert '"accept"' in content["text"]


def use(tool: str) -> dict:
    ref = {"toolbox": "dev", "server": "asking", "name": tool}
    return {"name": "use_tool", "arguments": {"tool": ref}}
