"""What a remote server says of its tools, and what is said to it in headers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.client import Client, invocation, text as said
from tests.support.launch import Launcher, configuration, toolbox

from .place import Exchange
from .remote import Remote, error, reply, text, tool
from .sdk import wait_until


def done(exchange: Exchange) -> None:
    reply(exchange, text("done"))


def opened(workbench: Launcher, remote: Remote, **entry: Any) -> Client:
    client = workbench(configuration(dev=toolbox(far={"url": remote.url(), **entry})))
    client.initialize()
    return client


def with_headers(name: str, **headers: object) -> dict[str, Any]:
    """A tool with parameters that are repeated in headers."""
    properties = {key: {"type": "string", "x-mcp-header": header} for key, header in headers.items()}
    return tool(name, inputSchema={"type": "object", "properties": properties})


def test_a_modern_request_says_in_headers_what_its_body_says(workbench: Launcher):
    with Remote(done, with_headers("naïve", region="Region", zone="Zone"), modern=True) as remote:
        client = opened(workbench, remote)
        client.open("dev")
        assert said(client.use("dev/far/naïve", {"region": "eu-1", "zone": "Zürich"})) == "done"
        headers = remote.posts("tools/call")[0].headers
        assert headers["mcp-protocol-version"] == "2026-07-28"
        assert headers["mcp-method"] == "tools/call"
        assert headers["mcp-name"] == "=?base64?bmHDr3Zl?="
        assert headers["mcp-param-region"] == "eu-1"
        assert headers["mcp-param-zone"] == "=?base64?WsO8cmljaA==?="
        assert "mcp-session-id" not in headers


def test_arguments_that_few_can_read_still_get_their_headers(workbench: Launcher):
    with Remote(done, modern=True) as remote:
        client = opened(workbench, remote)
        client.open("dev")
        params = '{"name":"use_tool","arguments":{"tool":%s,"arguments":{"s":"\\ud800"}}}'
        place = '{"toolbox":"dev","server":"far","name":"act"}'
        client.send_bytes(
            b'{"jsonrpc":"2.0","id":"odd","method":"tools/call","params":%b}\n' % (params % place).encode()
        )
        assert said(client.response("odd")["result"]) == "done"
        call = remote.posts("tools/call")[0]
        assert call.headers["mcp-name"] == "act"
        assert b'"arguments":{"s":"\\ud800"}' in call.body


def test_a_tool_with_a_header_that_cannot_be_is_left_out_and_named(workbench: Launcher):
    with Remote(done, with_headers("good", a="A"), with_headers("bad", a="no token"), modern=True) as remote:
        listing = opened(workbench, remote).open("dev")
        assert [each["name"] for each in listing["tools"]] == ["good"]
        (problem,) = listing["_errors"]
        assert problem.startswith("Tool 'bad' of server 'far' in toolbox 'dev' is left out: property 'a':")


def test_a_header_mismatch_is_repaired_by_listing_again(workbench: Launcher):
    def strict(exchange: Exchange) -> None:
        if "mcp-param-region" in exchange.headers:
            reply(exchange, text("done"))
        else:
            error(exchange, -32020, "header mismatch", 400)

    with Remote(strict, tool("act"), modern=True) as remote:
        client = opened(workbench, remote)
        client.open("dev")
        remote.tools = [with_headers("act", region="Region")]
        assert said(client.use("dev/far/act", {"region": "eu"})) == "done"
        assert len(remote.posts("tools/call")) == 2
        remote.tools = [tool("act")]
        assert said(client.use("dev/far/act")).endswith("header mismatch")
        assert len(remote.posts("tools/call")) == 4


@pytest.mark.parametrize("modern", [False, True])
def test_a_change_of_the_tools_is_heard_and_told(workbench: Launcher, modern: bool):
    changed, over = threading.Event(), threading.Event()

    def tell(exchange: Exchange) -> None:
        exchange.stream()
        changed.wait(10)
        exchange.event({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        over.wait(10)

    with Remote(done, modern=modern) as remote:
        remote.changes = True
        remote.on_get = tell
        client = opened(workbench, remote)
        assert len(client.open("dev")["tools"]) == 1
        remote.tools.append(tool("another"))
        changed.set()
        wait_until(lambda: len(client.open("dev")["tools"]) == 2)
        assert said(client.use("dev/far/another")) == "done"
        over.set()


@pytest.mark.parametrize("modern", [False, True])
def test_a_listening_stream_that_ends_is_opened_again(workbench: Launcher, modern: bool):
    listening = threading.Semaphore(0)

    def end(exchange: Exchange) -> None:
        exchange.stream()
        exchange.event(id="here", retry=50)
        listening.release()

    with Remote(done, modern=modern) as remote:
        remote.changes = True
        remote.on_get = end
        client = opened(workbench, remote)
        client.open("dev")
        for _ in range(2):
            assert listening.acquire(timeout=10)
        assert said(client.use("dev/far/act")) == "done"


def test_a_server_that_was_replaced_by_one_of_the_other_era_is_greeted_anew(workbench: Launcher):
    with Remote(done, modern=True) as remote:
        client = opened(workbench, remote)
        client.open("dev")
        remote.modern = False
        assert said(client.use("dev/far/act")) == "done"
        remote.modern = True
        remote.sessions.clear()
        assert "act" in {each["name"] for each in client.open("dev")["tools"]}


ODD_GREETINGS: dict[str, Callable[[Exchange], None]] = {
    "a page": lambda exchange: exchange.answer(200, b"<html>Welcome!</html>", "text/html"),
    "nothing": lambda exchange: exchange.answer(202),
    "trouble": lambda exchange: exchange.answer(500),
    "a closed door": lambda exchange: exchange.hang_up(),
    "an error without an id": lambda exchange: exchange.json(
        {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "what?"}}, 400
    ),
}


@pytest.mark.parametrize("odd", ODD_GREETINGS)
def test_an_older_server_may_answer_the_modern_greeting_with_anything(workbench: Launcher, odd: str):
    def answer(exchange: Exchange) -> None:
        if b"server/discover" in exchange.body:
            ODD_GREETINGS[odd](exchange)
        else:
            by_the_book(exchange)

    with Remote(done) as remote:
        by_the_book, remote.respond = remote.respond, answer
        client = opened(workbench, remote)
        client.open("dev")
        assert said(client.use("dev/far/act")) == "done"


def test_a_server_error_is_passed_on_in_its_own_words(workbench: Launcher):
    with Remote(lambda exchange: error(exchange, -32602, "no such city", 400), modern=True) as remote:
        client = opened(workbench, remote)
        client.open("dev")
        result = client.use("dev/far/act")
        assert result["content"][0]["text"] == (
            "Error executing tool 'act' in server 'far' (toolbox 'dev'): no such city"
        )


def test_an_answer_over_the_limit_ends_its_call_and_no_other(workbench: Launcher):
    def large(exchange: Exchange) -> None:
        if exchange.message["params"]["arguments"].get("streamed"):
            exchange.stream()
            exchange.event("x" * 2_000_000)
        else:
            reply(exchange, text("x" * int(exchange.message["params"]["arguments"]["size"])))

    with Remote(large, modern=True) as remote:
        client = opened(workbench, remote, limits={"maxLine": 1_000_000})
        client.open("dev")
        for arguments in ({"size": 2_000_000}, {"streamed": True}):
            problem = said(client.use("dev/far/act", arguments))
            assert problem.endswith("its answer is over limits.maxLine (1000000 bytes)")
        assert said(client.use("dev/far/act", {"size": 2})) == "xx"


def test_no_more_calls_run_at_once_than_there_may_be_connections(workbench: Launcher):
    running: list[int] = []
    most = 0
    lock = threading.Lock()

    def slow(exchange: Exchange) -> None:
        nonlocal most
        with lock:
            running.append(1)
            most = max(most, len(running))
        threading.Event().wait(0.05)
        with lock:
            running.pop()
        reply(exchange, text("done"))

    with Remote(slow, modern=True) as remote:
        client = opened(workbench, remote, limits={"connections": 2})
        client.open("dev")
        params = {"name": "use_tool", "arguments": invocation("dev/far/act")}
        ids = [client.start_request("tools/call", params) for _ in range(10)]
        assert {said(client.response(id)["result"]) for id in ids} == {"done"}
        assert most == 2


def test_a_cancelled_call_of_a_modern_server_is_told_by_its_closed_connection(workbench: Launcher):
    closed = threading.Event()

    def wait(exchange: Exchange) -> None:
        exchange.wait_until_closed(10)
        closed.set()

    with Remote(wait, modern=True) as remote:
        client = opened(workbench, remote)
        client.open("dev")
        params = {"name": "use_tool", "arguments": invocation("dev/far/act")}
        id = client.start_request("tools/call", params)
        wait_until(lambda: remote.posts("tools/call"))
        client.notify("notifications/cancelled", {"requestId": id})
        assert closed.wait(2)
        assert remote.posts("notifications/cancelled") == []
