"""The revisions up to 2025-11-25 over HTTP: sessions, their streams and their ends."""

from __future__ import annotations

import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.client import PATIENCE, invocation

from .served import Served, modern_body, use

VERSIONS = ["2025-03-26", "2025-06-18", "2025-11-25"]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_session_begins_with_initialize_and_uses_tools(served: Served, version: str) -> None:
    session = served.session(version)
    assert session.result["protocolVersion"] == version
    assert set(session.result["capabilities"]) == {"tools", "prompts", "resources", "completions", "logging"}
    assert session.id.isprintable()
    assert [tool["name"] for tool in session.ask("tools/list").json["result"]["tools"]][:1] == [
        "open_toolbox"
    ]
    answer = session.ask("tools/call", use("dev/echo/echo", {"n": 1}), id="a")
    assert answer.json == {
        "jsonrpc": "2.0",
        "id": "a",
        "result": {"content": [{"type": "text", "text": '{"n": 1}'}]},
    }


def test_ping_and_the_level_of_logging_are_answered_with_nothing(served: Served) -> None:
    session = served.session()
    assert session.ask("ping").json["result"] == {}
    assert session.ask("logging/setLevel", {"level": "info"}).json["result"] == {}


@pytest.mark.parametrize("method", ["prompts/list", "resources/list", "resources/templates/list"])
def test_lists_of_what_we_do_not_have_are_empty(served: Served, method: str) -> None:
    key = "resourceTemplates" if "templates" in method else method.partition("/")[0]
    assert served.session().ask(method).json["result"] == {key: []}


def test_an_unknown_method_and_a_missing_resource_are_errors_in_an_answer(served: Served) -> None:
    session = served.session()
    answer = session.ask("no/such")
    assert (answer.status, answer.json["error"]["code"]) == (200, -32601)
    assert session.ask("resources/read", {"uri": "file:///x"}).json["error"]["code"] == -32002


def test_a_request_without_a_session_is_bad(served: Served) -> None:
    for body in ({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, {"jsonrpc": "2.0", "method": "x"}):
        assert served.request("POST", body=body).status == 400
    assert served.request("GET", headers={"Accept": "text/event-stream"}).status == 400
    assert served.request("DELETE").status == 400


def test_a_session_that_has_ended_is_not_found(served: Served) -> None:
    session = served.session()
    live = session.listen()
    live.event()
    assert session.end().status == 204
    assert live.rest() == []
    assert session.ask("tools/list").status == 404
    assert session.notify("notifications/initialized").status == 404
    assert session.end().status == 404


def test_a_revision_that_nobody_knows_is_a_bad_request(served: Served) -> None:
    session = served.session()
    session.headers["MCP-Protocol-Version"] = "1999-01-01"
    assert session.ask("tools/list").status == 400
    assert session.end().status == 400


def test_a_client_that_leaves_the_revision_out_is_known_by_its_session(served: Served) -> None:
    session = served.session()
    del session.headers["MCP-Protocol-Version"]
    assert session.ask("tools/list").status == 200


def test_a_modern_request_has_no_place_in_a_session(served: Served) -> None:
    session = served.session()
    answer = served.request("POST", body=modern_body("tools/list"), headers=session.headers)
    assert (answer.status, answer.json["error"]["code"]) == (400, -32020)


def test_responses_of_a_client_are_taken(served: Served) -> None:
    headers = served.session().headers
    body = {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert served.request("POST", body=body, headers=headers).status == 202


def test_a_call_that_takes_long_becomes_a_stream_that_opens_with_an_id(served: Served) -> None:
    answer = served.session().ask("tools/call", use("dev/echo/slow", {"seconds": 0.3}))
    assert answer.headers["Content-Type"] == "text/event-stream"
    assert answer.headers["X-Accel-Buffering"] == "no"
    first, last = answer.events
    assert (first["data"], int(first["retry"]) > 0, "id" in first) == ("", True, True)
    assert json.loads(last["data"])["result"]["content"][0]["text"] == "slept 0.3"
    assert last["id"] != first["id"]


@pytest.mark.parametrize("version", VERSIONS[:2])
def test_older_clients_see_no_event_without_data(served: Served, version: str) -> None:
    session = served.session(version)
    answer = session.ask("tools/call", use("dev/echo/slow", {"seconds": 0.2}))
    assert answer.headers["Content-Type"] == "application/json"
    streamed = session.ask("tools/call", use("dev/echo/progress", {"steps": 2}, progressToken=1))
    assert [set(event) for event in streamed.events] == [{"event", "data"}] * 3


def test_a_stream_that_was_cut_goes_on_where_it_stopped(served: Served) -> None:
    session = served.session()
    params = use("dev/echo/progress", {"steps": 6, "pause": 0.1}, progressToken="t")
    live = session.stream("tools/call", params, id=5)
    live.event()
    last = live.event()
    live.close()
    resumed = session.listen(last["id"])
    messages = [json.loads(event["data"]) for event in resumed.rest()]
    assert [each["params"]["progress"] for each in messages[:-1]] == [2, 3, 4, 5, 6]
    assert messages[-1]["id"] == 5
    assert messages[-1]["result"]["content"][0]["text"] == "done"


def test_an_answer_that_was_lost_can_be_fetched_again_and_no_other_streams_events_come_with_it(
    served: Served,
) -> None:
    session = served.session()
    one = session.ask("tools/call", use("dev/echo/slow", {"seconds": 0.1}), id=1).events
    two = session.ask("tools/call", use("dev/echo/slow", {"seconds": 0.2}), id=2).events
    assert [json.loads(event["data"])["id"] for event in session.listen(one[0]["id"]).rest()] == [1]
    assert [json.loads(event["data"])["id"] for event in session.listen(two[0]["id"]).rest()] == [2]
    assert session.listen(two[1]["id"]).rest() == []


def test_an_answer_that_was_lost_outlives_many_that_were_not(served: Served) -> None:
    session = served.session()
    lost = session.stream("tools/call", use("dev/echo/slow", {"seconds": 0.5}), id="lost")
    beginning = lost.event()["id"]
    lost.close()
    for number in range(20):
        events = session.ask("tools/call", use("dev/echo/slow", {"seconds": 0.06}), id=number).events
        assert len(events) == 2
    assert json.loads(session.listen(beginning).event()["data"])["id"] == "lost"


def test_an_event_that_nobody_sent_cannot_be_resumed(served: Served) -> None:
    session = served.session()
    for event in ("99-1", "nonsense", "0", "-", "0-" + "9" * 5000):
        assert session.listen(event).status == 400
    assert "Traceback" not in served.stderr


def test_the_sessions_own_stream_hears_that_tools_changed(served: Served) -> None:
    session = served.session()
    first = session.listen()
    assert first.event()["data"] == ""
    again = session.listen()
    assert first.rest() == []  # one reader at a time: a message goes to one stream alone
    assert again.event()["data"] == ""
    config = served.config.read_text()
    try:
        served.config.write_text(config.replace("For tests", "For changes"))
        notice = again.event()
        assert json.loads(notice["data"])["method"] == "notifications/tools/list_changed"
        again.close()
    finally:
        served.config.write_text(config)
    # Whatever happens while nobody reads is kept.
    later = session.listen(notice["id"])
    assert json.loads(later.event()["data"])["method"] == "notifications/tools/list_changed"
    later.close()


def test_get_is_for_those_who_read_events(served: Served) -> None:
    session = served.session()
    headers = {**session.headers, "Accept": "application/json"}
    assert served.request("GET", headers=headers).status == 406


def test_a_call_can_be_cancelled_by_the_id_of_its_request(served: Served) -> None:
    session = served.session()
    live = session.stream("tools/call", use("dev/echo/slow", {"seconds": 60}), id="long")
    assert live.event()["data"] == ""
    before = len(cancelled(served))
    session.notify("notifications/cancelled", {"requestId": "long"})
    assert live.rest() == []
    assert len(cancelled(served)) == before + 1


def cancelled(served: Served) -> list[object]:
    facts = served.use("dev/echo/about")
    return json.loads(facts["content"][0]["text"])["cancelled"]


def test_a_batch_of_the_one_revision_that_has_them_is_answered_together(served: Served) -> None:
    session = served.session("2025-03-26")
    batch = [
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": use("dev/echo/echo", {"b": 2})},
        {"jsonrpc": "2.0", "id": 3, "method": "no/such"},
        {"wrong": True},
    ]
    answers = served.request("POST", body=batch, headers=session.headers).json
    assert [answer["id"] for answer in answers] == [1, 2, 3, None]
    assert answers[1]["result"]["content"][0]["text"] == '{"b": 2}'
    assert [answer.get("error", {}).get("code") for answer in answers] == [None, None, -32601, -32600]
    assert served.request("POST", body=batch[1:2], headers=session.headers).status == 202
    assert served.request("POST", body=[], headers=session.headers).status == 400


def slow_call(id: int, seconds: float = 30) -> dict[str, object]:
    return {
        "jsonrpc": "2.0",
        "id": id,
        "method": "tools/call",
        "params": use("dev/echo/slow", {"seconds": seconds}),
    }


def test_a_request_of_a_batch_can_be_cancelled(served: Served) -> None:
    session = served.session("2025-03-26")
    before = len(cancelled(served))
    with ThreadPoolExecutor(1) as pool:
        batch = [slow_call(1), slow_call(2, 1)]
        answer = pool.submit(served.request, "POST", body=batch, headers=session.headers)
        time.sleep(0.5)
        assert session.notify("notifications/cancelled", {"requestId": 1}).status == 202
        assert [each["id"] for each in answer.result(10).json] == [2]
    assert len(cancelled(served)) == before + 1
    both = [slow_call(3), {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}}]
    assert served.request("POST", body=both, headers=session.headers).status == 202


def test_a_client_that_leaves_its_batch_has_given_it_up(served: Served) -> None:
    session = served.session("2025-03-26")
    before = len(cancelled(served))
    with socket.create_connection(("127.0.0.1", served.port), 10) as raw:
        body = json.dumps([slow_call(1), slow_call(2)]).encode()
        headers = {**served.headers, **session.headers, "Content-Type": "application/json"}
        said = "".join(f"{name}: {value}\r\n" for name, value in headers.items()).encode()
        raw.sendall(
            b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n%bContent-Length: %d\r\n\r\n" % (said, len(body))
        )
        raw.sendall(body)
        time.sleep(0.5)
    until = time.monotonic() + PATIENCE
    while len(cancelled(served)) < before + 2:
        assert time.monotonic() < until
        time.sleep(0.05)
    assert "Exception" not in served.stderr


def test_later_revisions_have_no_batches(served: Served) -> None:
    session = served.session("2025-06-18")
    body = [{"jsonrpc": "2.0", "id": 1, "method": "ping"}]
    assert served.request("POST", body=body, headers=session.headers).status == 400


def test_one_id_used_for_everything_confuses_nobody(served: Served) -> None:
    session = served.session()
    live = session.stream("tools/call", use("dev/echo/slow", {"seconds": 0.5}), id=0)
    assert session.ask("tools/call", use("dev/echo/echo", {"x": 1}), id=0).json["id"] == 0
    assert json.loads(live.rest()[-1]["data"])["result"]["content"][0]["text"] == "slept 0.5"


def test_arguments_that_do_not_fit_are_results_that_a_model_can_read(served: Served) -> None:
    params = {"name": "use_tool", "arguments": {"tool": invocation("a/b/c")["tool"], "x": PATIENCE}}
    result = served.session().ask("tools/call", params).json["result"]
    assert result["isError"] is True
    assert "Unrecognized key: 'x'" in result["content"][0]["text"]
