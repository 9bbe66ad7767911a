"""A server whose start goes wrong; its first argument says how.

`exits` says the second argument on stderr and leaves with status 4. `hangs` says nothing, for ever.
`repaired` exits until the file that is its second argument exists, and is a good server from then on.
`waits` is good once that file exists. `refuses` answers everything with an error.
`exits_after` leaves right after the handshake.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from wire import Fault, initialized, record_start, serve, text, tool

HOW, *REST = sys.argv[1:]


def answer(method: str, params: dict[str, Any], id: Any) -> object:
    match method:
        case _ if HOW == "refuses":
            raise Fault(-32000, "not today")
        case "initialize":
            return initialized(params)
        case "tools/list":
            if HOW == "exits_after":
                os._exit(5)
            return {"tools": [tool("hello")]}
        case "tools/call":
            return text("hello")
        case _:
            raise Fault(-32601, "Method not found")


if HOW == "exits" or (HOW == "repaired" and not os.path.exists(REST[0])):
    record_start()
    os.write(2, b"".join(word.encode() + b"\n" for word in REST))
    sys.exit(4)
if HOW == "hangs":
    record_start()
    while True:
        time.sleep(60)
while HOW == "waits" and not os.path.exists(REST[0]):
    time.sleep(0.01)
serve(answer)
