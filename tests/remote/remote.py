"""A remote MCP server of one era whose every word is the test's: tools, results, and how they travel."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from .place import Exchange, Place

LEGACY = "2025-11-25"
MODERN = "2026-07-28"

Call = Callable[[Exchange], None]


class Remote(Place):
    """`calls` answers `tools/call`, with `reply` or in a way of its own; the rest goes by the book."""

    def __init__(self, calls: Call, *tools: dict[str, Any], modern: bool = False, port: int = 0) -> None:
        super().__init__(self._answer, port)
        self.calls = calls
        self.tools = list(tools) or [tool("act")]
        self.modern = modern
        self.changes = False
        """Whether it says that it tells of changes."""
        self.sessions: set[str] = set()
        self.listeners: list[Exchange] = []
        self.on_get: Call | None = None

    def _answer(self, exchange: Exchange) -> None:
        if exchange.method == "DELETE":
            exchange.answer(204)
        elif exchange.method == "GET":
            (self.on_get or self._no_stream)(exchange)
        elif self.modern:
            self._answer_modern(exchange)
        else:
            self._answer_legacy(exchange)

    def _answer_modern(self, exchange: Exchange) -> None:
        method = exchange.message["method"]
        if exchange.headers.get("mcp-method") != method:
            error(exchange, -32020, "header mismatch", 400)
        elif method == "server/discover":
            capabilities = {"tools": {"listChanged": self.changes}}
            reply(exchange, {"supportedVersions": [MODERN], "capabilities": capabilities, **CACHED})
        elif method == "tools/list":
            reply(exchange, {"tools": self.tools, **CACHED})
        elif method == "tools/call":
            self.calls(exchange)
        elif method == "subscriptions/listen":
            (self.on_get or self._no_stream)(exchange)
        else:
            error(exchange, -32601, "Method not found", 404)

    def _answer_legacy(self, exchange: Exchange) -> None:
        method = exchange.message["method"]
        session = exchange.headers.get("mcp-session-id")
        if method == "initialize":
            session = f"session-{len(self.sessions) + 1}"
            self.sessions.add(session)
            result = {
                "protocolVersion": LEGACY,
                "capabilities": {"tools": {"listChanged": self.changes}},
                "serverInfo": {"name": "remote", "version": "1"},
            }
            reply(exchange, result, mcp_session_id=session)
        elif session is None:
            exchange.answer(400, b"Bad Request: Missing session ID")
        elif session not in self.sessions:
            exchange.answer(404, b"Not Found: Session has been terminated")
        elif method == "tools/list":
            reply(exchange, {"tools": self.tools})
        elif method == "tools/call":
            self.calls(exchange)
        else:
            exchange.answer(202)

    def _no_stream(self, exchange: Exchange) -> None:
        exchange.answer(405)


CACHED = {"ttlMs": 0, "cacheScope": "private"}


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": f"Does {name}", "inputSchema": {"type": "object"}, **more}


def text(said: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": said}]}


def reply(exchange: Exchange, result: object, **headers: str) -> None:
    exchange.json(response(exchange, result), 200, **headers)


def response(exchange: Exchange, result: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": exchange.message["id"], "result": result}


def verbatim(exchange: Exchange, result: str) -> None:
    """A result that goes out as it is written."""
    id = json.dumps(exchange.message["id"])
    written = f'{{"jsonrpc":"2.0","id":{id},"result":{result}}}'
    exchange.answer(200, written.encode(errors="surrogatepass"), "application/json")


def error(exchange: Exchange, code: int, message: str, status: int = 200) -> None:
    failure = {"code": code, "message": message}
    exchange.json({"jsonrpc": "2.0", "id": exchange.message["id"], "error": failure}, status)
