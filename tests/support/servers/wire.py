"""The least of JSON-RPC over standard streams, for servers on the standard library alone.

A server here is a function from a method and its params to a result; what it raises as Fault goes out as
an error. Each request runs in a thread of its own, so that calls may finish in any order.
"""

from __future__ import annotations

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
    """Until the input ends; then leave at once, whatever still runs. `heard` is told of notifications."""
    record_start()
    for line in sys.stdin.buffer:
        message = json.loads(line)
        params = message.get("params") or {}
        if "id" in message and "method" in message:
            arguments = (answer, message["method"], params, message["id"])
            # The handshake is answered in order; only calls may overtake each other.
            if message["method"] == "tools/call":
                threading.Thread(target=_respond, args=arguments, daemon=True).start()
            else:
                _respond(*arguments)
        elif "method" in message and heard is not None:
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
