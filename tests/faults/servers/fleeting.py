"""A legacy server that leaves right after the handshake, with a complaint on stderr."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "support" / "servers"))

from wire import Fault, initialized, serve, tool  # pyright: ignore


def leave() -> None:
    os.write(2, b"no time to stay\n")
    os._exit(6)


def answer(method: str, params: dict[str, Any], id: Any) -> object:
    match method:
        case "initialize":
            return initialized(params)
        case "tools/list":
            threading.Timer(0.05, leave).start()
            return {"tools": [tool("hello")]}
        case "tools/call":
            leave()
            raise AssertionError
        case _:
            raise Fault(-32601, "Method not found")


serve(answer)
