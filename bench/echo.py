"""The server behind every target: it answers `tools/call` with its argument, and does nothing else well.

Run by path, on the standard library alone; `echo.py 1000` offers so many tools, of which the first is `echo`.
"""

import json
import os
import sys

NAMED = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "echo", "version": "1"},
}
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def tools(count: int) -> list[dict[str, object]]:
    names = ["echo", *(f"tool_{number}" for number in range(1, count))]
    return [
        {"name": name, "description": f"Gives back its text ({name})", "inputSchema": TEXT} for name in names
    ]


def answer(message: dict, offered: list[dict[str, object]]) -> dict[str, object] | None:
    """The reply to a message; None for a notification."""
    if "id" not in message:
        return None
    reply: dict[str, object] = {"jsonrpc": "2.0", "id": message["id"]}
    match message["method"]:
        case "tools/call":
            text = message["params"]["arguments"]["text"]
            reply["result"] = {"content": [{"type": "text", "text": text}]}
        case "tools/list":
            reply["result"] = {"tools": offered}
        case "initialize":
            reply["result"] = NAMED
        case "ping":
            reply["result"] = {}
        case _:
            reply["error"] = {"code": -32601, "message": "Method not found"}
    return reply


def main() -> None:
    offered = tools(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    # Wide buffers: a server that reads 8 KiB at a time would flatter whoever stands in front of it.
    lines = os.fdopen(0, "rb", buffering=1 << 20)
    out = os.fdopen(1, "wb", buffering=1 << 20)
    for line in lines:
        reply = answer(json.loads(line), offered)
        if reply is not None:
            out.write(json.dumps(reply, separators=(",", ":")).encode() + b"\n")
            out.flush()


if __name__ == "__main__":
    main()
