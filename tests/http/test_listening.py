"""Addresses as people write them, and Unix sockets."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from mcp_workbench.http.listening import Address, CannotListen, open_unix


@pytest.mark.parametrize(
    ("text", "host", "port", "loopback"),
    [
        ("127.0.0.1:8484", "127.0.0.1", 8484, True),
        ("8484", "127.0.0.1", 8484, True),
        ("localhost:1", "localhost", 1, True),
        ("[::1]:0", "::1", 0, True),
        ("127.0.0.9:1", "127.0.0.9", 1, True),
        (":8484", "0.0.0.0", 8484, False),
        ("0.0.0.0:8484", "0.0.0.0", 8484, False),
        ("[::]:8484", "::", 8484, False),
        ("tools.example.com:80", "tools.example.com", 80, False),
    ],
)
def test_an_address_is_read(text: str, host: str, port: int, loopback: bool) -> None:
    address = Address.read(text)
    assert (address.host, address.port, address.loopback) == (host, port, loopback)


@pytest.mark.parametrize("text", ["", "host", "host:", "host:99999", "host:-1", "http://host"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(CannotListen, match="HOST:PORT"):
        Address.read(text)


def test_a_port_that_is_taken_is_refused_with_the_reason() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        with pytest.raises(CannotListen, match=f"cannot listen on 127.0.0.1:{port}: .*in use"):
            Address("127.0.0.1", port).open()


def test_a_unix_socket_is_for_this_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with open_unix(str(path)):
        assert path.stat().st_mode & 0o777 == 0o600


def test_a_unix_socket_replaces_one_that_nobody_listens_on_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "s"
    open_unix(str(path)).close()
    with open_unix(str(path)), pytest.raises(CannotListen, match="already"):
        open_unix(str(path))
    file = tmp_path / "f"
    file.write_text("mine")
    with pytest.raises(CannotListen, match="no socket"):
        open_unix(str(file))
    assert file.read_text() == "mine"
