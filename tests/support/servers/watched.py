"""A legacy server with a resource that changes when its tool says so."""

from __future__ import annotations

from typing import Any

from wire import Fault, initialized, notify, serve, text, tool

URI = "note://watched"


def answer(method: str, params: dict[str, Any], id: Any) -> object:
    match method:
        case "initialize":
            return initialized(params, resources={"subscribe": True, "listChanged": True}, prompts={})
        case "tools/list":
            return {"tools": [tool("touch")]}
        case "tools/call":
            notify("notifications/resources/updated", {"uri": URI})
            return text("touched")
        case "resources/list":
            return {"resources": [{"uri": URI, "name": "watched"}]}
        case "resources/templates/list":
            return {"resourceTemplates": []}
        case "prompts/list":
            return {"prompts": [{"name": "greet"}]}
        case "resources/subscribe" | "resources/unsubscribe":
            return {}
        case _:
            raise Fault(-32601, "Method not found")


serve(answer)
