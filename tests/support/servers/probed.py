"""A legacy server that takes `server/discover` badly: its argument says how.

`dies`, `silent`, `invalid` (-32602), `odd` (-32000), or `newer` (a revision that nobody knows).
"""

from __future__ import annotations

import os
import sys
from typing import Any

from wire import Fault, NoAnswer, initialized, serve, text, tool

HOW = sys.argv[1]


def answer(method: str, params: dict[str, Any], id: Any) -> object:
    match method:
        case "server/discover":
            if HOW == "dies":
                os._exit(1)
            if HOW == "silent":
                return NoAnswer
            if HOW == "newer":
                return {"resultType": "complete", "supportedVersions": ["2099-01-01"], "capabilities": {}}
            raise Fault(-32602 if HOW == "invalid" else -32000, "what is that?")
        case "initialize":
            return initialized(params)
        case "tools/list":
            return {"tools": [tool("hello")]}
        case "tools/call":
            return text("hello")
        case _:
            raise Fault(-32601, "Method not found")


serve(answer)
