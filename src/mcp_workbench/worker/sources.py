"""The files of a tool folder as they are on the disk, and whether they may be trusted. Imports nothing."""

from __future__ import annotations

import os
import stat
from typing import NamedTuple

from .problems import FolderMissing, ForeignOwner, LeadsOut, OthersMayWrite, Unreadable


class Stamp(NamedTuple):
    """What tells one state of a file from the next: a save within one clock tick still changes the inode,
    the size or the time of the last status change."""

    modified: int
    changed: int
    size: int
    inode: int
    mode: int


def scan(folder: str) -> dict[str, Stamp]:
    """Every Python file, by its path in the folder: its own, and those of `_helper` packages.

    Raises FolderMissing, or Unsafe where others may write to the folder.
    """
    try:
        _check(folder, os.stat(folder))
        found: dict[str, Stamp] = {}
        _scan(folder, "", found)
    except OSError as error:
        raise FolderMissing(folder, error.strerror or str(error)) from None
    return found


def _scan(folder: str, prefix: str, found: dict[str, Stamp]) -> None:
    with os.scandir(folder) as entries:
        for entry in entries:
            name = entry.name
            if name.endswith(".py"):
                if not name.startswith("."):
                    found[prefix + name] = _stamp(entry)
            elif name.startswith("_") and name != "__pycache__" and entry.is_dir(follow_symlinks=False):
                _scan(entry.path, f"{prefix}{name}/", found)


def _stamp(entry: os.DirEntry[str]) -> Stamp:
    try:
        status = entry.stat()
    except OSError:  # a dangling link, or deleted since: whoever reads it will say so
        return Stamp(0, 0, 0, 0, 0)
    return Stamp(status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_mode)


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
