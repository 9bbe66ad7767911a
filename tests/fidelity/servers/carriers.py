"""How a feature server is reached: on stdio, or over HTTP on the port it is told. What it says is its era's.

Everything that comes in, and what a server notes of its own, is a line of the file that RECORD names.
"""

from __future__ import annotations

import itertools
import json
import os
import select
import socket
import sys
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

Json = dict[str, Any]
PATIENCE = 30.0
LASTING = ("tools/call", "prompts/get", "subscriptions/listen", "tasks/result")
"""Requests that others do not wait for; the rest is answered in order."""

_recording = threading.Lock()


def record(**facts: object) -> None:
    if path := os.environ.get("RECORD"):
        with _recording, open(path, "a") as file:
            file.write(json.dumps(facts) + "\n")


class Fault(Exception):
    """A JSON-RPC error in answer to a request; `status` is HTTP's."""

    def __init__(self, code: int, message: str, data: object = None, status: int = 200) -> None:
        self.error = {"code": code, "message": message} | ({} if data is None else {"data": data})
        self.status = status


class Unanswered(Exception):
    """The request is not answered: it was cancelled."""


class Session:
    """One client's connection: on stdio the process, over HTTP what a session's id stands for."""

    def __init__(self, server: Server, key: str) -> None:
        self.key = key
        self.server = server
        self.capabilities: Json = {}
        self.level = "debug"
        self.watched: set[str] = set()
        self.running: dict[object, Exchange] = {}
        self.listeners: list[Exchange] = []
        """Subscriptions of a modern client."""
        self.outlet: Callable[[Json], None] | None = None
        """Where what belongs to no request goes; over HTTP only once somebody listens."""
        self._asked = itertools.count(1)
        self._replies: dict[object, Json] = {}
        self._replied = threading.Condition()

    def receive(self, message: Json, exchange: Exchange | None, **facts: object) -> None:
        """Answers a request where it came in, unless it is a call: those do not wait for each other."""
        record(connection=self.key, got=message, **facts)
        if "method" not in message:
            with self._replied:
                self._replies[message["id"]] = message
                self._replied.notify_all()
        elif exchange is not None:
            self.running[exchange.id] = exchange
            exchange.run(message["method"], message.get("params") or {})
        elif message["method"] == "notifications/cancelled":
            if running := self.running.get(message["params"].get("requestId")):
                running.cancelled.set()
        else:
            self.server.heard(self, message["method"], message.get("params") or {})

    def announce(self, method: str, params: Json | None = None) -> None:
        """Say something that belongs to no request."""
        self.send(notification(method, params))

    def send(self, message: Json) -> None:
        """Where the client hears what belongs to no request; waits for it to listen."""
        until = time.monotonic() + PATIENCE
        while (outlet := self.outlet) is None:
            if time.monotonic() > until:
                return
            time.sleep(0.01)
        outlet(message)

    def ask(
        self, questions: list[Json], send: Callable[[Json], None], given_up: Callable[[], bool]
    ) -> list[Json]:
        """Put them all to the client at once; the whole responses, in the order of the questions."""
        ids = [f"q-{self.key}-{next(self._asked)}" for _ in questions]
        for id, question in zip(ids, questions, strict=True):
            send({"jsonrpc": "2.0", "id": id, **question})
        until = time.monotonic() + PATIENCE
        with self._replied:
            while not all(id in self._replies for id in ids):
                if given_up():
                    raise Unanswered
                if time.monotonic() > until:
                    raise Fault(-32603, "the client did not answer")
                self._replied.wait(0.02)
            replies = [self._replies.pop(id) for id in ids]
        if any("error" in reply for reply in replies):
            # Whoever gives up a call may refuse its questions first.
            until = time.monotonic() + 0.2
            while not given_up() and time.monotonic() < until:
                time.sleep(0.01)
        if given_up():
            raise Unanswered
        return replies


class Exchange:
    """One request on its way to its answer; what is said meanwhile goes where the answer will go."""

    def __init__(self, session: Session, id: object, carrier: Carrier) -> None:
        self.session = session
        self.id = id
        self.carrier = carrier
        self.cancelled = threading.Event()

    def tell(self, method: str, params: Json) -> None:
        self.carrier.send(notification(method, params))

    def ask(self, *questions: Json) -> list[Json]:
        return self.session.ask(list(questions), self.carrier.send, self.given_up)

    def given_up(self) -> bool:
        return self.cancelled.is_set() or self.carrier.gone()

    def wait(self, seconds: float = PATIENCE) -> None:
        """Raises Unanswered where the client gives up first."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if self.given_up():
                raise Unanswered
            time.sleep(0.01)

    def run(self, method: str, params: Json) -> None:
        try:
            result = self.session.server.answer(self, method, params)
            self.carrier.finish({"jsonrpc": "2.0", "id": self.id, "result": result}, 200)
        except Fault as fault:
            self.carrier.finish({"jsonrpc": "2.0", "id": self.id, "error": fault.error}, fault.status)
        except Unanswered:
            record(connection=self.session.key, cancelled=params)
            self.carrier.abandon()
        finally:
            self.session.running.pop(self.id, None)


class Carrier:
    """Where the answer of one request goes."""

    def send(self, message: Json) -> None:
        raise NotImplementedError

    def finish(self, message: Json, status: int) -> None:
        self.send(message)

    def abandon(self) -> None:
        """There will be no answer."""

    def gone(self) -> bool:
        """Whether the client no longer listens."""
        return False


class Server:
    """What an era answers; the classes of `legacy` and `modern` are such."""

    stateful: ClassVar[bool]
    """Whether its clients have sessions over HTTP."""

    def __init__(self) -> None:
        self.sessions: dict[str, Session] = {}

    def answer(self, exchange: Exchange, method: str, params: Json) -> Json:
        raise NotImplementedError

    def heard(self, session: Session, method: str, params: Json) -> None:
        """A notification, but for those of cancellation."""

    def refuse(self, headers: Json, message: Json) -> Fault | str | None:
        """Why this cannot be a request to it over HTTP; a text where it does not even speak the language."""
        return None


def notification(method: str, params: Json | None) -> Json:
    return {"jsonrpc": "2.0", "method": method} | ({} if params is None else {"params": params})


# Standard input and output


class Lines(Carrier):
    _writing = threading.Lock()

    def send(self, message: Json) -> None:
        data = json.dumps(message).encode() + b"\n"
        with self._writing:
            while data:
                data = data[os.write(1, data) :]


def serve_stdio(server: Server) -> None:
    lines = Lines()
    session = server.sessions[""] = Session(server, str(os.getpid()))
    session.outlet = lines.send
    record(connection=session.key, started=True)
    for line in sys.stdin.buffer:
        message = json.loads(line)
        exchange = (
            Exchange(session, message["id"], lines) if "method" in message and "id" in message else None
        )
        if exchange is not None and message["method"] in LASTING:
            threading.Thread(target=session.receive, args=(message, exchange), daemon=True).start()
        else:
            session.receive(message, exchange)
    os._exit(0)


# HTTP


class Stream(Carrier):
    """The response of one POST: events from the first message on, plain JSON where there is only one."""

    def __init__(self, handler: Door) -> None:
        self._handler = handler
        self._begun = False
        self._writing = threading.Lock()

    def begin(self) -> None:
        if not self._begun:
            self._begun = True
            self._handler.send_response(200)
            self._handler.send_header("Content-Type", "text/event-stream")
            self._handler.send_header("Transfer-Encoding", "chunked")
            self._handler.send_header("Connection", "close")  # as `abandon` will, or it may be used again
            self._handler.end_headers()
            self._handler.close_connection = False  # not yet

    def send(self, message: Json) -> None:
        with self._writing:
            self.begin()
            data = f"event: message\ndata: {json.dumps(message)}\n\n".encode()
            self._chunk(data)

    def finish(self, message: Json, status: int) -> None:
        if self._begun:
            self.send(message)
            self.abandon()
        else:
            self._handler.reply(status, json.dumps(message).encode())

    def abandon(self) -> None:
        with self._writing:
            if self._begun:
                self._chunk(b"")
            self._handler.close_connection = True

    def gone(self) -> bool:
        connection = self._handler.connection
        readable, _, _ = select.select([connection], [], [], 0)
        try:
            return bool(readable) and connection.recv(1, socket.MSG_PEEK) == b""
        except OSError:
            return True

    def _chunk(self, data: bytes) -> None:
        try:
            self._handler.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
            self._handler.wfile.flush()
        except OSError:
            self._handler.close_connection = True


class Door(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_of: ClassVar[Server]
    alone: ClassVar[Session]

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        refused = self.server_of.refuse(headers, message)
        if isinstance(refused, Fault):
            error = {"jsonrpc": "2.0", "id": message.get("id"), "error": refused.error}
            return self.reply(refused.status, json.dumps(error).encode())
        if refused is not None:
            return self.reply(400, refused.encode(), "text/plain")
        session = self._session(message)
        if session is None:
            return self.reply(404, b"no such session", "text/plain")
        mcp = {name: value for name, value in headers.items() if name.startswith("mcp-")}
        if "method" in message and "id" in message:
            exchange = Exchange(session, message["id"], Stream(self))
            return session.receive(message, exchange, headers=mcp)
        session.receive(message, None, headers=mcp)
        return self.reply(202)

    def do_GET(self) -> None:
        session = self.server_of.sessions.get(self.headers.get("Mcp-Session-Id", ""))
        if session is None or not self.server_of.stateful:
            return self.reply(405)
        stream = Stream(self)
        stream.begin()
        session.outlet = stream.send
        while not stream.gone() and not self.close_connection:
            time.sleep(0.02)
        if session.outlet == stream.send:
            session.outlet = None
        self.close_connection = True
        return None

    def do_DELETE(self) -> None:
        session = self.server_of.sessions.pop(self.headers.get("Mcp-Session-Id", ""), None)
        for exchange in list(session.running.values()) if session is not None else ():
            exchange.cancelled.set()
        record(connection=session.key if session is not None else None, ended=True)
        self.reply(200)

    def reply(self, status: int, body: bytes = b"", kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if self._new_session:
            self.send_header("Mcp-Session-Id", self._new_session)
        self.end_headers()
        self.wfile.write(body)

    _new_session = ""

    def _session(self, message: Json) -> Session | None:
        if not self.server_of.stateful:
            return self.alone
        if message.get("method") == "initialize":
            key = f"session-{len(self.server_of.sessions) + 1}-{time.monotonic_ns()}"
            self._new_session = key
            self.server_of.sessions[key] = Session(self.server_of, key)
            return self.server_of.sessions[key]
        self._new_session = ""
        return self.server_of.sessions.get(self.headers.get("Mcp-Session-Id", ""))

    def log_message(self, format: str, *args: object) -> None:
        return


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that left is no news."""


def serve_http(server: Server, port: int) -> None:
    Door.server_of = server
    Door.alone = Session(server, "http")
    listener = _Listener(("127.0.0.1", port), Door)
    print(listener.server_address[1], flush=True)
    listener.serve_forever()


def main(server: Server) -> None:
    if len(sys.argv) > 1:
        serve_http(server, int(sys.argv[1]))
    else:
        serve_stdio(server)
