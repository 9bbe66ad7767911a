"""Servers of the official SDK, of both eras and on every transport, behind a real workbench."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.client import invocation, text
from tests.support.launch import Launcher, configuration, toolbox

from . import sdk


@pytest.fixture(scope="module")
def server(request: pytest.FixtureRequest) -> Iterator[tuple[sdk.Kind, dict[str, str]]]:
    with sdk.running(request.param) as (url, _):
        yield request.param, {"url": url, **({"transport": "sse"} if request.param == "sse" else {})}


@pytest.mark.parametrize("server", sdk.KINDS, indirect=True)
def test_a_remote_server_is_listed_called_and_heard(
    workbench: Launcher, server: tuple[sdk.Kind, dict[str, str]]
):
    kind, entry = server
    client = workbench(configuration(dev=toolbox(far=entry)))
    client.initialize()
    listing = client.open("dev")
    assert [each["name"] for each in listing["tools"]] == ["add", "count", "wait", "part", "fail"]
    assert "_errors" not in listing
    result = client.use("dev/far/add", {"a": 2, "b": 40})
    assert (text(result), result["structuredContent"]) == ("42", {"result": 42})
    assert text(client.use("dev/far/fail")).endswith("as promised")
    params = {"name": "use_tool", "arguments": invocation("dev/far/count", {"to": 3})}
    counted = client.request("tools/call", {**params, "_meta": {"progressToken": "mine"}})
    assert text(counted["result"]) == "counted to 3"
    heard = [each["params"] for each in client.notifications("notifications/progress")]
    if not kind.endswith("-json"):  # an answer in one piece has no room for progress
        assert heard[-1] == {"progressToken": "mine", "progress": 3, "total": 3, "message": "at 3"}


# Not "modern-json": the SDK's server does not notice that nobody waits for such an answer any more.
@pytest.mark.parametrize("server", ["modern", "legacy", "legacy-json", "sse"], indirect=True)
def test_a_cancelled_call_is_cancelled_at_the_remote_server(
    workbench: Launcher, server: tuple[sdk.Kind, dict[str, str]]
):
    name, entry = server
    client = workbench(configuration(dev=toolbox(far=entry)))
    client.initialize()
    client.open("dev")
    params = {"name": "use_tool", "arguments": invocation("dev/far/wait", {"name": name})}
    id = client.start_request("tools/call", params)
    assert text(client.use("dev/far/add", {"a": 1, "b": 1})) == "2"  # by now the other one is under way
    client.notify("notifications/cancelled", {"requestId": id})
    sdk.wait_until(lambda: name in sdk.cancelled)
    assert text(client.use("dev/far/add", {"a": 1, "b": 1})) == "2"


@pytest.mark.parametrize("kind", ["modern", "legacy", "sse"])
def test_a_remote_server_that_was_restarted_answers_the_next_call(workbench: Launcher, kind: sdk.Kind):
    transport = {"transport": "sse"} if kind == "sse" else {}
    with sdk.running(kind) as (url, port):
        client = workbench(configuration(dev=toolbox(far={"url": url, **transport})))
        client.initialize()
        client.open("dev")
        assert text(client.use("dev/far/add", {"a": 1, "b": 1})) == "2"
    with sdk.running(kind, port):
        assert text(client.use("dev/far/add", {"a": 2, "b": 2})) == "4"


@pytest.mark.parametrize("kind", ["modern", "legacy", "sse"])
def test_calls_under_way_when_their_server_goes_away_fail_at_once(workbench: Launcher, kind: sdk.Kind):
    transport = {"transport": "sse"} if kind == "sse" else {}
    with sdk.running(kind) as (url, port):
        client = workbench(configuration(dev=toolbox(far={"url": url, **transport})))
        client.initialize()
        client.open("dev")
        params = {"name": "use_tool", "arguments": invocation("dev/far/wait", {"name": "gone"})}
        ids = [client.start_request("tools/call", params) for _ in range(5)]
        assert text(client.use("dev/far/add", {"a": 1, "b": 1})) == "2"  # by now the others are under way
    for id in ids:
        assert client.response(id, timeout=2)["result"]["isError"]
    with sdk.running(kind, port):
        assert text(client.use("dev/far/add", {"a": 2, "b": 2})) == "4"


def test_a_stream_that_the_server_closes_to_be_called_back_is_taken_up(workbench: Launcher):
    with sdk.running("legacy-resumable") as (url, _):
        client = workbench(configuration(dev=toolbox(far={"url": url})))
        client.initialize()
        client.open("dev")
        params = {"name": "use_tool", "arguments": invocation("dev/far/part")}
        response = client.request("tools/call", {**params, "_meta": {"progressToken": "mine"}})
        assert text(response["result"]) == "and met again"
        heard = [each["params"]["progress"] for each in client.notifications("notifications/progress")]
        assert heard == [1, 2]


def test_a_call_waits_for_a_server_that_is_about_to_be_back(workbench: Launcher):
    with sdk.running("legacy") as (url, port):
        client = workbench(configuration(dev=toolbox(far={"url": url})))
        client.initialize()
        client.open("dev")
    params = {"name": "use_tool", "arguments": invocation("dev/far/add", {"a": 2, "b": 2})}
    id = client.start_request("tools/call", params)
    with sdk.running("legacy", port):
        assert text(client.response(id)["result"]) == "4"
