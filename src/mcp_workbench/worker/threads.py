"""Threads for plain functions: one to a call, kept for the next call."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue

Work = Callable[[], None]

# The workbench sends 32 calls at a time, and each may be a chain of 16 that all wait in this folder.
MOST_THREADS = 32 * 16
IDLE_SECONDS = 30.0


class Busy(Exception):
    def __init__(self) -> None:
        super().__init__(
            f"The tool folder is busy: {MOST_THREADS} plain functions are running. Try again later."
        )


class Threads:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[SimpleQueue[Work]] = []
        self._count = 0

    def run(self, work: Work) -> None:
        """Run `work`, which must not raise, in a thread of its own. Raises Busy."""
        with self._lock:
            if self._idle:
                box = self._idle.pop()
            elif self._count < MOST_THREADS:
                self._count += 1
                box = SimpleQueue["Work"]()
                threading.Thread(target=self._work, args=(box,), daemon=True).start()
            else:
                raise Busy
        box.put(work)

    def _work(self, box: SimpleQueue[Work]) -> None:
        while True:
            try:
                work = box.get(timeout=IDLE_SECONDS)
            except Empty:
                with self._lock:
                    if box in self._idle:
                        self._idle.remove(box)
                        self._count -= 1
                        return
                continue
            work()
            del work  # or the last call's arguments would live as long as this thread is idle
            with self._lock:
                self._idle.append(box)
