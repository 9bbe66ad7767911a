"""The log file: lines appended, rotated by size, shared by processes. What a line says is not known here."""

from __future__ import annotations

import fcntl
import itertools
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from math import inf
from time import monotonic

# How long the name is trusted to mean the file that we have open. A look at it costs as much as the write
# (it makes the next write store a new time, too), and busy writers need not look for every line.
_TRUST = 0.005


class LogFile:
    """Appends lines, each or many at once with one write, so that nothing is lost when the process is killed.

    Several processes may share a file. Whoever finds it full moves it to `.1` (`.1` to `.2`, up to `keep`)
    under a lock file; the others notice by the inode, and what they have written until then is in `.1`.
    Nobody waits for the lock: a file that somebody else is about to move can still be written.
    What is no file (a device, a pipe) is written, and otherwise left as it is.
    """

    def __init__(
        self, path: str, *, max_size: int, keep: int, on_rotated: Callable[[], None] | None = None
    ) -> None:
        """`on_rotated` hears of it when we have moved the file, and may raise OSError."""
        self.path = path
        self._on_rotated = on_rotated
        self._max_size = max_size
        self._keep = keep
        self._descriptor = -1
        self._identity = (0, 0)
        self._room = max_size
        """Bytes that still fit."""
        self._look_again = 0.0
        self._rotate_again = 0.0
        self._torn = False

    def append(self, line: bytes) -> None:
        """Raises OSError where the line is not in the file as a whole."""
        now = monotonic()
        if now > self._look_again:
            self._look()
            self._look_again = now + _TRUST
        size = len(line)
        if size > self._room and self._room < self._max_size and now > self._rotate_again:
            self._rotate()
            self._look()
        if self._torn:
            written = os.write(self._descriptor, b"\n" + line) - 1
            self._torn = False
        else:
            written = os.write(self._descriptor, line)
        self._room -= written
        if written < size:
            self._torn = True
            raise ShortWrite(written)

    def append_all(self, lines: list[bytes]) -> list[bytes]:
        """Append with one write what fits into one file; returns the lines that are not in it then."""
        chunk = b"".join(lines)
        if len(chunk) > self._max_size:
            return lines
        try:
            self.append(chunk)
        except ShortWrite as short:
            ends = itertools.accumulate(map(len, lines))
            return [line for line, end in zip(lines, ends, strict=True) if end > short.written]
        except OSError:
            return lines
        return []

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1
        self._identity = (0, 0)
        self._look_again = 0.0

    def _look(self) -> None:
        """Makes sure that the file we have open is the one that has the name now."""
        try:
            found = os.stat(self.path)
        except FileNotFoundError:
            self._open()
            return
        if (found.st_dev, found.st_ino) == self._identity:
            self._room = self._max_size - found.st_size
        else:
            self._open()

    def _open(self) -> None:
        self.close()
        os.makedirs(os.path.dirname(self.path) or ".", mode=0o700, exist_ok=True)
        # A pipe that nobody empties is no reason to wait; files know nothing of that flag.
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
        self._descriptor = os.open(self.path, flags, 0o600)
        found = os.fstat(self._descriptor)
        ours = stat.S_ISREG(found.st_mode) and not self._is_a_systems_link()
        # Devices (/dev/null) and pipes belong to everyone: neither closed to others nor moved.
        self._rotate_again = 0.0 if ours else inf
        if ours and found.st_mode & 0o077:
            with suppress(PermissionError):  # somebody else's file is theirs to protect
                os.fchmod(self._descriptor, 0o600)
        self._identity = (found.st_dev, found.st_ino)
        size = found.st_size
        self._room = self._max_size - size
        # A process that was killed may have left half a line.
        self._torn = size > 0 and os.pread(self._descriptor, 1, size - 1) != b"\n"

    def _is_a_systems_link(self) -> bool:
        """Like /dev/stderr, which leads to a file where standard error does."""
        return self.path.startswith("/dev/") and os.path.islink(self.path)

    def _rotate(self) -> None:
        try:
            lock = os.open(f"{self.path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # Another process may have been here since we looked.
                if os.path.samestat(os.stat(self.path), os.fstat(self._descriptor)):
                    self._shift()
                    if self._on_rotated is not None:
                        self._on_rotated()
            finally:
                os.close(lock)
        except (BlockingIOError, FileNotFoundError):
            return  # somebody else is moving the file, or has just done so
        except OSError:
            # Nothing can be moved here: a log that grows is better than one that stops.
            self._rotate_again = monotonic() + 1

    def _shift(self) -> None:
        if self._keep < 1:
            os.unlink(self.path)
            return
        free = next((n for n in range(1, self._keep) if not os.path.exists(f"{self.path}.{n}")), self._keep)
        for n in range(free, 1, -1):
            os.replace(f"{self.path}.{n - 1}", f"{self.path}.{n}")
        os.replace(self.path, f"{self.path}.1")


class ShortWrite(OSError):
    """So much of what was given was written, and no more: what a disk does when it is full."""

    def __init__(self, written: int) -> None:
        self.written = written
        super().__init__("a line was written in part")
