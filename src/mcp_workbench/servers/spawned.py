"""A server that runs as a process of ours and speaks MCP on its standard input and output.

Which program that is, and what is special about it, is for the subclasses.
"""

from __future__ import annotations

import asyncio
import contextlib
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from time import monotonic
from typing import Any, NamedTuple, cast

from msgspec import Raw

from ..config import ServerConfig
from ..errors import RpcError, Unanswered
from ..protocol import revisions
from ..protocol.audience import Audience
from ..protocol.session import Asked, Era, IncompatibleServer, Session, open_session
from ..wire import messages
from ..wire.messages import CALL, EMPTY_OBJECT, END, ID, request
from ..wire.peer import Limit, Peer, PeerClosed, Request, TimedOut
from .base import TOOLS_CHANGED, Begun
from .call import Call
from .link import Link
from .linked import LinkedServer
from .processes import Processes, StartFailed
from .restarts import STARTS, Restarts
from .stderr import Stderr
from .tool import Tool
from .traffic import Traffic, askable

FAREWELL_TIME = 5.0
"""Seconds that a process may take to end before another one is started in its place."""

_AGAIN = "the next call starts it again"


class Program(NamedTuple):
    path: str
    argv: list[str]
    env: Mapping[str, str]
    cwd: str | None


class _Unread(Unanswered):
    """The process died while it had nothing to do, and never saw the call."""


class SpawnedServer(LinkedServer[Link]):
    """Also the Receiver of what the process says by itself."""

    def __init__(self, config: ServerConfig, on_change: Callable[[], None], processes: Processes) -> None:
        super().__init__(config, on_change)
        self._processes = processes
        self._lives: dict[Peer, Link] = {}
        """Every process that we have not let go, by the peer that speaks with it."""
        self._stderr: Stderr | None = None
        """Of the newest life, also when that is over."""
        self._era: Era | None = None
        """Known from an earlier life, so that the next one starts without a probe."""
        self._modern_alone = config.limits.connections == 1
        """Whether a legacy client is no reason to greet a modern server as one."""
        self._restarts = Restarts()
        self._limit = Limit(config.limits.timeout, config.limits.idle_timeout)

    @abstractmethod
    def _program(self) -> Program:
        """What to run. Raises Unanswered where that cannot be."""

    @property
    def connected(self) -> bool:
        link = self._link
        return link is not None and link.session is not None and not link.peer.closed and link.doubt is None

    def _all(self) -> Iterable[Link]:
        return self._lives.values()

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
            await self.hearing.begin(session)
            tools = await self._list(session)
        except PeerClosed:
            raise Unanswered(await self._died()) from None
        assert self._link is not None
        self._link.begin(session)
        self._link.traffic.modern_alone = self._modern_alone
        self.hearing.listed()
        return tools

    async def _greet(self, era: Era | None) -> Session:
        self._link = link = await self._start(self._opener)
        return await open_session(link.peer, era, link.traffic.declared)

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

    async def _start(self, audience: Audience | None, *, first: bool = True) -> Link:
        """One beside the `first` is no new start of the server; it counts as one where it does not last."""
        now = asyncio.get_running_loop().time()
        if pause := self._restarts.wait(now):
            raise Unanswered(
                f"it was started {STARTS} times within a minute and did not last; "
                f"the next attempt is possible in {pause:.0f} s"
            )
        if first:
            self._restarts.started(now)
        self._stderr = None
        try:
            process = await self._processes.start(*self._program())
        except StartFailed as error:
            raise Unanswered(str(error)) from None
        peer = Peer(process.stdout, process.stdin, self, max_line=self.config.limits.max_line)
        self._stderr = Stderr(process.stderr)
        self._lives[peer] = link = Link(process, peer, self._stderr, Traffic(audience, self._count_untied))
        return link

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

    async def _open_another(self, audience: Audience | None) -> Link | None:
        both = self._era == "modern" and not self._modern_alone and askable(audience)
        try:
            return await self._greet_another(audience, "legacy" if both else self._era)
        except (Unanswered, RpcError):
            if not both:
                raise
        self._modern_alone = True
        if self._link is not None:
            self._link.traffic.modern_alone = True
        return None

    async def _greet_another(self, audience: Audience | None, era: Era | None) -> Link:
        link = await self._start(audience, first=False)
        try:
            async with asyncio.timeout(self.config.limits.connect_timeout):
                link.begin(await open_session(link.peer, era, link.traffic.declared))
        except PeerClosed:
            raise Unanswered(await link.epitaph()) from None
        except IncompatibleServer as error:
            raise Unanswered(str(error)) from None
        except TimeoutError:
            raise Unanswered("connection timeout") from None
        finally:
            if link.session is None:
                self._let_go(link)
        session = link.session
        if session is not None and not session.modern:
            self.hearing.join(session)
            if link.traffic.declared not in self.further:
                await self._list_further(link)
        return link

    async def _send_away(self, link: Link) -> None:
        """Until it has gone, or takes too long over that: its place is for another."""
        self._let_go(link)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FAREWELL_TIME):
                await asyncio.shield(link.process.exited)

    def _let_go(self, link: Link) -> None:
        self._lives.pop(link.peer, None)
        if link.session is not None:
            self.hearing.leave(link.session)
        link.traffic.close()
        link.peer.close()
        if not link.process.exited.done():
            self._processes.end(link.process)
        # Its stderr is read to the end, which comes when the last that it started has gone.

    # Listing and calling

    async def _list(self, session: Session) -> list[Raw]:
        tools, _ = await session.list_tools()
        return tools

    def straight(self, tool: Tool, call: Call) -> Link | None:
        link = self._link
        if link is None or link.session is None or link.doubt is not None or self._limit.idle is not None:
            return None
        traffic, audience = link.traffic, call.audience
        if audience is not None and (audience.modern is not traffic.modern or audience.level is not None):
            return None
        # Where nothing was declared, anybody may share it; most have nothing to declare.
        declared = traffic.declared or (audience is not None and audience.declared and not traffic.modern)
        if traffic.level is not None or (declared and self._links.needed(traffic, call)):
            return None
        peer = link.peer
        return None if peer.closed or peer.writer.waiting > peer.max_line else link

    def begin(self, begun: Begun) -> bool:
        placed = self._slots.take_at_once()
        if not placed and not self._slots.wait(begun.send):
            return False
        self._active += 1
        if begun.link.traffic.begin(begun.call):
            self._tell_of_roots(begun.link)
        if placed:
            self.send(begun)
        return True

    def send(self, begun: Begun) -> None:
        call, peer, session = begun.call, begun.link.peer, begun.link.session
        if session is None or peer.closed:  # gone since it began to wait for its place
            begun.failed(PeerClosed(unread=True))
            return
        begun.id = id = next(peer.ids)
        meta, tail = begun.meta or call.meta, b"}"
        if meta or session.modern or begun.on_progress is not None:
            token = id if begun.on_progress is not None else b""
            tail = session.call_tail(meta, token, call.audience)
        head, arguments = begun.tool.call_head, call.arguments
        if type(arguments) is bytes:
            line = b"".join((ID, id, CALL, head, arguments, tail, END))
        else:  # not copied yet, so they are large
            line = request(id, b'"tools/call"', head, arguments, tail)
        peer.begin(id, begun, line, self._limit)

    async def mend(self, begun: Begun, problem: RpcError | PeerClosed | TimedOut) -> Raw:
        call = begun.call
        if isinstance(problem, RpcError):
            if problem.code == revisions.URL_ELICITATION:
                begun.link.traffic.required(problem, call.audience)
            raise problem
        if not begun.id:
            return await self._call_again(begun.tool, call)
        if isinstance(problem, TimedOut):
            begun.forgo()
            self._timed_out(begun.end - self._limit.total)
            raise self._too_late(problem.idle)
        try:
            raise await self._lost(begun.link, problem)
        except _Unread:
            return await self._call_again(begun.tool, call)

    async def _call(self, tool: Tool, call: Call) -> Raw:
        # The limits are kept by the peer, for all its requests with one timer.
        began = monotonic()
        try:
            return await self._once(call, lambda session: self._exchange(session, tool, call))
        except _Unread:
            return await self._call_again(tool, call)
        except TimedOut as late:
            self._timed_out(began)
            raise self._too_late(late.idle) from None

    async def _call_again(self, tool: Tool, call: Call) -> Raw:
        """It was dead before it could see the call, which therefore can be made again."""
        await self.connect(call.audience)
        if tool.name not in self.tools:
            raise Unanswered("the server was started again and no longer offers it")
        try:
            return await self._once(call, lambda session: self._exchange(session, tool, call))
        except _Unread as unread:
            raise Unanswered(unread.reason) from None
        except TimedOut as late:
            raise self._too_late(late.idle) from None

    async def _ask(self, asked: Asked) -> Raw:
        try:
            return await self._once(asked, lambda session: session.ask(asked))
        except _Unread:
            await self.connect(asked.audience)
        return await self._once(asked, lambda session: session.ask(asked))

    async def _once(self, errand: Call | Asked, exchange: Callable[[Session], Awaitable[Raw]]) -> Raw:
        link = self._link
        if link is None or link.session is None:
            raise Unanswered("the server is not connected")
        audience = errand.audience
        if self._links.needed(link.traffic, errand):
            link = await self._choose(audience)
            assert link.session is not None
        if link.peer.writer.waiting > link.peer.max_line:
            raise Unanswered("busy: the server does not read what is sent to it; try again later")
        session = link.session
        try:
            return await self._carry(link, errand, lambda: exchange(session))
        except PeerClosed as end:
            raise await self._lost(link, end) from None

    async def _lost(self, link: Link, end: PeerClosed) -> Unanswered:
        """What became of a request to a process that has gone."""
        link.busy |= not end.unread  # the oldest call hears of the end first
        idle = not (link.busy or link.cause)
        reason = await link.epitaph() + ("" if link.cause else " during the call") + f"; {_AGAIN}"
        if words := link.stderr.last_words():
            reason += f". Its last words: {words}"
        return (_Unread if idle else Unanswered)(reason)

    async def _choose(self, audience: Audience | None) -> Link:
        """Raises Unanswered, RpcError or ConnectFailed."""
        try:
            async with asyncio.timeout(self.config.limits.timeout):
                return await self._links.choose(audience)
        except TimeoutError:
            raise self._too_late(idle=False) from None

    def _timed_out(self, since: float) -> None:
        for link in self._lives.values():
            # A clock may stand still for a while, hence no `<`.
            if link.session is not None and link.doubt is None and link.peer.heard <= since:
                link.doubt = self._chores.begin(self._look_for_life(link))

    async def _look_for_life(self, link: Link) -> None:
        """Not a word in all that time: slow, or stopped and of no use to the next call either."""
        alive = await link.is_alive()
        link.doubt = None
        if not alive and link.peer in self._lives:
            link.cause = "it did not answer a ping after another call had timed out"
            self._processes.kill(link.process)
            self._gone(link)

    def _exchange(self, session: Session, tool: Tool, call: Call) -> Coroutine[Any, Any, Raw]:
        """Say it and hear the answer. Raises RpcError, PeerClosed or TimedOut."""
        call.token = session.peer.next_id()
        limit = self._limit
        if limit.idle is not None:
            limit = self._bear_with(session, call, call.token)
            if call.on_progress is None:
                call.on_progress = _unheard  # asked for all the same: it is a sign of life
        return session.call(
            tool.call_head,
            call.arguments,
            call.meta,
            id=call.token,
            extra=call.extra,
            on_progress=call.on_progress,
            limit=limit,
            audience=call.audience,
        )

    def _bear_with(self, session: Session, call: Call, id: bytes) -> Limit:
        """Its limit to begin with: a server is not blamed for its silence while it waits for somebody."""
        peer, limit = cast("Peer", session.peer), self._limit
        call.on_wait = lambda waits: peer.bear_silence(id, None if waits else limit.idle)
        return Limit(limit.total) if call.questions else limit

    # What the process says by itself

    def on_request(self, peer: Peer, request: Request) -> None:
        link = self._lives.get(peer)
        if request.method == "ping":
            request.answer(EMPTY_OBJECT)
        elif link is not None:
            link.traffic.asked(request)

    def on_notification(self, peer: Peer, method: str, params: Raw) -> None:
        link = self._lives.get(peer)
        if link is None or (link.session is not None and link.traffic.heard(method, params)):
            return
        if method != TOOLS_CHANGED:
            self.hearing.hear(method, params)
        elif link is self._link:
            self._relisting.begin(announced=True)
        elif link.session is not None:
            self._chores.begin(self._list_further(link, announced=True))

    def on_junk(self, peer: Peer, line: bytes, problem: ValueError) -> None:
        # 2025-03-26 has batches. What is in one is taken by itself, and answered by itself.
        batch = messages.read_batch(line) if isinstance(problem, messages.NotAMessage) else None
        if not batch:
            self.skipped += 1
            return
        for item in batch:
            try:
                peer.receive(messages.read(item), lambda *line: peer.send(line) if line else None)
            except ValueError:
                self.skipped += 1

    def on_overlong(self, peer: Peer) -> None:
        link = self._lives.get(peer)
        if link is not None:
            link.cause = (
                f"it wrote a line over limits.maxLine ({peer.max_line} bytes): ask for less or raise it"
            )
            self._processes.kill(link.process)

    def on_closed(self, peer: Peer) -> None:
        link = self._lives.get(peer)
        if link is not None:
            # Whoever was calling is told the reason, and the next call starts it again.
            self._gone(link)

    def _gone(self, link: Link) -> None:
        if link is self._link:
            self.hearing.end()
            if link.session is not None:
                self._link = None
        elif self._links.remove(link):
            self._restarts.started(asyncio.get_running_loop().time())
        self._let_go(link)


def _unheard(_params: Raw) -> None:
    """Progress that nobody but us wants to know of."""
