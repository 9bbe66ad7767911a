"""A client of either era, on stdio or over HTTP, that answers what servers ask by functions it is given.

It hides nothing: everything that came in is in `received`, every question in `questions`. Every wait has its
limit.
"""

from __future__ import annotations

import base64
import contextlib
import http.client
import itertools
import json
import socket
import threading
import urllib.parse
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from tests.http.served import JSON, read_events
from tests.support.client import PATIENCE, Client as Process

Json = dict[str, Any]
LEGACY, MODERN = "2025-11-25", "2026-07-28"
PREFIX = "io.modelcontextprotocol/"
EVERYTHING = {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}
"""The capabilities of a client that can be asked anything."""

ROUNDS = 200
"""How often a call may be asked back before it counts as endless."""


class Question(NamedTuple):
    """What a server wanted to know, in whichever way it came."""

    method: str
    params: Json


class Refusal(Exception):
    """An answer that is an error."""

    def __init__(self, code: int, message: str) -> None:
        self.error = {"code": code, "message": message}


Answer = Callable[[Json], Json]
"""From the params of a question to the result that answers it; may raise Refusal."""


def obliging(params: Json) -> Json:
    """Answers any elicitation with the message it came with, so that a server can tell whose answer it got.

    One whose message begins with `decline:` or `cancel:` is answered so.
    """
    action, colon, _ = params["message"].partition(":")
    if colon:
        return {"action": action}
    if params.get("mode") == "url":
        return {"action": "accept"}
    return {"action": "accept", "content": {"name": params["message"]}}


def sampled(params: Json) -> Json:
    said = params["messages"][0]["content"]["text"]
    content = {"type": "text", "text": f"sampled: {said}"}
    return {"role": "assistant", "content": content, "model": "small", "stopReason": "endTurn"}


ROOTS = {"roots": [{"uri": "file:///home/ada/project", "name": "project"}]}

OBLIGING: Mapping[str, Answer] = {
    "elicitation/create": obliging,
    "sampling/createMessage": sampled,
    "roots/list": lambda params: ROOTS,
}


class Wire(Protocol):
    """How messages travel."""

    def start(self, hear: Callable[[Json], None]) -> None:
        """`hear` is told every message from now on, in any thread."""
        ...

    def send(self, message: Json, modern: bool) -> None: ...

    def forget(self, id: int, modern: bool) -> bool:
        """Stop listening for an answer; whether that alone tells the other side."""
        ...

    def close(self) -> None: ...


class OnStdio:
    def __init__(self, process: Process) -> None:
        self._process = process

    def start(self, hear: Callable[[Json], None]) -> None:
        threading.Thread(target=self._read, args=(hear, len(self._process.messages)), daemon=True).start()

    def send(self, message: Json, modern: bool) -> None:
        self._process.send(message)

    def forget(self, id: int, modern: bool) -> bool:
        return False

    def close(self) -> None:
        return

    def _read(self, hear: Callable[[Json], None], position: int) -> None:
        while True:
            try:
                message = self._process.wait_for(lambda each: True, since=position, timeout=0.5)
            except TimeoutError:
                if self._process.process.poll() is not None:
                    return
                continue
            position += 1
            hear(message)


class OverHttp:
    """Each request is a POST of its own, read in a thread of its own."""

    def __init__(self, url: str, headers: Mapping[str, str] | None = None) -> None:
        self._place = urllib.parse.urlsplit(url)
        self._headers = dict(headers or {})
        self._hear: Callable[[Json], None] = lambda message: None
        self._open: dict[object, http.client.HTTPConnection] = {}
        self.session: str | None = None
        self._ended = False
        self.statuses: dict[object, int] = {}
        """HTTP's, by the ids of the requests."""

    def start(self, hear: Callable[[Json], None]) -> None:
        self._hear = hear

    def send(self, message: Json, modern: bool) -> None:
        connection = http.client.HTTPConnection(str(self._place.hostname), self._place.port, timeout=PATIENCE)
        body = json.dumps(message).encode()
        connection.request("POST", self._place.path, body, {**JSON, **self._said(message, modern)})
        if "method" in message and "id" in message:
            self._open[message["id"]] = connection
            reader = threading.Thread(target=self._read, args=(connection, message["id"]), daemon=True)
            reader.start()
            if message["method"] == "initialize":
                reader.join(PATIENCE)
        else:
            response = connection.getresponse()
            expected = 404 if self._ended else 202  # an answer that comes after the session is for nobody
            assert response.status == expected, (response.status, response.read(), message)
            connection.close()

    def listen(self) -> None:
        """Hear what belongs to no request, up to 2025-11-25."""
        # Silence may last as long as it likes; `close` ends it.
        connection = http.client.HTTPConnection(str(self._place.hostname), self._place.port)
        headers = {**self._session_headers(), "Accept": "text/event-stream"}
        connection.request("GET", self._place.path, headers=headers)
        self._open["GET"] = connection
        threading.Thread(target=self._read, args=(connection, "GET"), daemon=True).start()

    def forget(self, id: int, modern: bool) -> bool:
        if modern:
            self._hang_up(id)
        return modern

    def end_session(self) -> int:
        """HTTP's status."""
        connection = http.client.HTTPConnection(str(self._place.hostname), self._place.port, timeout=PATIENCE)
        self._ended = True
        connection.request("DELETE", self._place.path, headers=self._session_headers())
        return connection.getresponse().status

    def close(self) -> None:
        """Leave without a word, as a client does whose cable is pulled."""
        for id in list(self._open):
            self._hang_up(id)

    def _hang_up(self, id: object) -> None:
        connection = self._open.pop(id, None)
        if connection is not None and connection.sock is not None:
            # Wakes the thread that reads from it.
            try:
                connection.sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                return

    def _session_headers(self) -> dict[str, str]:
        known = {"Mcp-Session-Id": self.session, "MCP-Protocol-Version": LEGACY} if self.session else {}
        return {**self._headers, **known}

    def _said(self, message: Json, modern: bool) -> dict[str, str]:
        if not modern:
            return self._session_headers()
        params = message.get("params", {})
        name = params.get("name") or params.get("uri") or params.get("taskId")
        named = {"Mcp-Name": header(name)} if name is not None and message["method"] in NAMED else {}
        method = {"Mcp-Method": message["method"]}
        return {**self._headers, "MCP-Protocol-Version": MODERN, **method, **named}

    def _read(self, connection: http.client.HTTPConnection, id: object) -> None:
        try:
            response = connection.getresponse()
            self.statuses[id] = response.status
            self.session = response.headers.get("Mcp-Session-Id") or self.session
            if response.headers.get_content_type() == "text/event-stream":
                for event in read_events(iter(lambda: response.readline().decode(), "")):
                    if event.get("data"):
                        self._hear(json.loads(event["data"]))
            elif body := response.read():
                self._hear(json.loads(body))
        except (OSError, ValueError, AttributeError, http.client.HTTPException):
            return  # we hung up, or they did: whoever waits for the answer says so
        finally:
            self._open.pop(id, None)
            connection.close()


NAMED = ("tools/call", "prompts/get", "resources/read", "tasks/get", "tasks/update", "tasks/cancel")
"""The methods of 2026-07-28 whose HTTP request says what they are about."""


def header(value: str) -> str:
    """As a header can carry it."""
    if value.isascii():
        return value
    return f"=?base64?{base64.b64encode(value.encode()).decode()}?="


class Asker:
    """`capabilities` are declared as its era does; `answers` are tried for whatever a server asks."""

    def __init__(
        self,
        wire: Wire,
        *,
        modern: bool,
        capabilities: Json | None = None,
        answers: Mapping[str, Answer] | None = None,
        name: str = "asker",
        version: str = LEGACY,
    ) -> None:
        self.modern = modern
        self.capabilities = EVERYTHING if capabilities is None else capabilities
        self.answers = dict(OBLIGING if answers is None else answers)
        self.received: list[Json] = []
        self.questions: list[Question] = []
        self.rounds: list[Json] = []
        """The results that asked something back, of 2026-07-28."""
        self.introduction: Json = {}
        """What the other side said of itself."""
        self._info = {"name": name, "version": "1"}
        self._wire = wire
        self._ids = itertools.count(1)
        self._news = threading.Condition()
        wire.start(self._hear)
        if modern:
            self.introduction = self.result("server/discover")
        else:
            params = {"protocolVersion": version, "capabilities": self.capabilities, "clientInfo": self._info}
            self.introduction = self.result("initialize", params)
            self.notify("notifications/initialized")
            if isinstance(wire, OverHttp):
                wire.listen()

    # Asking

    def start(self, method: str, params: Mapping[str, Any] | None = None, **meta: object) -> int:
        """A request whose answer is not waited for: its id."""
        id = next(self._ids)
        given = dict(params or {})
        if self.modern:
            own = {
                PREFIX + "protocolVersion": MODERN,
                PREFIX + "clientInfo": self._info,
                PREFIX + "clientCapabilities": self.capabilities,
            }
            meta = {**own, **meta}
        if meta:
            given["_meta"] = {**given.get("_meta", {}), **meta}
        self._wire.send({"jsonrpc": "2.0", "id": id, "method": method, "params": given}, self.modern)
        return id

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": dict(params or {})}
        self._wire.send(message, self.modern)

    def cancel(self, id: int) -> None:
        if not self._wire.forget(id, self.modern):
            self.notify("notifications/cancelled", {"requestId": id, "reason": "enough"})

    def once(self, method: str, params: Mapping[str, Any] | None = None, **meta: object) -> Json:
        """The whole response, asked back or not."""
        return self.response(self.start(method, params, **meta))

    def ask(self, method: str, params: Mapping[str, Any] | None = None, **meta: object) -> Json:
        """The whole response at the end of as many rounds as it takes."""
        given = dict(params or {})
        for _ in range(ROUNDS):
            response = self.once(method, given, **meta)
            result = response.get("result", {})
            if not self.modern or result.get("resultType") != "input_required":
                return response
            given = {**(params or {}), **self.reply_to(result)}
        raise AssertionError("it asked for ever")

    def reply_to(self, result: Json) -> Json:
        """The params that a retry adds after a result that asked something."""
        self.rounds.append(result)
        replies: Json = {}
        if "inputRequests" in result:
            asked = result["inputRequests"]
            replies["inputResponses"] = {key: self._answer(asked[key]) for key in asked}
        if "requestState" in result:
            replies["requestState"] = result["requestState"]
        return replies

    def result(self, method: str, params: Mapping[str, Any] | None = None, **meta: object) -> Json:
        response = self.ask(method, params, **meta)
        assert "result" in response, response
        return response["result"]

    # Hearing

    def response(self, id: int, timeout: float = PATIENCE) -> Json:
        return self.wait_for(lambda each: "method" not in each and each.get("id") == id, timeout)

    def heard(self, method: str) -> list[Json]:
        """The params of the notifications of that method so far."""
        with self._news:
            return [each.get("params", {}) for each in self.received if _notifies(each, method)]

    def wait_for(self, fits: Callable[[Json], bool], timeout: float = PATIENCE) -> Json:
        found: list[Json] = []

        def look() -> bool:
            found[:] = [each for each in self.received if fits(each)][:1]
            return bool(found)

        with self._news:
            assert self._news.wait_for(look, timeout), f"not heard: {str(self.received[-5:])[:2000]}"
        return found[0]

    def wait_for_notice(self, method: str, fits: Callable[[Json], bool] = lambda params: True) -> Json:
        """Its params."""
        found = self.wait_for(lambda each: _notifies(each, method) and fits(each.get("params", {})))
        return found.get("params", {})

    def close(self) -> None:
        self._wire.close()

    def end_session(self) -> int:
        assert isinstance(self._wire, OverHttp)
        return self._wire.end_session()

    @property
    def statuses(self) -> Mapping[object, int]:
        """HTTP's, by the ids of the requests; none on stdio."""
        return self._wire.statuses if isinstance(self._wire, OverHttp) else {}

    def _hear(self, message: Json) -> None:
        with self._news:
            self.received.append(message)
            self._news.notify_all()
        if "method" in message and "id" in message:
            threading.Thread(target=self._reply, args=(message,), daemon=True).start()

    def _reply(self, message: Json) -> None:
        try:
            content = {"result": self._answer(message)}
        except Refusal as refusal:
            content = {"error": refusal.error}
        with contextlib.suppress(OSError, ValueError):  # we may have left meanwhile
            self._wire.send({"jsonrpc": "2.0", "id": message["id"], **content}, self.modern)

    def _answer(self, asked: Json) -> Json:
        question = Question(asked["method"], asked.get("params") or {})
        self.questions.append(question)
        answer = self.answers.get(question.method)
        if answer is None:
            raise Refusal(-32601, "Method not found")
        return answer(question.params)


def _notifies(message: Json, method: str) -> bool:
    return message.get("method") == method and "id" not in message
