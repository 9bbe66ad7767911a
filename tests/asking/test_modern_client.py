"""A modern client and a legacy server: a question becomes a result, and the call is held until the answer."""

from __future__ import annotations

import json
import time
from typing import Any

from tests.asking.asked import ACCEPTED, EVERYTHING, FORM, modern, modern_use, said
from tests.support.client import Client
from tests.support.launch import Launcher, child, configuration, toolbox

ASKING = configuration(dev=toolbox(asking=child("asking")))
ELICIT = {"method": "elicitation/create", "params": FORM}
EXPIRED = {"code": -32602, "message": "the question has expired, call again"}


def opened(workbench: Launcher, **limits: Any) -> Client:
    client = workbench(configuration(dev=toolbox(asking=child("asking", limits=limits))))
    client.open("dev", modern=True)
    return client


def answers(result: dict[str, Any], answer: object = ACCEPTED) -> dict[str, Any]:
    """What a retry brings for everything that was asked."""
    responses = dict.fromkeys(result["inputRequests"], answer)
    return {"inputResponses": responses, "requestState": result["requestState"]}


def test_a_server_is_not_blamed_for_its_silence_until_the_retry(workbench: Launcher) -> None:
    client = opened(workbench, idleTimeout=0.4)
    asked = modern(client, "dev/asking/ask", ELICIT)["result"]
    time.sleep(1)
    assert said(modern(client, "dev/asking/ask", ELICIT, **answers(asked)))["result"] == ACCEPTED


def test_a_question_becomes_a_result_and_the_retry_goes_on_with_the_call(workbench: Launcher) -> None:
    client = opened(workbench)
    for _ in range(20):
        asked = modern(client, "dev/asking/ask", ELICIT)["result"]
        assert asked["resultType"] == "input_required"
        (request,) = asked["inputRequests"].values()
        assert request == {"method": "elicitation/create", "params": FORM}
        response = modern(client, "dev/asking/ask", ELICIT, **answers(asked))
        assert response["result"]["resultType"] == "complete"
        assert said(response)["result"] == ACCEPTED


def test_a_call_that_asks_three_times_takes_three_rounds_each_with_its_line(workbench: Launcher) -> None:
    client = opened(workbench)
    arguments = {**ELICIT, "times": 3}
    response = modern(client, "dev/asking/ask", arguments)
    result = response["result"]
    states = {result["requestState"]}
    for round in range(3):
        response = modern(
            client, "dev/asking/ask", arguments, **answers(result, {"action": "accept", "n": round})
        )
        result = response["result"]
        states.add(result.get("requestState"))
    assert [each["result"]["n"] for each in said(response)] == [0, 1, 2]
    assert len(states) == 4
    client.end()
    (log,) = workbench.folder.rglob("ToolBox.log")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(line["tool"], line["stat"]) for line in lines] == [("ask", "success")] * 4


def test_questions_asked_at_once_are_asked_together_and_a_missing_answer_is_asked_for_again(
    workbench: Launcher,
) -> None:
    client = opened(workbench)
    asked = modern(client, "dev/asking/both")["result"]
    by_message = {each["params"]["message"]: key for key, each in asked["inputRequests"].items()}
    assert by_message.keys() == {"first", "second"}
    half = {"inputResponses": {by_message["first"]: ACCEPTED}, "requestState": asked["requestState"]}
    again = modern(client, "dev/asking/both", **half)["result"]
    assert list(again["inputRequests"]) == [by_message["second"]]
    final = said(modern(client, "dev/asking/both", **answers(again)))
    assert final["first"]["result"] == final["second"]["result"] == ACCEPTED


def test_a_state_is_good_for_one_time_one_tool_and_its_arguments(workbench: Launcher) -> None:
    client = opened(workbench)
    asked = modern(client, "dev/asking/ask", ELICIT)["result"]
    retry = answers(asked)
    other = {**ELICIT, "params": {**FORM, "message": "other"}}
    tampered = {**retry, "requestState": retry["requestState"][:-1] + "x"}
    assert modern(client, "dev/asking/ask", other, **retry)["error"] == EXPIRED
    assert modern(client, "dev/asking/both", ELICIT, **retry)["error"] == EXPIRED
    assert modern(client, "dev/asking/ask", ELICIT, **tampered)["error"] == EXPIRED
    assert (
        modern(client, "dev/asking/ask", ELICIT, inputResponses={}, requestState="foreign")["error"]
        == EXPIRED
    )
    reordered = {"params": FORM, "method": "elicitation/create"}
    assert said(modern(client, "dev/asking/ask", reordered, **retry))["result"] == ACCEPTED
    assert modern(client, "dev/asking/ask", ELICIT, **retry)["error"] == EXPIRED


def test_a_question_that_nobody_answers_expires_with_the_time_of_the_call(workbench: Launcher) -> None:
    client = opened(workbench, timeout=0.5)
    asked = modern(client, "dev/asking/ask", ELICIT)["result"]
    time.sleep(0.6)
    assert modern(client, "dev/asking/ask", ELICIT, **answers(asked))["error"] == EXPIRED
    noticed = said(modern(client, "dev/asking/seen"))["noticed"]
    assert "notifications/cancelled" in noticed


def test_a_client_without_the_capability_is_not_asked(workbench: Launcher) -> None:
    client = opened(workbench)
    reply = said(modern(client, "dev/asking/ask", ELICIT, capabilities={"roots": {}}))
    assert reply["error"]["code"] == -32601
    reply = said(modern(client, "dev/asking/ask", ELICIT, capabilities={}))
    assert reply["error"]["code"] == -32601


def test_calls_at_once_have_connections_of_their_own_as_many_as_are_allowed(workbench: Launcher) -> None:
    client = opened(workbench, connections=2)
    calls = [
        client.start_request("tools/call", modern_use("dev/asking/slow", {"seconds": 0.3})) for _ in range(4)
    ]
    began = time.monotonic()
    for call in calls:
        assert client.response(call)["result"]["content"][0]["text"] == "slept"
    assert time.monotonic() - began > 0.5
    starts = {said(modern(client, "dev/asking/seen"))["pid"] for _ in range(3)}
    assert len(starts) == 1


def test_one_connection_is_opened_anew_for_whoever_declares_something_else(workbench: Launcher) -> None:
    client = opened(workbench, connections=1)
    for declared in ({}, {"roots": {}}, EVERYTHING, {}):
        seen = said(modern(client, "dev/asking/seen", capabilities=declared))["capabilities"]
        assert seen.keys() == declared.keys()


def test_a_prompt_that_asks_is_held_too(workbench: Launcher) -> None:
    client = opened(workbench)
    params = modern_use("a/b/c", None)
    params = {"name": "asks", "_meta": params["_meta"]}
    asked = client.request("prompts/get", params)["result"]
    result = client.request("prompts/get", {**params, **answers(asked)})["result"]
    assert '"accept"' in result["messages"][0]["content"]["text"]
