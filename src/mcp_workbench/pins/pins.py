"""The pins that a workbench heeds: read when their file has changed, and asked about every listing."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from ..config import ServerConfig
from ..errors import NotAccepted, PinsUnusable
from ..servers.offering import Inspection
from ..servers.tool import Tool
from .file import PinFile, Recorded

if TYPE_CHECKING:
    from .comparison import Comparison

_NEVER = object()


class Pins:
    """Without a configuration file nothing is ever recorded."""

    def __init__(self, config_path: str | None) -> None:
        self._config_path = config_path
        self._file = PinFile.beside(config_path) if config_path is not None else None
        self._stamp: object = _NEVER
        self._recorded: Recorded = {}
        self._problem: PinsUnusable | None = None

    def refresh(self) -> bool:
        """Take over the file as it is now; whether it has changed since the last time."""
        stamp = self._file.stamp() if self._file is not None else None
        if stamp == self._stamp:
            return False
        self._stamp = stamp
        self._recorded, self._problem = {}, None
        if self._file is not None and stamp is not None:
            try:
                self._recorded = self._file.read()
            except PinsUnusable as problem:
                self._problem = problem
        return True

    def compare(self, server: ServerConfig, tools: Collection[Tool]) -> Comparison:
        """Raises PinsUnusable."""
        if self._problem is not None:
            raise self._problem
        from .comparison import compare  # not needed where nothing is pinned

        return compare(server, tools, self._recorded.get(server.toolbox, {}).get(server.name))

    def inspect(self, server: ServerConfig, tools: Collection[Tool]) -> Inspection:
        """What has changed is told; of a pinned server, whatever nobody has accepted is withheld too."""
        if self._stamp is _NEVER:
            self.refresh()
        if self._stamp is None and not server.pinned:
            return Inspection({}, ())
        try:
            found = self.compare(server, tools)
        except PinsUnusable as problem:
            withheld = {tool.name: str(problem) for tool in tools} if server.pinned else {}
            return Inspection(withheld, [problem.note(server.name, server.toolbox)])
        from .difference import in_short

        say = NotAccepted(server.name, server.toolbox, server.pinned, self._config_path)
        notes = [say.changed(name, in_short(change.lines)) for name, change in found.changed.items()]
        if not server.pinned:
            return Inspection({}, notes)
        if found.new:
            notes.append(say.new(in_short(list(found.new), most=20, width=64)))
        changed = dict.fromkeys(found.changed, say.reason_changed)
        return Inspection({**changed, **dict.fromkeys(found.new, say.reason_new)}, notes)
