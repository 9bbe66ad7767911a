"""Relisting: the tools of a server are listed anew when they have changed, and whoever lists them is told."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from ..chores import Chores

PAUSE = 0.1
"""Seconds between two listings of a server that keeps saying that its tools have changed.

Clients hear of it half as often: most servers say it several times in a row.
"""


class Relisting:
    """However often it begins meanwhile, one more listing is enough."""

    def __init__(
        self,
        chores: Chores,
        *,
        relist: Callable[[], Awaitable[bool]],
        listed: Callable[[], object],
        tell: Callable[[bool], None],
    ) -> None:
        """`relist` says whether it could; `listed` is what was listed last, to be compared.

        `tell` is called where that has changed or the server said so; it is told whether the server did.
        """
        self._chores = chores
        self._relist = relist
        self._listed = listed
        self._tell = tell
        self._stale = False
        self._announced = False
        self._working = False
        self._telling = False
        self._waiting: list[asyncio.Future[None]] = []

    def begin(self, *, announced: bool) -> None:
        """The tools have changed, or may have; `announced` where the server itself said so."""
        self._stale = True
        self._announced |= announced
        if not self._working:
            self._working = True
            # Not at the end of the work itself: what is cancelled before its first step does not even begin.
            self._chores.begin(self._work()).add_done_callback(self._over)

    async def until_listed(self) -> None:
        """Until a listing is over that begins now or later, or there will be none."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self.begin(announced=False)
        await turn

    def tell_soon(self, *, announced: bool = False) -> None:
        """Tell of a change, together with what else changes until then."""
        self._announced |= announced
        if not self._telling:
            self._telling = True
            self._chores.begin(self._tell_later())

    async def _work(self) -> None:
        while self._stale:
            self._stale = False
            waiting, self._waiting = self._waiting, []
            before = self._listed()
            try:
                could = await self._relist()
            finally:
                self._let_go(waiting)
            if self._announced or self._listed() != before:
                self.tell_soon()
            if not could:
                return  # the last listing stands; a server that is away is listed anew when it is back
            await asyncio.sleep(PAUSE)

    def _over(self, work: asyncio.Task[None]) -> None:
        self._working = False
        self._let_go(self._waiting)

    async def _tell_later(self) -> None:
        try:
            await asyncio.sleep(2 * PAUSE)
        finally:
            self._telling = False
        announced, self._announced = self._announced, False
        self._tell(announced)

    def _let_go(self, waiting: list[asyncio.Future[None]]) -> None:
        for turn in waiting:
            if not turn.done():
                turn.set_result(None)
        waiting.clear()
