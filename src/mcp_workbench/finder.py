"""Finding tools: what is known of every toolbox, open or not, made ready to be searched.

An open toolbox is known by its servers; one that was open before, by the catalogue; any other by its name,
its description and its servers' names. How words are matched is the search package's.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec
from msgspec import Raw

from .chores import Chores
from .config import ServerConfig
from .names import Scope, ToolRef
from .servers.base import Server
from .servers.tool import Tool
from .toolbox import Toolbox
from .wire.messages import encode
from .workbench import Workbench

if TYPE_CHECKING:
    from .search import Catalogue, Index, Place
    from .search.semantic import SemanticIndex

Key = tuple[str, str]

_HIDDEN = ("env", "headers", "auth")
"""Parts of an entry whose values may be secrets, and do not change what its server offers."""


class _Known(NamedTuple):
    """A server as the index last heard of it; `tools` are those it offered, None where it was not listed."""

    server: Server
    tools: Mapping[str, Tool] | None


State = dict[str, tuple[Toolbox, dict[str, _Known]]]


class Finder:
    """Searching and the catalogue are imported with the first question, and work in threads."""

    def __init__(self, workbench: Workbench, environ: Mapping[str, str] = os.environ) -> None:
        self.failure: str | None = None
        """Why something that should be remembered is not."""
        self._workbench = workbench
        self._environ = environ
        self._lock = asyncio.Lock()
        self._index: Index | None = None
        self._by_meaning: SemanticIndex | None = None
        """The same index, where the extra is installed."""
        self._reading: asyncio.Task[None] | None = None
        self._catalogue: Catalogue | None = None
        self._known: dict[Key, _Known] = {}
        self._definitions: dict[Key, dict[ToolRef, Mapping[str, Any]]] = {}
        self._written: dict[Key, Mapping[str, Tool]] = {}
        self._chores = Chores()

    async def find(
        self,
        queries: Sequence[str],
        *,
        toolbox: str | None,
        limit: int,
        detail: Literal["signature", "full"],
        scope: Scope,
    ) -> str:
        """The text of an answer; what it names can be used at once, whether its toolbox is open or not."""
        seen = self._workbench.seen(scope)
        names = set(seen) if toolbox is None else {toolbox}
        state = self._state()
        async with self._lock:
            text, refs = await asyncio.to_thread(self._search, state, queries, names, limit, detail)
        self._workbench.shown.update(refs)
        self._read_soon()
        return text

    def remember_soon(self) -> None:
        """Write what was listed into the catalogue, when there is time."""
        fresh = {
            (toolbox.config.name, name): server
            for toolbox in self._workbench.toolboxes.values()
            for name, server in toolbox.servers.items()
            if server.listed and self._written.get((toolbox.config.name, name)) is not server.found
        }
        if fresh:
            self._written.update({key: server.found for key, server in fresh.items()})
            self._chores.begin(self._remember(fresh))

    async def settle(self) -> bool:
        """Until all is written that should be remembered, forgotten what is configured no more, and read what
        can be read; whether there is anything that reads meaning."""
        await self._chores.finish()
        state = self._state()
        async with self._lock:
            await asyncio.to_thread(self._tidy, state)
        self._read_soon()
        if self._reading is not None:
            await self._reading
        return self._by_meaning is not None

    def _read_soon(self) -> None:
        """Until its meaning is read, a tool is found by its words."""
        if self._by_meaning is not None and (self._reading is None or self._reading.done()):
            self._reading = asyncio.create_task(self._read(self._by_meaning))

    async def _read(self, index: SemanticIndex) -> None:
        """A few at a time, and not under the lock: questions are answered meanwhile."""
        while True:
            async with self._lock:
                tools = index.unread()
            if not tools:
                return
            vectors = await asyncio.to_thread(index.read, tools)
            async with self._lock:
                await asyncio.to_thread(index.learn, tools, vectors)

    async def _remember(self, servers: dict[Key, Server]) -> None:
        found = {key: list(server.found.values()) for key, server in servers.items()}
        async with self._lock:
            await asyncio.to_thread(self._write, servers, found)

    # In a thread, one at a time

    def _write(self, servers: dict[Key, Server], found: dict[Key, list[Tool]]) -> None:
        catalogue = self._open_catalogue()
        for key, server in servers.items():
            catalogue.put(self._place(key, server.config), [tool.plain for tool in found[key]])
            self.failure = catalogue.failure or self.failure

    def _tidy(self, state: State) -> None:
        self._follow(state)
        places = [self._place(key, known.server.config) for key, known in _servers(state).items()]
        self._open_catalogue().keep(self._workbench.config.path or "", places)

    def _search(
        self,
        state: State,
        queries: Sequence[str],
        names: set[str],
        limit: int,
        detail: Literal["signature", "full"],
    ) -> tuple[str, list[ToolRef]]:
        from .search import answer, merge

        index = self._follow(state)
        found = [index.find(query, limit, lambda ref: ref.toolbox in names) for query in queries]
        shown = merge(found, limit)
        refs = [ref for refs in shown for ref in refs if ref.name]
        return answer(queries, shown, self._definition, detail), refs

    def _follow(self, state: State) -> Index:
        """Bring the index up to date, server by server."""
        if self._index is None:
            self._index = self._new_index()
        current = _servers(state)
        for key in self._known.keys() - current.keys():
            self._put(key, [])
            del self._known[key]
        for key, known in current.items():
            before = self._known.get(key)
            if before is None or before.server is not known.server or before.tools is not known.tools:
                self._put(key, self._tools(key, known))
                self._known[key] = known
        for name, (toolbox, servers) in state.items():
            self._put((name, ""), self._stand_in(toolbox, [(name, key) for key in servers]))
        return self._index

    def _new_index(self) -> Index:
        from .search import Index
        from .search.extra import semantic_index

        self._by_meaning = semantic_index(self._open_catalogue())
        return Index() if self._by_meaning is None else self._by_meaning

    def _tools(self, key: Key, known: _Known) -> list[tuple[ToolRef, Mapping[str, Any]]]:
        tools = known.tools
        if tools is None:
            seen = self._open_catalogue().get(self._place(key, known.server.config))
            tools = known.server.would_offer([Raw(encode(each.definition)) for each in seen or ()])
        return [(ToolRef(*key, name), tool.plain) for name, tool in tools.items()]

    def _stand_in(self, toolbox: Toolbox, keys: list[Key]) -> list[tuple[ToolRef, Mapping[str, Any]]]:
        """For a toolbox of which no tool is known."""
        from .search import unseen

        if not keys or any(self._definitions.get(key) for key in keys):
            return []
        config = toolbox.config
        return [unseen(config.name, config.description, [server for _, server in keys])]

    def _put(self, key: Key, tools: list[tuple[ToolRef, Mapping[str, Any]]]) -> None:
        assert self._index is not None
        fresh = dict(tools)
        if fresh != self._definitions.get(key, {}):
            self._definitions[key] = fresh
            self._index.put(key, tools)

    def _definition(self, ref: ToolRef) -> Mapping[str, Any]:
        return self._definitions[(ref.toolbox, ref.server)][ref]

    def _open_catalogue(self) -> Catalogue:
        if self._catalogue is None:
            from .search import Catalogue

            self._catalogue = Catalogue(self._environ)
        return self._catalogue

    def _place(self, key: Key, config: ServerConfig) -> Place:
        from .search import Place, digest

        whole = msgspec.to_builtins(config, enc_hook=_pattern)
        entry = {name: value for name, value in whole.items() if name not in _HIDDEN}
        return Place(self._workbench.config.path or "", *key, digest(entry))

    def _state(self) -> State:
        """What there is now, for a thread that must not look at what changes."""
        return {
            name: (
                toolbox,
                {
                    key: _Known(server, server.tools if server.listed and server.failure is None else None)
                    for key, server in toolbox.servers.items()
                },
            )
            for name, toolbox in self._workbench.toolboxes.items()
        }


def _servers(state: State) -> dict[Key, _Known]:
    return {(name, key): known for name, (_, servers) in state.items() for key, known in servers.items()}


def _pattern(value: object) -> object:
    """A filter is written as its pattern."""
    return getattr(value, "pattern", None) or str(value)
