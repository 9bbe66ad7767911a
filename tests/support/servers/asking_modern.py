"""A server of 2026-07-28 that asks in its results, and writes log messages where a level was asked for."""

from __future__ import annotations

import json
from typing import Any

from wire import MODERN, Fault, notify, serve, text, tool

PREFIX = "io.modelcontextprotocol/"
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
tools = [tool(name) for name in ("ask", "rounds", "log", "seen", "state", "forever")]
CACHE = {"ttlMs": 0, "cacheScope": "private"}


def answer(method: str, params: dict[str, Any], id: object) -> object:
    if method == "initialize":
        raise Fault(-32022, "Unsupported protocol version", {"supported": [MODERN]})
    match method:
        case "server/discover":
            capabilities = {"tools": {}, "logging": {}, "prompts": {}}
            return complete(supportedVersions=[MODERN], capabilities=capabilities, **CACHE)
        case "tools/list":
            return complete(tools=tools, **CACHE)
        case "tools/call":
            return call(params["name"], params.get("arguments", {}), params)
        case "prompts/list":
            return complete(prompts=[{"name": "asks"}], **CACHE)
        case "prompts/get":
            if "inputResponses" not in params:
                return needed({"p": question("prompt?")})
            content = {"type": "text", "text": json.dumps(params["inputResponses"])}
            return complete(messages=[{"role": "user", "content": content}])
        case _:
            raise Fault(-32601, "Method not found")


def question(message: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    return {"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}}


def call(name: str, arguments: dict[str, Any], params: dict[str, Any]) -> object:
    meta = params["_meta"]
    answers = params.get("inputResponses")
    match name:
        case "ask":
            if answers is None:
                return needed(arguments["questions"])
            return complete(**text(json.dumps(answers)))
        case "rounds":
            done = int(params.get("requestState", "0"))
            if done < arguments["rounds"]:
                return needed({"q": question(f"round {done}")}, str(done + 1))
            return complete(**text(json.dumps(answers)))
        case "state":
            return complete(**text("went on")) if "requestState" in params else needed(None, "s")
        case "forever":
            return needed(None, "s")
        case "log":
            for each in LEVELS:
                wanted = meta.get(PREFIX + "logLevel")
                if wanted is not None and LEVELS.index(each) >= LEVELS.index(wanted):
                    notify("notifications/message", {"level": each, "data": arguments.get("who")})
            return complete(**text("logged"))
        case "seen":
            return complete(**text(json.dumps(meta)))
        case _:
            raise Fault(-32602, f"no tool {name}")


def needed(questions: object = None, state: str | None = None) -> dict[str, Any]:
    members = {"inputRequests": questions, "requestState": state}
    return {
        "resultType": "input_required",
        **{key: each for key, each in members.items() if each is not None},
    }


def complete(**members: object) -> dict[str, Any]:
    return {"resultType": "complete", **members}


serve(answer)
