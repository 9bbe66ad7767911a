"""What is running: the processes that came of another one, however far they went."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple


class Alive(NamedTuple):
    """A process, told apart from later users of its id by when it started."""

    pid: int
    started: bytes


class _Row(NamedTuple):
    process: Alive
    parent: int


def _rows() -> Iterator[_Row]:
    """Every process but the dead ones that nobody has waited for."""
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        with contextlib.suppress(OSError), open(f"/proc/{entry}/stat", "rb") as file:
            # The name in parentheses may hold anything, so count from its end.
            fields = file.read().rpartition(b")")[2].split()
            if fields[0] not in (b"Z", b"X"):
                yield _Row(Alive(int(entry), fields[19]), int(fields[1]))


def descendants(pid: int) -> set[Alive]:
    rows = list(_rows())
    family = {pid}
    while grown := {row.process.pid for row in rows if row.parent in family} - family:
        family |= grown
    return {row.process for row in rows if row.process.pid in family - {pid}}


def marked(mark: str) -> set[Alive]:
    """The processes that have `mark` somewhere in their environment; a child hands it on to its own."""
    found: set[Alive] = set()
    for row in _rows():
        with contextlib.suppress(OSError), open(f"/proc/{row.process.pid}/environ", "rb") as file:
            if mark.encode() in file.read():
                found.add(row.process)
    return found


def alive(processes: Iterable[Alive]) -> set[Alive]:
    return {row.process for row in _rows()} & set(processes)


def command(process: Alive) -> str:
    with contextlib.suppress(OSError), open(f"/proc/{process.pid}/cmdline", "rb") as file:
        return file.read().replace(b"\0", b" ").decode(errors="replace")
    return f"(process {process.pid})"


def kill(pid: int, patience: float = 3) -> None:
    """One that a test started. It is dead from here on: until then it may still read what it is sent."""
    os.kill(pid, signal.SIGKILL)
    wait_until_dead(pid, patience)


def wait_until_dead(pid: int, patience: float) -> None:
    until = time.monotonic() + patience
    while any(row.process.pid == pid for row in _rows()):
        assert time.monotonic() < until


def wait_until_gone(known: Iterable[Alive], mark: str, patience: float) -> list[str]:
    """The commands of what is still there after `patience` seconds, of the known ones and the marked."""
    known = set(known)
    until = time.monotonic() + patience
    while left := alive(known) | marked(mark):
        if time.monotonic() > until:
            return sorted(command(process) for process in left)
        time.sleep(0.02)
    return []
