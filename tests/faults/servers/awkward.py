"""A legacy server with bad habits, one to a tool."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "support" / "servers"))

from wire import Fault, NoAnswer, initialized, notify, serve, text, tool, write  # pyright: ignore

listings = 0


def torrent(arguments: dict[str, Any]) -> object:
    """Writes `bytes` without a newline."""
    chunk = b"x" * (1 << 20)
    for _ in range(arguments["bytes"] // len(chunk)):
        write(chunk)
    return NoAnswer


def deaf(arguments: dict[str, Any]) -> object:
    """Reads no more from now on."""
    os.dup(0)  # so that its input stays open
    os.dup2(os.pipe()[0], 0)
    return text("deaf")


def late(arguments: dict[str, Any]) -> object:
    """Answers after `seconds`, cancelled or not."""
    time.sleep(arguments["seconds"])
    return text("late")


def shout(arguments: dict[str, Any]) -> object:
    """Says `times` that its tools have changed, in as many writes."""
    for _ in range(arguments["times"]):
        notify("notifications/tools/list_changed")
    return text("shouted")


def listed(arguments: dict[str, Any]) -> object:
    """How often its tools were asked for."""
    return text(str(listings))


TOOLS = {each.__name__: each for each in (torrent, deaf, late, shout, listed)}


def answer(method: str, params: dict[str, Any], id: Any) -> object:
    global listings
    match method:
        case "initialize":
            return initialized(params, tools={"listChanged": True})
        case "tools/list":
            listings += 1
            return {"tools": [tool(name) for name in TOOLS]}
        case "tools/call":
            return TOOLS[params["name"]](params.get("arguments", {}))
        case _:
            raise Fault(-32601, "Method not found")


serve(answer)
