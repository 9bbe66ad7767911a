"""Links: the connections of one server beyond its first, for clients that must not share one at a time."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Container, Iterator
from typing import Generic, Protocol, TypeVar

from ..errors import RpcError, Unanswered
from ..protocol.audience import Audience
from ..protocol.session import Asked
from .call import Call
from .traffic import Traffic

SPARE_TIME = 300.0
"""Seconds after which a further connection is closed that nobody uses."""


class Carrier(Protocol):
    traffic: Traffic

    @property
    def usable(self) -> bool: ...


L = TypeVar("L", bound=Carrier)


class Links(Generic[L]):
    def __init__(
        self,
        most: int,
        *,
        first: Callable[[], L | None],
        reopen: Callable[[Audience | None], Awaitable[None]],
        open: Callable[[Audience | None], Awaitable[L | None]],
        let_go: Callable[[L], Awaitable[None]],
    ) -> None:
        """`most` counts the first connection too, which is not kept here; `reopen` makes another of it.

        `open` gives None where it turns out that those will do that there are.
        """
        self._most = most
        self._first = first
        self._reopen = reopen
        self._open = open
        self._let_go = let_go
        self._more: list[L] = []
        self._opening = 0
        self._waiting: list[asyncio.Future[None]] = []
        self._farewells: set[asyncio.Task[None]] = set()
        self._sweeper: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._more)

    def __iter__(self) -> Iterator[L]:
        return iter(self._more)

    async def choose(self, audience: Audience | None) -> L:
        """One for the next call of this audience, opened or waited for where there is none.

        Raises what `open` and `reopen` do. The call has to begin before anything else is waited for.
        """
        while True:
            first = self._first()
            if first is None:
                await self._reopen(audience)
                continue
            takers = [each for each in (first, *self._more) if each.usable and each.traffic.takes(audience)]
            if takers:
                # What a client left behind in a server, it should find there again.
                home = audience.home if audience is not None else None
                link = next(
                    (each for each in takers if each.traffic.modern or each.traffic.last == home), takers[0]
                )
                link.traffic.used = asyncio.get_running_loop().time()
                return link
            idle = [link for link in self._more if not link.traffic.calls]
            if self._most == 1 and not first.traffic.calls:
                await self._reopen(audience)
            elif self._has_room:
                if (added := await self._add(audience)) is not None:
                    return added
            elif idle and not self._farewells:
                self._send_away(min(idle, key=lambda link: link.traffic.used))
            else:
                await self._until_free(first)

    async def meet(self, audience: Audience | None, listed: Container[bytes]) -> None:
        """Have one for a client whose like was never listed, if there is room: nobody is waited for.

        A server may offer more to a client that can do more. What cannot be opened, calls will tell of.
        """
        first = self._first()
        if first is None or first.traffic.modern or audience is None or not audience.declared:
            return
        known = audience.declared == first.traffic.declared or audience.declared in listed
        if not known and self._has_room:
            with contextlib.suppress(Unanswered, RpcError):
                await self._add(audience)

    @property
    def _has_room(self) -> bool:
        return 1 + len(self._more) + self._opening + len(self._farewells) < self._most

    def needed(self, traffic: Traffic, errand: Call | Asked) -> bool:
        """Whether the first connection, whose traffic this is, should not carry it."""
        audience = errand.audience
        if not traffic.takes(audience):
            return audience is not None or not isinstance(errand, Asked)  # what is asked for nobody may share
        return bool(self._more and traffic.declared and audience and traffic.last != audience.home)

    def remove(self, link: L) -> bool:
        """Whether it was one of these; nobody is given it any more."""
        if link not in self._more:
            return False
        self._more.remove(link)
        link.traffic.close()
        self._wake()
        return True

    async def close(self) -> None:
        if self._sweeper is not None:
            self._sweeper.cancel()
        for link in list(self._more):
            self._send_away(link)
        if self._farewells:
            await asyncio.wait(self._farewells)

    async def _add(self, audience: Audience | None) -> L | None:
        self._opening += 1
        try:
            link = await self._open(audience)
        finally:
            self._opening -= 1
            self._wake()
        if link is not None:
            self._more.append(link)
            self._sweep_later()
        return link

    def _send_away(self, link: L) -> None:
        self.remove(link)

        async def farewell() -> None:
            await self._let_go(link)

        def gone(task: asyncio.Task[None]) -> None:
            self._farewells.discard(task)
            self._wake()

        task = asyncio.create_task(farewell())
        self._farewells.add(task)
        task.add_done_callback(gone)

    async def _until_free(self, first: L) -> None:
        """Until one of them may carry something else than it does now."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        for link in (first, *self._more):
            link.traffic.on_free = self._wake
        try:
            await turn
        finally:
            if turn in self._waiting:
                self._waiting.remove(turn)
            if not self._waiting:
                first.traffic.on_free = None

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for link in self._more:
            link.traffic.on_free = None
        for turn in waiting:
            if not turn.done():
                turn.set_result(None)

    def _sweep_later(self) -> None:
        if self._sweeper is None:
            self._sweeper = asyncio.get_running_loop().call_later(SPARE_TIME, self._sweep)

    def _sweep(self) -> None:
        self._sweeper = None
        now = asyncio.get_running_loop().time()
        for link in list(self._more):
            if not link.traffic.calls and now - link.traffic.used >= SPARE_TIME:
                self._send_away(link)
        if self._more:
            self._sweep_later()
