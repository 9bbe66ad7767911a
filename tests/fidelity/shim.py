"""Stands between a client of one server and the meta-tools of a workbench: calls become `use_tool`.

`tools/list` becomes the listing of the open toolbox; everything else passes as it came.
"""

from __future__ import annotations

import http.client
import json
import select
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.client import PATIENCE, modern_params

Json = dict[str, Any]
OURS = ("toolbox", "server")
"""What our listing says of a tool beside what its server says."""


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients and servers leave when they like."""


class Shim:
    """Serves from `with` on, where it opens the toolbox."""

    def __init__(self, port: int, toolbox: str, server: str) -> None:
        self.upstream = port
        self._ref = {"toolbox": toolbox, "server": server}
        shim = self

        class Door(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one_request(self) -> None:
                self.raw_requestline = self.rfile.readline(65537)
                if self.raw_requestline and self.parse_request():
                    body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                    shim.pass_on(self, body)
                self.close_connection = True

            def log_message(self, format: str, *args: object) -> None:
                return

        self._listener = _Listener(("127.0.0.1", 0), Door)
        self.port = self._listener.server_address[1]
        self.url = f"http://localhost:{self.port}/mcp"

    def __enter__(self) -> Shim:
        params = modern_params()
        headers = [("Accept", "application/json, text/event-stream"), ("Content-Type", "application/json")]
        headers += [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "")]
        assert self._listing(headers, {"jsonrpc": "2.0", "id": 1, "params": params}) is not None
        threading.Thread(target=self._listener.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._listener.shutdown()
        self._listener.server_close()

    def pass_on(self, door: BaseHTTPRequestHandler, body: bytes) -> None:
        headers = [(name, self._named(value)) for name, value in door.headers.items()]
        try:
            message = json.loads(body)
            method, params = message["method"], message.get("params") or {}
        except (ValueError, TypeError, KeyError):
            method, params, message = "", {}, {}
        if method == "tools/list" and (listed := self._listed(headers, message)) is not None:
            answer(door, listed)
            return
        if method == "tools/call" and "name" in params:
            headers = [(name, as_use_tool(name, value, params["name"])) for name, value in headers]
            ref = {**self._ref, "name": params["name"]}
            arguments = {"tool": ref, "arguments": params.get("arguments", {})}
            body = json.dumps(
                {**message, "params": {**params, "name": "use_tool", "arguments": arguments}}
            ).encode()
        self._pump(door, headers, body)

    def _named(self, value: str) -> str:
        """Who a client speaks with, by the name that the workbench knows itself by."""
        return value.replace(f":{self.port}", f":{self.upstream}")

    def _listed(self, headers: list[tuple[str, str]], message: Json) -> Json | None:
        """The answer to `tools/list`: the workbench's own, with the tools of the toolbox in it.

        None where it is an error, which is then passed on like everything else.
        """
        own = self._ask(headers, message)
        if "result" not in own:
            return None
        tools = self._listing(headers, message)
        if tools is not None:
            plain = [{key: value for key, value in tool.items() if key not in OURS} for tool in tools]
            own["result"]["tools"] = plain
        return own

    def _listing(self, headers: list[tuple[str, str]], message: Json) -> list[Json] | None:
        """What `open_toolbox` says to this client; None where it may not ask."""
        params = message.get("params") or {}
        call = {"name": "open_toolbox", "arguments": {"toolbox": self._ref["toolbox"], "detail": "json"}}
        meta = {"_meta": params["_meta"]} if "_meta" in params else {}
        asked = {**message, "method": "tools/call", "params": {**call, **meta}}
        said = [(name, value) for name, value in headers if name.lower() not in ("mcp-method", "mcp-name")]
        if any(name.lower() == "mcp-method" for name, _ in headers):
            said += [("Mcp-Method", "tools/call"), ("Mcp-Name", "open_toolbox")]
        result = self._ask(said, asked).get("result", {})
        return result.get("structuredContent", {}).get("tools")

    def _ask(self, headers: list[tuple[str, str]], message: Json) -> Json:
        """The message that answers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.upstream, timeout=PATIENCE)
        kept = {name: value for name, value in headers if name.lower() != "content-length"}
        connection.request("POST", "/mcp", json.dumps(message).encode(), kept)
        response = connection.getresponse()
        data = response.read().decode()
        connection.close()
        if response.headers.get_content_type() == "text/event-stream":
            lines = [line.removeprefix("data:") for line in data.splitlines() if line.startswith("data:")]
            data = lines[-1]
        try:
            return json.loads(data)
        except ValueError:
            return {}

    def _pump(self, door: BaseHTTPRequestHandler, headers: list[tuple[str, str]], body: bytes) -> None:
        """Bytes as they come, until either side has had enough."""
        lines = [f"{door.command} {door.path} HTTP/1.1"]
        lines += [
            f"{name}: {value}"
            for name, value in headers
            if name.lower() not in ("content-length", "connection", "transfer-encoding")
        ]
        lines += [f"Content-Length: {len(body)}"] if body else []
        head = "\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1")
        with socket.create_connection(("127.0.0.1", self.upstream), PATIENCE) as upstream:
            upstream.sendall(head + body)
            while True:
                ready, _, _ = select.select([upstream, door.connection], [], [], PATIENCE)
                if upstream in ready:
                    data = upstream.recv(1 << 16)
                    if not data:
                        return
                    door.wfile.write(data)
                elif ready and not door.connection.recv(1 << 16):
                    return


def as_use_tool(header: str, value: str, name: str) -> str:
    """A header that names the tool rightly names ours rightly; one that is wrong stays wrong."""
    if header.lower() == "mcp-name" and value.strip() == name:
        return value.replace(name, "use_tool")
    return value


def answer(door: BaseHTTPRequestHandler, message: Json) -> None:
    body = json.dumps(message).encode()
    door.send_response(200)
    door.send_header("Content-Type", "application/json")
    door.send_header("Content-Length", str(len(body)))
    door.send_header("Connection", "close")
    door.end_headers()
    door.wfile.write(body)
