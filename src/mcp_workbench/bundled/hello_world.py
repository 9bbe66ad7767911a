"""A tool in the plain form: a schema and a function. Copy this file into a tool folder and change it."""

from __future__ import annotations

from typing import Any

schema = {
    "name": "hello_world",
    "description": "Returns a greeting",
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "Who to greet"},
        "language": {"type": "string", "enum": ["en", "zh", "fr"], "description": "Greeting language"},
    },
    "required": ["name"],
    "outputSchema": {
        "type": "object",
        "properties": {"content": {"type": "array"}, "isError": {"type": "boolean"}},
    },
}

GREETINGS = {"en": "Hello, {}!", "zh": "你好，{}！", "fr": "Bonjour, {}!"}


async def default(request: Any) -> dict[str, Any]:
    arguments = request.params.arguments
    greeting = GREETINGS[arguments.get("language", "en")].format(arguments["name"])
    return {"content": [{"type": "text", "text": greeting}]}
