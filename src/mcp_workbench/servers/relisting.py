"""Relisting: the tools of a server are listed anew when they have changed, and whoever lists them is told."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from ..chores import Chores

PAUSE = 0.1
"""Seconds between two listings of a server that keeps saying that its tools have changed.

Clients hear of it half as often: most servers say it several times in a row.
"""


PATIENCE = 1.0
"""Seconds that whoever wants to know the tools waits for a listing that is under way."""


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
        self._current: asyncio.Future[None] | None = None
        """Done with the listing that is under way."""
        self._next: asyncio.Future[None] | None = None
        """Done with the one after it, where there will be one."""

    def begin(self, *, announced: bool) -> None:
        """The tools have changed, or may have; `announced` where the server itself said so."""
        self._stale = True
        if self._next is None:
            self._next = asyncio.get_running_loop().create_future()
        self._announced |= announced
        if not self._working:
            self._working = True
            # Not at the end of the work itself: what is cancelled before its first step does not even begin.
            self._chores.begin(self._work()).add_done_callback(self._over)

    async def until_listed(self) -> None:
        """Until a listing is over that begins now or later, or there will be none."""
        self.begin(announced=False)
        assert self._next is not None
        await asyncio.wait({self._next})

    async def until_current(self) -> None:
        """Until what was said of changes so far has been listed, if that does not take long."""
        if (listing := self._next or self._current) is not None:
            await asyncio.wait({listing}, timeout=PATIENCE)

    def tell_soon(self, *, announced: bool = False) -> None:
        """Tell of a change, together with what else changes until then."""
        self._announced |= announced
        if not self._telling:
            self._telling = True
            self._chores.begin(self._tell_later())

    async def _work(self) -> None:
        while self._stale:
            self._stale = False
            self._current, self._next = self._next, None
            before = self._listed()
            could = await self._relist()
            self._done(self._current)
            self._current = None
            if self._announced or self._listed() != before:
                self.tell_soon()
            if not could:
                return  # the last listing stands; a server that is away is listed anew when it is back
            await asyncio.sleep(PAUSE)

    def _over(self, work: asyncio.Task[None]) -> None:
        self._working = False
        for listing in (self._current, self._next):
            self._done(listing)
        self._current = self._next = None

    async def _tell_later(self) -> None:
        try:
            await asyncio.sleep(2 * PAUSE)
        finally:
            self._telling = False
        announced, self._announced = self._announced, False
        self._tell(announced)

    def _done(self, listing: asyncio.Future[None] | None) -> None:
        if listing is not None and not listing.done():
            listing.set_result(None)
