"""Servers built with the official SDK, each on a port of its own in a thread of this process."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Literal

import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp_types import JSONRPCMessage
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

Kind = Literal["modern", "modern-alone", "modern-json", "legacy", "legacy-json", "legacy-resumable", "sse"]
KINDS: tuple[Kind, ...] = ("modern", "modern-json", "legacy", "legacy-json", "sse")

cancelled: list[str] = []
"""The calls of `wait` that were cancelled here."""


def build() -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("sdk")

    @server.tool()
    def add(a: int, b: int) -> int:
        """Add two numbers"""
        return a + b

    @server.tool()
    async def count(to: int, ctx: Context[Any, Any]) -> str:
        """Count with progress"""
        for number in range(1, to + 1):
            await ctx.report_progress(number, to, f"at {number}")
            await asyncio.sleep(0.02)
        return f"counted to {to}"

    @server.tool()
    async def wait(name: str) -> str:
        """Wait to be cancelled"""
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(name)
            raise
        return "waited"

    @server.tool()
    async def part(ctx: Context[Any, Any]) -> str:
        """Hangs up in the middle, to be called back"""
        await ctx.report_progress(1, 2)
        await ctx.close_sse_stream()
        await ctx.report_progress(2, 2)
        return "and met again"

    @server.tool()
    def fail() -> str:
        """Always fails"""
        raise ToolError("as promised")

    return server


class Events(EventStore):
    """Remembers everything."""

    def __init__(self) -> None:
        self._events: list[tuple[str, JSONRPCMessage | None]] = []

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        self._events.append((stream_id, message))
        return str(len(self._events))

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        seen = int(last_event_id)
        stream = self._events[seen - 1][0]
        for number, (each, message) in enumerate(self._events[seen:], seen + 1):
            if each == stream and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream


class Legacy:
    """Refuses what only servers of 2026-07-28 understand, the way those before it did."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope.get("headers", []))
        if headers.get(b"mcp-protocol-version") == b"2026-07-28":
            refusal = PlainTextResponse("Bad Request: Unsupported protocol version", 400)
            await refusal(scope, receive, send)
        else:
            await self._app(scope, receive, send)


class ModernAlone:
    """Refuses what only servers before 2026-07-28 understand."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope.get("headers", []))
        if scope["type"] == "http" and headers.get(b"mcp-protocol-version") != b"2026-07-28":
            error = {"code": -32022, "message": "Unsupported", "data": {"supported": ["2026-07-28"]}}
            await JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, 400)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def app(kind: Kind, build: Callable[[], MCPServer[Any]]) -> ASGIApp:
    if kind == "sse":
        return build().sse_app()
    resumable = {"event_store": Events(), "retry_interval": 100} if kind == "legacy-resumable" else {}
    http = build().streamable_http_app(json_response=kind.endswith("-json"), **resumable)
    if kind == "modern-alone":
        return ModernAlone(http)
    return Legacy(http) if kind.startswith("legacy") else http


@contextlib.contextmanager
def running(
    kind: Kind, port: int = 0, build: Callable[[], MCPServer[Any]] = build
) -> Iterator[tuple[str, int]]:
    """Its URL and port."""
    listener = socket.create_server(("127.0.0.1", port), backlog=64)
    port = listener.getsockname()[1]
    server = uvicorn.Server(
        uvicorn.Config(app(kind, build), log_level="critical", timeout_graceful_shutdown=1, ws="none")
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    wait_until(lambda: server.started)
    try:
        yield f"http://127.0.0.1:{port}{'/sse' if kind == 'sse' else '/mcp'}", port
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()


def wait_until(true: Any, patience: float = 10.0) -> None:
    end = time.monotonic() + patience
    while not true():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)
