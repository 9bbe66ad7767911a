"""A toolbox: its servers, opened together, and the listing of what they offer."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, cast

import msgspec
from msgspec import Raw

from .config import ToolboxConfig
from .errors import ConnectFailed, OpeningFailed, shortened
from .protocol.audience import Audience
from .servers.base import Server
from .servers.tool import Tool
from .wire.messages import decode, encode

_decode_members = msgspec.json.Decoder(dict[str, Raw]).decode


Detail = Literal["json", "signature"]


class _Kept(NamedTuple):
    """A listing, and what it was made of."""

    config: ToolboxConfig
    tools: list[dict[str, Tool]]
    problems: list[str]
    notes: list[str] | None
    text: bytes

    def holds(
        self,
        config: ToolboxConfig,
        tools: list[dict[str, Tool]],
        problems: list[str],
        notes: list[str] | None,
    ) -> bool:
        """A server replaces its tools as a whole, so that only the very same ones need no second look."""
        return (
            config is self.config
            and len(tools) == len(self.tools)
            and all(one is other for one, other in zip(tools, self.tools, strict=True))
            and problems == self.problems
            and notes == self.notes
        )


class Toolbox:
    """`config` and `servers` are replaced together when the configuration is loaded anew."""

    def __init__(self, config: ToolboxConfig, servers: Mapping[str, Server]) -> None:
        self.config = config
        self.servers = servers
        self.opened = False
        self._openings = 0
        self._background: set[asyncio.Task[None]] = set()
        self._kept: dict[Detail, _Kept] = {}

    @property
    def usable(self) -> bool:
        """Open, or about to be: then a call waits for its own server only."""
        return self.opened or self._openings > 0

    async def open(
        self, on_settled: Callable[[Server], None] | None = None, audience: Audience | None = None
    ) -> None:
        """Connect every server that is not connected. Raises OpeningFailed where none could be.

        `on_settled` hears of each server as it is connected or has failed; `audience` is for whom.
        """
        connected = [server for server in self.servers.values() if server.connected]
        await asyncio.gather(*(server.refresh(audience) for server in connected))
        tried: set[Server] = set()
        # Again for servers that came with another configuration meanwhile.
        while waiting := [server for server in self._away() if server not in tried]:
            self._openings += 1
            try:
                await asyncio.gather(*(self._connect(server, on_settled, audience) for server in waiting))
            finally:
                self._openings -= 1
            tried.update(waiting)
        failures = self.failures
        if failures and len(failures) == len(self.servers):
            raise OpeningFailed(self.config.name, failures)
        self.opened = True

    async def settle(self) -> None:
        """Wait a moment for listings that its servers have announced."""
        await asyncio.gather(*(server.settle() for server in self.servers.values()))

    def _away(self) -> list[Server]:
        """Servers to be connected. One that sleeps is left alone: its listing holds."""
        return [server for server in self.servers.values() if not (server.connected or server.asleep)]

    def open_in_background(self, audience: Audience | None) -> None:
        """Begin to open; whoever calls a tool meanwhile waits for its own server only."""
        self._openings += 1  # at once, and not when the task gets its turn

        async def opening() -> None:
            with contextlib.suppress(OpeningFailed):  # told to whoever calls or opens next
                await self.open(audience=audience)

        def ended(task: asyncio.Task[None]) -> None:
            self._openings -= 1
            self._background.discard(task)

        task = asyncio.create_task(opening())
        self._background.add(task)
        task.add_done_callback(ended)

    @property
    def failures(self) -> list[str]:
        """What failed at the last attempt, in configuration order."""
        return [server.failure.sentence for server in self.servers.values() if server.failure is not None]

    def find(self, name: str) -> Server | None:
        """The first server that offers a tool of this name."""
        return next((server for server in self.servers.values() if name in server.tools), None)

    def listing(self, detail: Detail | None = None) -> bytes:
        """The JSON that `open_toolbox` answers with; in signatures where that was asked for, or is shorter.

        Clients refuse long results, so a listing over the limit is shortened unless `json` was asked for.
        """
        if (detail or self.config.detail) == "signature":
            return self._written("signature")
        text = self._written("json")
        limit = self.config.listing_limit
        if detail == "json" or len(text) <= limit or len(text.decode()) <= limit:
            return text
        return self._written("signature", [shortened(limit)])

    def _written(self, detail: Detail, notes: list[str] | None = None) -> bytes:
        servers = self._listed()
        problems = self.failures + [note for server in servers for note in server.notes]
        tools = [server.tools for server in servers]
        kept = self._kept.get(detail)
        if kept is not None and kept.holds(self.config, tools, problems, notes):
            return kept.text
        entries = self.entries()
        listing: dict[str, object] = {
            "toolbox": self.config.name,
            "description": self.config.description,
            "servers_connected": len(servers),
            "tools": entries if detail == "json" else [_in_a_line(entry) for entry in entries],
        }
        if problems:
            listing["_errors"] = problems
        if notes:
            listing["_notes"] = notes
        text = encode(listing)
        self._kept[detail] = _Kept(self.config, tools, problems, notes, text)
        return text

    def entries(self) -> list[dict[str, object]]:
        """The tools: servers as configured, tools as their server returned them."""
        return [self._entry(server, tool) for server in self._listed() for tool in server.tools.values()]

    def _listed(self) -> list[Server]:
        # One that died since is still listed: the next call starts it again.
        return [server for server in self.servers.values() if server.listed and server.failure is None]

    def _entry(self, server: Server, tool: Tool) -> dict[str, object]:
        """The tool in its server's own words, after the three parts of its address."""
        address = {"name": tool.name, "toolbox": self.config.name, "server": server.config.name}
        said = _decode_members(tool.definition)
        return {**address, **{key: value for key, value in said.items() if key not in address}}

    async def _connect(
        self, server: Server, on_settled: Callable[[Server], None] | None, audience: Audience | None
    ) -> None:
        with contextlib.suppress(ConnectFailed):  # which the server remembers
            await server.connect(audience)
            await server.settle()
        if on_settled is not None:
            on_settled(server)


def _in_a_line(entry: Mapping[str, object]) -> dict[str, object]:
    """A tool with a signature in place of its schema and a first sentence in place of its description."""
    from .signatures import first_sentence, signature

    said = dict(entry)
    schema = _plain(said.pop("inputSchema", None))
    description = _plain(said.get("description"))
    if isinstance(description, str):
        said["description"] = first_sentence(description)
    shape = cast("dict[str, Any]", schema) if isinstance(schema, dict) else {}
    said["signature"] = signature(str(entry["name"]), shape)
    return said


def _plain(value: object) -> object:
    if not isinstance(value, Raw):
        return value
    try:
        return decode(value)
    except ValueError:
        return None
