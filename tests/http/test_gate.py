"""Which hosts and origins are answered: web pages that reach us by a name of their own are not."""

from __future__ import annotations

import socket

import pytest

from mcp_workbench.config import HttpConfig
from mcp_workbench.http.gate import Gate
from mcp_workbench.http.request import Refused, Request

from .conftest import ECHO, Serve
from .served import Served, modern_body, modern_headers


def asked(served: Served, **headers: str | None) -> int:
    said = {**modern_headers("tools/list"), **headers}
    return served.request("POST", body=modern_body("tools/list"), headers=said).status


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8484", "127.0.0.1.evil.example", "localhost.evil", "[::2]", "0.0.0.0"],
)
def test_a_host_that_is_not_ours_is_not_served(served: Served, host: str) -> None:
    assert asked(served, Host=host) == 421


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:9999", "[::1]:8484"])
def test_this_machine_is_served_by_all_its_names_at_any_port(served: Served, host: str) -> None:
    assert asked(served, Host=host) == 200


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "https://127.0.0.1.evil.example",
        "null",
        "file://",
        "http://evil.example#localhost",
        "http://localhost:80@evil.example",
        "http://localhost/evil",
        "",
    ],
)
def test_a_foreign_origin_is_forbidden(served: Served, origin: str) -> None:
    assert asked(served, Origin=origin) == 403


@pytest.mark.parametrize("origin", ["http://localhost:6274", "http://127.0.0.1", "https://[::1]:1"])
def test_a_page_of_this_machine_may_read_our_answers(served: Served, origin: str) -> None:
    answer = served.request(
        "POST", body=modern_body("tools/list"), headers={**modern_headers("tools/list"), "Origin": origin}
    )
    assert answer.status == 200
    assert answer.headers["Access-Control-Allow-Origin"] == origin


def test_a_browser_may_ask_first_and_needs_no_token_for_that(served: Served) -> None:
    headers = {
        "Origin": "http://localhost:6274",
        "Access-Control-Request-Method": "POST",
        "Authorization": None,
    }
    answer = served.request("OPTIONS", headers=headers)
    assert answer.status == 204
    assert "mcp-session-id" in answer.headers["Access-Control-Allow-Headers"]
    wanted = {"Access-Control-Request-Headers": "content-type, Mcp-Param-Region,mcp-param-, x-other"}
    allowed = served.request("OPTIONS", headers={**headers, **wanted}).headers["Access-Control-Allow-Headers"]
    assert "mcp-param-region" in allowed.split(", ")
    assert not {"mcp-param-", "x-other"} & set(allowed.split(", "))
    assert served.request("OPTIONS", headers={**headers, "Origin": "http://evil.example"}).status == 403


def test_health_needs_neither_host_nor_token_and_reveals_nothing(served: Served) -> None:
    for path in ("/healthz", "/readyz"):
        answer = served.request("GET", path, headers={"Host": "evil.example", "Authorization": None})
        assert (answer.status, answer.body) == (200, b"ok\n")


@pytest.mark.parametrize("host", ["", 'localhost:"x', "localhost/", "user@localhost", "localhost:123456"])
def test_a_host_that_is_none_is_bad(served: Served, host: str) -> None:
    assert asked(served, Host=host) == 400


def test_a_request_without_a_host_is_bad(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.port), 5) as raw:
        raw.sendall(b"POST /mcp HTTP/1.1\r\ncontent-length: 0\r\n\r\n")
        assert raw.recv(1000).startswith(b"HTTP/1.1 400 ")


def test_the_configuration_allows_more(serve: Serve) -> None:
    http = {"hosts": ["tools.example.com", "[fd00::1]:8484"], "origins": ["https://app.example.com/"]}
    served = serve({**ECHO, "http": http})
    assert asked(served, Host="tools.example.com:443") == 200
    assert asked(served, Host="[fd00::1]") == 200
    assert asked(served, Origin="https://app.example.com") == 200
    assert asked(served, Origin="http://app.example.com") == 403
    assert asked(served, Origin="https://tools.example.com") == 200


def test_a_unix_socket_has_no_host_to_check_but_origins_are() -> None:
    def request(**headers: bytes) -> Request:
        scope = {
            "method": "POST",
            "path": "/mcp",
            "server": ("/run/workbench.sock", None),
            "headers": [(name.encode(), value) for name, value in headers.items()],
        }
        return Request(scope, None, None)  # type: ignore[arg-type]

    gate = Gate(HttpConfig(), None)
    gate.check(request(host=b"anything.example"))
    with pytest.raises(Refused) as refusal:
        gate.check(request(host=b"localhost", origin=b"http://evil.example"))
    assert refusal.value.status == 403
