"""A legacy server whose tools do what their arguments say, good and bad.

Arguments on its command line are the names of further tools, which echo too.
"""

from __future__ import annotations

import base64
import json
import os
import sys
import threading
import time
from typing import Any

from wire import Fault, NoAnswer, Verbatim, initialized, notify, serve, text, tool, write

cancelled: list[Any] = []
running: dict[Any, threading.Event] = {}
EXTRA = sys.argv[1:]


def raw(arguments: dict[str, Any], params: dict[str, Any], id: Any) -> object:
    """`json` is the result, byte for byte."""
    return Verbatim(arguments["json"])


def line(arguments: dict[str, Any], params: dict[str, Any], id: Any) -> object:
    """`base64` is the whole line, in which ID stands for the id."""
    data = base64.b64decode(arguments["base64"])
    write(data.replace(b"ID", json.dumps(id).encode()) + b"\n")
    return NoAnswer


def fail(arguments: dict[str, Any], params: dict[str, Any], id: Any) -> object:
    raise Fault(arguments.get("code", -32000), arguments.get("message", "it failed"), arguments.get("data"))


def die(arguments: dict[str, Any], params: dict[str, Any], id: Any) -> object:
    os.write(2, arguments.get("stderr", "").encode())
    os._exit(arguments.get("status", 3))


def slow(arguments: dict[str, Any], params: dict[str, Any], id: Any) -> object:
    """Sleeps `seconds`, or until it is cancelled."""
    stop = running[id] = threading.Event()
    if stop.wait(arguments["seconds"]):
        return NoAnswer
    return text(f"slept {arguments['seconds']}")


def progress(arguments: dict[str, Any], params: dict[str, Any], id: Any) -> object:
    token = params.get("_meta", {}).get("progressToken")
    for step in range(1, arguments["steps"] + 1):
        time.sleep(arguments.get("pause", 0))
        if token is not None:
            said = {"progressToken": token, "progress": step, "total": arguments["steps"], "x": [step]}
            notify("notifications/progress", said)
    return text("done")


def seen(arguments: dict[str, Any], params: dict[str, Any], id: Any) -> object:
    """The params as they arrived."""
    return text(json.dumps(params))


def about(arguments: dict[str, Any], params: dict[str, Any], id: Any) -> object:
    """Facts about this process."""
    facts = {"pid": os.getpid(), "cwd": os.getcwd(), "env": dict(os.environ), "cancelled": cancelled}
    return text(json.dumps(facts))


def flood(arguments: dict[str, Any], params: dict[str, Any], id: Any) -> object:
    """Writes `bytes` to stderr before it answers."""
    chunk = b"x" * 65535 + b"\n"
    for _ in range(arguments["bytes"] // len(chunk)):
        os.write(2, chunk)
    return text("flooded")


def large(arguments: dict[str, Any], params: dict[str, Any], id: Any) -> object:
    return text("x" * arguments["size"])


def echo(arguments: dict[str, Any], params: dict[str, Any], id: Any) -> object:
    return text(json.dumps(arguments))


TOOLS = [echo, raw, line, fail, die, slow, progress, seen, about, flood, large]
BY_NAME = {each.__name__: each for each in TOOLS} | dict.fromkeys(EXTRA, echo)


def answer(method: str, params: dict[str, Any], id: Any) -> object:
    match method:
        case "initialize":
            return initialized(params)
        case "tools/list":
            return {"tools": [tool(name) for name in BY_NAME]}
        case "tools/call":
            if params["name"] not in BY_NAME:
                raise Fault(-32602, f"no tool {params['name']}")
            return BY_NAME[params["name"]](params.get("arguments", {}), params, id)
        case _:
            raise Fault(-32601, "Method not found")


def heard(method: str, params: dict[str, Any]) -> None:
    if method == "notifications/cancelled":
        cancelled.append(params["requestId"])
        if params["requestId"] in running:
            running[params["requestId"]].set()


serve(answer, heard)
