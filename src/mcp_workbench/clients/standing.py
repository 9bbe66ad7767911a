"""How a client's file stands to us: whether the client is here, and whether it starts a workbench."""

from __future__ import annotations

import msgspec

from ..errors import WorkbenchError
from .client import ClientFile, Home


class Standing(msgspec.Struct):
    """`entry` is the name of our entry, `command` what it starts; both None where there is none."""

    client: str
    title: str
    path: str
    here: bool
    entry: str | None = None
    command: str | None = None
    problem: str | None = None

    @classmethod
    def of(cls, file: ClientFile, home: Home) -> Standing:
        here = file.exists or (file.project is None and file.client.is_here(home))
        standing = cls(file.client.name, file.client.title, file.path, here)
        try:
            if (ours := file.our_entry()) is not None:
                standing.entry = ours[0]
                standing.command = str(ours[1].get("command"))
        except WorkbenchError as problem:
            standing.problem = str(problem)
        return standing

    @property
    def state(self) -> str:
        return "cannot be read" if self.problem else "connected" if self.entry else "not connected"
