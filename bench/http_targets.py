"""Who is measured over HTTP: how each is started, greeted and called."""

from __future__ import annotations

import json
import socket
import sys
import time
from pathlib import Path
from typing import Any

from . import competitors
from .http_load import HttpClient
from .process import Process
from .targets import CLIENT, ECHO, HERE, FastMcp, Workbench, children

PATIENCE = 30.0


class NotServing(RuntimeError):
    """It ended, or its port stayed closed; says why."""


class HttpTarget:
    """The echo server over HTTP by itself."""

    name = "direct"
    what = "a Python echo server with the least of HTTP (`bench/echo_http.py`)"
    path = "/mcp"

    def prepare(self) -> None:
        """Install what is needed. Raises Missing."""

    def command(self, port: int, folder: Path) -> tuple[list[str], dict[str, str]]:
        return [sys.executable, str(HERE / "echo_http.py"), str(port)], {}

    def start(self, folder: Path) -> tuple[Process, int]:
        """The process, serving at that port. Raises NotServing."""
        port = _free_port()
        command, env = self.command(port, folder)
        process = Process(command, log=folder / f"{self.name}-http.log", env=env, pipes=False)
        until = time.monotonic() + PATIENCE
        while not self.ready(port):
            if process.ended or time.monotonic() > until:
                process.end()
                raise NotServing(process.last_words or "it did not open its port")
            time.sleep(0.005)
        return process, port

    def ready(self, port: int) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    def connect(self, port: int) -> HttpClient:
        """A client with a session of its own, whose call has been tried once."""
        client = HttpClient(port, self.path)
        client.ask({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": CLIENT})
        client.ask({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.open(client)
        self._try(client)
        return client

    def open(self, client: HttpClient) -> None:
        """Have the tools at hand."""

    def body(self, text: str) -> bytes:
        params = {"name": "echo", "arguments": {"text": text}}
        return json.dumps({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params}).encode()

    def _try(self, client: HttpClient) -> None:
        answer = client.ask(json.loads(self.body("there?")))
        if "there?" not in json.dumps(answer) or '"isError": true' in json.dumps(answer):
            raise RuntimeError(f"not an echo: {answer}")


class HttpWorkbench(HttpTarget):
    name = "workbench"
    what = "MCP Workbench, `serve --http`"

    def command(self, port: int, folder: Path) -> tuple[list[str], dict[str, str]]:
        return Workbench("workbench-http").command(
            folder, "serve", "--http", f"127.0.0.1:{port}", "--no-token"
        )

    def start(self, folder: Path) -> tuple[Process, int]:
        try:
            return super().start(folder)
        except NotServing as error:
            if "No such command" in str(error):
                raise NotServing("not in this version") from None
            raise

    def open(self, client: HttpClient) -> None:
        params: dict[str, Any] = {"name": "open_toolbox", "arguments": {"toolbox": "bench"}}
        client.ask({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params})

    def body(self, text: str) -> bytes:
        return Workbench().request(3, text).rstrip()


class HttpFastMcp(HttpTarget):
    name = "FastMCP"
    what = f"FastMCP {competitors.FASTMCP}'s proxy, JSON answers, its session to the echo server reused"

    def prepare(self) -> None:
        competitors.fastmcp()

    def command(self, port: int, folder: Path) -> tuple[list[str], dict[str, str]]:
        return FastMcp().command(str(port)), {}


class McpProxy(HttpTarget):
    name = "mcp-proxy"
    what = f"PyPI's mcp-proxy {competitors.MCP_PROXY}, stdio behind and Streamable HTTP in front"

    def prepare(self) -> None:
        competitors.mcp_proxy()

    def command(self, port: int, folder: Path) -> tuple[list[str], dict[str, str]]:
        options = ["--port", str(port), "--host", "127.0.0.1", "--log-level", "ERROR", "--"]
        return [str(competitors.mcp_proxy()), *options, *ECHO], {}


class McpHub(HttpTarget):
    name = "mcp-hub"
    what = (
        f"npm's mcp-hub {competitors.MCP_HUB}, through its REST interface (for MCP it has only the old SSE)"
    )
    path = "/api/servers/tools"

    def __init__(self, servers: int = 1) -> None:
        self._servers = servers

    def prepare(self) -> None:
        competitors.mcp_hub()

    def command(self, port: int, folder: Path) -> tuple[list[str], dict[str, str]]:
        config = folder / "mcp-hub.json"
        config.write_text(json.dumps({"mcpServers": children(self._servers)}))
        env = {"XDG_STATE_HOME": str(folder), "HOME": str(folder)}
        return [*competitors.mcp_hub(), "--port", str(port), "--config", str(config)], env

    def ready(self, port: int) -> bool:
        """Its port opens before its servers are connected."""
        if not super().ready(port):
            return False
        with socket.create_connection(("127.0.0.1", port)) as probe:
            probe.sendall(b"GET /api/health HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")
            answer = b"".join(iter(lambda: probe.recv(1 << 16), b""))
        return answer.count(b'"status":"connected"') >= self._servers

    def connect(self, port: int) -> HttpClient:
        client = HttpClient(port, self.path)
        self._try(client)
        return client

    def body(self, text: str) -> bytes:
        return json.dumps({"server_name": "echo", "tool": "echo", "arguments": {"text": text}}).encode()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
