"""A server that runs as a process of ours and speaks MCP on its standard input and output.

Which program that is, and what is special about it, is for the subclasses.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, NamedTuple

from msgspec import Raw

from ..config import ServerConfig
from ..errors import RpcError, Unanswered
from ..protocol.session import Asked, Era, IncompatibleServer, Session, open_session
from ..wire.messages import EMPTY_OBJECT, METHOD_NOT_FOUND, encode
from ..wire.peer import Limit, Peer, PeerClosed, Request, TimedOut
from .base import TOOLS_CHANGED, Server
from .call import Call
from .link import Link
from .processes import Processes, StartFailed
from .restarts import STARTS, Restarts
from .stderr import Stderr
from .tool import Tool

RELIST_PAUSE = 0.1
"""Seconds between two listings of a server that keeps saying that its tools have changed.

Clients hear of it half as often: most servers say it several times in a row.
"""

_AGAIN = "the next call starts it again"


class Program(NamedTuple):
    path: str
    argv: list[str]
    env: Mapping[str, str]
    cwd: str | None


class _Unread(Unanswered):
    """The process died while it had nothing to do, and never saw the call."""


class SpawnedServer(Server):
    """Also the Receiver of what the process says by itself."""

    def __init__(self, config: ServerConfig, on_change: Callable[[], None], processes: Processes) -> None:
        super().__init__(config, on_change)
        self._processes = processes
        self._link: Link | None = None
        self._stderr: Stderr | None = None
        """Of the newest life, also when that is over."""
        self._era: Era | None = None
        """Known from an earlier life, so that the next one starts without a probe."""
        self._restarts = Restarts()
        self._limit = Limit(config.limits.timeout, config.limits.idle_timeout)
        self._chores: set[asyncio.Task[None]] = set()
        self._relisting = False
        self._stale = False
        self._telling = False

    @abstractmethod
    def _program(self) -> Program:
        """What to run. Raises Unanswered where that cannot be."""

    @property
    def connected(self) -> bool:
        link = self._link
        return link is not None and link.session is not None and not link.peer.closed and link.doubt is None

    def _last_words(self) -> str:
        return self._stderr.last_words() if self._stderr is not None else ""

    # Coming and going

    async def _connect(self) -> list[Raw]:
        if (link := self._link) is not None and link.doubt is not None:
            await asyncio.shield(link.doubt)
        session = self._link.session if self._link is not None else None
        if session is None:
            return await self._begin()
        try:
            return await self._list(session)
        except PeerClosed:
            raise Unanswered("the server went away; try again") from None

    async def _begin(self) -> list[Raw]:
        await self._disconnect()
        self.tasks.forget()
        try:
            session = await self._greet(self._era)
        except PeerClosed:
            session = await self._greet_again()
        except IncompatibleServer as error:
            raise Unanswered(str(error)) from None
        self.modern = session.modern
        self.about = session.about
        self._era = "modern" if session.modern else "legacy"
        try:
            tools = await self._list(session)
        except PeerClosed:
            raise Unanswered(await self._died()) from None
        assert self._link is not None
        self._link.session = session
        self.hearing.begin(session)
        return tools

    async def _greet(self, era: Era | None) -> Session:
        self._link = link = await self._start()
        return await open_session(link.peer, era)

    async def _greet_again(self) -> Session:
        """It may have died of the modern greeting; then it is given one more life, and the legacy one."""
        if self._era is not None:
            raise Unanswered(await self._died()) from None
        await self._disconnect()
        try:
            return await self._greet("legacy")
        except PeerClosed:
            raise Unanswered(await self._died()) from None
        except IncompatibleServer as error:
            raise Unanswered(str(error)) from None

    async def _start(self) -> Link:
        now = asyncio.get_running_loop().time()
        if pause := self._restarts.wait(now):
            raise Unanswered(
                f"it was started {STARTS} times within a minute and did not last; "
                f"the next attempt is possible in {pause:.0f} s"
            )
        self._restarts.started(now)
        self._stderr = None
        try:
            process = await self._processes.start(*self._program())
        except StartFailed as error:
            raise Unanswered(str(error)) from None
        peer = Peer(process.stdout, process.stdin, self, max_line=self.config.limits.max_line)
        self._stderr = Stderr(process.stderr)
        return Link(process, peer, self._stderr)

    async def _died(self) -> str:
        assert self._link is not None
        return f"{await self._link.epitaph()} before it could be used; the next call or opening tries again"

    async def _disconnect(self) -> None:
        self.hearing.end()
        link, self._link = self._link, None
        if link is not None:
            if link.session is not None:  # it was of use until we sent it away
                self._restarts.lasted()
            self._let_go(link)

    def _let_go(self, link: Link) -> None:
        link.peer.close()
        if not link.process.exited.done():
            self._processes.end(link.process)
        # Its stderr is read to the end, which comes when the last that it started has gone.

    # Listing and calling

    async def _list(self, session: Session) -> list[Raw]:
        tools, _ = await session.list_tools()
        return tools

    async def _call(self, tool: Tool, call: Call) -> Raw:
        # The limits are kept by the peer, for all its requests with one timer.
        began = asyncio.get_running_loop().time()
        try:
            return await self._once(lambda session: self._exchange(session, tool, call))
        except _Unread:
            return await self._call_again(tool, call)
        except TimedOut as late:
            self._timed_out(began)
            raise self._too_late(late.idle) from None

    async def _call_again(self, tool: Tool, call: Call) -> Raw:
        """It was dead before it could see the call, which therefore can be made again."""
        await self.connect()
        if tool.name not in self.tools:
            raise Unanswered("the server was started again and no longer offers it")
        try:
            return await self._once(lambda session: self._exchange(session, tool, call))
        except _Unread as unread:
            raise Unanswered(unread.reason) from None
        except TimedOut as late:
            raise self._too_late(late.idle) from None

    async def _ask(self, asked: Asked) -> Raw:
        try:
            return await self._once(lambda session: session.ask(asked))
        except _Unread:
            await self.connect()
        return await self._once(lambda session: session.ask(asked))

    async def _once(self, exchange: Callable[[Session], Awaitable[Raw]]) -> Raw:
        link = self._link
        if link is None or link.session is None:
            raise Unanswered("the server is not connected")
        if link.peer.waiting > link.peer.max_line:
            raise Unanswered("busy: the server does not read what is sent to it; try again later")
        try:
            return await exchange(link.session)
        except PeerClosed as end:
            link.busy |= not end.unread  # the oldest call hears of the end first
            idle = not (link.busy or link.cause)
            reason = await link.epitaph() + ("" if link.cause else " during the call") + f"; {_AGAIN}"
            if words := link.stderr.last_words():
                reason += f". Its last words: {words}"
            raise (_Unread if idle else Unanswered)(reason) from None

    def _timed_out(self, since: float) -> None:
        link = self._link
        # The loop's time stands still for a millisecond or so, hence no `<`.
        if link is not None and link.doubt is None and link.peer.heard <= since:
            link.doubt = self._chore(self._look_for_life(link))

    async def _look_for_life(self, link: Link) -> None:
        """Not a word in all that time: slow, or stopped and of no use to the next call either."""
        alive = await link.is_alive()
        link.doubt = None
        if link is self._link and not alive:
            link.cause = "it did not answer a ping after another call had timed out"
            self._processes.kill(link.process)
            self._link = None
            self._let_go(link)

    def _exchange(self, session: Session, tool: Tool, call: Call) -> Coroutine[Any, Any, Raw]:
        """Say it and hear the answer. Raises RpcError, PeerClosed or TimedOut."""
        if self._limit.idle is not None and call.on_progress is None:
            call.on_progress = _unheard  # asked for all the same: it is a sign of life
        call.token = session.peer.next_id()
        return session.call(
            tool.call_head,
            call.arguments,
            call.meta,
            id=call.token,
            extra=call.extra,
            on_progress=call.on_progress,
            limit=self._limit,
        )

    def _may_have_missed(self) -> None:
        self._tools_changed()

    def _tools_changed(self) -> None:
        self._stale = True
        if not self._relisting:
            self._relisting = True
            self._chore(self._relist())

    async def _relist(self) -> None:
        """The tools changed. However often the server says so meanwhile, one more listing is enough."""
        while self._stale and self._link is not None and self._link.session is not None:
            self._stale = False
            try:
                async with asyncio.timeout(self.config.limits.connect_timeout):
                    definitions = await self._list(self._link.session)
            except (RpcError, PeerClosed, TimeoutError):
                break  # the last listing stands; a dead server is listed anew when it is back
            self.offer(definitions)
            if not self._telling:
                self._telling = True
                self._chore(self._tell())
            await asyncio.sleep(RELIST_PAUSE)
        self._relisting = False

    async def _tell(self) -> None:
        await asyncio.sleep(2 * RELIST_PAUSE)
        self._telling = False
        self._heard(TOOLS_CHANGED, Raw(EMPTY_OBJECT))
        self.on_change()

    def _chore(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Work that nobody waits for."""
        task = asyncio.create_task(work)
        self._chores.add(task)
        task.add_done_callback(self._chores.discard)
        return task

    # What the process says by itself

    def on_request(self, peer: Peer, request: Request) -> None:
        if request.method == "ping":
            request.answer(EMPTY_OBJECT)
        else:
            request.fail(RpcError(METHOD_NOT_FOUND, "Method not found", encode(request.method)))

    def on_notification(self, peer: Peer, method: str, params: Raw) -> None:
        link = self._link
        if method == TOOLS_CHANGED and link is not None and link.session is not None:
            self._tools_changed()
        elif link is not None and link.peer is peer:
            self.hearing.hear(method, params)

    def on_junk(self, peer: Peer, line: bytes, problem: ValueError) -> None:
        self.skipped += 1

    def on_overlong(self, peer: Peer) -> None:
        link = self._link
        if link is not None and link.peer is peer:
            link.cause = (
                f"it wrote a line over limits.maxLine ({peer.max_line} bytes): ask for less or raise it"
            )
            self._processes.kill(link.process)

    def on_closed(self, peer: Peer) -> None:
        link = self._link
        if link is not None and link.peer is peer:
            # Whoever was calling is told the reason, and the next call starts it again.
            self.hearing.end()
            if link.session is not None:
                self._link = None
            self._let_go(link)


def _unheard(_params: Raw) -> None:
    """Progress that nobody but us wants to know of."""
