"""The event loop that reads the pipe and runs async tools, and its stand-in when a tool blocks it.

All async tools share one loop, because files keep clients, locks and pools that belong to the loop they
were made on; a loop for each call would break them. The price is that `time.sleep` in one async tool stops
the loop. So a watch looks whether the loop still turns; while it does not, the pipe is read and new calls
are run by the next loop, in a thread of its own, and when the first one turns again it takes over again.
Calls that had already begun on a blocked loop wait for it.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any

from .says import say, say_trace

Job = Callable[[], Coroutine[Any, Any, None]]

TICK = 0.25
# Two ticks: one late answer may be the interpreter lock held by an import, and not a blocked loop.
PATIENCE = 2 * TICK
MOST_LOOPS = 64


class Loop:
    """One event loop and the thread that runs it."""

    def __init__(self) -> None:
        self.events = asyncio.new_event_loop()
        self.thread = 0
        self.asked: float | None = None  # when the beat that is still unanswered was sent

    def turn_forever(self) -> None:
        self.thread = threading.get_ident()
        asyncio.set_event_loop(self.events)
        while True:
            # A task made by a tool that calls sys.exit() ends run_forever(), and must not end the worker.
            try:
                self.events.run_forever()
            except BaseException:
                say_trace()

    def beat(self) -> None:
        self.asked = None

    def ask(self) -> None:
        if self.asked is None:
            self.asked = time.monotonic()
            self.events.call_soon_threadsafe(self.beat)

    def is_blocked(self) -> bool:
        return self.asked is not None and time.monotonic() - self.asked >= PATIENCE


class Loops:
    """The loops in order of preference; `current` is the first that turns."""

    def __init__(self, fd: int, on_readable: Callable[[], None]) -> None:
        self._fd = fd
        self._on_readable = on_readable
        self._reading = threading.Lock()
        self._loops = [Loop()]
        self._unstarted: dict[Job, None] = {}
        self._begun: set[Job] = set()
        self.current = self._loops[0]

    def run(self) -> None:
        """Serve on the calling thread, for ever."""
        self._attach(self.current)
        self.current.turn_forever()

    def spawn(self, job: Job) -> None:
        """Run an async job on the current loop; from any thread."""
        self._unstarted[job] = None
        self._post(self.current, job)

    def watch(self) -> None:
        """Called every TICK: see who still turns, and let the first of them be the current loop."""
        if not self._begun and not self._unstarted and self.current is self._loops[0]:
            return
        # Blocked with the pipe in hand means that the workbench does not read what we write: no tool's doing.
        if self._reading.locked():
            return
        turning = next((loop for loop in self._loops if not loop.is_blocked()), None)
        if turning is None and len(self._loops) < MOST_LOOPS:
            turning = Loop()
            self._loops.append(turning)
            threading.Thread(target=turning.turn_forever, daemon=True).start()
        if turning is not None and turning is not self.current:
            self._switch(turning)
        for loop in self._loops:
            loop.ask()

    def _switch(self, loop: Loop) -> None:
        if loop is not self._loops[0]:
            say(f"An async tool blocks the event loop{_place(self.current)}; others go on beside it.")
        self.current = loop
        loop.events.call_soon_threadsafe(self._attach, loop)
        for job in list(self._unstarted):
            self._post(loop, job)

    def stop_reading(self) -> None:
        """At the end of the pipe; called from the loop that reads."""
        self.current.events.remove_reader(self._fd)

    def _attach(self, loop: Loop) -> None:
        loop.events.add_reader(self._fd, self._readable, loop)

    def _readable(self, loop: Loop) -> None:
        with self._reading:
            if loop is self.current:
                self._on_readable()
            else:
                loop.events.remove_reader(self._fd)

    def _post(self, loop: Loop, job: Job) -> None:
        if loop.thread == threading.get_ident():
            self._begin(loop, job)
        else:
            loop.events.call_soon_threadsafe(self._begin, loop, job)

    def _begin(self, loop: Loop, job: Job) -> None:
        loop.events.create_task(self._run(job))

    async def _run(self, job: Job) -> None:
        # A job that a blocked loop had not begun was posted to the next one too; the first to begin has it.
        try:
            del self._unstarted[job]
        except KeyError:
            return
        self._begun.add(job)
        try:
            await job()
        finally:
            self._begun.discard(job)


def _place(loop: Loop) -> str:
    frame = sys._current_frames().get(loop.thread)  # pyright: ignore[reportPrivateUsage]  (there is no other way)
    return "" if frame is None else f" at {frame.f_code.co_filename}, line {frame.f_lineno}"
