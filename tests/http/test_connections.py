"""Clients that are slow, loud or endless: each is ended, and nobody else waits for it."""

from __future__ import annotations

import contextlib
import json
import socket
import time

import pytest

from mcp_workbench.http.connections import LONGEST_HEAD

from .conftest import ECHO, Serve
from .served import Served, modern_body, modern_headers, use

MAX_BODY = 4 * 2**20
SOON = 1.5


def resident(served: Served) -> int:
    with open(f"/proc/{served.process.pid}/statm") as file:
        return int(file.read().split()[1]) * 4096


@pytest.fixture
def hasty(serve: Serve) -> Served:
    """One that waits seconds where others wait a minute."""
    names = ("SPEAK_WITHIN", "FINISH_WITHIN", "LISTEN_WITHIN")
    waits = {f"connections.{name}": SOON for name in names}
    served = serve(ECHO, patience={**waits, "serving.SWEEP": 0.1})
    served.open("dev")
    return served


def closed(raw: socket.socket, patience: float) -> bool:
    raw.settimeout(patience)
    try:
        while raw.recv(1 << 20):
            pass
    except TimeoutError:
        return False
    except ConnectionResetError:
        pass
    return True


def test_clients_that_never_finish_a_request_are_closed_while_others_are_served(hasty: Served) -> None:
    served = hasty
    silent = [socket.create_connection(("127.0.0.1", served.port), 30) for _ in range(50)]
    dripping = [socket.create_connection(("127.0.0.1", served.port), 30) for _ in range(50)]
    began = time.monotonic()
    for each in dripping:
        each.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n")
    open_ones = set(silent + dripping)
    while open_ones:
        assert time.monotonic() - began < SOON + 3
        for each in list(open_ones):
            each.settimeout(0.001)
            try:
                if each in dripping:
                    each.send(b"X-A: b\r\n")
                if not each.recv(100):
                    open_ones.discard(each)
            except TimeoutError:
                pass
            except OSError:
                open_ones.discard(each)
        assert served.use("dev/echo/echo", {"still": "served"})["content"]
        time.sleep(0.3)
    assert time.monotonic() - began > SOON - 0.5
    for each in silent + dripping:
        each.close()


def test_a_body_over_the_limit_is_refused_whether_it_is_announced_or_not(served: Served) -> None:
    before = resident(served)
    body = b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"' + b"x" * 64 * 2**20 + b'"}}'
    headers = {**served.headers, "Content-Type": "application/json", "Host": "localhost"}
    said = "".join(f"{name}: {value}\r\n" for name, value in headers.items()).encode()
    for announced in (True, False):
        with socket.create_connection(("127.0.0.1", served.port), 30) as raw:
            if announced:
                raw.sendall(b"POST /mcp HTTP/1.1\r\n%bContent-Length: %d\r\n\r\n%b" % (said, len(body), body))
            else:
                chunk = body[: 1 << 20]
                raw.sendall(b"POST /mcp HTTP/1.1\r\n%bTransfer-Encoding: chunked\r\n\r\n" % said)
                for _ in range(64):
                    raw.sendall(b"%x\r\n%b\r\n" % (len(chunk), chunk))
                raw.sendall(b"0\r\n\r\n")
            assert raw.recv(1000).startswith(b"HTTP/1.1 413 ")
            # What was left of it was read and thrown away: the connection is fit for the next request.
            raw.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert b"200 OK" in raw.recv(1000)
    assert resident(served) - before < 48 * 2**20


def test_a_body_below_the_limit_is_taken(served: Served) -> None:
    text = "x" * (MAX_BODY - 4096)
    result = served.use("dev/echo/echo", {"text": text})
    assert json.loads(result["content"][0]["text"]) == {"text": text}


def test_the_limit_is_configured(serve: Serve) -> None:
    served = serve({**ECHO, "http": {"maxBody": "1KB"}})
    params = use("dev/echo/echo", {"text": "x" * 2000})
    assert served.modern("tools/call", params).status == 413


def test_a_body_that_never_ends_is_not_waited_for(hasty: Served) -> None:
    headers = {**hasty.headers, "Content-Type": "application/json", "Content-Length": "1000"}
    said = "".join(f"{name}: {value}\r\n" for name, value in headers.items()).encode()
    with socket.create_connection(("127.0.0.1", hasty.port), 5) as raw:
        raw.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n" + said + b"\r\n{")
        assert closed(raw, SOON + 3)


def ask_for_much(served: Served) -> socket.socket:
    connection = served.modern_begun("tools/call", use("dev/echo/large", {"size": 50_000_000}))
    assert connection.sock is not None
    return connection.sock


def heard_after_a_silence(raw: socket.socket) -> int:
    """How much comes to one that takes nothing for too long, once its answer has begun."""
    assert raw.recv(1)
    time.sleep(SOON + 2)
    heard = 0
    with contextlib.suppress(ConnectionResetError):
        while data := raw.recv(1 << 20):
            heard += len(data)
    return heard


def test_a_client_that_takes_nothing_of_its_answer_is_closed(hasty: Served) -> None:
    assert heard_after_a_silence(ask_for_much(hasty)) < 50_000_000


def test_a_client_that_takes_nothing_is_closed_also_where_it_has_asked_for_more(hasty: Served) -> None:
    params = use("dev/echo/large", {"size": 50_000_000})
    body = json.dumps(modern_body("tools/call", params)).encode()
    headers = {**hasty.headers, **modern_headers("tools/call", params), "Content-Type": "application/json"}
    said = "".join(f"{name}: {value}\r\n" for name, value in headers.items()).encode()
    head = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n%bContent-Length: %d\r\n\r\n" % (said, len(body))
    with socket.create_connection(("127.0.0.1", hasty.port), 30) as raw:
        raw.sendall((head + body) * 3)
        assert heard_after_a_silence(raw) < 50_000_000


def test_a_client_that_takes_its_answer_slowly_gets_it(hasty: Served) -> None:
    raw = ask_for_much(hasty)
    heard = 0
    began = time.monotonic()
    while heard < 50_000_000:
        data = raw.recv(4 << 20)
        assert data
        heard += len(data)
        if time.monotonic() - began < 2 * SOON:
            time.sleep(0.2)


def test_calls_that_take_long_are_no_reason_to_close(hasty: Served) -> None:
    seconds = 2 * SOON
    assert hasty.use("dev/echo/slow", {"seconds": seconds})["content"][0]["text"] == f"slept {seconds}"


def test_a_connection_that_is_kept_open_with_nothing_is_closed(hasty: Served) -> None:
    with socket.create_connection(("127.0.0.1", hasty.port), 5) as raw:
        raw.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        heard = b""
        while not heard.endswith(b"ok\n"):  # the head may come alone
            heard += raw.recv(1000)
        raw.sendall(b"\r\n")
        assert closed(raw, SOON + 3)


def test_an_endless_head_is_refused(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.port), 10) as raw:
        raw.sendall(b"POST /mcp HTTP/1.1\r\nX: " + b"x" * (LONGEST_HEAD + 1000))
        assert raw.recv(1000).startswith(b"HTTP/1.1 400 ")


def test_a_long_head_is_refused_also_where_it_comes_in_one_piece(served: Served) -> None:
    def asking(length: int) -> bytes:
        return b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * length + b"\r\n\r\n"

    short, long = asking(LONGEST_HEAD - 1000), asking(LONGEST_HEAD + 1000)
    for sent, expected in ((short, b"200"), (long, b"400"), (short + long, b"400")):
        with socket.create_connection(("127.0.0.1", served.port), 10) as raw:
            raw.sendall(sent)
            assert all_of_it(raw, until=b"HTTP/1.1 " + expected)


def all_of_it(raw: socket.socket, until: bytes) -> bytes:
    """What comes, until that is in it or nothing more comes."""
    heard = b""
    while until not in heard and (data := raw.recv(1 << 16)):
        heard += data
    assert until in heard, heard
    return heard


H2C = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n"


def asking_for_tools(served: Served, more: bytes = b"", id: int = 1) -> tuple[bytes, bytes]:
    """The head and the body of a request."""
    body = json.dumps(modern_body("tools/list", id=id)).encode()
    headers = {**served.headers, **modern_headers("tools/list"), "Content-Type": "application/json"}
    said = "".join(f"{name}: {value}\r\n" for name, value in headers.items()).encode()
    head = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n%b%bContent-Length: %d\r\n\r\n"
    return head % (said, more, len(body)), body


@pytest.mark.parametrize("pause", [0.0, 0.2])
def test_the_wish_for_another_protocol_is_ignored_and_the_request_answered(
    served: Served, pause: float
) -> None:
    with socket.create_connection(("127.0.0.1", served.port), 10) as raw:
        for id in (1, 2):  # the connection is as good as any other afterwards
            head, body = asking_for_tools(served, H2C, id)
            raw.sendall(head)
            time.sleep(pause)
            raw.sendall(body)
            assert all_of_it(raw, until=b'"id":%d,"result"' % id).count(b"HTTP/1.1 200") == 1
        raw.sendall(b"".join(asking_for_tools(served, H2C, 3) + asking_for_tools(served, id=4)))
        heard = all_of_it(raw, until=b'"id":4,"result"')
        assert (heard.count(b"HTTP/1.1 200"), heard.count(b'"id":3,"result"')) == (2, 1)


def test_a_body_is_never_taken_for_a_request(served: Served) -> None:
    hidden = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    head, _ = asking_for_tools(served, H2C)
    head = head.rpartition(b"Content-Length")[0] + b"Content-Length: %d\r\n\r\n" % len(hidden)
    for pause in (0.0, 0.2):
        with socket.create_connection(("127.0.0.1", served.port), 10) as raw:
            raw.sendall(head)
            time.sleep(pause)
            raw.sendall(hidden)
            heard = all_of_it(raw, until=b"Parse error")
            assert heard.startswith(b"HTTP/1.1 400 ")
            assert not heard.endswith(b"ok\n")
            assert not raw_waits(raw)


def raw_waits(raw: socket.socket) -> bool:
    """Whether more comes within a moment."""
    raw.settimeout(0.3)
    try:
        return bool(raw.recv(1000))
    except TimeoutError:
        return False


@pytest.mark.parametrize(
    "said",
    [
        b"\x16\x03\x01\x02\x00",
        b"NONSENSE\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"CONNECT a:1 HTTP/1.1\r\n\r\n",
    ],
)
def test_what_is_no_http_is_refused(served: Served, said: bytes) -> None:
    with socket.create_connection(("127.0.0.1", served.port), 10) as raw:
        raw.sendall(said)
        assert raw.recv(1000).startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 404 "))


def test_requests_sent_ahead_are_answered_in_their_order(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.port), 10) as raw:
        raw.sendall(b"".join(b"".join(asking_for_tools(served, id=id)) for id in range(5)))
        heard = b""
        while heard.count(b'"result"') < 5:
            heard += raw.recv(1 << 16)
    places = [heard.index(b'"id":%d,"result"' % id) for id in range(5)]
    assert places == sorted(places)
