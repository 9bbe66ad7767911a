"""The index: where in the log's files each call's line is, in SQLite beside the log. The files are the truth.

It is brought up to date on reading and may be deleted at any time. Lines themselves are not copied.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

import msgspec

from .call import UNREADABLE, require_text
from .files import OpenFile, open_files

_VERSION = 2
_MEMORY = ":memory:"
# A call's place: its file's number and the offset of its line. Indexing a line twice changes nothing, and a
# file's lines are one range.
PLACE = 40
_BATCH = 4 << 20

_SCHEMA = """
create table files (
    number integer primary key, inode integer, digest blob,
    done integer not null default 0, skipped integer not null default 0
);
create table names (number integer primary key, name text not null unique);
create table calls (
    place integer primary key, ts integer, tool integer, server integer, toolbox integer,
    failed integer, cost real, caller text, id text, root text -- null where it is the call itself
);
create index by_time on calls (ts, tool);
create index by_tool on calls (tool, ts);
create index by_failure on calls (ts) where failed = 1;
create index by_id on calls (id);
create index by_root on calls (root) where root is not null;
"""


class _Line(msgspec.Struct):
    ts: datetime
    tool: str
    caller: str
    stat: str
    cost: float
    id: str
    root: str
    toolbox: str
    server: str


_read = msgspec.json.Decoder(_Line).decode
_BEGINNING = b'{"ts":"'


class Index:
    """An open index of an open log. One reader's object; several processes may have their own."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._beside = f"{path}.index.sqlite"
        self._files: dict[int, OpenFile] = {}
        self._database = self._open(self._beside)

    def refresh(self) -> None:
        """Take in what has been logged since, and forget what has been deleted."""
        for another_try in (self._beside, _MEMORY):
            try:
                self._refresh()
                return
            except sqlite3.DatabaseError:
                self._start_over(another_try)
        self._refresh()

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[Any]:
        try:
            return self._rows(sql, values)
        except sqlite3.DatabaseError:
            self._start_over(self._beside)
            self.refresh()
            return self._rows(sql, values)

    def line(self, place: int) -> bytes:
        file = self._files.get(place >> PLACE)
        return file.line(place & ((1 << PLACE) - 1)) if file else b""

    def progress(self) -> dict[int, int]:
        """How far each file is indexed."""
        return dict(self.rows("select number, done from files"))

    def skipped(self) -> int:
        """How many lines could not be read."""
        return self.rows("select coalesce(sum(skipped), 0) from files")[0][0]

    def close(self) -> None:
        self._database.close()
        self._close_files()

    def _open(self, file: str) -> sqlite3.Connection:
        try:
            return _prepare(file)
        except sqlite3.OperationalError:
            return _prepare(_MEMORY)  # a folder that we may only read
        except sqlite3.DatabaseError:
            _remove(file)
            return _prepare(file)

    def _start_over(self, file: str) -> None:
        """Damaged, locked for long, no room on the disk: it can all be made again from the files."""
        self._database.close()
        _remove(self._beside)
        self._database = self._open(file)

    def _rows(self, sql: str, values: Sequence[object] = ()) -> list[Any]:
        return self._database.execute(sql, values).fetchall()

    def _refresh(self) -> None:
        self._close_files()
        # Asked before we look: what another process adds meanwhile is not ours to forget.
        known = {number for (number,) in self._rows("select number from files")}
        for file in open_files(self._path):
            self._files[self._number(file)] = file
        for number in known - self._files.keys():
            self._forget(number)
        for number, file in self._files.items():
            self._take_in(number, file)

    def _number(self, file: OpenFile) -> int:
        number = self._known(file)
        if number is None:
            self._database.execute("begin immediate")
            number = self._known(file)  # now that no other process can be about to add it
            if number is None:
                ((number,),) = self._rows(
                    "insert into files (number, inode, digest)"
                    " select coalesce(max(number), 0) + 1, ?, ? from files returning number",
                    (file.inode, file.digest),
                )
            self._database.execute("commit")
        return number

    def _known(self, file: OpenFile) -> int | None:
        """The file's number here; a file that has become shorter is another one."""
        found = self._rows(
            "select number, done from files where inode = ? and digest = ? order by number desc limit 1",
            (file.inode, file.digest),
        )
        return found[0][0] if found and found[0][1] <= file.size else None

    def _forget(self, number: int) -> None:
        self._database.execute("begin immediate")
        self._database.execute(
            "delete from calls where place >= ? and place < ?", (number << PLACE, (number + 1) << PLACE)
        )
        self._database.execute("delete from files where number = ?", (number,))
        self._database.execute("commit")

    def _take_in(self, number: int, file: OpenFile) -> None:
        ((done,),) = self._rows("select done from files where number = ?", (number,))
        for offset, block in file.blocks(done, _BATCH):
            self._database.execute("begin immediate")
            calls = _Calls(block, (number << PLACE) + offset, _Names(self._database))
            self._database.executemany(
                "insert or ignore into calls values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", calls
            )
            self._database.execute(
                "update files set done = ?, skipped = skipped + ? where number = ? and done = ?",
                (offset + len(block), calls.skipped, number, offset),
            )
            self._database.execute("commit")

    def _close_files(self) -> None:
        for file in self._files.values():
            file.close()
        self._files.clear()


def _prepare(file: str) -> sqlite3.Connection:
    if file != _MEMORY:
        with suppress(OSError):
            os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    database = sqlite3.connect(file, timeout=30, isolation_level=None)
    try:
        database.execute("pragma journal_mode = wal")
        database.execute("pragma synchronous = off")  # what a power failure takes is in the files
        database.execute("pragma cache_size = -65536")
        database.execute("begin immediate")
        (version,) = database.execute("pragma user_version").fetchone()
        if version != _VERSION:
            for (table,) in database.execute(
                "select name from sqlite_schema where type = 'table'"
            ).fetchall():
                database.execute(f"drop table {table}")
            for statement in _SCHEMA.split(";"):
                database.execute(statement)
            database.execute(f"pragma user_version = {_VERSION}")
        database.execute("commit")
    except sqlite3.Error:
        database.close()
        raise
    return database


class _Names(dict[str, int]):
    """The number of each name, given out as names come. Good for one transaction."""

    def __init__(self, database: sqlite3.Connection) -> None:
        super().__init__(database.execute("select name, number from names"))
        self._database = database

    def __missing__(self, name: str) -> int:
        added = self._database.execute("insert into names (name) values (?) returning number", (name,))
        self[name] = number = added.fetchone()[0]
        return number


class _Calls:
    """The rows of a block's lines; the lines that cannot be read are counted."""

    def __init__(self, block: bytes, place: int, names: _Names) -> None:
        self._block = block
        self._place = place
        self._names = names
        self.skipped = 0

    def __iter__(self) -> Iterator[tuple[object, ...]]:
        place, names = self._place, self._names
        for text in self._block.split(b"\n"):
            try:
                require_text(text)
                line = _read(text)
                yield (
                    place,
                    round(line.ts.timestamp() * 1000),
                    names[line.tool],
                    names[line.server],
                    names[line.toolbox],
                    line.stat == "error",
                    line.cost,
                    line.caller,
                    line.id,
                    line.root if line.root != line.id else None,
                )
            except UNREADABLE:
                if text:
                    self.skipped += 1
                    yield from self._behind_a_torn_line(text, place)
            place += len(text) + 1

    def _behind_a_torn_line(self, text: bytes, place: int) -> Iterator[tuple[object, ...]]:
        """Half a line, of a process killed while writing, has the next process's line right behind it."""
        start = text.find(_BEGINNING, 1)
        while start > 0:
            with suppress(*UNREADABLE):
                _read(text[start:])
                yield from _Calls(text[start:], place + start, self._names)
                return
            start = text.find(_BEGINNING, start + 1)


def _remove(file: str) -> None:
    for each in (file, f"{file}-wal", f"{file}-shm"):
        with suppress(FileNotFoundError):
            os.unlink(each)
