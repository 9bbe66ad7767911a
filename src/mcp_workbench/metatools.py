"""The tools that a client sees: how they are announced, and what opening a toolbox answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from functools import lru_cache

from msgspec import Raw

from .checks import MOST_FOUND, check_open
from .errors import UnknownMetaTool
from .names import Scope, ToolRef
from .protocol.audience import Audience
from .protocol.results import Result
from .servers.base import Server
from .toolbox import Toolbox
from .wire.messages import encode
from .workbench import Workbench

OPEN = "open_toolbox"
USE = "use_tool"
FIND = "find_tools"

HEARTBEAT = 2.0
"""Seconds between signs of life while a toolbox opens."""

_STRINGS = {"type": "array", "items": {"type": "string"}}

_OPEN_OUTPUT = {
    "type": "object",
    "properties": {
        "toolbox": {"type": "string"},
        "description": {"type": "string"},
        "servers_connected": {"type": "integer", "minimum": 0},
        "tools": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "toolbox": {"type": "string"},
                    "server": {"type": "string"},
                    # The server's own words, whatever they are: a strict client must not refuse the listing.
                    "description": {},
                    "inputSchema": {},
                    "signature": {},
                },
                "required": ["name", "toolbox", "server"],
            },
        },
        "_errors": {**_STRINGS, "description": "Servers and tools that could not be had, and why"},
        "_notes": _STRINGS,
    },
    "required": ["toolbox", "description", "servers_connected", "tools"],
}


def definitions(workbench: Workbench, scope: Scope) -> bytes:
    """The JSON array of the tools that we offer."""
    seen = workbench.seen(scope)
    search = [_find_definition(seen)] if workbench.config.search else []
    return encode([_open_definition(seen), _use_definition(), *search])


def _open_definition(seen: Mapping[str, Toolbox]) -> dict[str, object]:
    toolboxes = "\n".join(f"- {name}: {toolbox.config.description}" for name, toolbox in seen.items())
    return {
        "name": OPEN,
        "title": "Open a toolbox",
        "description": (
            "Open a toolbox: connects to its servers and returns the tools they offer, each with its "
            "toolbox, server and name for use_tool. Opening again is cheap and returns the current list.\n\n"
            + (f"Toolboxes:\n{toolboxes}" if toolboxes else "No toolboxes are configured.")
        ),
        "inputSchema": {
            "type": "object",
            "properties": {
                "toolbox": {"type": "string", "description": "Name of the toolbox"},
                "detail": {
                    "type": "string",
                    "enum": ["json", "signature"],
                    "description": "json: full schemas; signature: one line a tool, for fewer tokens",
                },
            },
            "required": ["toolbox"],
            "additionalProperties": False,
        },
        "outputSchema": _OPEN_OUTPUT,
        "annotations": {
            "title": "Open a toolbox",
            "readOnlyHint": False,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": True,
        },
    }


def _use_definition() -> dict[str, object]:
    def part(what: str) -> dict[str, str]:
        return {"type": "string", "description": what}

    return {
        "name": USE,
        "title": "Use a tool",
        "description": (
            "Call a tool of an open toolbox. Give its toolbox, server and name exactly as open_toolbox "
            "returned them, and arguments that fit its inputSchema. The result is the tool's own."
        ),
        "inputSchema": {
            "type": "object",
            "properties": {
                "tool": {
                    "type": "object",
                    "description": "Which tool",
                    "properties": {
                        "toolbox": part("Name of the open toolbox"),
                        "server": part("Name of the server in that toolbox"),
                        "name": part("Name of the tool"),
                    },
                    "required": ["toolbox", "server", "name"],
                    "additionalProperties": False,
                },
                "arguments": {
                    "type": "object",
                    "description": "The tool's arguments; {} when left out",
                    "additionalProperties": True,
                },
            },
            "required": ["tool"],
            "additionalProperties": False,
        },
        "annotations": {
            "title": "Use a tool",
            "readOnlyHint": False,
            "destructiveHint": True,
            "idempotentHint": False,
            "openWorldHint": True,
        },
    }


def _find_definition(seen: Mapping[str, Toolbox]) -> dict[str, object]:
    holdings = "\n".join(
        f"- {name} ({', '.join(toolbox.servers)}): {toolbox.config.description}"
        for name, toolbox in seen.items()
    )
    return {
        "name": FIND,
        "title": "Find tools",
        "description": (
            "Find tools by what they do, in all toolboxes, open or not. Give one short query for each step "
            "of the task. Each line of the answer is toolbox/server/name(parameters): description, and can "
            "be called through use_tool at once.\n\n"
            + (f"It holds:\n{holdings}" if holdings else "It holds nothing.")
        ),
        "inputSchema": {
            "type": "object",
            "properties": {
                "queries": {
                    "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
                    "description": "What the tools should do: a short query, or one for each step",
                },
                "toolbox": {"type": "string", "description": "Only in this toolbox"},
                "limit": {"type": "integer", "minimum": 1, "maximum": MOST_FOUND, "default": 10},
                "detail": {
                    "type": "string",
                    "enum": ["signature", "full"],
                    "default": "signature",
                    "description": "full: with whole descriptions and constraints",
                },
            },
            "required": ["queries"],
            "additionalProperties": False,
        },
        "annotations": {
            "title": "Find tools",
            "readOnlyHint": True,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": False,
        },
    }


async def open_toolbox(
    workbench: Workbench,
    arguments: Raw,
    scope: Scope,
    progress: Callable[[float, int, str], None] | None,
    audience: Audience | None,
) -> Result:
    """Raises ToolError. `progress` hears how far it is, of how many, and what happened last."""
    toolboxes = workbench.seen(scope)
    name, detail = check_open(arguments, toolboxes)
    toolbox = toolboxes.get(name)
    if progress is None or toolbox is None:
        toolbox = await workbench.open(name, scope, audience=audience)
    else:
        tally = _Tally(len(toolbox.servers), progress)
        heart = asyncio.create_task(tally.beat())
        try:
            toolbox = await workbench.open(name, scope, tally.settled, audience)
        finally:
            heart.cancel()
    return Result(_with_text(toolbox.listing(detail)))


@lru_cache(8)  # a toolbox keeps its listing, so the same bytes come again
def _with_text(listing: bytes) -> bytes:
    text = encode(listing.decode())
    return b'{"content":[{"type":"text","text":%b}],"structuredContent":%b}' % (text, listing)


class _Tally:
    """Counts servers as they come, and shows life between them."""

    def __init__(self, total: int, tell: Callable[[float, int, str], None]) -> None:
        self._total = total
        self._tell = tell
        self._done = 0
        self._beats = 0

    def settled(self, server: Server) -> None:
        self._done += 1
        self._beats = 0
        outcome = "failed" if server.failure is not None else f"connected, {len(server.tools)} tools"
        self._tell(self._done, self._total, f"{server.config.name}: {outcome}")

    async def beat(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT)
            self._beats += 1
            # Progress must rise with every notice and not reach the next server's.
            fraction = self._beats / (self._beats + 10)
            self._tell(self._done + fraction, self._total, f"waiting for {self._total - self._done} servers")


def unknown_tool(workbench: Workbench, name: str, scope: Scope) -> UnknownMetaTool:
    ref = workbench.identify(name, scope)
    toolbox, server = (ref.toolbox, ref.server) if ref is not None else ("…", "…")
    identifier = json.dumps({"toolbox": toolbox, "server": server, "name": name}, ensure_ascii=False)
    return UnknownMetaTool(name, identifier)


def text_result(text: str) -> Result:
    return Result(encode({"content": [{"type": "text", "text": text}]}))


def error_result(*texts: str) -> Result:
    blocks = [{"type": "text", "text": text} for text in texts]
    return Result(encode({"content": blocks, "isError": True}))


def full_signature(workbench: Workbench, ref: ToolRef) -> str | None:
    """All that is known of how to call a tool, for a caller that got its arguments wrong."""
    from .signatures import full

    tool = workbench.tool(ref)
    return full(ref, tool.plain) if tool is not None else None
