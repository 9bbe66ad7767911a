"""Both eras of clients on one process: handshakes, batches, stateless requests, subscriptions."""

from __future__ import annotations

import json
import signal
import time
from typing import Any

import pytest

from tests.support.client import MODERN_META, Client, invocation, is_notification, modern_params, text
from tests.support.launch import Launcher, child, configuration, toolbox

LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"
PREFIX = "io.modelcontextprotocol/"
CONFIG = configuration(dev=toolbox(echo=child("echo"), modern=child("modern"), dual=child("modern", "dual")))
CHANGED = "notifications/tools/list_changed"


@pytest.fixture(scope="module")
def client(shared_workbench: Launcher) -> Client:
    client = shared_workbench(CONFIG)
    client.initialize()
    client.open("dev")
    return client


# The legacy handshake


@pytest.mark.parametrize("version", LEGACY)
def test_initialize_agrees_to_every_legacy_revision(client: Client, version: str) -> None:
    result = client.initialize(version)
    assert result["protocolVersion"] == version
    assert result["serverInfo"]["name"] == "mcp-workbench"
    assert result["capabilities"]["tools"] == {"listChanged": True}
    assert "resultType" not in result


@pytest.mark.parametrize("version", ["1999-01-01", "2099-01-01", "", "2026-07-28"])
def test_initialize_with_a_revision_that_it_does_not_have_offers_the_latest(
    client: Client, version: str
) -> None:
    assert client.initialize(version)["protocolVersion"] == "2025-11-25"


def test_ping_and_list_answer_before_the_handshake(workbench: Launcher) -> None:
    client = workbench(configuration())
    assert client.request("ping")["result"] == {}
    assert len(client.request("tools/list")["result"]["tools"]) == 3


def test_a_legacy_list_has_nothing_of_the_modern_era(client: Client) -> None:
    assert list(client.request("tools/list")["result"]) == ["tools"]


def test_a_cursor_that_we_never_gave_is_refused(client: Client) -> None:
    assert client.request("tools/list", {"cursor": "x"})["error"]["code"] == -32602


# Batches


@pytest.fixture
def batching(workbench: Launcher) -> Client:
    client = workbench(CONFIG)
    client.initialize("2025-03-26")
    client.open("dev")
    return client


def ping(id: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": "ping"}


def is_batch(message: object) -> bool:
    return isinstance(message, list)


def test_a_batch_is_answered_by_one_array(batching: Client) -> None:
    call = {"name": "use_tool", "arguments": invocation("dev/echo/slow", {"seconds": 0.1})}
    batching.send(
        [
            {"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": call},
            {"jsonrpc": "2.0", "method": "notifications/whatever"},
            ping("b"),
            {"jsonrpc": "2.0", "id": "c", "method": "nope"},
        ]
    )
    answers = {each["id"]: each for each in batching.wait_for(is_batch)}
    assert text(answers["a"]["result"]) == "slept 0.1"
    assert answers["b"]["result"] == {}
    assert answers["c"]["error"]["code"] == -32601
    assert len(answers) == 3


def test_a_batch_of_notifications_is_not_answered(batching: Client) -> None:
    heard = len(batching.messages)
    batching.send([{"jsonrpc": "2.0", "method": "notifications/whatever"}])
    batching.request("ping")
    assert len(batching.messages) == heard + 1


def test_an_empty_batch_is_no_request(batching: Client) -> None:
    batching.send([])
    assert batching.response(None)["error"]["code"] == -32600


def test_what_is_no_message_in_a_batch_is_answered_with_the_others(batching: Client) -> None:
    batching.send([1, ping("b"), "x", {"foo": "boo"}, ping(None)])
    answers = batching.wait_for(is_batch)
    assert [each["result"] for each in answers if each["id"] == "b"] == [{}]
    refused = [each["error"]["code"] for each in answers if each["id"] is None]
    assert refused == [-32600] * 4


def test_a_batch_with_a_cancelled_call_answers_the_others(batching: Client) -> None:
    call = {"name": "use_tool", "arguments": invocation("dev/echo/slow", {"seconds": 30})}
    batching.send([{"jsonrpc": "2.0", "id": "slow", "method": "tools/call", "params": call}, ping("b")])
    time.sleep(0.1)
    batching.notify("notifications/cancelled", {"requestId": "slow"})
    assert batching.wait_for(is_batch, timeout=3) == [{"jsonrpc": "2.0", "id": "b", "result": {}}]


@pytest.mark.parametrize("version", ["2024-11-05", "2025-06-18", "2025-11-25"])
def test_a_batch_in_any_other_revision_is_refused(workbench: Launcher, version: str) -> None:
    client = workbench(configuration())
    client.initialize(version)
    client.send([ping(1), ping(2)])
    assert client.response(None)["error"]["code"] == -32600
    assert client.request("ping")["result"] == {}


# Modern requests


def test_server_discover_tells_everything_a_modern_client_needs(client: Client) -> None:
    result = client.request("server/discover", modern=True)["result"]
    assert result["resultType"] == "complete"
    assert MODERN in result["supportedVersions"]
    assert result["capabilities"]["tools"]["listChanged"] is True
    assert "## Available Toolboxes" in result["instructions"]
    assert isinstance(result["ttlMs"], int)
    assert result["ttlMs"] >= 0
    assert result["cacheScope"] in ("public", "private")


def test_a_modern_list_says_how_long_it_holds(client: Client) -> None:
    result = client.request("tools/list", modern=True)["result"]
    assert result["resultType"] == "complete"
    assert result["ttlMs"] >= 0
    assert result["cacheScope"] in ("public", "private")
    assert [tool["name"] for tool in result["tools"]] == ["open_toolbox", "use_tool", "find_tools"]


@pytest.mark.parametrize("method", ["server/discover", "tools/list", "tools/call"])
def test_a_modern_request_without_capabilities_is_invalid(client: Client, method: str) -> None:
    meta = {key: value for key, value in MODERN_META.items() if "Capabilities" not in key}
    response = client.request(method, {"_meta": meta, "name": "open_toolbox"})
    assert response["error"]["code"] == -32602


@pytest.mark.parametrize("method", ["server/discover", "tools/list", "tools/call", "nope"])
@pytest.mark.parametrize("version", ["2099-01-01", "1900-01-01"])
def test_an_unknown_version_is_answered_with_those_that_we_have(
    client: Client, method: str, version: str
) -> None:
    params = modern_params({"name": "open_toolbox"}, **{PREFIX + "protocolVersion": version})
    error = client.request(method, params)["error"]
    assert error["code"] == -32022
    assert error["data"]["requested"] == version
    assert MODERN in error["data"]["supported"]


def test_discover_without_a_version_is_invalid(client: Client) -> None:
    assert client.request("server/discover")["error"]["code"] == -32602
    assert client.request("server/discover", {"_meta": {}})["error"]["code"] == -32602


@pytest.mark.parametrize(
    "method", ["ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "nope"]
)
def test_methods_that_2026_took_away_are_unknown(client: Client, method: str) -> None:
    assert client.request(method, modern=True)["error"]["code"] == -32601


def test_errors_of_the_meta_tools_are_complete_results_for_a_modern_client(client: Client) -> None:
    result = client.call("open_toolbox", {}, modern=True)
    assert result["resultType"] == "complete"
    assert result["isError"] is True


def test_a_modern_client_opens_and_uses_a_toolbox_without_any_handshake(workbench: Launcher) -> None:
    client = workbench(CONFIG)
    assert client.open("dev", modern=True)["servers_connected"] == 3
    for server in ("echo", "modern", "dual"):
        tool = "seen" if server != "echo" else "echo"
        result = client.use(f"dev/{server}/{tool}", {"a": 1}, modern=True)
        assert result["resultType"] == "complete"
        assert '"a": 1' in text(result)
    assert client.notifications(CHANGED) == []


def test_both_eras_are_served_on_one_process_in_turn(workbench: Launcher) -> None:
    client = workbench(CONFIG)
    assert client.request("server/discover", modern=True)["result"]["resultType"] == "complete"
    assert client.initialize("2025-11-25")["protocolVersion"] == "2025-11-25"
    assert "resultType" not in client.request("tools/list")["result"]
    assert client.request("tools/list", modern=True)["result"]["resultType"] == "complete"
    assert client.request("ping")["result"] == {}
    assert client.request("ping", modern=True)["error"]["code"] == -32601
    client.open("dev")
    assert "resultType" not in client.use("dev/echo/echo")
    assert client.use("dev/echo/echo", modern=True)["resultType"] == "complete"


# What a client's revision requires of a result


def test_a_modern_result_reaches_a_legacy_client_as_it_is(client: Client) -> None:
    downstream = '{"resultType":"complete","content":[],"structuredContent":{"a":[1]},"x":null}'
    assert client.use("dev/modern/raw", {"json": downstream}) == json.loads(downstream)


@pytest.mark.parametrize("structured", ["[1,2]", '"text"', "5", "null", "true", "1.50"])
def test_structured_content_that_is_no_object_is_wrapped_for_a_legacy_client(
    client: Client, structured: str
) -> None:
    downstream = f'{{"resultType":"complete","content":[],"structuredContent":{structured}}}'
    wrapped = client.use("dev/modern/raw", {"json": downstream})
    assert wrapped["structuredContent"] == {"result": json.loads(structured)}
    assert f'"structuredContent":{{"result":{structured}}}'.encode() in client.lines[-1].replace(b" ", b"")
    assert client.use("dev/modern/raw", {"json": downstream}, modern=True) == json.loads(downstream)


@pytest.mark.parametrize("structured", ["[1,2]", "null"])
def test_structured_content_of_a_legacy_server_is_left_alone(client: Client, structured: str) -> None:
    downstream = f'{{"content":[],"structuredContent":{structured}}}'
    assert client.use("dev/echo/raw", {"json": downstream}) == json.loads(downstream)


def test_a_modern_server_hears_who_we_are_and_the_clients_own_capabilities(client: Client) -> None:
    params = modern_params(
        {"name": "use_tool", "arguments": invocation("dev/modern/seen")},
        **{PREFIX + "clientCapabilities": {"elicitation": {}}, "traceparent": "00-1"},
    )
    seen = json.loads(text(client.request("tools/call", params)["result"]))["params"]["_meta"]
    assert seen[PREFIX + "protocolVersion"] == MODERN
    assert seen[PREFIX + "clientCapabilities"] == {"elicitation": {}}
    assert seen["traceparent"] == "00-1"


# Subscriptions


def listen(client: Client, **wanted: bool) -> int:
    """The id of a subscription that was acknowledged."""
    id = client.start_request("subscriptions/listen", {"notifications": wanted}, modern=True)
    acknowledged = client.wait_for(
        lambda each: (
            is_notification(each, "notifications/subscriptions/acknowledged")
            and each["params"]["_meta"][PREFIX + "subscriptionId"] == id
        )
    )
    assert acknowledged["params"]["notifications"] == {key: True for key, value in wanted.items() if value}
    return id


def test_list_changed_is_tagged_for_each_subscription_that_wants_it(workbench: Launcher) -> None:
    client = workbench(CONFIG)
    client.open("dev", modern=True)
    wants, wants_too = listen(client, toolsListChanged=True), listen(client, toolsListChanged=True)
    cancelled = listen(client, toolsListChanged=True)
    listen(client, toolsListChanged=False)
    client.notify("notifications/cancelled", {"requestId": cancelled})
    client.use("dev/modern/change", modern=True)
    client.wait_for(
        lambda each: (
            is_notification(each, CHANGED)
            and each["params"]["_meta"] == {PREFIX + "subscriptionId": wants_too}
        )
    )
    client.request("tools/list", modern=True)
    tags = [each["params"]["_meta"][PREFIX + "subscriptionId"] for each in client.notifications(CHANGED)]
    assert set(tags) == {wants, wants_too}
    assert "added5" in [tool["name"] for tool in client.open("dev", modern=True)["tools"]]


def test_a_legacy_client_hears_of_changes_without_asking(workbench: Launcher) -> None:
    client = workbench(CONFIG)
    client.initialize()
    client.open("dev")
    client.use("dev/modern/change")
    notice = client.wait_for(lambda each: is_notification(each, CHANGED))
    assert PREFIX + "subscriptionId" not in notice.get("params", {}).get("_meta", {})


def test_sigterm_ends_a_subscription_with_its_result(workbench: Launcher) -> None:
    client = workbench(CONFIG)
    id = listen(client, toolsListChanged=True)
    cancelled = listen(client, toolsListChanged=True)
    client.notify("notifications/cancelled", {"requestId": cancelled})
    client.request("server/discover", modern=True)
    client.signal(signal.SIGTERM)
    assert client.wait() == 0
    result = client.response(id)["result"]
    assert result["resultType"] == "complete"
    assert result["_meta"] == {PREFIX + "subscriptionId": id}
    with pytest.raises(TimeoutError):
        client.response(cancelled, timeout=0)


def test_subscriptions_do_not_exist_for_a_legacy_client(client: Client) -> None:
    params = {"notifications": {"toolsListChanged": True}}
    assert client.request("subscriptions/listen", params)["error"]["code"] == -32601


# Cancellation


@pytest.mark.parametrize("modern", [False, True])
@pytest.mark.parametrize("server", ["echo", "modern"])
def test_cancelling_reaches_the_server_and_the_call_is_not_answered(
    workbench: Launcher, modern: bool, server: str
) -> None:
    client = workbench(CONFIG)
    client.initialize()
    client.open("dev")
    call = {"name": "use_tool", "arguments": invocation(f"dev/{server}/slow", {"seconds": 60})}
    id = client.start_request("tools/call", call, modern=modern)
    time.sleep(0.1)
    client.notify("notifications/cancelled", {"requestId": id, "reason": "enough"})
    asked, key = ("about", "cancelled") if server == "echo" else ("seen", "cancelled")
    until = time.monotonic() + 1
    while not json.loads(text(client.use(f"dev/{server}/{asked}")))[key]:
        assert time.monotonic() < until
        time.sleep(0.02)
    with pytest.raises(TimeoutError):
        client.response(id, timeout=0.1)


def test_cancelling_what_nobody_asked_for_does_no_harm(client: Client) -> None:
    for params in ({"requestId": 424242}, {}, {"requestId": None}, {"requestId": [1]}):
        client.notify("notifications/cancelled", params)
    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": [1]})
    assert client.request("ping")["result"] == {}
