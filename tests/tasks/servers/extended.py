"""A server of 2026-07-28 with the tasks of `board.py`, over standard streams.

Arguments: `plain`, it does not declare the extension; `endless` and `brief` say how long it keeps its tasks.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "support" / "servers"))

from board import Board, Refusal  # type: ignore[import-not-found]

from wire import Fault, NoAnswer, send, serve  # type: ignore[attr-defined]

TTL = {"endless": None, "brief": 1000}
board = Board(next((ttl for name, ttl in TTL.items() if name in sys.argv), 60_000))


def answer(method: str, params: dict[str, Any], id: Any) -> object:
    try:
        match method:
            case "server/discover":
                return board.discovered(declared="plain" not in sys.argv)
            case "tools/list":
                return board.listed()
            case "subscriptions/listen":
                board.listen(id, params, send)
                return NoAnswer
            case _:
                return board.answer(method, params)
    except Refusal as refusal:
        raise Fault(**refusal.error) from None


serve(answer)
