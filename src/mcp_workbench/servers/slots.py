"""How many calls a server has at once: a number of places, and a queue of those who wait for one."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque

from ..errors import Unanswered


class Slots:
    def __init__(self, places: int, queue: int) -> None:
        self._places = places
        self._queue = queue
        self._taken = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    def take_at_once(self) -> bool:
        """A place, where one is free."""
        if self._taken < self._places:
            self._taken += 1
            return True
        return False

    async def take(self) -> None:
        """Wait for a place, first come first served. Raises Unanswered where the queue is full."""
        if self.take_at_once():
            return
        if len(self._waiting) >= self._queue:
            raise Unanswered(
                f"busy: {self._taken} calls are running and {len(self._waiting)} wait "
                "(limits.concurrency and limits.queue); try again later"
            )
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.give_back()  # it was ours already
            else:
                with contextlib.suppress(ValueError):
                    self._waiting.remove(turn)
            raise

    def give_back(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)  # the place goes straight to the next one
                return
        self._taken -= 1
