"""A legacy server whose tools are what a file says at the time: JSON, an array of tools.

A call sleeps for `seconds`, if told, and answers with facts about the process; `change`, whatever is listed,
announces a change of the tools. A second argument is a file that must exist before it begins to serve.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "support" / "servers"))

from wire import Fault, Verbatim, initialized, notify, serve, text  # type: ignore[attr-defined]

TOOLS, *GATE = (Path(argument) for argument in sys.argv[1:])


def answer(method: str, params: dict[str, Any], id: Any) -> object:
    match method:
        case "initialize":
            return initialized(params, tools={"listChanged": True})
        case "tools/list":
            return Verbatim(f'{{"tools":{TOOLS.read_text()}}}')
        case "tools/call":
            return call(params["name"], params.get("arguments", {}))
        case _:
            raise Fault(-32601, "Method not found")


def call(name: str, arguments: dict[str, Any]) -> object:
    if name == "change":
        notify("notifications/tools/list_changed")
    time.sleep(arguments.get("seconds", 0))
    return text(json.dumps({"pid": os.getpid(), "tool": name, "mark": os.environ.get("MARK")}))


while not all(gate.exists() for gate in GATE):
    time.sleep(0.01)
serve(answer)
