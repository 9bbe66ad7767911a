"""A modern server: a legacy client is asked by requests, and we call again; a modern one does so itself."""

from __future__ import annotations

import json

from tests.asking.asked import (
    ACCEPTED,
    FORM,
    LOG_LEVEL,
    greet,
    heard,
    modern,
    question,
    reply,
    said,
    start,
)
from tests.support.client import Client
from tests.support.launch import Launcher, child, configuration, toolbox

ASKING = configuration(dev=toolbox(asking=child("asking_modern")))
ELICIT = {"method": "elicitation/create", "params": FORM}


def opened(workbench: Launcher, **capabilities: object) -> Client:
    client = workbench(ASKING)
    greet(client, capabilities or {"elicitation": {"url": {}, "form": {}}, "roots": {"listChanged": True}})
    client.open("dev")
    return client


def test_a_legacy_client_is_asked_by_requests_and_the_retry_is_ours(workbench: Launcher) -> None:
    client = opened(workbench)
    call = start(client, "dev/asking/ask", {"questions": {"q": ELICIT, "r": {"method": "roots/list"}}})
    asked = question(client)
    assert asked["params"] == FORM
    reply(client, question(client, "roots/list"), {"roots": []})
    reply(client, asked)
    assert said(client.response(call)) == {"q": ACCEPTED, "r": {"roots": []}}


def test_rounds_go_on_until_the_server_is_content(workbench: Launcher) -> None:
    client = opened(workbench)
    call = start(client, "dev/asking/rounds", {"rounds": 3})
    for round in range(3):
        asked = client.wait_for(
            lambda each, round=round: each.get("params", {}).get("message") == f"round {round}"
        )
        reply(client, asked, {"action": "accept", "content": {"a": str(round)}})
    assert said(client.response(call))["q"]["content"]["a"] == "2"


def test_a_state_alone_is_brought_back_at_once(workbench: Launcher) -> None:
    client = opened(workbench)
    assert client.use("dev/asking/state")["content"][0]["text"] == "went on"
    assert "100 rounds" in client.use("dev/asking/forever")["content"][0]["text"]


def test_a_legacy_client_gets_an_id_for_an_elicitation_elsewhere(workbench: Launcher) -> None:
    client = opened(workbench)
    params = {"mode": "url", "message": "go", "url": "https://e.test"}
    url = {"method": "elicitation/create", "params": params}
    call = start(client, "dev/asking/ask", {"questions": {"q": url}})
    asked = question(client)
    assert asked["params"].pop("elicitationId")
    assert asked["params"] == params
    reply(client, asked, {"action": "accept"})
    assert said(client.response(call)) == {"q": {"action": "accept"}}


def test_a_refusal_of_the_client_ends_the_call(workbench: Launcher) -> None:
    client = opened(workbench)
    call = start(client, "dev/asking/ask", {"questions": {"q": ELICIT}})
    client.send({"jsonrpc": "2.0", "id": question(client)["id"], "error": {"code": -1, "message": "no user"}})
    result = client.response(call)["result"]
    assert result["isError"]
    assert "no user" in result["content"][0]["text"]


def test_what_a_legacy_client_declared_stands_in_every_request(workbench: Launcher) -> None:
    client = opened(workbench)
    meta = said(client.response(start(client, "dev/asking/seen")))
    assert meta["io.modelcontextprotocol/clientCapabilities"] == {
        "elicitation": {"url": {}, "form": {}},
        "roots": {},
    }
    assert LOG_LEVEL not in meta


def test_a_modern_client_answers_by_itself_with_the_servers_own_state(workbench: Launcher) -> None:
    client = workbench(ASKING)
    client.open("dev", modern=True)
    asked = modern(client, "dev/asking/rounds", {"rounds": 1})["result"]
    assert asked["requestState"] == "1"
    response = modern(
        client, "dev/asking/rounds", {"rounds": 1}, requestState="1", inputResponses={"q": ACCEPTED}
    )
    assert said(response) == {"q": ACCEPTED}


def test_a_prompt_may_ask_a_legacy_client_too(workbench: Launcher) -> None:
    client = opened(workbench)
    asking = client.start_request("prompts/get", {"name": "asks"})
    reply(client, question(client))
    messages = client.response(asking)["result"]["messages"]
    assert json.loads(messages[0]["content"]["text"]) == {"p": ACCEPTED}


def test_log_messages_come_at_the_level_that_was_asked_for(workbench: Launcher) -> None:
    client = opened(workbench)
    client.use("dev/asking/log")
    assert heard(client) == []
    assert client.request("logging/setLevel", {"level": "critical"})["result"] == {}
    client.use("dev/asking/log")
    assert heard(client) == ["critical", "alert", "emergency"]
    modern(client, "dev/asking/log", meta={LOG_LEVEL: "emergency"})
    assert heard(client)[3:] == ["emergency"]
