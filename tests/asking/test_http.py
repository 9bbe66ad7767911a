"""Questions and log messages over HTTP, for clients of both eras."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.asking.asked import ACCEPTED, CAPABILITIES, EVERYTHING, FORM, LOG_LEVEL
from tests.http.conftest import Serve
from tests.http.served import Live, Served, Session, use
from tests.support.client import text
from tests.support.launch import child, configuration, toolbox

ASKING = configuration(dev=toolbox(asking=child("asking")))
ELICIT = {"method": "elicitation/create", "params": FORM}


def opened(served: Served, **capabilities: Any) -> Session:
    session = served.session(capabilities=capabilities or EVERYTHING)
    session.ask("tools/call", {"name": "open_toolbox", "arguments": {"toolbox": "dev"}})
    return session


def said(response: Any) -> Any:
    return json.loads(text(response["result"]))


def message(live: Live, wanted: str) -> Any:
    """The next message of that method, or the next answer where that is wanted."""
    while True:
        if data := live.event().get("data"):
            found = json.loads(data)
            if found.get("method", "answer") == wanted:
                return found


def test_a_legacy_client_is_asked_on_the_stream_of_its_call(serve: Serve) -> None:
    session = opened(serve(ASKING))
    for _ in range(5):
        live = session.stream("tools/call", use("dev/asking/ask", ELICIT))
        asked = message(live, "elicitation/create")
        assert asked["params"] == FORM
        assert session.reply(asked, ACCEPTED).status == 202
        assert said(message(live, "answer"))["result"] == ACCEPTED


def test_two_clients_at_once_are_never_asked_each_others_questions(serve: Serve) -> None:
    served = serve(ASKING)
    sessions = [opened(served), opened(served), opened(served, elicitation={})]
    for round in range(5):
        lives = []
        for number, session in enumerate(sessions):
            form = {**FORM, "message": f"{number}-{round}"}
            arguments = {"method": "elicitation/create", "params": form}
            lives.append(session.stream("tools/call", use("dev/asking/ask", arguments)))
        questions = [message(live, "elicitation/create") for live in lives]
        assert [each["params"]["message"] for each in questions] == [
            f"{number}-{round}" for number in range(3)
        ]
        for number in (2, 0, 1):
            sessions[number].reply(questions[number], {"action": "accept", "content": {"a": str(number)}})
        for number, live in enumerate(lives):
            assert said(message(live, "answer"))["result"]["content"]["a"] == str(number)


def test_each_client_has_a_connection_with_what_it_declared(serve: Serve) -> None:
    served = serve(ASKING)
    declared = [EVERYTHING, {"elicitation": {}}, EVERYTHING, {}]
    sessions = [served.session(capabilities=each) for each in declared]
    sessions[0].ask("tools/call", {"name": "open_toolbox", "arguments": {"toolbox": "dev"}})
    seen = [said(session.ask("tools/call", use("dev/asking/seen")).message) for session in sessions]
    assert [each["capabilities"] for each in seen] == declared
    # The third came when the first one's connection was free.
    assert len({each["pid"] for each in seen}) == 3
    assert seen[0]["pid"] == seen[2]["pid"]
    assert "notifications/roots/list_changed" in seen[2]["noticed"]


def test_a_client_finds_again_what_it_left_in_a_server(serve: Serve) -> None:
    served = serve(ASKING)
    sessions = [opened(served), opened(served)]
    slow = [session.stream("tools/call", use("dev/asking/slow", {"seconds": 0.5})) for session in sessions]
    for live in slow:
        message(live, "answer")
    pids = [
        [said(session.ask("tools/call", use("dev/asking/seen")).message)["pid"] for session in sessions]
        for _ in range(3)
    ]
    assert pids[0][0] != pids[0][1]
    assert pids[1] == pids[2] == pids[0]


def test_a_client_that_reads_no_streams_is_asked_on_the_standing_one(serve: Serve) -> None:
    served = serve(ASKING)
    session = opened(served)
    standing = session.listen()
    session.headers["Accept"] = "application/json"
    with ThreadPoolExecutor() as pool:
        answer = pool.submit(session.ask, "tools/call", use("dev/asking/ask", ELICIT))
        assert session.reply(message(standing, "elicitation/create"), ACCEPTED).status == 202
        assert said(answer.result(10).json)["result"] == ACCEPTED


def test_a_question_outside_of_calls_is_refused_and_counted(serve: Serve) -> None:
    served = serve(ASKING)
    session = opened(served)
    standing = session.listen()
    session.ask("tools/call", use("dev/asking/later"))
    time.sleep(0.5)
    live = session.stream("tools/call", use("dev/asking/ask", ELICIT))
    session.reply(message(live, "elicitation/create"), ACCEPTED)
    message(live, "answer")
    counted = served.request("GET", "/metrics").body.decode()
    assert 'mcp_workbench_questions_refused_total{toolbox="dev",server="asking"} 1\n' in counted
    standing.close()


def test_a_modern_client_is_asked_in_a_plain_result_and_goes_on_by_its_retry(serve: Serve) -> None:
    served = serve(ASKING)
    served.open("dev")
    params = use("dev/asking/ask", ELICIT, **{CAPABILITIES: EVERYTHING})
    answer = served.modern("tools/call", params)
    assert answer.headers["Content-Type"] == "application/json"
    asked = answer.json["result"]
    assert asked["resultType"] == "input_required"
    retry = {**params, "requestState": asked["requestState"]}
    retry["inputResponses"] = dict.fromkeys(asked["inputRequests"], ACCEPTED)
    assert said(served.modern("tools/call", retry).message)["result"] == ACCEPTED
    expired = served.modern("tools/call", retry)
    assert expired.status == 400
    assert expired.json["error"]["message"] == "the question has expired, call again"


def test_log_messages_stand_on_the_stream_of_the_call_that_asked_for_them(serve: Serve) -> None:
    served = serve(ASKING)
    served.open("dev")
    params = use("dev/asking/log", {}, **{LOG_LEVEL: "alert"})
    messages = [json.loads(event["data"]) for event in served.modern("tools/call", params).events]
    assert [each["params"]["level"] for each in messages[:-1]] == ["alert", "emergency"]
    session = opened(served)
    assert session.ask("logging/setLevel", {"level": "emergency"}).json["result"] == {}
    live = session.stream("tools/call", use("dev/asking/log"))
    assert message(live, "notifications/message")["params"]["level"] == "emergency"
    assert text(message(live, "answer")["result"]) == "logged"


def test_a_message_of_nobody_in_particular_is_dropped_and_counted(serve: Serve) -> None:
    served = serve(ASKING)
    served.open("dev")
    sessions = [served.session(), served.session()]
    lives = [each.stream("tools/call", use("dev/asking/log", {"seconds": 0.5})) for each in sessions]
    for live in lives:
        assert text(message(live, "answer")["result"]) == "logged"
    (counted,) = [
        line
        for line in served.request("GET", "/metrics").body.decode().splitlines()
        if line.startswith("mcp_workbench_messages_dropped_total{")
    ]
    assert int(counted.split()[-1]) > 0


def test_a_direct_endpoint_asks_too(serve: Serve) -> None:
    served = serve(ASKING)
    session = Session(served, "2025-11-25", {}, "/toolboxes/dev/mcp", EVERYTHING)
    assert session.result["capabilities"]["logging"] == {}
    live = session.stream("tools/call", {"name": "ask", "arguments": ELICIT})
    session.reply(message(live, "elicitation/create"), ACCEPTED)
    assert said(message(live, "answer"))["result"] == ACCEPTED
    assert session.ask("logging/setLevel", {"level": "emergency"}).json["result"] == {}
    live = session.stream("tools/call", {"name": "log", "arguments": {}})
    assert message(live, "notifications/message")["params"]["level"] == "emergency"


def test_a_session_that_ends_takes_its_questions_and_its_process_along(serve: Serve) -> None:
    served = serve(ASKING)
    opened(served)
    session = served.session(capabilities=EVERYTHING)
    session.stream("tools/call", use("dev/asking/ask", ELICIT)).event()
    assert session.end().status == 204
    other = served.session(capabilities=EVERYTHING)
    assert said(other.ask("tools/call", use("dev/asking/seen")).message)["capabilities"] == EVERYTHING
