"""How things are called: a tool by its three parts, and the joined form that people type."""

from typing import TypeAlias

import msgspec

Scope: TypeAlias = frozenset[str] | None
"""The toolboxes that a caller may know of; None for all of them."""


class ToolRef(msgspec.Struct, frozen=True):
    """Where a tool is: never a joined string on the wire."""

    toolbox: str
    server: str
    name: str

    def __str__(self) -> str:
        """The joined form of commands and signatures: `toolbox/server/tool`."""
        server = self.server.replace("%", "%25").replace("/", "%2F")
        return f"{self.toolbox}/{server}/{self.name}"
