"""The tools that were ever seen, on disk: what find_tools knows of toolboxes that are not open.

One SQLite file for all workbenches of a user. It can be made anew by opening toolboxes, so one that cannot be
read or written is no reason for anything else to fail. Searching it is the index's affair.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec

from ..config.folders import as_text, private, state_folder

if TYPE_CHECKING:
    import sqlite3

T = TypeVar("T")

_VERSION = 1
_PATIENCE = 5.0
"""Seconds to wait for another process that is writing."""
_CHUNK = 500

_SCHEMA = f"""
PRAGMA journal_mode = WAL;
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS server (
    id INTEGER PRIMARY KEY, config TEXT, toolbox TEXT, name TEXT, entry TEXT, UNIQUE (config, toolbox, name)
);
CREATE TABLE IF NOT EXISTS tool (
    server INTEGER, place INTEGER, hash TEXT, definition BLOB, PRIMARY KEY (server, place)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS tool_hash ON tool (hash);
CREATE TABLE IF NOT EXISTS vector (hash TEXT PRIMARY KEY, numbers BLOB) WITHOUT ROWID;
PRAGMA user_version = {_VERSION};
COMMIT;
"""


class Place(NamedTuple):
    """Where tools come from: a server's entry in one configuration. `entry` is the hash of that entry."""

    config: str
    toolbox: str
    server: str
    entry: str


class Seen(NamedTuple):
    """A tool as its server last defined it, and the hash of that definition."""

    definition: dict[str, Any]
    hash: str


def digest(value: Any) -> str:
    """Of anything that is JSON, the order of its keys aside."""
    import hashlib

    try:
        text = msgspec.json.encode(value, order="sorted")
    except UnicodeEncodeError:  # a path that is no UTF-8
        import json

        text = json.dumps(value, sort_keys=True).encode()
    return hashlib.sha256(text).hexdigest()


class Catalogue:
    """Any number of processes may hold one. `failure` says why the last thing asked of it was not done."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.path = os.path.join(state_folder(environ), "catalogue.sqlite")
        self.failure: str | None = None
        self._ready = False

    def put(self, place: Place, definitions: Sequence[Mapping[str, Any]]) -> None:
        """What the server offers now, in its order; replaces what was known of it."""
        place = _storable(place)
        rows = [(digest(each), msgspec.json.encode(each)) for each in definitions]

        def write(database: sqlite3.Connection) -> None:
            known = _server(database, place)
            if known is not None and [hash for hash, _ in _rows(database, known)] == [
                hash for hash, _ in rows
            ]:
                return
            database.execute("BEGIN IMMEDIATE")
            _forget(database, place.config, [(place.toolbox, place.server)])
            number = database.execute("INSERT INTO server VALUES (NULL, ?, ?, ?, ?)", place).lastrowid
            database.executemany(
                "INSERT INTO tool VALUES (?, ?, ?, ?)",
                [(number, position, *row) for position, row in enumerate(rows)],
            )
            database.execute("COMMIT")

        self._do(write, None)

    def get(self, place: Place) -> list[Seen] | None:
        """None for a server that was never seen with this entry."""
        place = _storable(place)

        def read(database: sqlite3.Connection) -> list[Seen] | None:
            known = _server(database, place)
            if known is None:
                return None
            return [Seen(msgspec.json.decode(each), hash) for hash, each in _rows(database, known)]

        return self._do(read, None)

    def keep(self, config: str, places: Iterable[Place]) -> None:
        """Forgets the servers that this configuration has no more, and vectors that nothing needs."""
        wanted = {(place.toolbox, place.server) for place in map(_storable, places)}
        config = as_text(config)

        def write(database: sqlite3.Connection) -> None:
            found = database.execute(
                "SELECT toolbox, name FROM server WHERE config = ?", (config,)
            ).fetchall()
            database.execute("BEGIN IMMEDIATE")
            _forget(database, config, [each for each in found if each not in wanted])
            database.execute("DELETE FROM vector WHERE hash NOT IN (SELECT hash FROM tool)")
            database.execute("COMMIT")

        self._do(write, None)

    def vectors(self, hashes: Sequence[str]) -> dict[str, bytes]:
        """By definition hash, those that are known."""

        def read(database: sqlite3.Connection) -> dict[str, bytes]:
            found: dict[str, bytes] = {}
            for start in range(0, len(hashes), _CHUNK):
                some = hashes[start : start + _CHUNK]
                marks = ", ".join("?" * len(some))
                found.update(database.execute(f"SELECT * FROM vector WHERE hash IN ({marks})", some))
            return found

        return self._do(read, {})

    def put_vectors(self, vectors: Mapping[str, bytes]) -> None:
        def write(database: sqlite3.Connection) -> None:
            database.execute("BEGIN IMMEDIATE")
            database.executemany("INSERT OR REPLACE INTO vector VALUES (?, ?)", vectors.items())
            database.execute("COMMIT")

        self._do(write, None)

    def _do(self, work: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """With a connection of its own: threads and forks need not share any."""
        import sqlite3

        self.failure = None
        try:
            with closing(self._connected()) as database:
                return work(database)
        except (sqlite3.Error, OSError, msgspec.MsgspecError) as error:
            self.failure = f"{self.path}: {error}"
            return otherwise

    def _connected(self) -> sqlite3.Connection:
        import sqlite3

        if not self._ready:
            private(os.path.dirname(self.path))
            # SQLite gives its other files the mode of this one.
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        database = sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)
        try:
            if not self._ready:
                self._prepare(database)
                self._ready = True
        except sqlite3.DatabaseError as error:
            database.close()
            if isinstance(error, sqlite3.OperationalError):  # busy, or no space: the file is sound
                raise
            self._discard()
            return self._connected()
        return database

    def _prepare(self, database: sqlite3.Connection) -> None:
        import sqlite3

        version = database.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, _VERSION):
            raise sqlite3.DatabaseError(f"version {version}")
        if version == 0:
            database.executescript(_SCHEMA)

    def _discard(self) -> None:
        for ending in ("", "-wal", "-shm"):
            if os.path.exists(self.path + ending):
                os.unlink(self.path + ending)


def _storable(place: Place) -> Place:
    return Place(*map(as_text, place))


def _server(database: sqlite3.Connection, place: Place) -> int | None:
    row = database.execute(
        "SELECT id FROM server WHERE config = ? AND toolbox = ? AND name = ? AND entry = ?", place
    ).fetchone()
    return row[0] if row else None


def _rows(database: sqlite3.Connection, server: int) -> list[tuple[str, bytes]]:
    return database.execute(
        "SELECT hash, definition FROM tool WHERE server = ? ORDER BY place", (server,)
    ).fetchall()


def _forget(database: sqlite3.Connection, config: str, servers: Sequence[tuple[str, str]]) -> None:
    for toolbox, name in servers:
        database.execute(
            "DELETE FROM tool WHERE server IN"
            " (SELECT id FROM server WHERE config = ? AND toolbox = ? AND name = ?)",
            (config, toolbox, name),
        )
        database.execute(
            "DELETE FROM server WHERE config = ? AND toolbox = ? AND name = ?", (config, toolbox, name)
        )
