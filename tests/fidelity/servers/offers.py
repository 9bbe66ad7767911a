"""What both feature servers offer, word for word, so that a test can hold what arrives against it."""

from __future__ import annotations

from typing import Any

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
SOUND = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="

NOTE, DOT, LINKED = "note://one", "note://dot", "note://linked"
TEMPLATE = "note://{name}/page"

INSTRUCTIONS = "Ask, and be asked."
CAPABILITIES = {
    "tools": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "prompts": {"listChanged": True},
    "completions": {},
    "logging": {},
}


def tool(name: str, **more: object) -> dict[str, Any]:
    return {"name": name, "description": f"Does {name}", "inputSchema": {"type": "object"}, **more}


TOOLS = [
    tool("ask"),
    tool("change"),
    tool("contents", _meta={"example.com/kept": [1, None]}),
    tool("hurry"),
    tool("log"),
    tool("mirror"),
    tool("progress"),
    tool("require"),
    tool("mutter"),
    tool("stray"),
    tool("structured", outputSchema={"type": "object"}),
    tool("touch"),
    tool("wait"),
]

RESOURCES = [
    {"uri": NOTE, "name": "one", "title": "The first", "mimeType": "text/plain", "size": 5},
    {"uri": DOT, "name": "dot", "mimeType": "image/png", "annotations": {"priority": 0.5}},
]
TEMPLATES = [{"uriTemplate": TEMPLATE, "name": "page", "description": "A page of a note"}]
CONTENTS = {
    NOTE: {"uri": NOTE, "mimeType": "text/plain", "text": "Grüße"},
    DOT: {"uri": DOT, "mimeType": "image/png", "blob": PIXEL, "_meta": {"example.com/kept": 1}},
    LINKED: {"uri": LINKED, "text": "only a tool's result names me"},
    "note://a%20b/page": {"uri": "note://a%20b/page", "text": "from the template"},
}

PROMPTS = [
    {"name": "greet", "title": "Greeting", "arguments": [{"name": "who", "required": True}]},
    {"name": "interview", "description": "Asks before it answers"},
]
COMPLETION = {"values": ["Ada", "Alan"], "total": 12, "hasMore": True}

STRUCTURED = {"temperature": 22.5, "when": None, "nested": {"deep": ["x", 1]}}

BLOCKS = [
    {"type": "text", "text": "Zeile\n世界 🌍", "annotations": {"audience": ["user"], "priority": 1}},
    {"type": "image", "data": PIXEL, "mimeType": "image/png"},
    {"type": "audio", "data": SOUND, "mimeType": "audio/wav", "_meta": {"example.com/seconds": 1.0}},
    {"type": "resource_link", "uri": LINKED, "name": "linked", "mimeType": "text/plain", "size": 3},
    {"type": "resource", "resource": {"uri": "note://in", "mimeType": "text/plain", "text": "inside"}},
    {"type": "resource", "resource": {"uri": "note://bin", "mimeType": "image/png", "blob": PIXEL}},
    {"type": "example.com/hologram", "waves": [1, {"phase": 0.25}]},
]
RESULT_META = {"example.com/cost": {"cents": 3}}

LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""From the least to the most."""


def log_message(level: str, tag: str) -> dict[str, Any]:
    return {"level": level, "logger": "features", "data": {"tag": tag, "at": level, "more": [1, None]}}


CAPABILITY = {"form": "elicitation", "url": "elicitation", "sampling": "sampling", "roots": "roots"}
"""What a client must have declared to be asked a question of this kind."""


def question(kind: str, tag: str) -> dict[str, Any]:
    """The method and the params of a question; the same in both eras but for the id of a URL's."""
    match kind:
        case "form":
            schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
            params: dict[str, Any] = {"mode": "form", "message": tag, "requestedSchema": schema}
            return {"method": "elicitation/create", "params": params}
        case "url":
            params = {"mode": "url", "message": tag, "url": f"https://example.com/connect?to={tag}"}
            return {"method": "elicitation/create", "params": params}
        case "sampling":
            content = {"type": "text", "text": tag}
            params = {
                "messages": [{"role": "user", "content": content}],
                "systemPrompt": "Be short.",
                "maxTokens": 9,
                "modelPreferences": {"hints": [{"name": "small"}], "speedPriority": 0.9},
            }
            return {"method": "sampling/createMessage", "params": params}
        case _:
            return {"method": "roots/list"}
