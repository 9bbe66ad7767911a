"""A server of 2025-11-25 that asks its client while it works, and tells it what it does.

`ask` sends the request of its arguments and answers with the whole reply; `both` sends two at once; `log`
writes a message at each level, and may take its time; `seen` tells what it was told when it was greeted.
"""

from __future__ import annotations

import json
import os
import threading
import time
from typing import Any

from wire import Fault, ask, initialized, notify, send, serve, start_asking, text, tool

greeting: dict[str, Any] = {}
level: list[str] = []
noticed: list[str] = []
tools = [
    tool(name) for name in ("ask", "both", "log", "seen", "later", "url", "slow", "complete", "withdraw")
]
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


def answer(method: str, params: dict[str, Any], id: object) -> object:
    match method:
        case "initialize":
            greeting.update(params)
            return initialized(params, logging={}, prompts={}, resources={})
        case "tools/list":
            return {"tools": tools}
        case "logging/setLevel":
            level.append(params["level"])
            return {}
        case "tools/call":
            return call(params["name"], params.get("arguments", {}))
        case "prompts/list":
            return {"prompts": [{"name": "asks"}]}
        case "prompts/get":
            reply = ask("elicitation/create", form("prompt?"))
            content = {"type": "text", "text": json.dumps(reply.get("result"))}
            return {"messages": [{"role": "user", "content": content}]}
        case _:
            raise Fault(-32601, "Method not found")


def form(message: str) -> dict[str, Any]:
    return {
        "message": message,
        "requestedSchema": {"type": "object", "properties": {"a": {"type": "string"}}},
    }


def call(name: str, arguments: dict[str, Any]) -> object:
    match name:
        case "ask":
            replies = [
                ask(arguments["method"], arguments.get("params")) for _ in range(arguments.get("times", 1))
            ]
            time.sleep(arguments.get("then", 0))
            return text(json.dumps(replies if "times" in arguments else replies[0]))
        case "both":
            by_key: dict[str, Any] = {}

            def one(key: str) -> None:
                by_key[key] = ask("elicitation/create", form(key))

            threads = [threading.Thread(target=one, args=(key,)) for key in ("first", "second")]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            return text(json.dumps(by_key))
        case "log":
            time.sleep(arguments.get("seconds", 0))
            for each in LEVELS:
                if not level or LEVELS.index(each) >= LEVELS.index(level[-1]):
                    data = {"who": arguments.get("who")}
                    notify("notifications/message", {"level": each, "logger": "mine", "data": data})
            return text("logged")
        case "seen":
            seen = {"pid": os.getpid(), "capabilities": greeting["capabilities"], "level": level}
            return text(json.dumps({**seen, "noticed": noticed}))
        case "later":
            threading.Timer(0.2, ask, ("roots/list",)).start()
            return text("soon")
        case "url":
            elicitation = {"mode": "url", "elicitationId": "e1", "url": "https://e.test", "message": "go"}
            raise Fault(-32042, "Go there first", {"elicitations": [elicitation]})
        case "slow":
            time.sleep(arguments["seconds"])
            return text("slept")
        case "complete":
            notify("notifications/elicitation/complete", {"elicitationId": arguments["id"]})
            return text("told")
        case "withdraw":
            id = start_asking("elicitation/create", form("never mind"))
            time.sleep(0.2)
            send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
            return text("withdrawn")
        case _:
            raise Fault(-32602, f"no tool {name}")


serve(answer, lambda method, params: noticed.append(method))
