"""A server's tools beside its pins: which are new, which have changed, which are gone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from ..config import ServerConfig
from ..names import ToolRef
from ..servers.tool import Tool
from .definition import digest, value_of
from .difference import difference
from .file import Pin, Recorded

UNSOUND = "its entry among the pins was altered: the hash is not that of the definition"


class Change(msgspec.Struct, frozen=True):
    """A tool that is not what it was; `lines` say in what."""

    definition: Any
    lines: list[str]


class Comparison(msgspec.Struct, frozen=True):
    server: ServerConfig
    first: bool
    """Whether nothing was recorded of this server before."""
    new: Mapping[str, Any]
    """Definitions by name."""
    changed: Mapping[str, Change]
    gone: list[str]
    """Recorded, and not there any more."""

    def ref(self, name: str) -> ToolRef:
        return ToolRef(self.server.toolbox, self.server.name, name)

    @property
    def differs(self) -> bool:
        return bool(self.new or self.changed or self.gone)

    @property
    def recordable(self) -> Mapping[str, Any]:
        """What may be recorded without a second look: new tools, unless they would get by a pinned server."""
        return {} if self.server.pinned and not self.first else self.new

    def record(self, recorded: Recorded, *, everything: bool) -> None:
        """Add what is recordable, or make the record what the server says now."""
        definitions = dict(self.recordable)
        if everything:
            definitions = {**self.new, **{name: each.definition for name, each in self.changed.items()}}
        pins = recorded.setdefault(self.server.toolbox, {}).setdefault(self.server.name, {})
        pins.update({name: Pin.of(definition) for name, definition in definitions.items()})
        for name in self.gone if everything else ():
            pins.pop(name, None)


def compare(server: ServerConfig, tools: Iterable[Tool], pins: Mapping[str, Pin] | None) -> Comparison:
    """`pins` are None where the server has never been recorded."""
    known = pins or {}
    new: dict[str, Any] = {}
    changed: dict[str, Change] = {}
    names: set[str] = set()
    for tool in tools:
        names.add(tool.name)
        definition = value_of(bytes(tool.definition))
        pin = known.get(tool.name)
        if pin is None:
            new[tool.name] = definition
        elif not pin.sound:
            changed[tool.name] = Change(definition, [UNSOUND, *difference(pin.definition, definition)])
        elif pin.sha256 != digest(definition):
            changed[tool.name] = Change(definition, difference(pin.definition, definition))
    return Comparison(server, pins is None, new, changed, [name for name in known if name not in names])
