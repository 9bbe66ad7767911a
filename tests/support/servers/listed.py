"""A legacy server that lists what its argument says: JSON, an array of pages, each an array of tools.

Every call echoes. `change`, whatever is listed, makes it announce `times` changes and list its pages in
reverse from then on; `lists` tells how often it was asked for a list. Told `turning`, it lists its first page
alone. Told `early`, it does so the first time, and announces a change before that answer.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from wire import Fault, Verbatim, initialized, serve, text, write

pages: list[str] = [json.dumps(page) for page in json.loads(sys.argv[1])]
if "verbatim" in sys.argv:  # one page, in its own bytes
    pages = [sys.argv[1].strip()[1:-1]]
lists = 0
CHANGED = b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n'


def answer(method: str, params: dict[str, Any], id: Any) -> object:
    global lists
    match method:
        case "initialize":
            return initialized(params, tools={"listChanged": True})
        case "tools/list":
            number = int(params.get("cursor", "0"))
            lists += number == 0
            if "early" in sys.argv and lists == 1:
                write(CHANGED)
            if "turning" in sys.argv or ("early" in sys.argv and lists == 1):
                return Verbatim(f'{{"tools":{pages[0]}}}')
            tools = pages[number] if pages else "[]"
            more = f',"nextCursor":"{number + 1}"' if number + 1 < len(pages) else ""
            return Verbatim(f'{{"tools":{tools}{more}}}')
        case "tools/call":
            return call(params["name"], params.get("arguments", {}))
        case _:
            raise Fault(-32601, "Method not found")


def call(name: str, arguments: dict[str, Any]) -> object:
    if name == "change":
        pages.reverse()
        write(CHANGED * arguments.get("times", 1))
    return text(str(lists) if name == "lists" else name)


serve(answer)
