"""A server that is a recording: it offers what was offered, and its Tape says what was answered."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Raw

from ..config import ServerConfig
from ..errors import RpcError, Unanswered
from ..journal.recorded import ServerListing
from ..protocol.about import About
from ..servers.base import Server
from ..servers.call import Call
from ..servers.tool import Tool
from ..wire.messages import EMPTY_OBJECT, METHOD_NOT_FOUND, NULL, read_error
from .tape import Tape


class RecordedServer(Server):
    def __init__(
        self, config: ServerConfig, on_change: Callable[[], None], listing: ServerListing, tape: Tape
    ) -> None:
        super().__init__(config, on_change)
        self.modern = listing.modern
        # Tools are all that is on record, and they stay as they are.
        info = Raw() if bytes(listing.info) == NULL else listing.info
        self.about = About({"tools": Raw(EMPTY_OBJECT)}, info, listing.instructions)
        self._definitions = listing.tools
        self._tape = tape

    @property
    def connected(self) -> bool:
        return self.listed

    async def _connect(self) -> list[Raw]:
        return self._definitions

    async def _call(self, tool: Tool, call: Call) -> Raw:
        exchange = self._tape.play(tool.name, call.arguments)
        if exchange.unanswered is not None:
            raise Unanswered(exchange.unanswered)
        if exchange.error:
            raise read_error(exchange.error)
        return exchange.result

    async def _ask(self, asked: object) -> Raw:
        raise RpcError(METHOD_NOT_FOUND, "Method not found: only calls of tools are on record")

    async def _disconnect(self) -> None:
        pass

    def _may_have_missed(self) -> None:
        pass

    def _last_words(self) -> str:
        return ""

    def _timed_out(self, since: float) -> None:
        pass
