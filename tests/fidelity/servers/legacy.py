"""A server of 2025-11-25 that does everything a server may: it asks by requests of its own, during a call.

It asks whoever it is connected with, declared or not; the answer of `ask` holds whole responses.
"""

from __future__ import annotations

import json
import threading
import time
from typing import Any, ClassVar

import offers
from carriers import Exchange, Fault, Server, Session, main, record

Json = dict[str, Any]
VERSION = "2025-11-25"
NEWER = "2026-07-28"


class Legacy(Server):
    stateful = True
    capabilities: ClassVar[Json] = offers.CAPABILITIES

    def __init__(self) -> None:
        super().__init__()
        self.tools = list(offers.TOOLS)
        self.elicitations = 0

    def refuse(self, headers: Json, message: Json) -> Fault | str | None:
        if headers.get("mcp-protocol-version") == NEWER:
            return "Bad Request: Unsupported protocol version"
        return None

    def answer(self, exchange: Exchange, method: str, params: Json) -> Json:
        session = exchange.session
        match method:
            case "initialize":
                session.capabilities = params["capabilities"]
                return {
                    "protocolVersion": VERSION,
                    "capabilities": self.capabilities,
                    "serverInfo": {"name": "legacy-features", "version": "1"},
                    "instructions": offers.INSTRUCTIONS,
                }
            case "ping":
                return {}
            case "logging/setLevel":
                session.level = params["level"]
                return {}
            case "tools/list":
                return {"tools": self.tools}
            case "tools/call":
                return self.call(exchange, params["name"], params.get("arguments") or {}, params)
            case "resources/list":
                return {"resources": offers.RESOURCES}
            case "resources/templates/list":
                return {"resourceTemplates": offers.TEMPLATES}
            case "resources/read":
                if params["uri"] not in offers.CONTENTS:
                    raise Fault(-32002, "Resource not found", {"uri": params["uri"]})
                return {"contents": [offers.CONTENTS[params["uri"]]]}
            case "resources/subscribe":
                session.watched.add(params["uri"])
                return {}
            case "resources/unsubscribe":
                session.watched.discard(params["uri"])
                return {}
            case "prompts/list":
                return {"prompts": offers.PROMPTS}
            case "prompts/get":
                return self.prompt(exchange, params["name"], params.get("arguments") or {})
            case "completion/complete":
                return {"completion": offers.COMPLETION}
            case _:
                raise Fault(-32601, "Method not found")

    def call(self, exchange: Exchange, name: str, arguments: Json, params: Json) -> Json:
        session = exchange.session
        match name:
            case "ask":
                return self.ask(exchange, **arguments)
            case "change":
                self.tools = [*self.tools, offers.tool(arguments["name"])]
                self.announce("notifications/tools/list_changed")
                return text("changed")
            case "contents":
                return {
                    "content": offers.BLOCKS,
                    "_meta": offers.RESULT_META,
                    "example.com/unknown": {"a": None},
                }
            case "hurry":
                return self.hurry(exchange, arguments["tag"])
            case "log":
                for level in offers.LOG_LEVELS:
                    if offers.LOG_LEVELS.index(level) >= offers.LOG_LEVELS.index(session.level):
                        exchange.tell("notifications/message", offers.log_message(level, arguments["tag"]))
                return text("logged")
            case "mutter":
                threading.Thread(target=self.mutter, args=(session, arguments["tag"]), daemon=True).start()
                return text("later")
            case "mirror":
                return text(json.dumps({"params": params, "capabilities": session.capabilities}))
            case "progress":
                token = params["_meta"]["progressToken"]
                for step in range(1, 4):
                    said = {"progressToken": token, "progress": step, "total": 3, "message": f"step {step}"}
                    exchange.tell("notifications/progress", said)
                return text("done")
            case "require":
                elicitation = {**offers.question("url", "required")["params"], "elicitationId": "e-0"}
                raise Fault(-32042, "Sign in first", {"elicitations": [elicitation]})
            case "stray":
                threading.Thread(target=self.stray, args=(session, arguments["tag"]), daemon=True).start()
                return text("later")
            case "structured":
                return text("see there", structuredContent=offers.STRUCTURED)
            case "touch":
                uri = arguments["uri"]
                self.announce("notifications/resources/updated", {"uri": uri}, watched=uri)
                return text("touched")
            case "wait":
                exchange.wait()
                return text("waited")
            case _:
                raise Fault(-32602, f"Unknown tool: {name}")

    def announce(self, method: str, params: Json | None = None, watched: str | None = None) -> None:
        """Tell every client, or those that watch something, once they listen."""
        for session in list(self.sessions.values()):
            if watched is None or watched in session.watched:
                threading.Thread(target=session.announce, args=(method, params), daemon=True).start()

    def prompt(self, exchange: Exchange, name: str, arguments: Json) -> Json:
        if name == "interview":
            (response,) = exchange.ask(offers.question("form", "interview"))
            arguments = {"who": response["result"]["content"]["name"]}
        content = {"type": "text", "text": f"Hello, {arguments['who']}"}
        return {"messages": [{"role": "user", "content": content}], "description": "A greeting"}

    def ask(self, exchange: Exchange, tag: str, kinds: list[str], rounds: int = 1) -> Json:
        """All kinds side by side, in each round."""
        answers: Json = {}
        for turn in range(1, rounds + 1):
            keys = [f"{kind}-{turn}" for kind in kinds]
            questions = [self.question(kind, tag) for kind in kinds]
            for key, response in zip(keys, exchange.ask(*questions), strict=True):
                answers[key] = response.get("result", {"error": response.get("error")})
            for question in questions:
                if id := question.get("params", {}).get("elicitationId"):
                    exchange.tell("notifications/elicitation/complete", {"elicitationId": id})
        return text(json.dumps({"tag": tag, "answers": answers}))

    def hurry(self, exchange: Exchange, tag: str) -> Json:
        """A question that is taken back before anybody can have answered it."""
        id = f"hurried-{tag}"
        exchange.carrier.send({"jsonrpc": "2.0", "id": id, **self.question("form", tag)})
        exchange.wait(0.3)
        exchange.tell("notifications/cancelled", {"requestId": id, "reason": "too slow"})
        return text("gave up")

    def question(self, kind: str, tag: str) -> Json:
        question = offers.question(kind, tag)
        if kind == "url":
            self.elicitations += 1
            question["params"]["elicitationId"] = f"e-{self.elicitations}"
        return question

    def mutter(self, session: Session, tag: str) -> None:
        """A log message that belongs to no call."""
        time.sleep(0.1)
        session.announce("notifications/message", offers.log_message("error", tag))
        record(connection=session.key, muttered=tag)

    def stray(self, session: Session, tag: str) -> None:
        """A question that belongs to no call."""
        time.sleep(0.1)
        (response,) = session.ask([self.question("form", tag)], session.send, lambda: False)
        record(connection=session.key, stray=tag, response=response)


def text(said: str, **more: object) -> Json:
    return {"content": [{"type": "text", "text": said}], **more}


if __name__ == "__main__":
    main(Legacy())
