"""Chores: work that nobody waits for. An event loop forgets a task that nobody holds."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any


class Chores:
    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def finish(self) -> None:
        """Until all of them are done."""
        if self._tasks:
            await asyncio.wait(self._tasks)

    def cancel(self) -> None:
        for task in list(self._tasks):
            task.cancel()

    async def end(self) -> None:
        """Cancel them, and wait until that has happened."""
        tasks = list(self._tasks)
        self.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
