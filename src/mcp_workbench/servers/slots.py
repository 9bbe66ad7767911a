"""How many calls a server has at once: a number of places, and a queue of those who wait for one."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from ..errors import Unanswered


class Slots:
    def __init__(self, places: int, queue: int) -> None:
        self._places = places
        self._queue = queue
        self._taken = 0
        self._waiting: deque[Callable[[], None]] = deque()

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
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def turn() -> None:
            if place.done():
                self.give_back()  # nobody waits any more
            else:
                place.set_result(None)

        if not self.wait(turn):
            raise Unanswered(
                f"busy: {self._taken} calls are running and {len(self._waiting)} wait "
                "(limits.concurrency and limits.queue); try again later"
            )
        try:
            await place
        except asyncio.CancelledError:
            if place.cancelled():
                self.withdraw(turn)
            else:
                self.give_back()  # it was ours already
            raise

    def wait(self, turn: Callable[[], None]) -> bool:
        """Have `turn` called when it has a place, in the same order; False where the queue is full."""
        if len(self._waiting) >= self._queue:
            return False
        self._waiting.append(turn)
        return True

    def withdraw(self, turn: Callable[[], None]) -> bool:
        """Wait no more; False where its turn has come."""
        try:
            self._waiting.remove(turn)
        except ValueError:
            return False
        return True

    def give_back(self) -> None:
        if self._waiting:
            self._waiting.popleft()()  # the place goes straight to the next one
        else:
            self._taken -= 1
