"""A workbench that serves over HTTP in a process of its own, and raw requests to it that hide nothing.

Every wait has its limit.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.support import processes
from tests.support.client import PATIENCE, invocation, modern_params
from tests.support.launch import environment, write_config

COMMAND = [sys.executable, "-m", "mcp_workbench", "serve"]
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
MODERN = "2026-07-28"


def command(patience: Mapping[str, float]) -> list[str]:
    if not patience:
        return COMMAND
    lines = ["import sys", "from mcp_workbench.__main__ import main"]
    for name, seconds in patience.items():
        module, _, constant = name.partition(".")
        lines += [f"from mcp_workbench.http import {module}", f"{module}.{constant} = {seconds}"]
    return [sys.executable, "-c", "\n".join([*lines, "sys.exit(main())"]), "serve"]


class Answer:
    """A whole response."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[dict[str, str]]:
        return list(read_events(iter(self.body.decode().splitlines(keepends=True))))

    @property
    def message(self) -> Any:
        """The one message that answers, as JSON or at the end of a stream."""
        if self.headers["Content-Type"] == "text/event-stream":
            return json.loads(self.events[-1]["data"])
        return self.json


class Live:
    """A response of which events are still to come."""

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        self.connection = connection
        self.response = connection.getresponse()
        self.status = self.response.status
        self.headers = self.response.headers
        self._events = read_events(iter(lambda: self.response.readline().decode(), ""))

    def event(self) -> dict[str, str]:
        """The next one; raises TimeoutError where none comes, StopIteration where none will."""
        return next(self._events)

    def message(self) -> Any:
        return json.loads(self.event()["data"])

    def rest(self) -> list[dict[str, str]]:
        return list(self._events)

    def close(self) -> None:
        """Leave, as a client does whose cable is pulled."""
        self.response.close()
        self.connection.close()


def read_events(lines: Iterator[str]) -> Iterator[dict[str, str]]:
    event: dict[str, str] = {}
    for line in lines:
        line = line.rstrip("\r\n")
        if not line:
            if event:
                yield event
            event = {}
        elif not line.startswith(":"):
            name, _, value = line.partition(":")
            event[name] = value.removeprefix(" ")


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=PATIENCE)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(PATIENCE)
        self.sock.connect(self._path)


class Served:
    """Started by `with`; at the end it is sent SIGTERM, unless it has ended, and leaves nothing behind."""

    def __init__(
        self,
        home: Path,
        config: Mapping[str, Any],
        *args: str,
        env: Mapping[str, str] | None = None,
        unix: str | None = None,
        patience: Mapping[str, float] | None = None,
    ) -> None:
        """`patience` shortens waits that no test could sit out, by their names in `mcp_workbench.http`."""
        self.home = home
        self.unix = unix
        self.stderr = ""
        self.config = write_config(home, config)
        self.state = home / "state" / "mcp-workbench"
        where = ["--unix", unix] if unix is not None else ["--http", "127.0.0.1:0"]
        self.process = subprocess.Popen(
            [*command(patience or {}), *(args or where)],
            env={**environment(home), "WORKBENCH_CONFIG": str(self.config), **(env or {})},
            cwd=home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self.port = 0
        self.headers: dict[str, str] = {}
        """Sent with every request: the token."""

    def __enter__(self) -> Served:
        try:
            self._wait_until_served()
        except BaseException:
            self.process.kill()
            self.process.wait(PATIENCE)
            raise
        token = self.state / "http-token"
        if token.exists():
            self.headers = {"Authorization": f"Bearer {token.read_text().strip()}"}
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self.process.poll() is None:
                assert self.end() == 0, self.stderr
        finally:
            self.process.kill()
            self.process.wait(PATIENCE)

    def end(self, number: signal.Signals = signal.SIGTERM, patience: float = 2 * PATIENCE) -> int:
        """Its exit status; nothing that it started may be left."""
        family = processes.descendants(self.process.pid)
        os.kill(self.process.pid, number)
        status = self.process.wait(patience)
        assert processes.wait_until_gone(family, f"{self.home}/state", 1.0) == []
        return status

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    # Requests

    def connect(self) -> http.client.HTTPConnection:
        if self.unix is not None:
            return UnixConnection(self.unix)
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def request(
        self,
        method: str,
        path: str = "/mcp",
        body: object = None,
        headers: Mapping[str, str | None] | None = None,
    ) -> Answer:
        """`body` is sent as JSON unless it is bytes; a header that is None is left out."""
        connection = self._sent(method, path, body, headers)
        try:
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def stream(
        self,
        method: str,
        body: object = None,
        headers: Mapping[str, str | None] | None = None,
        path: str = "/mcp",
    ) -> Live:
        return Live(self._sent(method, path, body, headers))

    def _sent(
        self, method: str, path: str, body: object, headers: Mapping[str, str | None] | None
    ) -> http.client.HTTPConnection:
        said = {**self.headers, **(JSON if body is not None else {}), **(headers or {})}
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        connection = self.connect()
        given = {name: value for name, value in said.items() if value is not None}
        connection.request(method, path, data, given)
        return connection

    # MCP

    def modern(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str | None] | None = None,
        id: object = 1,
    ) -> Answer:
        return self.request(
            "POST", body=modern_body(method, params, id), headers=modern_headers(method, params, headers)
        )

    def modern_stream(self, method: str, params: Mapping[str, Any] | None = None, id: object = 1) -> Live:
        return self.stream("POST", modern_body(method, params, id), modern_headers(method, params))

    def modern_begun(self, method: str, params: Mapping[str, Any]) -> http.client.HTTPConnection:
        """A request that is sent, and whose answer is still to be waited for."""
        return self._sent("POST", "/mcp", modern_body(method, params), modern_headers(method, params))

    def call(self, tool: str, arguments: object) -> Any:
        """The result of one of our own tools."""
        return self.modern("tools/call", {"name": tool, "arguments": arguments}).message["result"]

    def open(self, toolbox: str) -> Any:
        return self.call("open_toolbox", {"toolbox": toolbox})

    def use(self, ref: str, arguments: Mapping[str, Any] | None = None) -> Any:
        return self.call("use_tool", invocation(ref, arguments))

    def session(
        self,
        version: str = "2025-11-25",
        headers: Mapping[str, str] | None = None,
        capabilities: Mapping[str, Any] | None = None,
    ) -> Session:
        return Session(self, version, headers or {}, capabilities=capabilities)

    def wait_for(self, what: str, patience: float = PATIENCE) -> None:
        """Until it has said so on stderr."""
        until = time.monotonic() + patience
        while what not in self.stderr:
            assert time.monotonic() < until, f"{what!r} was not said: {self.stderr}"
            time.sleep(0.01)

    def _wait_until_served(self) -> None:
        assert self.process.stderr is not None
        descriptor = self.process.stderr.fileno()
        until = time.monotonic() + PATIENCE
        while not (found := re.search(r"serves (http://\S+:(\d+)/mcp|unix:)", self.stderr)):
            assert time.monotonic() < until, f"not serving: {self.stderr}"
            if select.select([descriptor], [], [], 0.1)[0]:
                data = os.read(descriptor, 1 << 16)
                if not data:
                    raise RuntimeError(self.stderr)
                self.stderr += data.decode()
        self.port = int(found[2] or 0)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.stderr += line.decode(errors="replace")


class Session:
    """A client up to 2025-11-25."""

    def __init__(
        self,
        served: Served,
        version: str,
        headers: Mapping[str, str],
        path: str = "/mcp",
        capabilities: Mapping[str, Any] | None = None,
    ) -> None:
        self._served = served
        self._path = path
        who = {"name": "raw", "version": "1"}
        params = {"protocolVersion": version, "capabilities": capabilities or {}, "clientInfo": who}
        body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        answer = served.request("POST", path, body, headers)
        assert answer.status == 200, answer.body
        self.result = answer.json["result"]
        self.id = answer.headers["Mcp-Session-Id"]
        self.headers = {**headers, "Mcp-Session-Id": self.id, "MCP-Protocol-Version": version}
        assert self.notify("notifications/initialized").status == 202

    def ask(self, method: str, params: Mapping[str, Any] | None = None, id: object = 1) -> Answer:
        return self._served.request("POST", self._path, self._body(method, params, id), self.headers)

    def stream(self, method: str, params: Mapping[str, Any] | None = None, id: object = 1) -> Live:
        return self._served.stream("POST", self._body(method, params, id), self.headers, self._path)

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> Answer:
        body = {"jsonrpc": "2.0", "method": method, "params": params or {}}
        return self._served.request("POST", self._path, body, self.headers)

    def reply(self, asked: Mapping[str, Any], result: object) -> Answer:
        """Answer a request of the server."""
        body = {"jsonrpc": "2.0", "id": asked["id"], "result": result}
        return self._served.request("POST", self._path, body, self.headers)

    def listen(self, last_event_id: str | None = None) -> Live:
        headers = {**self.headers, "Accept": "text/event-stream", "Last-Event-ID": last_event_id}
        return self._served.stream("GET", headers=headers, path=self._path)

    def end(self) -> Answer:
        return self._served.request("DELETE", self._path, headers=self.headers)

    def _body(self, method: str, params: Mapping[str, Any] | None, id: object) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": id, "method": method, "params": dict(params or {})}


def modern_body(method: str, params: Mapping[str, Any] | None = None, id: object = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": modern_params(params)}


def modern_headers(
    method: str, params: Mapping[str, Any] | None = None, changed: Mapping[str, str | None] | None = None
) -> dict[str, str | None]:
    given = params or {}
    name = given.get("name") or given.get("uri") or given.get("taskId")
    return {
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": method,
        **({"Mcp-Name": name} if name is not None else {}),
        **(changed or {}),
    }


def use(ref: str, arguments: Mapping[str, Any] | None = None, **meta: object) -> dict[str, Any]:
    """The parameters of a `tools/call` of `use_tool`."""
    params: dict[str, Any] = {"name": "use_tool", "arguments": invocation(ref, arguments)}
    return {**params, "_meta": meta} if meta else params
