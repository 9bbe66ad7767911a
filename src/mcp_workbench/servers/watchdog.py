"""The watchdog: a small process that starts every child, and ends them all when the workbench is gone.

Run by path as a program of its own, on the standard library alone. It is the parent of every child and,
on Linux, the reaper of their orphans, so nothing that a child starts can slip away, not even when the
workbench is killed without warning. What the children say is none of its business: their pipes belong to
the workbench.

It talks with the workbench in lines of JSON over the socket given as file descriptor 3:

    → {"start": n, "path": …, "argv": […], "env": {…}, "cwd": …}   with three descriptors: 0, 1, 2
    ← {"started": n, "pid": p}  or  {"failed": n, "reason": …}
    → {"end": p}      its input was closed: wait, then SIGTERM, wait, then SIGKILL
    → {"kill": p}     at once
    ← {"exited": p, "status": s}   as `os.waitstatus_to_exitcode` gives it

The socket's end means: end everything, then leave.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import socket
import sys
import time
from typing import Any

GRACE = 2.0
"""Seconds between closing a child's input and SIGTERM, and again until SIGKILL."""

LOOK = 5.0
"""Seconds between two looks at what the children have started, which is known by its parents alone."""

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _parents() -> dict[int, tuple[int, str]]:
    """Every process's parent and starting time (which tells apart two uses of one id)."""
    found: dict[int, tuple[int, str]] = {}
    if not os.path.isdir("/proc/self"):
        return found
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError, IndexError), open(f"/proc/{entry}/stat", "rb") as file:
                # The name in parentheses may hold anything, so count from its end.
                fields = file.read().rpartition(b")")[2].split()
                found[int(entry)] = (int(fields[1]), fields[19].decode())
    return found


def _descendants(of: int, parents: dict[int, tuple[int, str]]) -> dict[int, str]:
    """The living descendants of a process: id and starting time."""
    family = {of}
    grown = True
    while grown:
        children = {pid for pid, (parent, _) in parents.items() if parent in family and pid not in family}
        family |= children
        grown = bool(children)
    family.discard(of)
    return {pid: parents[pid][1] for pid in family}


class Child:
    """A started program and what it started; `step` says how far its ending has come."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.running = True
        self.step = 0
        self.due = 0.0
        self.family: dict[int, str] = {}
        """What it has started, as far as it was seen: also what has left its group, or lost its parent."""

    def look(self) -> None:
        parents = _parents()
        alive = {pid: at for pid, at in self.family.items() if pid in parents and parents[pid][1] == at}
        self.family = {**alive, **_descendants(self.pid, parents)} if self.running else alive

    def signal(self, number: int) -> None:
        with contextlib.suppress(OSError):
            os.killpg(self.pid, number)
        self.look()
        for pid in self.family:
            with contextlib.suppress(OSError):
                os.kill(pid, number)

    def gone(self) -> bool:
        """Whether nothing is left: neither in its group nor of what left the group."""
        if self.running:
            return False
        try:
            os.killpg(self.pid, 0)
        except OSError:
            self.look()
            return not self.family
        return False


class Watchdog:
    def __init__(self, link: socket.socket) -> None:
        self._link = link
        self._children: dict[int, Child] = {}
        self._received = b""
        self._descriptors: list[int] = []
        self._leaving = False
        self._next_look = 0.0

    def run(self) -> None:
        wakeup, wake = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(wakeup, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        while not (self._leaving and not self._children):
            sources = [wakeup] if self._leaving else [wakeup, self._link]
            ready, _, _ = select.select(sources, [], [], self._pause())
            if wakeup in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(wakeup, 4096)
            if self._link in ready:
                self._receive()
            self._reap()
            self._advance()
        self._sweep()

    def _pause(self) -> float | None:
        ending = [child for child in self._children.values() if child.step]
        if not ending:
            return LOOK if self._children else None
        soonest = min(child.due for child in ending) - time.monotonic()
        # Processes that are not ours to wait for vanish without a signal, so look again soon.
        return max(0.0, min(soonest, 0.05))

    def _receive(self) -> None:
        try:
            data, descriptors, _, _ = socket.recv_fds(self._link, 1 << 16, 64)
        except ConnectionResetError:  # it died with our news unread
            data, descriptors = b"", []
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)  # a child gets its own three and no others
        self._descriptors += descriptors
        if not data:
            self._leaving = True
            for child in list(self._children.values()):
                self._begin_ending(child)
            return
        *lines, self._received = (self._received + data).split(b"\n")
        for line in lines:
            self._obey(json.loads(line))

    def _obey(self, order: dict[str, Any]) -> None:
        if "start" in order:
            self._start(order)
        elif "end" in order and order["end"] in self._children:
            self._begin_ending(self._children[order["end"]])
        elif "kill" in order and order["kill"] in self._children:
            self._go_to(self._children[order["kill"]], 2, signal.SIGKILL)

    def _tell(self, **news: Any) -> None:
        with contextlib.suppress(OSError):  # nobody is left to hear it
            self._link.sendall(json.dumps(news).encode() + b"\n")

    # Starting

    def _start(self, order: dict[str, Any]) -> None:
        mine, self._descriptors = self._descriptors[:3], self._descriptors[3:]
        outcome, report = os.pipe()  # closed by exec, so an end without a word means success
        pid = os.fork()
        if pid == 0:
            try:
                self._become(order, mine)
            except OSError as error:
                os.write(report, f"{error.strerror}: {error.filename}".encode())
            finally:
                os._exit(127)
        # Known before its program runs: exec comes after this line or not at all.
        self._children[pid] = Child(pid)
        os.close(report)
        for descriptor in mine:
            os.close(descriptor)
        reason = os.read(outcome, 4096).decode(errors="replace")
        os.close(outcome)
        if reason:
            os.waitpid(pid, 0)
            del self._children[pid]
            self._tell(failed=order["start"], reason=reason)
        else:
            self._tell(started=order["start"], pid=pid)

    def _become(self, order: dict[str, Any], descriptors: list[int]) -> None:
        os.setsid()
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        for target, descriptor in enumerate(descriptors):
            os.dup2(descriptor, target)
        if order["cwd"] is not None:
            os.chdir(order["cwd"])
        os.execve(order["path"], order["argv"], order["env"])

    # Ending

    def _begin_ending(self, child: Child) -> None:
        if not child.step:
            child.look()
            child.step, child.due = 1, time.monotonic() + GRACE

    def _go_to(self, child: Child, step: int, number: int) -> None:
        child.step, child.due = step, time.monotonic() + GRACE
        child.signal(number)

    def _advance(self) -> None:
        now = time.monotonic()
        if now >= self._next_look:
            self._next_look = now + LOOK
            for child in self._children.values():
                child.look()
        for child in list(self._children.values()):
            if child.step and child.gone():
                del self._children[child.pid]
            elif child.step == 1 and (now >= child.due or not child.running):
                self._go_to(child, 2, signal.SIGTERM)
            elif child.step >= 2 and now >= child.due:
                if child.step > 4:
                    del self._children[child.pid]  # beyond any signal: stuck in the kernel
                else:
                    self._go_to(child, child.step + 1, signal.SIGKILL)

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            child = self._children.get(pid)
            if child is not None:
                child.running = False
                self._tell(exited=pid, status=os.waitstatus_to_exitcode(status))
                # What it left behind in its group is told to go as well.
                self._begin_ending(child)

    def _sweep(self) -> None:
        """End the orphans that nobody could be blamed for while the workbench lived."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            until = time.monotonic() + 0.5
            while orphans := _descendants(os.getpid(), _parents()):
                for pid in orphans:
                    with contextlib.suppress(OSError):
                        os.kill(pid, number)
                self._reap()
                if time.monotonic() > until:
                    break
                time.sleep(0.02)


def _wake(_number: int, _frame: object) -> None:
    """Only for the wake-up: an ignored SIGCHLD would not interrupt the wait."""


def main() -> None:
    # Whatever is sent to the workbench's group is for the workbench; we follow when it is gone.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, _wake)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    # Whatever else we were started with belongs to the workbench or its client.
    os.closerange(4, os.sysconf("SC_OPEN_MAX"))
    os.set_inheritable(3, False)
    Watchdog(socket.socket(fileno=3)).run()


if __name__ == "__main__":
    main()
