"""Offering: what a server may offer of what it lists. The names are filtered, the rest is looked into."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from msgspec import Raw

from ..config import ServerConfig
from ..errors import NOT_READ_ONLY
from .tool import Tool, read_tool


class Inspection(NamedTuple):
    """What somebody else thinks of a listing."""

    withheld: Mapping[str, str]
    """Tools that must not be offered, and why."""
    notes: Sequence[str]
    """Lines for `_errors`."""


Inspect: TypeAlias = Callable[[ServerConfig, Collection[Tool]], Inspection]


def _no_objection(config: ServerConfig, tools: Collection[Tool]) -> Inspection:
    return Inspection({}, ())


class Offering:
    def __init__(self, config: ServerConfig) -> None:
        self.config = config
        self.inspect: Inspect = _no_objection
        """Who is asked about every listing."""
        self._findings: Sequence[str] = ()
        self.found: dict[str, Tool] = {}
        """What passes the filters, offered or not."""
        self.tools: dict[str, Tool] = {}
        """What is offered, in the server's order."""
        self.withheld: dict[str, str] = {}
        """Tools that are there and not offered, and why."""
        self._own: list[Raw] = []
        """What the first connection listed."""
        self.further: dict[bytes, list[Raw]] = {}
        """What further ones did, by what was declared on them: a server may offer more to who can do more."""
        self.listed = False
        """Whether the tools were ever known; they are kept while the server is away."""
        self.notes: list[str] = []
        """What the server could not do though it is connected; lines for `_errors`."""

    def takes_unlisted(self, name: str) -> bool:
        """Whether it may be asked for a tool that it did not list."""
        config = self.config
        return config.filters.allows(name) and not (config.read_only or config.pinned)

    def offer(self, definitions: list[Raw]) -> None:
        """Take over the listing of the first connection."""
        self._own = definitions
        more = [each for listing in self.further.values() for each in listing]
        self.found = (
            {**self._wanted(more), **self._wanted(definitions)} if more else self._wanted(definitions)
        )
        self.listed = True
        self.sort_out()

    def offer_further(self, declared: bytes, definitions: list[Raw]) -> None:
        """Offer what a further connection lists, on which this was declared, beside what the first does."""
        self.further[declared] = definitions
        self.offer(self._own)

    def sort_out(self) -> None:
        """Offer what may be offered of what was found; again when `inspect` would say something else."""
        self.withheld, findings = self._look_into(self.found)
        self.tools = {name: tool for name, tool in self.found.items() if name not in self.withheld}
        # The other notes are the server's own.
        self.notes = [note for note in self.notes if note not in self._findings] + [*findings]
        self._findings = findings

    def would_offer(self, definitions: list[Raw]) -> dict[str, Tool]:
        """What of a listing from another time would be offered now."""
        found = self._wanted(definitions)
        withheld, _ = self._look_into(found)
        return {name: tool for name, tool in found.items() if name not in withheld}

    def _wanted(self, definitions: list[Raw]) -> dict[str, Tool]:
        allows = self.config.filters.allows
        read = (read_tool(definition) for definition in definitions)
        return {tool.name: tool for tool in read if tool is not None and allows(tool.name)}

    def _look_into(self, found: dict[str, Tool]) -> tuple[dict[str, str], Sequence[str]]:
        """Which are withheld and why, and what there is to say of any of them."""
        reasons, findings = self.inspect(self.config, found.values())
        withheld = dict(reasons)
        if self.config.read_only:
            withheld.update({name: NOT_READ_ONLY for name, tool in found.items() if not tool.read_only})
        return withheld, findings
