"""A server of 2026-07-28 alone, strict about `_meta`; told `dual`, it takes `initialize` too.

`change` adds a tool and tells those who listen. Told `grows-before` or `grows-after`, it does so by itself,
once: between its first list and the standing request, in whichever order these come.
"""

from __future__ import annotations

import json
import sys
import threading
from typing import Any

from wire import MODERN, Fault, NoAnswer, Verbatim, initialized, notify, serve, text, tool

DUAL = "dual" in sys.argv[1:]
PREFIX = "io.modelcontextprotocol/"
tools = [tool("raw"), tool("fail"), tool("seen"), tool("change"), tool("slow")]
listeners: list[Any] = []
running: dict[Any, threading.Event] = {}
legacy = False
was_cancelled = 0


def answer(method: str, params: dict[str, Any], id: Any) -> object:
    global legacy
    if method == "initialize":
        if not DUAL:
            raise Fault(-32022, "Unsupported protocol version", {"supported": [MODERN]})
        legacy = True
        return initialized(params)
    if not legacy:
        check(params.get("_meta", {}))
    match method:
        case "server/discover":
            capabilities = {"tools": {"listChanged": True}}
            return complete(supportedVersions=[MODERN], capabilities=capabilities, **cacheable())
        case "tools/list":
            listed = complete(tools=list(tools), **cacheable())
            grow("grows-after")
            return listed
        case "subscriptions/listen":
            grow("grows-before")
            listeners.append(id)
            meta = {PREFIX + "subscriptionId": id}
            granted = params["notifications"]
            notify("notifications/subscriptions/acknowledged", {"_meta": meta, "notifications": granted})
            return NoAnswer
        case "tools/call":
            return call(params["name"], params.get("arguments", {}), params, id)
        case _:
            raise Fault(-32601, "Method not found")


def grow(when: str) -> None:
    if when in sys.argv:
        sys.argv.remove(when)
        tools.append(tool("grown"))
        tell()


def tell() -> None:
    for listener in listeners:
        notify("notifications/tools/list_changed", {"_meta": {PREFIX + "subscriptionId": listener}})


def check(meta: dict[str, Any]) -> None:
    if meta.get(PREFIX + "protocolVersion") != MODERN:
        raise Fault(-32022, "Unsupported protocol version", {"supported": [MODERN]})
    if not isinstance(meta.get(PREFIX + "clientCapabilities"), dict):
        raise Fault(-32602, "no client capabilities")
    if not isinstance(meta.get(PREFIX + "clientInfo"), dict):
        raise Fault(-32602, "no client info")


def call(name: str, arguments: dict[str, Any], params: dict[str, Any], id: Any) -> object:
    global was_cancelled
    match name:
        case "raw":
            return Verbatim(arguments["json"])
        case "fail":
            raise Fault(arguments["code"], arguments["message"], arguments.get("data"))
        case "seen":
            return complete(**text(json.dumps({"params": params, "cancelled": was_cancelled})))
        case "slow":
            stop = running[id] = threading.Event()
            if stop.wait(arguments["seconds"]):
                was_cancelled += 1
                return NoAnswer
            return complete(**text("slept"))
        case "change":
            tools.append(tool(f"added{len(tools)}"))
            tell()
            return complete(**text("changed"))
        case _:
            raise Fault(-32602, f"no tool {name}")


def complete(**members: object) -> dict[str, Any]:
    return {"resultType": "complete", **members}


def cacheable() -> dict[str, object]:
    return {"ttlMs": 0, "cacheScope": "private"}


def heard(method: str, params: dict[str, Any]) -> None:
    if method == "notifications/cancelled" and params["requestId"] in running:
        running[params["requestId"]].set()


serve(answer, heard)
