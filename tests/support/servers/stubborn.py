"""A legacy server that ignores the end of its input, SIGTERM and SIGINT; `family` starts more of its kind.

With `family` it has a child in its group, one in a session of its own, and one whose parent has gone.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Any

import wire


def answer(method: str, params: dict[str, Any], id: Any) -> object:
    match method:
        case "initialize":
            return wire.initialized(params)
        case "tools/list":
            return {"tools": [wire.tool("hello")]}
        case "tools/call":
            return wire.text("hello")
        case _:
            raise wire.Fault(-32601, "Method not found")


def stay() -> None:
    while True:
        time.sleep(60)


def start(*, session: bool, orphan: bool) -> None:
    """Start a relative, and return when it is all that it is to be: who looks now finds it so."""
    settled, settling = os.pipe()
    pid = os.fork()
    if pid == 0:
        if session:
            os.setsid()
        if orphan and os.fork() != 0:
            os._exit(0)
        os.close(settling)
        stay()
    os.close(settling)
    os.read(settled, 1)
    os.close(settled)
    if orphan:
        os.waitpid(pid, 0)


for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
if "family" in sys.argv:
    start(session=False, orphan=False)
    start(session=True, orphan=False)
    start(session=True, orphan=True)
os._exit = lambda status: stay()  # type: ignore[assignment]
wire.serve(answer)
