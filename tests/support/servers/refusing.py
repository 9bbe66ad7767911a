"""A legacy server that lists the tool that its argument defines, and refuses the arguments of every call."""

from __future__ import annotations

import json
import sys
from typing import Any

from wire import Fault, initialized, serve


def answer(method: str, params: dict[str, Any], id: Any) -> object:
    match method:
        case "initialize":
            return initialized(params)
        case "tools/list":
            return {"tools": [json.loads(sys.argv[1])]}
        case "tools/call":
            raise Fault(-32602, "path is missing")
        case _:
            raise Fault(-32601, "Method not found")


serve(answer)
