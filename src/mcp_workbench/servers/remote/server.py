"""A server that lives elsewhere: one lasting session with it, repaired when it is lost."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, TypeAlias

import msgspec
from msgspec import Raw

from ...config import RemoteConfig
from ...errors import RpcError, Unanswered
from ...protocol import revisions
from ...protocol.audience import Audience
from ...protocol.session import Asked, Era, IncompatibleServer, Session, open_session
from ...wire.messages import EMPTY_OBJECT
from ...wire.peer import Request
from ..base import TOOLS_CHANGED, Tool
from ..call import Call
from ..linked import LinkedServer
from ..traffic import Traffic, askable
from .failures import BadStatus, Cut, NotReached, NotRepeated, ServerTrouble, SessionLost

if TYPE_CHECKING:
    from .channel import Channel
    from .credentials import Credentials
    from .site import Site
    from .stamps import Stamps

PAUSES = (1.0, 2.0, 4.0)
"""Seconds between the attempts to reach a server, give or take a quarter."""

_OLDER = {400, 404, 405}
"""How a server of an earlier revision refuses a request of 2026-07-28."""


class _Annotations(msgspec.Struct):
    read_only: bool = msgspec.field(name="readOnlyHint", default=False)
    idempotent: bool = msgspec.field(name="idempotentHint", default=False)


class _Annotated(msgspec.Struct):
    annotations: _Annotations = msgspec.field(default_factory=_Annotations)


class Link:
    """One session, and the channel that it is held on."""

    def __init__(self, channel: Channel, session: Session, traffic: Traffic) -> None:
        self.channel = channel
        self.session = session
        self.traffic = traffic
        self.usable = True


Remedy: TypeAlias = Callable[[Link], Awaitable[None]]


class RemoteServer(LinkedServer[Link]):
    """Also the Listener of what the server says by itself."""

    config: RemoteConfig

    def __init__(
        self, config: RemoteConfig, on_change: Callable[[], None], credentials: Credentials | None = None
    ) -> None:
        super().__init__(config, on_change)
        self._credentials = credentials
        self._site: Site | None = None
        self._stamps: Stamps | None = None
        self._traffic: dict[Channel, Traffic] = {}
        """What each channel carries that we have not closed."""
        self._greeted: dict[Channel, Link] = {}

    @property
    def connected(self) -> bool:
        return self._link is not None

    def _last_words(self) -> str:
        return ""

    def _timed_out(self, since: float) -> None:
        return  # a request that is given up takes its own connection with it, and nobody else's

    async def close(self) -> None:
        await super().close()
        self._chores.cancel()
        if self._site is not None:
            await self._site.close()

    # Coming and going

    async def _connect(self) -> list[Raw]:
        await self._disconnect()
        link, tools = await self._reach()
        link.traffic.modern_alone = self.config.limits.connections == 1
        self._link = link
        self.modern = link.session.modern
        self.about = link.session.about
        self.hearing.listed()
        return tools

    async def _reach(self) -> tuple[Link, list[Raw]]:
        """Greet the server, again after a pause where it is not there or not well."""
        import random

        loop = asyncio.get_running_loop()
        end = loop.time() + self.config.limits.connect_timeout
        for pause in PAUSES:
            pause *= random.uniform(0.75, 1.25)
            try:
                return await self._greet()
            except (NotReached, ServerTrouble, Cut) as trouble:
                if isinstance(trouble, NotReached) and trouble.final:
                    raise
                if loop.time() + pause >= end:
                    raise  # its own reason is worth more than "time-out"
            await asyncio.sleep(pause)
        return await self._greet()

    async def _greet(self) -> tuple[Link, list[Raw]]:
        self._stamps = None
        link = await self._begin(self._opener)
        try:
            await self.hearing.begin(link.session)
            return link, await self._list(link.session)
        except BaseException:
            await self._close(link.channel, say_goodbye=False)
            raise

    async def _begin(self, audience: Audience | None, era: Era | None = None) -> Link:
        """A session of its own, in which the server may ask whatever this audience can be asked."""
        channel = self._channel()
        traffic = self._traffic[channel] = Traffic(audience, self._count_untied)
        try:
            await channel.open()
            # The older transport belongs to the older era; in the modern one, nobody could be asked on it.
            era = "legacy" if self.config.transport == "sse" else era
            session = await open_session(channel, era, traffic.declared)
        except IncompatibleServer as error:
            await self._close(channel, say_goodbye=False)
            raise Unanswered(str(error)) from None
        except BaseException:
            await self._close(channel, say_goodbye=False)
            raise
        traffic.modern = traffic.tells_apart = session.modern
        if not session.modern and (traffic.declared or session.about.tells or session.about.can("logging")):
            channel.listen()
        link = self._greeted[channel] = Link(channel, session, traffic)
        return link

    def _all(self) -> Iterable[Link]:
        return self._greeted.values()

    async def _open_another(self, audience: Audience | None) -> Link | None:
        first = self._link.traffic if self._link is not None else None
        both = first is not None and first.modern and askable(audience)
        try:
            async with asyncio.timeout(self.config.limits.connect_timeout):
                link = await self._begin(audience, "legacy" if both else None)
                if not link.traffic.modern and link.traffic.declared not in self.further:
                    await self._list_further(link)
                return link
        except TimeoutError:
            raise Unanswered("connection timeout") from None
        except (Unanswered, RpcError):
            if first is None or not both:
                raise
        first.modern_alone = True
        return None

    async def _send_away(self, link: Link) -> None:
        link.usable = False
        await self._close(link.channel, say_goodbye=True)

    async def _close(self, channel: Channel, *, say_goodbye: bool) -> None:
        traffic = self._traffic.pop(channel, None)
        self._greeted.pop(channel, None)
        if traffic is not None:
            traffic.close()
        await channel.close(say_goodbye=say_goodbye)

    def _channel(self) -> Channel:
        # httpx2 is not imported before somebody needs it.
        from .credentials import credentials_for
        from .site import Site
        from .sse import SseChannel
        from .stamps import Stamps
        from .streamable import StreamableChannel

        config, limits = self.config, self.config.limits
        if self._site is None:
            self._site = Site(
                config.url,
                config.headers,
                self._credentials or credentials_for(config),
                connections=limits.connections,
                connect_timeout=limits.connect_timeout,
            )
        if self._link is None:
            self._site.forget_redirects()
        if config.transport == "sse":
            return SseChannel(self._site, self, max_message=limits.max_line)
        stamps = Stamps()
        if self._stamps is None:
            self._stamps = stamps
        return StreamableChannel(
            self._site, self, stamps, max_message=limits.max_line, connections=limits.connections
        )

    async def _disconnect(self) -> None:
        self.hearing.end()
        link, self._link = self._link, None
        if link is not None:
            await self._send_away(link)

    # Listing and calling

    async def _list(self, session: Session) -> list[Raw]:
        usable, _ = await session.list_tools()
        unusable: dict[str, str] = {}
        if session.modern and self._stamps is not None:
            # In a thread, for what it may have to import.
            usable, unusable = await asyncio.to_thread(self._stamps.learn, usable)
        config = self.config
        self.notes = [
            f"Tool '{name}' of server '{config.name}' in toolbox '{config.toolbox}' is left out: {why}"
            for name, why in unusable.items()
        ]
        return usable

    async def _call(self, tool: Tool, call: Call) -> Raw:
        return await self._in_time(
            call,
            lambda: self._repaired(
                call,
                lambda link, id: self._exchange(link, id, tool, call),
                repeatable=_may_be_repeated(tool),
            ),
        )

    async def _ask(self, asked: Asked) -> Raw:
        return await self._repaired(asked, lambda link, id: link.session.ask(asked, id=id), repeatable=True)

    async def _repaired(
        self,
        errand: Call | Asked,
        exchange: Callable[[Link, bytes], Awaitable[Raw]],
        *,
        repeatable: bool,
    ) -> Raw:
        """The result of an exchange, which is made again where that is safe and likely to help."""
        tried: list[Remedy] = []
        while True:
            link = await self._linked(errand)
            try:
                return await self._exchanged(link, errand, exchange)
            except (Unanswered, RpcError) as failure:
                remedy = self._remedy(failure, link, repeatable)
                if remedy is None and isinstance(failure, Cut):
                    raise NotRepeated from None
                if remedy is None or remedy in tried:
                    raise
            tried.append(remedy)
            await remedy(link)

    def _remedy(self, failure: Unanswered | RpcError, link: Link, repeatable: bool) -> Remedy | None:
        """What to do before it is said once more, where it may be."""
        match failure:
            case SessionLost() | NotReached():
                return self._lost
            case Cut() | ServerTrouble() if repeatable:
                return self._as_before
            case BadStatus() if link.session.modern and failure.status in _OLDER:
                return self._lost  # somebody put an older server in its place
            case RpcError(code=revisions.UNSUPPORTED_VERSION):
                return self._lost
            case RpcError() if failure.code == revisions.HEADER_MISMATCH:
                return self._list_again
            case _:
                return None

    async def _lost(self, link: Link) -> None:
        """The session is gone; whoever needs it next connects again."""
        self.on_lost(link.channel)
        await self._close(link.channel, say_goodbye=False)

    async def _list_again(self, link: Link) -> None:
        """The tool's schema has changed, and with it the headers that repeat its arguments."""
        await self._relisting.until_listed()

    async def _as_before(self, link: Link) -> None:
        return

    async def _linked(self, errand: Call | Asked) -> Link:
        """Raises ConnectFailed, or what opening another one does."""
        audience = errand.audience
        while self._link is None:
            await self.connect(audience)
        link = self._link
        return await self._links.choose(audience) if self._links.needed(link.traffic, errand) else link

    async def _exchanged(
        self, link: Link, errand: Call | Asked, exchange: Callable[[Link, bytes], Awaitable[Raw]]
    ) -> Raw:
        id = link.channel.next_id()
        return await self._carry(link, errand, lambda: exchange(link, id), id)

    async def _exchange(self, link: Link, id: bytes, tool: Tool, call: Call) -> Raw:
        call.token = id
        return await link.session.call(
            tool.call_head,
            call.arguments,
            call.meta,
            id=id,
            extra=call.extra,
            on_progress=call.on_progress,
            audience=call.audience,
        )

    # What the server says by itself

    def on_request(self, channel: Channel, request: Request, within: bytes) -> None:
        traffic = self._traffic.get(channel)
        if request.method == "ping":
            request.answer(EMPTY_OBJECT)
        elif traffic is not None:
            traffic.asked(request, within)

    def on_notification(self, channel: Channel, method: str, params: Raw, within: bytes) -> None:
        traffic = self._traffic.get(channel)
        if traffic is not None and traffic.heard(method, params, within):
            return
        link = self._link
        if link is not None and link.channel is not channel:
            return  # of one that is neither listed nor heard
        if method != TOOLS_CHANGED:
            self.hearing.hear(method, params)
        else:
            self._relisting.begin(announced=True)

    def on_lost(self, channel: Channel) -> None:
        self._greeted.pop(channel, None)
        if (traffic := self._traffic.pop(channel, None)) is not None:
            traffic.close()
        link = self._link
        if link is not None and link.channel is channel:
            link.usable = False
            self._link = None
            self.hearing.end()
        for other in self._links:
            if other.channel is channel:
                other.usable = False
                self._links.remove(other)
                break


def _may_be_repeated(tool: Tool) -> bool:
    with contextlib.suppress(msgspec.DecodeError, RecursionError):
        said = msgspec.json.decode(tool.definition, type=_Annotated).annotations
        return said.read_only or said.idempotent
    return False
