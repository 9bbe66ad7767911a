"""Streams that break in the middle of a call, and sessions that are forgotten."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from tests.support.client import text as said
from tests.support.launch import Launcher, configuration, toolbox

from .place import Exchange
from .remote import Remote, reply, response, text, tool


def opened(workbench: Launcher, remote: Remote, **entry: Any):
    client = workbench(configuration(dev=toolbox(far={"url": remote.url(), **entry})))
    client.initialize()
    client.open("dev")
    return client


def cut(exchange: Exchange) -> None:
    exchange.stream()
    exchange.event({"jsonrpc": "2.0", "method": "notifications/message", "params": {}})
    exchange.hang_up()


@pytest.mark.parametrize("modern", [False, True])
def test_a_stream_that_is_cut_is_an_error_at_once_and_the_call_is_not_repeated(
    workbench: Launcher, modern: bool
):
    with Remote(cut, modern=modern) as remote:
        client = opened(workbench, remote)
        began = time.monotonic()
        result = client.use("dev/far/act")
        assert time.monotonic() - began < 2
        assert result["isError"]
        assert "the connection was cut during the call, which was not repeated" in said(result)
        assert len(remote.posts("tools/call")) == 1


@pytest.mark.parametrize("hint", ["readOnlyHint", "idempotentHint"])
def test_a_call_that_does_no_harm_twice_is_repeated_once_after_a_cut(workbench: Launcher, hint: str):
    def second_time(exchange: Exchange) -> None:
        if len(remote.posts("tools/call")) == 1:
            cut(exchange)
        else:
            reply(exchange, text("done"))

    with Remote(second_time, tool("act", annotations={hint: True}), modern=True) as remote:
        assert said(opened(workbench, remote).use("dev/far/act")) == "done"
        assert len(remote.posts("tools/call")) == 2


def test_a_harmless_call_survives_a_cut_and_the_loss_of_its_session_together(workbench: Launcher):
    def second_time(exchange: Exchange) -> None:
        if len(remote.posts("tools/call")) == 1:
            remote.sessions.clear()
            remote.sessions.add("another")
            cut(exchange)
        else:
            reply(exchange, text("done"))

    with Remote(second_time, tool("act", annotations={"readOnlyHint": True})) as remote:
        assert said(opened(workbench, remote).use("dev/far/act")) == "done"
        assert len(remote.posts("initialize")) == 2


def test_a_cut_stream_with_event_ids_is_taken_up_where_it_ended(workbench: Launcher):
    def begin(exchange: Exchange) -> None:
        exchange.stream()
        exchange.event(id="7-1", retry=100)
        exchange.hang_up()

    def resume(exchange: Exchange) -> None:
        exchange.stream()
        if len(resumed()) == 1:
            exchange.event(id="7-2", retry=300)  # not yet; come again later
            return
        exchange.event(response(remote.posts("tools/call")[0], text("in the end")), id="7-3")

    def resumed() -> list[Exchange]:
        return [each for each in remote.seen if each.method == "GET"]

    with Remote(begin) as remote:
        remote.on_get = resume
        client = opened(workbench, remote)
        began = time.monotonic()
        assert said(client.use("dev/far/act")) == "in the end"
        assert 0.4 <= time.monotonic() - began < 2
        assert [each.headers["last-event-id"] for each in resumed()] == ["7-1", "7-2"]
        assert len(remote.posts("tools/call")) == 1


def not_yet(exchange: Exchange) -> None:
    exchange.stream()
    exchange.event(id="7-1", retry=0)


def test_a_server_that_wants_to_be_asked_without_a_pause_is_asked_with_growing_ones(workbench: Launcher):
    with Remote(not_yet) as remote:
        remote.on_get = not_yet
        client = opened(workbench, remote, limits={"timeout": 2})
        assert client.use("dev/far/act")["isError"]
        assert 2 <= len([each for each in remote.seen if each.method == "GET"]) < 8


def test_a_listening_stream_that_brings_nothing_is_not_opened_again_and_again(workbench: Launcher):
    with Remote(not_yet) as remote:
        remote.changes = True
        remote.on_get = not_yet
        opened(workbench, remote)
        time.sleep(2)
        assert 2 <= len([each for each in remote.seen if each.method == "GET"]) < 8


@pytest.mark.parametrize("digits", [10, 400, 5000])
@pytest.mark.parametrize("modern", [False, True])
def test_a_pause_that_nobody_can_mean_is_passed_over(workbench: Launcher, modern: bool, digits: int):
    def answer(exchange: Exchange) -> None:
        exchange.stream()
        exchange.event(response(exchange, text("done")), retry="9" * digits)

    with Remote(answer, modern=modern) as remote:
        client = opened(workbench, remote)
        assert said(client.use("dev/far/act")) == "done"
        assert client.stderr == ""


def test_a_stream_may_begin_with_a_byte_order_mark(workbench: Launcher):
    def answer(exchange: Exchange) -> None:
        exchange.stream()
        exchange.raw(b"\xef\xbb\xbfdata: " + json.dumps(response(exchange, text("done"))).encode() + b"\n\n")

    with Remote(answer) as remote:
        assert said(opened(workbench, remote).use("dev/far/act")) == "done"


def test_event_ids_are_no_help_with_a_modern_server(workbench: Launcher):
    def begin(exchange: Exchange) -> None:
        exchange.stream()
        exchange.event(id="7-1", retry=10)
        exchange.hang_up()

    with Remote(begin, modern=True) as remote:
        client = opened(workbench, remote)
        assert "the connection was cut" in said(client.use("dev/far/act"))
        assert [each.method for each in remote.seen if each.method == "GET"] == []


def test_a_forgotten_session_is_opened_anew_and_the_call_goes_through(workbench: Launcher):
    with Remote(lambda exchange: reply(exchange, text("done"))) as remote:
        client = opened(workbench, remote)
        assert said(client.use("dev/far/act")) == "done"
        remote.sessions.clear()
        remote.sessions.add("another")
        assert said(client.use("dev/far/act")) == "done"
        assert len(remote.posts("initialize")) == 2
        assert said(client.use("dev/far/act")) == "done"
        assert len(remote.posts("initialize")) == 2


def test_a_session_that_is_forgotten_every_time_is_an_error_and_no_endless_loop(workbench: Launcher):
    with Remote(lambda exchange: exchange.answer(404)) as remote:
        client = opened(workbench, remote)
        assert "the server has ended the session" in said(client.use("dev/far/act"))
        assert len(remote.posts("tools/call")) == 2


def test_one_session_serves_all_calls_and_is_ended_with_the_workbench(workbench: Launcher):
    with Remote(lambda exchange: reply(exchange, text("done"))) as remote:
        client = opened(workbench, remote)
        ids = [client.start_request("tools/call", {"name": "use_tool", "arguments": ACT}) for _ in range(20)]
        for id in ids:
            assert said(client.response(id)["result"]) == "done"
        client.end()
        assert len(remote.posts("initialize")) == 1
        assert {each.headers["mcp-session-id"] for each in remote.posts("tools/call")} == {"session-1"}
        assert {each.headers["mcp-protocol-version"] for each in remote.posts("tools/call")} == {"2025-11-25"}
        assert remote.seen[-1].method == "DELETE"
        assert remote.seen[-1].headers["mcp-session-id"] == "session-1"


ACT = {"tool": {"toolbox": "dev", "server": "far", "name": "act"}}
