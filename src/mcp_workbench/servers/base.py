"""A source of tools: connected once for everyone who needs it, and again when it was lost.

What kinds there are, and how each is reached, is for the subclasses.
"""

from __future__ import annotations

import asyncio
import contextlib
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Literal, TypeVar

from msgspec import Raw

from ..config import ServerConfig
from ..errors import ConnectFailed, RpcError, Unanswered, said_of_a_mistake
from ..protocol import tasks
from ..protocol.about import About
from ..protocol.audience import Audience
from ..protocol.session import Asked
from ..wire.peer import PeerClosed, Pending, TimedOut
from .call import Call
from .hearing import Hearing
from .link import Link
from .offering import Offering
from .slots import Slots
from .tasks import Tasks
from .tool import Tool

T = TypeVar("T")

TOOLS_CHANGED = "notifications/tools/list_changed"


class Begun(Pending, kw_only=True):
    """A call that goes on its way to a process with no task of its own."""

    server: Server
    tool: Tool
    link: Link
    call: Call
    id: bytes = b""
    """That of the request; empty while it waits for a place."""
    meta: Raw = Raw()
    """What is said in place of the client's `_meta`, where it is not that."""

    def send(self) -> None:
        """It has a place."""
        self.server.send(self)

    def forgo(self) -> None:
        """No longer wait for the reply."""
        if self.id:
            self.link.peer.cancel(self.id)


def _unheard(server: Server, method: str, params: Raw) -> None:
    return


class Server(Offering, ABC):
    """`connect` and `call` may be used by any number of tasks at once."""

    def __init__(self, config: ServerConfig, on_change: Callable[[], None]) -> None:
        super().__init__(config)
        self.marks = False
        """Whether its results may hold what is for us alone, and `unmarked` has to take it out."""
        self.skipped = 0
        """Lines of it that were no messages."""
        self.unasked = 0
        """Questions of it that could not be tied to one client."""
        self.untold = 0
        """Log messages of it that could not be tied to one client."""
        self.modern = False
        """The era it was found to live in when it was last connected."""
        self.about = About()
        """What it said of itself when it was last connected."""
        self.failure: ConnectFailed | None = None
        """Why the last attempt to connect failed, until one succeeds."""
        self.masked: Callable[[str], str] = str
        """Takes secrets out of what is said of its trouble."""
        self.on_change = on_change
        self.on_notice: Callable[[Server, str, Raw], None] = _unheard
        """Who hears what the server says of its lists and resources: a notification's method and params.

        That its tools have changed is told when they are listed anew.
        """
        self.hearing = Hearing(self._heard, self._may_have_missed)
        self.tasks = Tasks()
        """Those that it works on for clients."""
        self._slots = Slots(config.limits.concurrency, config.limits.queue)
        self._connecting: asyncio.Task[None] | None = None
        self._opener: Audience | None = None
        """For whom it is being connected, or was: what they declared, it was told."""
        self._active = 0
        """Calls under way, waiting ones and inner ones included, and whoever waits for the connection."""
        self.asleep = False
        """Put to sleep because nobody used it: the listing holds, and only a call needs to wake it."""
        self._tires = config.limits.idle_shutdown is not None
        self._sleep: asyncio.TimerHandle | None = None
        self._rest: asyncio.Future[None] | None = None

    @property
    @abstractmethod
    def connected(self) -> bool: ...

    @abstractmethod
    async def _connect(self) -> list[Raw]:
        """Connect and return the definitions of the tools. Raises Unanswered or RpcError."""

    @abstractmethod
    async def _call(self, tool: Tool, call: Call) -> Raw:
        """The raw result, within the limits on time. Raises Unanswered or RpcError."""

    @abstractmethod
    async def _ask(self, asked: Asked) -> Raw:
        """The raw result. Raises Unanswered or RpcError."""

    @abstractmethod
    async def _disconnect(self) -> None:
        """Let go of whatever `_connect` got hold of, finished or not."""

    async def _disconnect_all(self) -> None:
        """Let go of all connections, where there may be several."""
        await self._disconnect()

    def _count_untied(self, what: Literal["question", "message"]) -> None:
        if what == "question":
            self.unasked += 1
        else:
            self.untold += 1

    @abstractmethod
    def _may_have_missed(self) -> None:
        """The server may have told of a change while nobody listened."""

    @abstractmethod
    def _last_words(self) -> str:
        """What the server itself said of its trouble."""

    @abstractmethod
    def _timed_out(self, since: float) -> None:
        """A call that began at `since`, by the monotonic clock, got no answer; it may be past help."""

    async def connect(self, audience: Audience | None = None) -> None:
        """Be connected, and know the tools. Raises ConnectFailed.

        `audience` is for whom; whoever else comes may need a connection of their own.
        """
        if self.connected:
            return
        if self._connecting is None:
            self._opener = audience
            self._connecting = asyncio.create_task(self._connect_in_time())
            self._connecting.add_done_callback(self._connect_done)
        self._active += 1
        try:
            # Whoever gives up waiting leaves the others their connection.
            await asyncio.shield(self._connecting)
        finally:
            self._finished()

    async def refresh(self, audience: Audience | None = None) -> None:
        """See whether the listing still holds, for this client too. Most servers tell when it does not."""
        return

    async def settle(self) -> None:
        """Wait a moment for the tools to be listed anew, where the server has said that they changed."""
        return

    async def find(self, name: str) -> Tool | None:
        """The tool that is offered by this name now."""
        return self.tools.get(name)

    async def call(self, tool: Tool, call: Call) -> Raw:
        """The raw result of a call, in its limits. Raises ConnectFailed, Unanswered or RpcError."""
        self._active += 1
        try:
            if not self.connected:
                await self.connect(call.audience)
            if call.parent is not None:
                return await self._call(tool, call)
            if not self._slots.take_at_once():
                await self._slots.take()
            try:
                return await self._call(tool, call)
            finally:
                self._slots.give_back()
        finally:
            self._finished()

    def straight(self, tool: Tool, call: Call) -> Link | None:
        """The connection on which a call can go with nothing to wait for but a place and its answer."""
        return None

    def begin(self, begun: Begun) -> bool:
        """Make a call that can go straight; False where too many wait for a place.

        Whoever began it says `end`, after the reply or in its place, and `mend`s what failed.
        """
        raise NotImplementedError

    def send(self, begun: Begun) -> None:
        """Send a call that was begun, when it has a place."""
        raise NotImplementedError

    async def mend(self, begun: Begun, problem: RpcError | PeerClosed | TimedOut) -> Raw:
        """The raw result of a call that was begun and got none, if there can be one after all.

        Raises ConnectFailed, Unanswered or RpcError.
        """
        raise NotImplementedError

    def unmarked(self, raw: Raw, call: Call) -> Raw:
        """A result without what is between the server and us alone."""
        return raw

    def end(self, begun: Begun) -> None:
        """A call that was begun is over."""
        begun.link.traffic.end(begun.call)
        if begun.id or not self._slots.withdraw(begun.send):
            self._slots.give_back()
        self._finished()

    async def ask(self, asked: Asked) -> Raw:
        """The raw result of a request that is no call, in the same limits unless it is a patient one.

        Raises ConnectFailed, Unanswered or RpcError.
        """
        self._active += 1
        try:
            if not self.connected:
                await self.connect(asked.audience)
            if asked.patient:
                return await self._ask(asked)
            await self._slots.take()
            try:
                async with asyncio.timeout(self.config.limits.timeout):
                    return await self._ask(asked)
            except TimeoutError:
                raise self._too_late(idle=False) from None
            finally:
                self._slots.give_back()
        finally:
            self._finished()

    async def retire(self) -> None:
        """Let the calls under way finish, then close. No new ones may come."""
        while self._active:
            self._rest = asyncio.get_running_loop().create_future()
            await self._rest
        await self.close()

    async def close(self) -> None:
        if self._sleep is not None:
            self._sleep.cancel()
        if self._connecting is not None:
            self._connecting.cancel()
        await self._disconnect_all()

    def roots_changed(self, home: object) -> None:
        """The client of this home has other roots than before; where the server was told that it would
        hear of that, it does.
        """
        return

    def _heard(self, method: str, params: Raw) -> None:
        if method == tasks.STATUS and (task := tasks.read_task(params)) is not None:
            self.tasks.hear(task)
        self.on_notice(self, method, params)

    def _finished(self) -> None:
        self._active -= 1
        if not self._active and (self._rest is not None or self._tires):
            self._at_rest()

    def _at_rest(self) -> None:
        if self._rest is not None and not self._rest.done():
            self._rest.set_result(None)
        if (pause := self.config.limits.idle_shutdown) is not None:
            if self._sleep is not None:
                self._sleep.cancel()
            self._sleep = asyncio.get_running_loop().call_later(pause, self._fall_asleep)

    def _fall_asleep(self) -> None:
        """Nobody used it for a while. The listing stays, and the next call wakes it."""
        if self.hearing.watching or self.tasks.unfinished:
            self._at_rest()  # somebody waits for its news, or its work; looked at again in as long a while
        elif not self._active and self._connecting is None and self.connected:
            self._farewell = asyncio.create_task(self._disconnect_if_unused())

    async def _disconnect_if_unused(self) -> None:
        if not self._active:  # a call may have come before this task got its turn
            self.asleep = True
            await self._disconnect_all()

    async def _connect_in_time(self) -> None:
        config = self.config
        self.asleep = False
        try:
            if config.problem is not None:
                raise Unanswered(config.problem)
            async with asyncio.timeout(config.limits.connect_timeout):
                self.offer(await self._connect())
            self.failure = None
            if not self._active:
                self._at_rest()
        except (Unanswered, RpcError) as error:
            raise await self._failed(error.reason) from None
        except TimeoutError:
            raise await self._failed("connection timeout") from None
        except Exception as mistake:  # of ours, most likely; it must not be the end of the other servers
            import traceback

            traceback.print_exception(mistake)
            raise await self._failed(said_of_a_mistake(mistake)) from None
        except asyncio.CancelledError:
            await self._disconnect()
            raise

    async def _failed(self, reason: str) -> ConnectFailed:
        """To connect has; the reason is kept until it succeeds."""
        words = self._last_words()
        await self._disconnect()
        if words:
            reason = f"{reason}. Its last words: {words}"
        self.failure = ConnectFailed(self.config.name, self.config.toolbox, self.masked(reason))
        return self.failure

    def _connect_done(self, task: asyncio.Task[None]) -> None:
        self._connecting = None
        if not task.cancelled():
            task.exception()  # whoever waited has it; nobody may have

    async def in_all(self, work: Awaitable[T]) -> T:
        """Work that is made of several calls, or waits for others than the server, in the time of one call.

        Raises Unanswered.
        """
        try:
            async with asyncio.timeout(self.config.limits.timeout):
                return await work
        except TimeoutError:
            raise self._too_late(idle=False) from None

    async def _in_time(self, call: Call, answer: Callable[[], Awaitable[Raw]]) -> Raw:
        """What `answer` gives, for a kind of server that keeps the limits on time no other way."""
        limits = self.config.limits
        tell = call.on_progress
        began = monotonic()  # which is the loop's clock
        end = began + limits.timeout
        idle = limits.idle_timeout
        limit = asyncio.timeout_at(end if idle is None else min(end, began + idle))
        try:
            async with limit:
                if idle is not None:
                    silence = _Silence(limit, end, idle, tell)
                    call.on_progress, call.on_wait = silence.progressed, silence.waits
                return await answer()
        except TimeoutError:
            self._timed_out(began)
            raise self._too_late(idle=limit.when() != end) from None
        finally:
            # The call may be made again, and an answer may come when nobody waits for it any more.
            call.on_progress, call.on_wait = tell, None

    def _too_late(self, idle: bool) -> Unanswered:
        limits = self.config.limits
        what, setting = (
            (f"no progress for {limits.idle_timeout:g} s", "idleTimeout")
            if idle
            else (f"no answer within {limits.timeout:g} s", "timeout")
        )
        return Unanswered(f"time-out: {what} (limits.{setting}; raise it for slow tools)")


class _Silence:
    """A limit on it, which progress puts off, and which does not hold while the server waits for somebody."""

    def __init__(
        self, limit: asyncio.Timeout, end: float, idle: float, tell: Callable[[Raw], None] | None
    ) -> None:
        self._limit = limit
        self._end = end
        self._idle = idle
        self._tell = tell
        self._holds = True

    def progressed(self, params: Raw) -> None:
        self._put_off()
        if self._tell is not None:
            self._tell(params)

    def waits(self, waits: bool) -> None:
        self._holds = not waits
        self._put_off()

    def _put_off(self) -> None:
        now = asyncio.get_running_loop().time()
        with contextlib.suppress(RuntimeError):  # it is over, or about to be
            self._limit.reschedule(min(self._end, now + self._idle) if self._holds else self._end)
