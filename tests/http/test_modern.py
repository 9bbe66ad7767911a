"""The 2026-07-28 revision over HTTP: what each request must say, and what it is told if it does not."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from tests.support.client import MODERN_META, modern_params
from tests.support.launch import child, configuration, toolbox

from .conftest import ECHO, Serve
from .served import MODERN, Served, modern_body, modern_headers, use

PREFIX = "io.modelcontextprotocol/"


def post(served: Served, body: object, **headers: str | None) -> Any:
    said = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/list", **headers}
    return served.request("POST", body=body, headers={k.replace("_", "-"): v for k, v in said.items()})


def test_discovery_tells_who_and_what_we_are(served: Served) -> None:
    answer = served.modern("server/discover")
    result = answer.json["result"]
    assert answer.headers["Content-Type"] == "application/json"
    assert result["supportedVersions"] == [MODERN]
    assert result["capabilities"] == {
        "tools": {"listChanged": True},
        "resources": {"subscribe": True, "listChanged": True},
        "prompts": {"listChanged": True},
        "completions": {},
        "logging": {},
        "extensions": {"io.modelcontextprotocol/tasks": {}},
    }
    assert result["_meta"][PREFIX + "serverInfo"]["name"] == "mcp-workbench"
    assert "## Available Toolboxes" in result["instructions"]
    assert (result["resultType"], result["cacheScope"]) == ("complete", "public")
    assert answer.headers["Mcp-Session-Id"] is None


def test_a_tool_is_used_in_one_plain_exchange(served: Served) -> None:
    answer = served.modern("tools/call", use("dev/echo/echo", {"a": [1, "é"]}), id="x")
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.json["id"] == "x"
    assert json.loads(answer.json["result"]["content"][0]["text"]) == {"a": [1, "é"]}
    assert answer.json["result"]["resultType"] == "complete"


def test_what_a_server_answers_is_passed_on_as_it_is(served: Served) -> None:
    raw = '{"content":[{"type":"new","x":1e400}],"resultType":"complete","later":{"a":[1.0]}}'
    answer = served.modern("tools/call", use("dev/echo/raw", {"json": raw}))
    assert answer.body == b'{"jsonrpc":"2.0","id":1,"result":' + raw.encode() + b"}"


@pytest.mark.parametrize("method", ["prompts/list", "resources/list", "resources/templates/list"])
def test_lists_of_what_we_do_not_have_are_empty_and_can_be_kept(served: Served, method: str) -> None:
    result = served.modern(method).json["result"]
    key = "resourceTemplates" if "templates" in method else method.partition("/")[0]
    assert result[key] == []
    assert result["ttlMs"] > 0
    assert result["cacheScope"] == "public"


def test_a_prompt_or_a_resource_that_is_not_there_is_an_invalid_parameter(served: Served) -> None:
    for method, params in (("prompts/get", {"name": "p"}), ("resources/read", {"uri": "file:///x"})):
        answer = served.modern(method, params)
        assert (answer.status, answer.json["error"]["code"]) == (400, -32602)


@pytest.mark.parametrize("left_out", ["_meta", "protocolVersion", "clientCapabilities"])
def test_a_request_that_does_not_say_what_it_must_is_invalid(served: Served, left_out: str) -> None:
    meta = {key: value for key, value in MODERN_META.items() if not key.endswith(left_out)}
    params = {} if left_out == "_meta" else {"_meta": meta}
    answer = post(served, {"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": params})
    assert (answer.status, answer.json["id"], answer.json["error"]["code"]) == (400, 7, -32602)


def test_a_client_need_not_say_its_name(served: Served) -> None:
    meta = {key: value for key, value in MODERN_META.items() if not key.endswith("clientInfo")}
    answer = post(served, {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}})
    assert answer.status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"MCP_Protocol_Version": None},
        {"MCP_Protocol_Version": "2025-11-25"},
        {"MCP_Protocol_Version": "2099-01-01"},
        {"Mcp_Method": None},
        {"Mcp_Method": "tools/LIST"},
    ],
)
def test_headers_must_say_what_the_body_says(served: Served, headers: dict[str, str | None]) -> None:
    answer = post(served, modern_body("tools/list"), **headers)
    if headers == {"MCP_Protocol_Version": "2025-11-25"}:  # then it claims to be of a session
        assert answer.status == 400
        return
    assert (answer.status, answer.json["error"]["code"]) == (400, -32020)


@pytest.mark.parametrize("name", [None, "open_toolbox", "=?base64?***?=", "=?base64?/////w==?="])
def test_the_name_of_a_tool_must_be_in_its_header(served: Served, name: str | None) -> None:
    answer = served.modern("tools/call", use("dev/echo/echo"), {"Mcp-Name": name})
    assert (answer.status, answer.json["error"]["code"]) == (400, -32020)


def test_a_name_may_come_in_base64_or_with_space_around_it(served: Served) -> None:
    encoded = base64.b64encode(b"use_tool").decode()
    for name in (f"=?base64?{encoded}?=", "  use_tool  "):
        assert served.modern("tools/call", use("dev/echo/echo"), {"Mcp-Name": name}).status == 200


def test_a_header_given_twice_is_refused(served: Served) -> None:
    connection = served.connect()
    connection.putrequest("POST", "/mcp")
    body = json.dumps(modern_body("tools/list")).encode()
    given = {**served.headers, **modern_headers("tools/list"), "Content-Type": "application/json"}
    for name, value in {**given, "Content-Length": str(len(body))}.items():
        connection.putheader(name, str(value))
    connection.putheader("Mcp-Method", "tools/call")
    connection.endheaders(body)
    assert connection.getresponse().status == 400
    connection.close()


def test_a_revision_that_we_do_not_speak_is_named_with_those_that_we_do(served: Served) -> None:
    params = modern_params(None, **{PREFIX + "protocolVersion": "2099-01-01"})
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params}
    answer = post(served, body, MCP_Protocol_Version="2099-01-01")
    assert (answer.status, answer.json["error"]["code"]) == (400, -32022)
    assert answer.json["error"]["data"] == {"supported": [MODERN], "requested": "2099-01-01"}


@pytest.mark.parametrize(
    "method",
    ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "no/such"],
)
def test_a_method_that_is_gone_or_never_was_is_not_found(served: Served, method: str) -> None:
    answer = served.modern(method)
    assert (answer.status, answer.json["error"]["code"]) == (404, -32601)


def test_a_capability_that_a_server_misses_is_a_bad_request(served: Served) -> None:
    answer = served.modern("tools/call", use("dev/echo/fail", {"code": -32021, "message": "Needs sampling"}))
    assert (answer.status, answer.json["error"]["code"]) == (400, -32021)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", -32700),
        (b"[]", -32600),
        (b"[{}]", -32600),
        (b"7", -32600),
        (b'{"id":1}', -32600),
        (b"", -32700),
        (b"[" * 100_000, -32600),
        (b'{"id":1,"method":"x","params":' + b"[" * 100_000, -32600),
    ],
)
def test_what_is_no_message_is_a_bad_request(served: Served, body: bytes, code: int) -> None:
    answer = post(served, body)
    assert (answer.status, answer.json["error"]["code"], answer.json["id"]) == (400, code, None)


def test_notifications_are_taken_and_responses_are_not(served: Served) -> None:
    answer = post(served, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    assert (answer.status, answer.body) == (202, b"")
    assert post(served, {"jsonrpc": "2.0", "id": 1, "result": {}}).status == 400


def test_there_is_neither_get_nor_delete(served: Served) -> None:
    for method in ("GET", "DELETE", "PUT"):
        answer = served.request(method, headers={"MCP-Protocol-Version": MODERN})
        assert (answer.status, "POST" in answer.headers["Allow"]) == (405, True)


def test_progress_makes_a_stream_of_the_answer(served: Served) -> None:
    answer = served.modern("tools/call", use("dev/echo/progress", {"steps": 3}, progressToken="t"))
    assert answer.headers["Content-Type"] == "text/event-stream"
    assert answer.headers["X-Accel-Buffering"] == "no"
    assert "id" not in answer.events[0]
    *notices, last = [json.loads(event["data"]) for event in answer.events]
    assert [notice["params"]["progress"] for notice in notices] == [1, 2, 3]
    assert {notice["params"]["progressToken"] for notice in notices} == {"t"}
    assert last["result"]["content"][0]["text"] == "done"


def test_a_client_that_reads_no_streams_gets_plain_json(served: Served) -> None:
    params = use("dev/echo/progress", {"steps": 3}, progressToken="t")
    answer = served.modern("tools/call", params, {"Accept": "application/json"})
    assert answer.json["result"]["content"][0]["text"] == "done"


def test_a_subscription_is_acknowledged_hears_of_changes_and_ends_with_a_result(serve: Serve) -> None:
    served = serve()
    wanted = {"toolsListChanged": True, "promptsListChanged": True}
    live = served.modern_stream("subscriptions/listen", {"notifications": wanted}, id="sub")
    deaf = served.modern_stream("subscriptions/listen", {"notifications": {}}, id=2)
    assert live.headers["X-Accel-Buffering"] == "no"
    first = live.message()
    assert first["method"] == "notifications/subscriptions/acknowledged"
    assert first["params"]["notifications"] == wanted
    assert first["params"]["_meta"] == {PREFIX + "subscriptionId": "sub"}
    changed = {**ECHO, "toolboxes": {**ECHO["toolboxes"], "more": toolbox(echo=child("echo"))}}
    served.config.write_text(json.dumps(changed))
    notice = live.message()
    assert notice["method"] == "notifications/tools/list_changed"
    assert notice["params"]["_meta"] == {PREFIX + "subscriptionId": "sub"}
    assert served.end() == 0
    [last] = live.rest()
    meta = {PREFIX + "subscriptionId": "sub"}
    assert json.loads(last["data"]) == {
        "jsonrpc": "2.0",
        "id": "sub",
        "result": {"resultType": "complete", "_meta": meta},
    }
    assert [json.loads(event["data"]).get("id") for event in deaf.rest()] == [None, 2]


def test_what_differs_between_callers_is_private(serve: Serve) -> None:
    tokens = {"all": {"token": "a"}, "one": {"token": "b", "toolboxes": ["dev"]}}
    served = serve({**configuration(dev=toolbox(), ops=toolbox()), "http": {"tokens": tokens}})
    served.headers = {"Authorization": "Bearer a"}
    for method in ("server/discover", "tools/list", "prompts/list"):
        assert served.modern(method).json["result"]["cacheScope"] == "private"
