"""How things are called: tools and resources by their three parts, and the joined forms of both."""

from __future__ import annotations

import re
from typing import TypeAlias

import msgspec

Scope: TypeAlias = frozenset[str] | None
"""The toolboxes that a caller may know of; None for all of them."""


def joined(toolbox: str, server: str) -> str:
    """The form of a server in commands: `toolbox/server`."""
    return f"{toolbox}/{server.replace('%', '%25').replace('/', '%2F')}"


class ToolRef(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a tool is: never a joined string on the wire."""

    toolbox: str
    server: str
    name: str

    def __str__(self) -> str:
        """The joined form of commands and signatures: `toolbox/server/tool`."""
        return f"{joined(self.toolbox, self.server)}/{self.name}"


class TaskRef(msgspec.Struct, frozen=True):
    """Where a task is worked on. `id` is its server's own."""

    toolbox: str
    server: str
    id: str


SCHEME = "workbench://"
_expression = re.compile(r"(\{[^{}]*\})")


class ResourceRef(msgspec.Struct, frozen=True):
    """Where a resource is. `uri` is its server's own; for a template, the server's own template."""

    toolbox: str
    server: str
    uri: str

    @property
    def address(self) -> str:
        """The one URI that names it among the resources of all servers."""
        from urllib.parse import quote

        # The expressions of a template stay as they are, for clients to fill in.
        parts = _expression.split(self.uri)
        own = "".join(part if index % 2 else quote(part, safe="") for index, part in enumerate(parts))
        return f"{SCHEME}{self.toolbox}/{quote(self.server, safe='')}/{own}"

    @classmethod
    def read(cls, address: str) -> ResourceRef | None:
        """None for a URI of another kind."""
        from urllib.parse import unquote

        if not address.startswith(SCHEME):
            return None
        toolbox, _, rest = address.removeprefix(SCHEME).partition("/")
        server, _, own = rest.partition("/")
        return cls(toolbox, unquote(server), unquote(own)) if own else None
