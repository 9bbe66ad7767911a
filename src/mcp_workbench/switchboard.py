"""The switchboard: connects the calls that tools make, with the chain that they are part of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from .errors import ChainTooDeep, NameNotFound
from .names import Scope, ToolRef
from .protocol.results import Result
from .servers.call import Call
from .servers.folder import InnerCall
from .toolbox import Toolbox

MOST_CALLS_DEEP = 16
"""A longer chain of calls of calls is taken for a loop."""


class Bench(Protocol):
    """What the calls are made on."""

    toolboxes: dict[str, Toolbox]

    def seen(self, scope: Scope) -> Mapping[str, Toolbox]: ...

    async def call(self, call: Call) -> Result: ...


class Switchboard:
    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    async def call_from(self, outer: Call, target: ToolRef | str, inner: InnerCall) -> Result:
        """A call made by the tool of `outer`: a name is looked for in its own folder, then in its toolbox.

        Raises ToolError.
        """
        ref = target if isinstance(target, ToolRef) else await self._nearest(outer, target)
        call = Call(
            ref=ref,
            arguments=inner.arguments,
            caller=inner.caller or f"{outer.ref.name}_{outer.id}",
            parent=outer,
            tid=inner.tid or outer.tid,
            principal=outer.principal,
            scope=outer.scope,
            on_progress=outer.on_progress,
            audience=outer.audience,
        )
        if len(chain := call.chain) > MOST_CALLS_DEEP:
            raise ChainTooDeep([link.ref for link in chain])
        return await self._bench.call(call)

    def callable_from(self, outer: Call) -> list[dict[str, object]]:
        """What a tool can call: its own folder first, then its toolbox, then the other open ones."""
        toolboxes = [toolbox for toolbox in self._bench.seen(outer.scope).values() if toolbox.usable]
        entries = [entry for toolbox in toolboxes for entry in toolbox.entries()]
        place = (outer.ref.toolbox, outer.ref.server)
        entries.sort(
            key=lambda entry: (entry["toolbox"] != place[0], (entry["toolbox"], entry["server"]) != place)
        )
        return entries

    async def _nearest(self, outer: Call, name: str) -> ToolRef:
        toolbox = self._bench.toolboxes.get(outer.ref.toolbox)
        if toolbox is None:  # the configuration has lost it since the outer call began
            raise NameNotFound(name, outer.ref)
        home = toolbox.servers.get(outer.ref.server)
        server = home if home is not None and name in home.tools else toolbox.find(name)
        if server is None and not toolbox.opened:  # its server may be on its way
            await toolbox.open(audience=outer.audience)
            server = toolbox.find(name)
        for each in (home, *toolbox.servers.values()):
            if server is None and each is not None and await each.find(name) is not None:
                server = each  # its file was saved this very moment
        if server is None:
            raise NameNotFound(name, outer.ref)
        return ToolRef(outer.ref.toolbox, server.config.name, name)
