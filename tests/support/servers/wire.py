"""The least of JSON-RPC over standard streams, for servers on the standard library alone.

A server here is a function from a method and its params to a result; what it raises as Fault goes out as
an error. Each request runs in a thread of its own, so that calls may finish in any order.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

LEGACY = "2025-11-25"
MODERN = "2026-07-28"

Answer = Callable[[str, dict[str, Any], Any], Any]

_writing = threading.Lock()
_asked = itertools.count(1)
_replied = threading.Condition()
_replies: dict[Any, dict[str, Any]] = {}


class Fault(Exception):
    def __init__(self, code: int, message: str, data: object = None) -> None:
        self.error = {"code": code, "message": message} | ({} if data is None else {"data": data})


class Verbatim:
    """A result given as JSON text, which goes out byte for byte."""

    def __init__(self, json_text: str) -> None:
        self.json_text = json_text


class NoAnswer:
    """The answer to what is never answered."""


def write(data: bytes) -> None:
    with _writing:
        while data:
            data = data[os.write(1, data) :]


def send(message: object) -> None:
    write(json.dumps(message).encode() + b"\n")


def notify(method: str, params: object = None) -> None:
    message = {"jsonrpc": "2.0", "method": method}
    send(message if params is None else {**message, "params": params})


def ask(method: str, params: object = None, *, patience: float = 10.0) -> dict[str, Any]:
    """Ask the client something; its whole reply, or an empty one where none came."""
    id = start_asking(method, params)
    with _replied:
        _replied.wait_for(lambda: id in _replies, patience)
        return _replies.pop(id, {})


def start_asking(method: str, params: object = None) -> str:
    id = f"ask-{next(_asked)}"
    message = {"jsonrpc": "2.0", "id": id, "method": method}
    send(message if params is None else {**message, "params": params})
    return id


def text(said: str, **more: object) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": said}], **more}


def tool(name: str, **more: object) -> dict[str, Any]:
    return {"name": name, "description": f"Does {name}", "inputSchema": {"type": "object"}, **more}


def initialized(params: dict[str, Any], **capabilities: object) -> dict[str, Any]:
    return {
        "protocolVersion": params.get("protocolVersion", LEGACY),
        "capabilities": {"tools": {}, **capabilities},
        "serverInfo": {"name": "test", "version": "1"},
    }


def record_start() -> None:
    """Each start is a line in the file that STARTS names, for tests that count them."""
    if "STARTS" in os.environ:
        with open(os.environ["STARTS"], "a") as file:
            file.write(f"{os.getpid()}\n")


def serve(answer: Answer, heard: Callable[[str, dict[str, Any]], None] | None = None) -> None:
    """Until the input ends; then leave at once, whatever still runs. `heard` is told of notifications.

    Replies to what the server asked are for `ask` to find.
    """
    record_start()
    for line in sys.stdin.buffer:
        message = json.loads(line)
        params = message.get("params") or {}
        if "id" in message and "method" in message:
            arguments = (answer, message["method"], params, message["id"])
            # The handshake is answered in order; only calls may overtake each other.
            if message["method"] in ("tools/call", "prompts/get", "resources/read"):
                threading.Thread(target=_respond, args=arguments, daemon=True).start()
            else:
                _respond(*arguments)
        elif "method" not in message:
            with _replied:
                _replies[message["id"]] = message
                _replied.notify_all()
        elif heard is not None:
            heard(message["method"], params)
    os._exit(0)


def _respond(answer: Answer, method: str, params: dict[str, Any], id: object) -> None:
    try:
        result = answer(method, params, id)
    except Fault as fault:
        send({"jsonrpc": "2.0", "id": id, "error": fault.error})
        return
    if result is NoAnswer:
        return
    written = result.json_text if isinstance(result, Verbatim) else json.dumps(result)
    write(b'{"jsonrpc":"2.0","id":%b,"result":%b}\n' % (json.dumps(id).encode(), written.encode()))
