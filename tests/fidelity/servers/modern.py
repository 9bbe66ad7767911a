"""A server of 2026-07-28 that does everything a server may: it asks by results, and is called again.

It is strict: about `_meta`, about headers, and about what a client must have declared.
"""

from __future__ import annotations

import base64
import json
import threading
from typing import Any, ClassVar

import offers
from carriers import Exchange, Fault, Server, main

Json = dict[str, Any]
VERSION = "2026-07-28"
PREFIX = "io.modelcontextprotocol/"
FRESH = {"ttlMs": 1000, "cacheScope": "private"}
MARK = 'state "☃"\\'
"""Begins every state: whoever reads states, or writes them anew, may stumble over it."""


class Modern(Server):
    stateful = False
    capabilities: ClassVar[Json] = offers.CAPABILITIES
    named: ClassVar[Json] = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
    """The parameters that a request over HTTP also names in a header."""

    def __init__(self) -> None:
        super().__init__()
        self.tools = list(offers.TOOLS)
        self.listeners: list[tuple[Exchange, Json]] = []
        self._listening = threading.Lock()

    def refuse(self, headers: Json, message: Json) -> Fault | str | None:
        method, params = message.get("method"), message.get("params") or {}
        if headers.get("mcp-protocol-version") != VERSION:
            data = {"supported": [VERSION], "requested": headers.get("mcp-protocol-version")}
            return Fault(-32022, "Unsupported protocol version", data, 400)
        name = params.get(self.named.get(str(method), ""))
        if headers.get("mcp-method") != method or decoded(headers.get("mcp-name")) != name:
            return Fault(-32020, "Header mismatch", None, 400)
        return None

    def answer(self, exchange: Exchange, method: str, params: Json) -> Json:
        meta = params.get("_meta") or {}
        if method == "initialize":
            data = {"supported": [VERSION], "requested": params.get("protocolVersion")}
            raise Fault(-32022, "Unsupported protocol version", data, 400)
        if meta.get(PREFIX + "protocolVersion") != VERSION or PREFIX + "clientCapabilities" not in meta:
            raise Fault(-32602, "Invalid params: _meta is not complete", None, 400)
        return {"resultType": "complete", **self.result(exchange, method, params, meta)}

    def result(self, exchange: Exchange, method: str, params: Json, meta: Json) -> Json:
        match method:
            case "server/discover":
                info = {PREFIX + "serverInfo": {"name": "modern-features", "version": "1"}}
                return {
                    "supportedVersions": [VERSION],
                    "capabilities": self.capabilities,
                    "instructions": offers.INSTRUCTIONS,
                    "_meta": info,
                    **FRESH,
                }
            case "tools/list":
                return {"tools": self.tools, **FRESH}
            case "tools/call":
                return self.call(exchange, params["name"], params.get("arguments") or {}, params)
            case "resources/list":
                return {"resources": offers.RESOURCES, **FRESH}
            case "resources/templates/list":
                return {"resourceTemplates": offers.TEMPLATES, **FRESH}
            case "resources/read":
                if params["uri"] not in offers.CONTENTS:
                    raise Fault(-32602, "Resource not found", {"uri": params["uri"]})
                return {"contents": [offers.CONTENTS[params["uri"]]], **FRESH}
            case "prompts/list":
                return {"prompts": offers.PROMPTS, **FRESH}
            case "prompts/get":
                return self.prompt(params)
            case "completion/complete":
                return {"completion": offers.COMPLETION}
            case "subscriptions/listen":
                return self.listen(exchange, params["notifications"])
            case _:
                raise Fault(-32601, "Method not found", None, 404)

    def call(self, exchange: Exchange, name: str, arguments: Json, params: Json) -> Json:
        meta = params["_meta"]
        match name:
            case "ask":
                return self.ask(params, **arguments)
            case "change":
                self.tools = [*self.tools, offers.tool(arguments["name"])]
                self.announce("toolsListChanged", "notifications/tools/list_changed")
                return text("changed")
            case "contents":
                return {
                    "content": offers.BLOCKS,
                    "_meta": offers.RESULT_META,
                    "example.com/unknown": {"a": None},
                }
            case "log":
                least = meta.get(PREFIX + "logLevel")
                for level in offers.LOG_LEVELS if least is not None else ():
                    if offers.LOG_LEVELS.index(level) >= offers.LOG_LEVELS.index(least):
                        exchange.tell("notifications/message", offers.log_message(level, arguments["tag"]))
                return text("logged")
            case "mirror":
                capabilities = meta[PREFIX + "clientCapabilities"]
                return text(json.dumps({"params": params, "capabilities": capabilities}))
            case "progress":
                token = meta["progressToken"]
                for step in range(1, 4):
                    said = {"progressToken": token, "progress": step, "total": 3, "message": f"step {step}"}
                    exchange.tell("notifications/progress", said)
                return text("done")
            case "require":
                raise missing({"sampling": {"tools": {}}})
            case "structured":
                return text("see there", structuredContent=arguments.get("like", offers.STRUCTURED))
            case "touch":
                uri = arguments["uri"]
                self.announce("resourceSubscriptions", "notifications/resources/updated", uri, {"uri": uri})
                return text("touched")
            case "wait":
                exchange.wait()
                return text("waited")
            case _:
                raise Fault(-32602, f"Unknown tool: {name}")

    def prompt(self, params: Json) -> Json:
        arguments = params.get("arguments") or {}
        if params["name"] == "interview":
            answers = params.get("inputResponses")
            if answers is None:
                return needed({"who": offers.question("form", "interview")}, "interview")
            arguments = {"who": answers["who"]["content"]["name"]}
        content = {"type": "text", "text": f"Hello, {arguments['who']}"}
        return {"messages": [{"role": "user", "content": content}], "description": "A greeting"}

    def ask(self, params: Json, tag: str, kinds: list[str], rounds: int = 1) -> Json:
        """All kinds side by side, in each round."""
        declared = params["_meta"][PREFIX + "clientCapabilities"]
        for kind in kinds:
            capability = offers.CAPABILITY[kind]
            # An empty declaration of elicitation means forms.
            if capability not in declared or (kind == "url" and "url" not in declared["elicitation"]):
                raise missing({capability: {"url": {}} if kind == "url" else {}})
        turn, answers = 1, {}
        if "requestState" in params:
            turn, answers = read_state(params["requestState"], tag)
            answers |= params.get("inputResponses", {})
            turn += 1
        if turn > rounds:
            return text(json.dumps({"tag": tag, "answers": answers}))
        asked = {f"{kind}-{turn}": offers.question(kind, tag) for kind in kinds}
        return needed(asked, write_state(turn, answers, tag))

    def listen(self, exchange: Exchange, wishes: Json) -> Json:
        meta = {PREFIX + "subscriptionId": exchange.id}
        wishes = self.granted(wishes)
        with self._listening:
            said = {"notifications": wishes, "_meta": meta}
            exchange.tell("notifications/subscriptions/acknowledged", said)
            self.listeners.append((exchange, wishes))
        try:
            while True:
                exchange.wait()
        finally:
            with self._listening:
                self.listeners.remove((exchange, wishes))

    def granted(self, wishes: Json) -> Json:
        """What of it there is to be heard."""
        return wishes

    def announce(self, wish: str, method: str, about: str | None = None, params: Json | None = None) -> None:
        """Tell those who wished to hear of it, or of what it is about."""
        with self._listening:
            for exchange, wishes in self.listeners:
                wanted = wishes.get(wish)
                if wanted is True or (isinstance(wanted, list) and about in wanted):
                    meta = {PREFIX + "subscriptionId": exchange.id}
                    exchange.tell(method, {**(params or {}), "_meta": meta})


def needed(requests: Json, state: str) -> Json:
    """Where nothing is asked, the client is only to come again."""
    asked = {"inputRequests": requests} if requests else {}
    return {"resultType": "input_required", **asked, "requestState": state}


def write_state(turn: int, answers: Json, tag: str) -> str:
    return MARK + base64.b64encode(json.dumps([turn, answers, tag]).encode()).decode()


def read_state(state: str, tag: str) -> tuple[int, Json]:
    if not state.startswith(MARK):
        raise Fault(-32602, "This is no state of mine")
    turn, answers, of = json.loads(base64.b64decode(state.removeprefix(MARK)))
    if of != tag:
        raise Fault(-32602, "This is the state of another call")
    return turn, answers


def missing(capabilities: Json) -> Fault:
    data = {"requiredCapabilities": capabilities}
    return Fault(-32021, "Missing required client capability", data, 400)


def decoded(header: str | None) -> str | None:
    """Its value, where it had to be encoded to be a header."""
    if header is not None and header.startswith("=?base64?") and header.endswith("?="):
        return base64.b64decode(header[9:-2]).decode()
    return header


def text(said: str, **more: object) -> Json:
    return {"content": [{"type": "text", "text": said}], **more}


if __name__ == "__main__":
    main(Modern())
