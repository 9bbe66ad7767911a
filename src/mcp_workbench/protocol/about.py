"""About: what a server says of itself when it is greeted; what a client is told of ours likewise."""

from __future__ import annotations

import msgspec
from msgspec import Raw


class About(msgspec.Struct, frozen=True):
    capabilities: dict[str, Raw] = {}
    info: Raw = Raw()
    """Its `serverInfo`; empty where it gave none."""
    instructions: str | None = None

    @property
    def tells(self) -> bool:
        """Whether it may say something without being asked."""
        kinds = ("tools", "prompts", "resources")
        return (
            any(self.can(kind, "listChanged") for kind in kinds)
            or self.can("resources", "subscribe")
            or self.can("tasks")
        )

    def extension(self, name: str) -> Raw | None:
        """What it declares of an extension of MCP; None where it does not know that."""
        try:
            declared = self.capabilities.get("extensions", b"{}")
            return msgspec.json.decode(declared, type=dict[str, Raw]).get(name)
        except (msgspec.DecodeError, RecursionError):
            return None

    def can(self, kind: str, what: str = "") -> bool:
        """Whether it declares a capability of this kind and, in it, that it can do `what`."""
        declared = self.capabilities.get(kind)
        if declared is None or not what:
            return declared is not None
        try:
            return bytes(msgspec.json.decode(declared, type=dict[str, Raw]).get(what, b"")) == b"true"
        except (msgspec.DecodeError, RecursionError):
            return False
