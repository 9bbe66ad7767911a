"""Where a remote server may send us, what goes along, and how it is when it is not there."""

from __future__ import annotations

import json
import threading
import time
from typing import Any
from urllib.parse import parse_qs

import pytest

from tests.support.client import Client, invocation, text as said
from tests.support.launch import Launcher, configuration, toolbox

from .place import Exchange, Place
from .remote import Remote, reply, text

SECRET = "Bearer s3cret-t0ken-of-mine"


def done(exchange: Exchange) -> None:
    reply(exchange, text("done"))


def connected(workbench: Launcher, url: str, **entry: Any) -> Client:
    entry = {"url": url, "headers": {"Authorization": SECRET, "X-Team": "blue"}, **entry}
    client = workbench(configuration(dev=toolbox(far=entry)))
    client.initialize()
    return client


def refusal(client: Client) -> str:
    """What `open_toolbox` says where its one server cannot be used."""
    result = client.call("open_toolbox", {"toolbox": "dev"}, timeout=20)
    assert result["isError"]
    return said(result)


def test_the_headers_of_the_entry_go_with_every_request(workbench: Launcher):
    with Remote(done, modern=True) as remote:
        client = connected(workbench, remote.url())
        client.open("dev")
        assert said(client.use("dev/far/act")) == "done"
        assert {(each.headers["authorization"], each.headers["x-team"]) for each in remote.seen} == {
            (SECRET, "blue")
        }


def test_a_redirect_at_the_same_place_is_followed_with_credentials(workbench: Launcher):
    def moved(exchange: Exchange) -> None:
        if exchange.path == "/old":
            exchange.answer(308, location="/mcp")
        else:
            by_the_book(exchange)

    with Remote(done) as remote:
        by_the_book, remote.respond = remote.respond, moved
        client = connected(workbench, remote.url("/old"))
        client.open("dev")
        assert said(client.use("dev/far/act")) == "done"
        assert remote.posts("tools/call")[-1].headers["authorization"] == SECRET


def test_credentials_do_not_follow_a_redirect_to_another_place(workbench: Launcher):
    with Remote(done) as remote, Place(lambda exchange: exchange.answer(307, location=remote.url())) as first:
        client = connected(workbench, first.url())
        client.open("dev")
        assert said(client.use("dev/far/act")) == "done"
        assert first.seen[0].headers["authorization"] == SECRET
        assert len(remote.posts("tools/call")) == 1
        assert not any({"authorization", "x-team"} & each.headers.keys() for each in remote.seen)


@pytest.mark.parametrize(
    "target",
    ["http://localhost:{port}/mcp", "http://169.254.169.254/latest", "http://10.1.2.3/", "http://[::1]:1/"],
)
def test_a_redirect_to_a_private_address_of_another_host_is_not_followed(workbench: Launcher, target: str):
    with Remote(done) as remote:
        location = target.format(port=remote.port)
        with Place(lambda exchange: exchange.answer(307, location=location)) as first:
            problem = refusal(connected(workbench, first.url()))
            assert "was not followed: it leads to a private address of another host" in problem
            assert remote.seen == []


def test_a_redirect_that_makes_another_request_of_it_is_not_followed(workbench: Launcher):
    with Place(lambda exchange: exchange.answer(302, location="/login")) as place:
        assert "status 302 turns the request into another one" in refusal(connected(workbench, place.url()))


def test_a_circle_of_redirects_ends(workbench: Launcher):
    with Place(lambda exchange: exchange.answer(307, location="/mcp")) as place:
        assert "more than 5 in a row" in refusal(connected(workbench, place.url()))


def test_what_a_server_says_in_refusal_is_told_without_the_secrets(workbench: Launcher):
    def tell(exchange: Exchange) -> None:
        exchange.answer(403, f"{exchange.headers['authorization']} has no access".encode())

    with Place(tell) as place:
        problem = refusal(connected(workbench, place.url("/mcp/hidden-path?key=hidden-key-1")))
        assert "HTTP 403 Forbidden: *** has no access" in problem
        assert "s3cret" not in problem
        assert "hidden" not in problem


def quoting(exchange: Exchange, status: int, code: int = -32000, streamed: bool = False) -> None:
    """An error that repeats what only the two of us should know, some of it in escapes."""
    key = parse_qs(exchange.target.query)["api_key"][0]
    message = f"{exchange.headers['authorization']} and {key} have no access"
    data = {"elicitations": [], "seen": [exchange.headers["authorization"], key]}
    failure = {"code": code, "message": message, "data": data}
    written = json.dumps({"jsonrpc": "2.0", "id": exchange.message["id"], "error": failure})
    written = written.replace("/", "\\/")
    if streamed:
        exchange.stream()
        exchange.event(written)
    else:
        exchange.answer(status, written.encode(), "application/json")


@pytest.mark.parametrize("status", [200, 400])
def test_an_error_to_the_greeting_is_told_without_the_secrets_that_it_quotes(
    workbench: Launcher, status: int
):
    with Place(lambda exchange: quoting(exchange, status)) as place:
        problem = refusal(connected(workbench, place.url("/mcp?api_key=hid%2Fden")))
        assert problem.endswith("*** and *** have no access")


@pytest.mark.parametrize(("status", "streamed"), [(200, False), (200, True), (400, False)])
@pytest.mark.parametrize("modern", [False, True])
def test_an_error_to_a_call_is_told_without_the_secrets_that_it_quotes(
    workbench: Launcher, modern: bool, status: int, streamed: bool
):
    def calls(exchange: Exchange) -> None:
        quoting(exchange, status, code, streamed)

    with Remote(calls, modern=modern) as remote:
        client = connected(workbench, remote.url("/mcp?api_key=hid%2Fden"))
        client.open("dev")
        code = -32000
        assert said(client.use("dev/far/act")).endswith("*** and *** have no access")
        code = -32042  # passed on as it is, but for them
        params = {"name": "use_tool", "arguments": invocation("dev/far/act")}
        assert client.request("tools/call", params)["error"] == {
            "code": -32042,
            "message": "*** and *** have no access",
            "data": {"elicitations": [], "seen": ["***", "***"]},
        }


def test_an_error_that_quotes_no_secret_keeps_its_very_bytes(workbench: Launcher):
    written = '{ "data" : {"n":1.0E5,"s":"\\/ \\u00e9"}, "code":-32042, "message":"Go there" }'

    def calls(exchange: Exchange) -> None:
        id = exchange.message["id"]
        exchange.answer(200, f'{{"jsonrpc":"2.0","id":{id},"error":{written}}}'.encode(), "application/json")

    with Remote(calls) as remote:
        client = connected(workbench, remote.url())
        client.open("dev")
        client.request("tools/call", {"name": "use_tool", "arguments": invocation("dev/far/act")})
        assert b'"error":' + written.encode() in client.lines[-1]


def test_a_place_where_nobody_is_says_so_without_its_secrets(workbench: Launcher):
    with Place(lambda exchange: exchange.answer(404)) as place:
        port = place.port
    url = f"http://user:pass-w0rd@127.0.0.1:{port}/hidden"
    began = time.monotonic()
    problem = refusal(connected(workbench, url, limits={"connectTimeout": 2}))
    assert problem.endswith(f"http://127.0.0.1:{port} cannot be reached: connection refused")
    assert time.monotonic() - began < 3
    assert "pass-w0rd" not in problem


def test_a_host_that_does_not_exist_is_not_tried_again(workbench: Launcher):
    began = time.monotonic()
    problem = refusal(connected(workbench, "http://nowhere.invalid/mcp"))
    assert "there is no such host" in problem
    assert time.monotonic() - began < 5


def test_a_server_that_is_late_is_waited_for(workbench: Launcher):
    with Remote(done) as early:
        port = early.port
    client = connected(workbench, f"http://127.0.0.1:{port}/mcp")
    late = Remote(done, port=port)
    starting = threading.Timer(0.5, late.__enter__)
    starting.start()
    try:
        assert client.open("dev", timeout=15)["servers_connected"] == 1
    finally:
        starting.join()
        late.__exit__(None, None, None)


def test_a_server_that_is_not_well_is_asked_again(workbench: Launcher):
    def unwell(exchange: Exchange) -> None:
        if len(remote.seen) <= 2:  # the greetings of both eras
            exchange.answer(503)
        else:
            by_the_book(exchange)

    with Remote(done) as remote:
        by_the_book, remote.respond = remote.respond, unwell
        assert connected(workbench, remote.url()).open("dev")["servers_connected"] == 1


def test_a_server_without_authorization_for_us_says_what_to_run(workbench: Launcher):
    with Place(lambda exchange: exchange.answer(401)) as place:
        client = workbench(configuration(dev=toolbox(**{"docs/a": {"url": place.url()}})))
        client.initialize()
        assert refusal(client).endswith("it needs a login; run: mcp-workbench login dev/docs%2Fa")


def test_a_header_that_is_refused_is_no_reason_to_log_in(workbench: Launcher):
    with Place(lambda exchange: exchange.answer(401)) as place:
        assert refusal(connected(workbench, place.url())).endswith("HTTP 401 Unauthorized")
