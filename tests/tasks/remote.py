"""A remote server of 2026-07-28 with the tasks of `servers/board.py`, which checks the headers it is sent."""

from __future__ import annotations

import sys
import threading
from typing import Any

from tests.remote.place import Exchange, Place

from .clients import SERVERS

sys.path.insert(0, str(SERVERS))
from board import Board, Refusal  # type: ignore[import-not-found]

sys.path.remove(str(SERVERS))


class RemoteTasks(Place):
    def __init__(self) -> None:
        super().__init__(self._answer)
        self.board: Any = Board()
        self.over = threading.Event()
        """Ends the streams of those who listen."""

    def _answer(self, exchange: Exchange) -> None:
        message = exchange.message
        method, params = message["method"], message.get("params", {})
        try:
            if method.startswith("tasks/") and exchange.headers.get("mcp-name") != params["taskId"]:
                raise Refusal(-32020, "Header mismatch")
            if method == "server/discover":
                result = self.board.discovered()
            elif method == "tools/list":
                result = self.board.listed()
            elif method == "subscriptions/listen":
                exchange.stream()
                self.board.listen(message["id"], params, exchange.event)
                self.over.wait(30)
                return
            else:
                result = self.board.answer(method, params)
        except Refusal as refusal:
            exchange.json({"jsonrpc": "2.0", "id": message["id"], "error": refusal.error}, 400)
        else:
            exchange.json({"jsonrpc": "2.0", "id": message["id"], "result": result})
