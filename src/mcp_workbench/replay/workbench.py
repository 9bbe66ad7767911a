"""Replay: a workbench with one toolbox, as it was recorded."""

from __future__ import annotations

import os

import msgspec

from ..config import Config, LogConfig, ServerConfig, ToolboxConfig
from ..errors import NoRecording
from ..journal.recorded import Listing, RecordedCall, recorded_calls, recorded_listing, recorded_toolboxes
from ..servers.base import Server
from ..servers.call import Call
from ..wire.lines import Piece
from ..workbench import Workbench
from .server import RecordedServer
from .tape import Tape


class Replay(Workbench):
    """Starts no process, connects to nothing, and leaves the log as it is."""

    def __init__(self, log: str, toolbox: str) -> None:
        """Raises NoRecording."""
        listing = _listing(log, toolbox)
        self._listings = {server.name: server for server in listing.servers}
        self._recorded: dict[str, list[RecordedCall]] = {name: [] for name in self._listings}
        for each in recorded_calls(log, toolbox):
            self._recorded.setdefault(each.call.server, []).append(each)
        servers = {name: ServerConfig(toolbox=toolbox, name=name) for name in self._listings}
        entry = ToolboxConfig(name=toolbox, description=listing.description, servers=servers)
        super().__init__(Config(toolboxes={toolbox: entry}, log=LogConfig(path=os.path.abspath(log))))

    def _server(self, config: ServerConfig) -> Server:
        tape = Tape(self._recorded[config.name])
        return RecordedServer(config, self._changed, self._listings[config.name], tape)

    def log(self, call: Call, error: str | None, answer: tuple[Piece, ...]) -> None:
        """Nothing was done, and what is on record stays as it is."""


def _listing(log: str, toolbox: str) -> Listing:
    try:
        listing = recorded_listing(log, toolbox)
    except (OSError, msgspec.DecodeError) as error:
        raise NoRecording(log, toolbox, recorded_toolboxes(log), str(error)) from None
    if listing is None:
        raise NoRecording(log, toolbox, recorded_toolboxes(log))
    return listing
