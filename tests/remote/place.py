"""A place on loopback that speaks HTTP: each request is put down and given to a function of the test."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit


class Exchange:
    """One request, and the ways to answer it."""

    def __init__(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        self._handler = handler
        self.method = handler.command
        self.target = urlsplit(handler.path)
        self.path = self.target.path
        self.headers = {name.lower(): value for name, value in handler.headers.items()}
        self.body = body

    @property
    def message(self) -> dict[str, Any]:
        return json.loads(self.body)

    @property
    def form(self) -> dict[str, str]:
        text = self.body.decode() if self.body else self.target.query
        return {name: values[0] for name, values in parse_qs(text).items()}

    def answer(self, status: int = 200, body: bytes = b"", kind: str = "text/plain", **headers: str) -> None:
        self._handler.send_response(status)
        self._handler.send_header("content-type", kind)
        self._handler.send_header("content-length", str(len(body)))
        for name, value in headers.items():
            self._handler.send_header(name.replace("_", "-"), value)
        self._handler.end_headers()
        self._handler.wfile.write(body)

    def json(self, value: object, status: int = 200, **headers: str) -> None:
        self.answer(status, json.dumps(value).encode(), "application/json", **headers)

    def stream(self, **headers: str) -> None:
        """Begin a stream of events; `event` adds to it, and the end of the answer ends it."""
        self._handler.close_connection = True
        self._handler.send_response(200)
        self._handler.send_header("content-type", "text/event-stream")
        for name, value in headers.items():
            self._handler.send_header(name.replace("_", "-"), value)
        self._handler.end_headers()

    def event(self, data: object = None, **fields: object) -> None:
        lines = [f"{name}: {value}" for name, value in fields.items()]
        lines.append("data: " + ("" if data is None else data if isinstance(data, str) else json.dumps(data)))
        self.raw("\n".join([*lines, "", ""]).encode())

    def raw(self, written: bytes) -> None:
        self._handler.wfile.write(written)

    def wait_until_closed(self, patience: float) -> None:
        """Until the other end has hung up. Raises TimeoutError."""
        self._handler.connection.settimeout(patience)
        self._handler.close_connection = True
        assert self._handler.connection.recv(1) == b""

    def hang_up(self) -> None:
        """Without a word."""
        self._handler.close_connection = True
        self._handler.connection.shutdown(2)


class Place:
    """`respond` may be replaced while it runs; `seen` holds every request so far."""

    def __init__(self, respond: Callable[[Exchange], None], port: int = 0) -> None:
        self.respond = respond
        self.seen: list[Exchange] = []
        place = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one_request(self) -> None:
                try:
                    super().handle_one_request()
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            def _take(self) -> None:
                exchange = Exchange(self, self.rfile.read(int(self.headers.get("content-length", 0))))
                place.seen.append(exchange)
                place.respond(exchange)

            do_GET = do_POST = do_DELETE = _take

            def log_message(self, format: str, *args: object) -> None:
                return

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

        self._server = Server(("127.0.0.1", port), Handler)
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def url(self, path: str = "/mcp", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def posts(self, method: str) -> list[Exchange]:
        """The messages of one JSON-RPC method."""
        said = b'"method":"%b"' % method.encode()
        return [each for each in self.seen if said in each.body]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
