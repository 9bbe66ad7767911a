"""The load client over HTTP: a kept-alive connection to a client, requests made beforehand, answers not read.

Knows as much HTTP/1.1 as it takes to see where an answer ends.
"""

from __future__ import annotations

import json
import re
import select
import socket
from collections.abc import Mapping
from time import perf_counter_ns
from typing import Any

from .process import Process
from .sample import Sample, time_limit

PATIENCE = 60.0

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_SESSION = re.compile(rb"\r\nmcp-session-id: *([^\r]+)", re.IGNORECASE)


class HttpClient:
    """A connection, and the session it speaks for, which outlives it."""

    def __init__(self, port: int, path: str) -> None:
        self._path = path
        self._port = port
        self._headers: dict[str, str] = {}
        self._received = b""
        self.socket = self._connected()

    def reconnect(self) -> None:
        """Servers close connections that were idle for a while, as between two turns."""
        self.socket.close()
        self.socket = self._connected()

    def _connected(self) -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", self._port), PATIENCE)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def post(self, body: bytes) -> bytes:
        """The bytes of a request."""
        headers = {
            "Host": f"127.0.0.1:{self._port}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Content-Length": str(len(body)),
            **self._headers,
        }
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        return f"POST {self._path} HTTP/1.1\r\n{lines}\r\n".encode() + body

    def ask(self, message: Mapping[str, Any]) -> Any:
        """The message that answers, decoded; None where there is no body."""
        self.socket.sendall(self.post(json.dumps(message).encode()))
        while (answer := self.receive()) is None:
            pass
        head, _, body = answer.partition(b"\r\n\r\n")
        if not head.split(b" ", 2)[1].startswith(b"2"):
            raise RuntimeError(f"{message.get('method')}: {answer[:300]!r}")
        if found := _SESSION.search(head):
            self._headers = {"Mcp-Session-Id": found[1].decode(), "MCP-Protocol-Version": "2025-06-18"}
        start, end = body.find(b"{"), body.rfind(b"}")  # without the frames of chunks and events
        return json.loads(body[start : end + 1]) if start >= 0 else None

    def receive(self) -> bytes | None:
        """A whole answer, once it is here."""
        data = self.socket.recv(1 << 20)
        if not data:
            raise EOFError("the server closed the connection")
        self._received += data
        head = self._received.find(b"\r\n\r\n")
        if head < 0:
            return None
        if found := _LENGTH.search(self._received, 0, head):
            whole = len(self._received) >= head + 4 + int(found[1])
        else:
            whole = self._received.endswith((b"\r\n0\r\n\r\n", b"\r\n\r\n0\r\n\r\n"))
        if not whole:
            return None
        answer, self._received = self._received, b""
        return answer

    def close(self) -> None:
        self.socket.close()


def measure(process: Process, clients: list[HttpClient], body: bytes, seconds: float) -> Sample:
    """Every client with one call under way, for so long, until the last is answered."""
    sample = Sample()
    for client in clients:
        client.reconnect()
    requests = {client.socket.fileno(): (client, client.post(body)) for client in clients}
    poller = select.epoll()
    for number in requests:
        poller.register(number, select.EPOLLIN)
    with time_limit(PATIENCE + seconds, f"{len(clients)} HTTP clients"):
        cpu = process.cpu()
        began = now = perf_counter_ns()
        end = began + int(seconds * 1e9)
        sent: dict[int, int] = {}
        for number, (client, request) in requests.items():
            sent[number] = perf_counter_ns()
            client.socket.sendall(request)
        while sent:
            for number, _ in poller.poll():
                client, request = requests[number]
                if client.receive() is None:
                    continue
                now = perf_counter_ns()
                sample.latencies.append(now - sent.pop(number))
                if now < end:
                    sent[number] = now
                    client.socket.sendall(request)
        sample.elapsed = now - began
        sample.cpu = process.cpu() - cpu
    poller.close()
    return sample
