"""Gate: which hosts and origins are answered, against web pages that reach us by a name of their own."""

from __future__ import annotations

import ipaddress
import re
import socket

from ..config.structs import HttpConfig
from .listening import Address
from .request import Header, Refused, Request

LOOPBACK = frozenset(("localhost", "127.0.0.1", "[::1]"))

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?")

_ALLOWED_HEADERS = (
    b"accept",
    b"authorization",
    b"content-type",
    b"last-event-id",
    b"mcp-method",
    b"mcp-name",
    b"mcp-protocol-version",
    b"mcp-session-id",
)
_PARAM = re.compile(r"mcp-param-[a-z0-9!#$%&'*+.^_`|~-]+")
"""A header that repeats an argument; its name is up to the tool, so it is allowed when it is asked for."""


class Gate:
    def __init__(self, http: HttpConfig, address: Address | None) -> None:
        """`address` is where we listen, besides Unix sockets."""
        self._hosts = LOOPBACK | {_host(each) for each in http.hosts}
        self._everywhere = address is not None and address.everywhere
        if address is not None:
            self._hosts |= {socket.gethostname().lower() if address.everywhere else address.bracketed.lower()}
        self._origins = {each.lower().rstrip("/") for each in http.origins}

    def check(self, request: Request) -> None:
        """Raises Refused. An origin that may read our answers is told so in them."""
        host = request.header(b"host")
        if host is None or not _HOST.fullmatch(host):
            raise Refused(400, "a Host header is needed")
        # No name leads to a Unix socket.
        if not (request.unix or self._is_ours(host)):
            raise Refused(421, "this host is not served here (http.hosts)")
        origin = request.header(b"origin")
        if origin is None:
            return
        scheme, _, rest = origin.lower().partition("://")
        allowed = origin.lower() in self._origins or "*" in self._origins
        ours = scheme in ("http", "https") and _HOST.fullmatch(rest) and _host(rest) in self._hosts
        if not allowed and not ours:
            raise Refused(403, "this origin is not allowed (http.origins)")
        request.extra += [
            (b"access-control-allow-origin", origin.encode("latin-1")),
            (b"access-control-expose-headers", b"mcp-session-id, www-authenticate"),
            (b"vary", b"origin"),
        ]

    def _is_ours(self, host: str) -> bool:
        name = _host(host)
        if name in self._hosts or "*" in self._hosts:
            return True
        # A page that was led here by its name cannot pass for an address.
        return self._everywhere and _is_address(name)


def preflight(request: Request) -> list[Header]:
    """What a browser wants to know before it sends a page's request."""
    wanted = (request.header(b"access-control-request-headers") or "").lower().split(",")
    params = [name.strip().encode() for name in wanted if _PARAM.fullmatch(name.strip())]
    return [
        (b"access-control-allow-methods", b"GET, POST, DELETE"),
        (b"access-control-allow-headers", b", ".join((*_ALLOWED_HEADERS, *params))),
        (b"access-control-max-age", b"600"),
    ]


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def _host(given: str) -> str:
    """The host without its port."""
    given = given.strip().lower()
    if given.startswith("["):
        return given.partition("]")[0] + "]"
    return given.partition(":")[0]
