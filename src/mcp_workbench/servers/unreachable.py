"""A server of a kind that this version cannot reach; it says so instead of connecting."""

from __future__ import annotations

from msgspec import Raw

from ..errors import Unanswered
from .base import Server
from .call import Call
from .tool import Tool

REASON = "remote servers (url) are not supported by this version"


class UnreachableServer(Server):
    @property
    def connected(self) -> bool:
        return False

    async def _connect(self) -> list[Raw]:
        raise Unanswered(REASON)

    async def _call(self, tool: Tool, call: Call) -> Raw:
        raise Unanswered(REASON)

    async def _disconnect(self) -> None:
        return

    def _last_words(self) -> str:
        return ""

    def _timed_out(self, since: float) -> None:
        return
