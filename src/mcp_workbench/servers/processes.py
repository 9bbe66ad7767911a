"""The workbench's side of its children: starting them through the watchdog, and hearing how they end."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import select
import signal
import socket
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import WorkbenchError
from ..wire.lines import Line, LineReader, widen
from .guard import Watchdog, start_watchdog


class StartFailed(WorkbenchError):
    """The program could not be run; says why."""


class Process:
    """A running child and our ends of its pipes. Whoever has it closes the descriptors."""

    def __init__(self, pid: int, stdin: int, stdout: int, stderr: int) -> None:
        self.pid = pid
        self.stdin = stdin
        self.stdout = stdout
        self.stderr = stderr
        self.exited: asyncio.Future[int] = asyncio.get_running_loop().create_future()


class Processes:
    """All children of one workbench. The watchdog is started with the first of them, or before."""

    def __init__(self) -> None:
        self._link: socket.socket | None = None
        self._reader: LineReader | None = None
        self._watchdog = 0
        self._starts: dict[int, asyncio.Future[int]] = {}
        self._numbers = itertools.count(1)
        self._running: dict[int, Process] = {}
        self._gone: asyncio.Future[None] | None = None

    def prepare(self, watchdog: Watchdog | None = None) -> None:
        """Have the watchdog before the first child: it takes as long to start as a small server does.

        `watchdog` is one that was started already.
        """
        if self._link is None:
            with contextlib.suppress(OSError):  # `start` will say what is wrong
                self._attach(watchdog or start_watchdog())

    async def start(self, path: str, argv: Sequence[str], env: Mapping[str, str], cwd: str | None) -> Process:
        """Run a program in a session of its own. Raises StartFailed."""
        pipes: list[int] = []
        try:
            if self._link is None:
                self._attach(start_watchdog())
            for _ in range(3):
                pipes += os.pipe()
        except OSError as error:
            for descriptor in pipes:
                os.close(descriptor)
            raise StartFailed(f"no process can be started: {error.strerror}") from None
        child_in, stdin, stdout, child_out, stderr, child_err = pipes
        widen(stdin)
        widen(stdout)
        number = next(self._numbers)
        started = self._starts[number] = asyncio.get_running_loop().create_future()
        order = {"start": number, "path": path, "argv": list(argv), "env": dict(env), "cwd": cwd}
        theirs = (child_in, child_out, child_err)
        try:
            self._send(order, theirs)
            pid = await started
        except BaseException as error:
            for descriptor in (stdin, stdout, stderr):
                os.close(descriptor)
            if isinstance(error, OSError):
                raise StartFailed("the watchdog process is gone; try again") from None
            raise
        finally:
            self._starts.pop(number, None)
            for descriptor in theirs:
                os.close(descriptor)
        process = self._running[pid] = Process(pid, stdin, stdout, stderr)
        return process

    def end(self, process: Process) -> None:
        """Its input was closed: it may leave by itself, is told to after 2 s, and made to after 4."""
        self._order(end=process.pid)

    def kill(self, process: Process) -> None:
        self._order(kill=process.pid)

    async def close(self) -> None:
        """End every child and the watchdog, and wait until they are gone."""
        if self._link is None:
            return
        gone = self._gone
        assert gone is not None
        self._link.shutdown(socket.SHUT_WR)
        await gone

    def _order(self, **order: int) -> None:
        with contextlib.suppress(OSError):  # it is gone, and they with it
            self._send(order)

    def _send(self, order: Mapping[str, object], descriptors: Sequence[int] = ()) -> None:
        """Raises OSError where the watchdog is gone."""
        link = self._link
        if link is None:
            raise BrokenPipeError
        rest = json.dumps(order).encode() + b"\n"
        while rest:
            try:
                rest = rest[socket.send_fds(link, [rest], descriptors) if descriptors else link.send(rest) :]
                descriptors = ()
            except BlockingIOError:
                # Event loops make what they watch non-blocking. The watchdog reads at once; we can wait.
                select.select((), (link,), ())

    def _attach(self, watchdog: Watchdog) -> None:
        """Give it orders, and hear its news."""
        try:
            self._reader = LineReader(
                os.dup(watchdog.link.fileno()),
                on_line=self._news,
                on_end=self._lost,
                on_overlong=self._lost,
                max_line=1 << 20,
            )
        except OSError:
            watchdog.link.close()  # so it leaves
            os.waitpid(watchdog.pid, 0)
            raise
        self._watchdog, self._link = watchdog
        self._gone = asyncio.get_running_loop().create_future()

    def _news(self, line: Line) -> None:
        news: dict[str, Any] = json.loads(line)
        if "exited" in news:
            process = self._running.pop(news["exited"], None)
            if process is not None and not process.exited.done():
                process.exited.set_result(news["status"])
            return
        waiting = self._starts.get(news["started"] if "started" in news else news["failed"])
        if waiting is None or waiting.done():
            if "started" in news:  # whoever asked for it has given up
                self._order(kill=news["pid"])
        elif "started" in news:
            waiting.set_result(news["pid"])
        else:
            waiting.set_exception(StartFailed(news["reason"]))

    def _lost(self) -> None:
        """The watchdog is gone: as we asked, or killed; then its children are ours to end."""
        assert self._link is not None
        assert self._reader is not None
        assert self._gone is not None
        self._reader.close()
        self._link.close()
        self._link = None
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._watchdog, 0)
        for waiting in self._starts.values():
            if not waiting.done():
                waiting.set_exception(StartFailed("the watchdog process is gone; try again"))
        for process in self._running.values():
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            if not process.exited.done():
                process.exited.set_result(-signal.SIGKILL)
        self._running.clear()
        self._gone.set_result(None)
