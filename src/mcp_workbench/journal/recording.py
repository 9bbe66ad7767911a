"""Recording: keeps what came of calls and what was listed in files beside the log. `recorded` reads them."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress

import msgspec
from msgspec import Raw

from ..wire.messages import decode, encode, with_member
from .arguments import Arguments
from .masking import Mask
from .recorded import Listing, ServerListing, calls_folder, oldest_line, recorded_listing, toolbox_file

# No limit to the length and the depth of values.
_WHOLE = (sys.maxsize, sys.maxsize)

# Seconds that may lie between a result and its line, with slow disks and clocks that are set.
_SLACK = 60.0


class Recording:
    """The folder `<log>.recorded`, for its owner alone: `calls/<id>.json` and `toolboxes/<name>.json`.

    Nothing is cut, since it is to be served again; secrets are masked as in the log.
    """

    def __init__(self, log: str, secrets: Collection[str], redact: Sequence[str]) -> None:
        self.log = log
        self._exchanges = Arguments(Mask(secrets, redact), *_WHOLE)
        # What servers say of themselves: `password` in a schema is a parameter, and below it is no password.
        self._texts = Arguments(Mask(secrets, redact, by_key=False), *_WHOLE)

    def call(self, id: str, args: bytes, answer: bytes) -> str:
        """Keep a call; returns its file's name as seen from the log's folder. Raises OSError.

        `answer` is the member of an Exchange that came of it, as JSON: `"result":{…}`.
        """
        path = os.path.join(calls_folder(self.log), f"{id}.json")
        _write(path, self._exchanges.json(b'{"args":%b,%b}' % (args, answer)).encode())
        return os.path.relpath(path, os.path.dirname(self.log))

    def toolbox(self, name: str, description: str, servers: Mapping[str, ServerListing | None]) -> None:
        """Keep what a toolbox offers; of a server that is away (None), what is on record. Raises OSError."""
        try:
            before = recorded_listing(self.log, name)
        except msgspec.DecodeError:
            before = None
        known = {server.name: server for server in before.servers} if before is not None else {}
        listed = [
            self._masked(server) if server is not None else known[each]
            for each, server in servers.items()
            if server is not None or each in known
        ]
        _write(toolbox_file(self.log, name), encode(Listing(name, description, listed)))

    def prune(self) -> None:
        """Delete the calls whose lines are gone, since their file was the oldest. Raises OSError."""
        until = (oldest_line(self.log) or time.time()) - _SLACK
        for entry in list(os.scandir(calls_folder(self.log))):
            # By time and not by id: the id tells when a call began, and the lines are in the order of ends.
            if entry.stat().st_mtime < until:
                os.unlink(entry)

    def _masked(self, server: ServerListing) -> ServerListing:
        said = server.instructions
        return ServerListing(
            server.name,
            server.modern,
            self._raw(server.info),
            None if said is None else decode(self._texts.text(said).encode()),
            [self._definition(tool) for tool in server.tools],
        )

    def _definition(self, definition: Raw) -> Raw:
        """Without secrets, but with its own name: under another it could not be called."""
        name = msgspec.json.decode(definition, type=_Named).name
        return Raw(with_member(bytes(self._raw(definition)), "name", bytes(name)))

    def _raw(self, json: Raw) -> Raw:
        return Raw(self._texts.json(bytes(json)).encode())


class _Named(msgspec.Struct):
    name: Raw


def _write(path: str, content: bytes) -> None:
    """A whole file or none."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    fresh = f"{path}.{os.getpid()}"
    try:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with open(descriptor, "wb") as file:
            file.write(content)
        os.replace(fresh, path)
    except OSError:
        with suppress(OSError):
            os.unlink(fresh)
        raise
