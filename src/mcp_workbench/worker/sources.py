"""The files of a tool folder as they are on the disk, and whether they may be trusted. Imports nothing."""

from __future__ import annotations

import os
import stat
import time
import zlib
from typing import NamedTuple

from .problems import FolderMissing, ForeignOwner, LeadsOut, OthersMayWrite, Unreadable

# Many kernels tell time in steps of up to 10 ms: what changed so recently may change again unseen.
UNSETTLED = 50_000_000


class Stamp(NamedTuple):
    """What tells one state of a file from the next. `turn` counts saves that all the rest did not show."""

    modified: int
    changed: int
    size: int
    inode: int
    mode: int
    turn: int = 0


NOWHERE = Stamp(0, 0, 0, 0, 0)


class Sources:
    """Every Python file of a folder: its own, and those of `_helper` packages.

    Looking is done before each call, so it is cheap: one `stat` for each file, unless a folder has changed.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._folders: dict[str, Stamp] = {}
        self._files: dict[str, Stamp] = {}
        self._digests: dict[str, int] = {}  # of files that may have been saved again without a new stamp

    def look(self) -> dict[str, Stamp]:
        """The files by their paths in the folder. Raises FolderMissing, or Unsafe where others may write."""
        now = time.time_ns()
        try:
            status = os.stat(self.folder)
            _check(self.folder, status)
            names = self._files if self._is_listed(_stamp_of(status), now) else self._list()
            files = {name: self._look_at(name, now) for name in names}
            if names is self._files and NOWHERE in files.values():  # deleted at this very moment
                files = {name: self._look_at(name, now) for name in self._list()}
        except OSError as error:
            self._folders = {}
            raise FolderMissing(self.folder, error.strerror or str(error)) from None
        self._files = files
        return files

    def _is_listed(self, root: Stamp, now: int) -> bool:
        for path, stamp in self._folders.items():
            current = root if path is self.folder else _stamp(path)
            if current != stamp or not _is_settled(stamp, now):
                return False
        return bool(self._folders)

    def _list(self) -> list[str]:
        names: list[str] = []
        self._folders = {}
        self._list_into(names, self.folder, "")
        return names

    def _list_into(self, names: list[str], folder: str, prefix: str) -> None:
        self._folders[folder] = _stamp(folder)
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if name.endswith(".py"):
                    if not name.startswith("."):
                        names.append(prefix + name)
                elif name.startswith("_") and name != "__pycache__" and entry.is_dir(follow_symlinks=False):
                    self._list_into(names, entry.path, f"{prefix}{name}/")

    def _look_at(self, name: str, now: int) -> Stamp:
        path = f"{self.folder}/{name}"
        stamp = _stamp(path)
        before = self._files.get(name)
        if before is not None and before[:-1] == stamp[:-1]:
            if name not in self._digests:
                return before
            stamp = before if _digest(path) == self._digests[name] else stamp._replace(turn=before.turn + 1)
        if _is_settled(stamp, now):
            self._digests.pop(name, None)
        else:
            self._digests[name] = _digest(path)
        return stamp


def _stamp(path: str) -> Stamp:
    try:
        return _stamp_of(os.stat(path))
    except OSError:  # a dangling link, or deleted since: whoever reads it will say so
        return NOWHERE


def _stamp_of(status: os.stat_result) -> Stamp:
    return Stamp(status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_mode)


def _is_settled(stamp: Stamp, now: int) -> bool:
    return now - stamp.changed > UNSETTLED


def _digest(path: str) -> int:
    try:
        with open(path, "rb") as file:
            return zlib.crc32(file.read())
    except OSError:
        return 0


def read(folder: str, name: str) -> bytes:
    """The source of a file that nobody but its owner can change. Raises Problem."""
    path = os.path.join(folder, name)
    target = os.path.realpath(path)
    if os.path.commonpath([os.path.realpath(folder), target]) != os.path.realpath(folder):
        raise LeadsOut(path, target)
    try:
        parent = os.path.dirname(target)
        _check(parent, os.stat(parent))
        with open(target, "rb") as file:
            _check(path, os.fstat(file.fileno()))
            return file.read()
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from None


def _check(path: str, status: os.stat_result) -> None:
    us = os.geteuid()
    if status.st_uid not in (us, 0):
        raise ForeignOwner(path, status.st_uid, us)
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise OthersMayWrite(path, status.st_mode)
