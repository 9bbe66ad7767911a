"""Gate: which hosts and origins are answered, against web pages that reach us by a name of their own."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..config.structs import HttpConfig
from .request import Header, Refused, Request

LOOPBACK = frozenset(("localhost", "127.0.0.1", "[::1]"))

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?")

_ALLOWED_HEADERS = b", ".join(
    (
        b"accept",
        b"authorization",
        b"content-type",
        b"last-event-id",
        b"mcp-method",
        b"mcp-name",
        b"mcp-protocol-version",
        b"mcp-session-id",
    )
)


class Gate:
    def __init__(self, http: HttpConfig, bound: Iterable[str]) -> None:
        """`bound` are the hosts that we listen on, as they stand in an address."""
        self._hosts = LOOPBACK | {_host(each) for each in (*bound, *http.hosts)}
        self._origins = {each.lower().rstrip("/") for each in http.origins}

    def check(self, request: Request) -> None:
        """Raises Refused. An origin that may read our answers is told so in them."""
        host = request.header(b"host")
        if host is None or not _HOST.fullmatch(host):
            raise Refused(400, "a Host header is needed")
        # No name leads to a Unix socket.
        if not (request.unix or "*" in self._hosts or _host(host) in self._hosts):
            raise Refused(421, "this host is not served here (http.hosts)")
        origin = request.header(b"origin")
        if origin is None:
            return
        scheme, _, rest = origin.lower().partition("://")
        allowed = origin.lower() in self._origins or "*" in self._origins
        if not allowed and (scheme not in ("http", "https") or _host(rest) not in self._hosts):
            raise Refused(403, "this origin is not allowed (http.origins)")
        request.extra += [
            (b"access-control-allow-origin", origin.encode("latin-1")),
            (b"access-control-expose-headers", b"mcp-session-id, www-authenticate"),
            (b"vary", b"origin"),
        ]


def preflight() -> list[Header]:
    """What a browser wants to know before it sends a page's request."""
    return [
        (b"access-control-allow-methods", b"GET, POST, DELETE"),
        (b"access-control-allow-headers", _ALLOWED_HEADERS),
        (b"access-control-max-age", b"600"),
    ]


def _host(given: str) -> str:
    """The host without its port."""
    given = given.strip().lower()
    if given.startswith("["):
        return given.partition("]")[0] + "]"
    return given.partition(":")[0]
