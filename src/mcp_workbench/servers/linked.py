"""A server that is spoken with over connections: a first, which is listed and heard, and further ones for
clients that must not share it. How one is opened is for the subclasses.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Iterable
from typing import Generic, Protocol, TypeVar

from msgspec import Raw

from ..chores import Chores
from ..config import ServerConfig
from ..errors import RpcError, Unanswered
from ..protocol import revisions
from ..protocol.audience import Audience
from ..protocol.session import Asked, Session
from ..wire.messages import EMPTY_OBJECT, notification
from ..wire.peer import PeerClosed
from .base import TOOLS_CHANGED, Server
from .call import Call
from .links import Carrier, Links
from .relisting import Relisting
from .tool import Tool


class Connection(Carrier, Protocol):
    @property
    def session(self) -> Session | None:
        """None while the server is being greeted."""
        ...


L = TypeVar("L", bound=Connection)


class LinkedServer(Server, Generic[L]):
    def __init__(self, config: ServerConfig, on_change: Callable[[], None]) -> None:
        super().__init__(config, on_change)
        self._link: L | None = None
        """The first connection."""
        self._links = Links[L](
            config.limits.connections,
            first=lambda: self._link,
            reopen=self._reopen,
            open=self._open_another,
            let_go=self._send_away,
        )
        self._chores = Chores()
        self._relisting = Relisting(
            self._chores, relist=self._relist, listed=self._definitions, tell=self._tell_of_tools
        )

    @abstractmethod
    async def _open_another(self, audience: Audience | None) -> L | None:
        """One more, for a client that must not share one; None where those will do that there are.

        Raises Unanswered or RpcError.
        """

    @abstractmethod
    async def _send_away(self, link: L) -> None:
        """Close a further connection."""

    @abstractmethod
    async def _list(self, session: Session) -> list[Raw]:
        """The definitions of the tools. Raises RpcError, Unanswered or PeerClosed."""

    # Connections

    async def _reopen(self, audience: Audience | None) -> None:
        if self._connecting is None:
            await self._disconnect()
        await self.connect(audience)

    async def _disconnect_all(self) -> None:
        await self._links.close()
        await self._disconnect()

    async def refresh(self, audience: Audience | None = None) -> None:
        await self._links.meet(audience, self.further)
        await self.settle()

    async def settle(self) -> None:
        await self._relisting.until_current()

    async def find(self, name: str) -> Tool | None:
        if name not in self.tools:  # a tool may have said that there are more now
            await self.settle()
        return self.tools.get(name)

    async def _carry(
        self, link: L, errand: Call | Asked, exchange: Callable[[], Awaitable[Raw]], id: bytes = b""
    ) -> Raw:
        """The result of an exchange on this connection, during which the server may ask and tell things.

        `id` is that of its request, where what the server says meanwhile may come with it.
        """
        traffic, audience, session = link.traffic, errand.audience, link.session
        assert session is not None
        if traffic.begin(errand, id):
            self._tell_of_roots(link)
        try:
            if traffic.level is not None or (audience is not None and audience.level is not None):
                await traffic.agree_on_level(session)
            return await exchange()
        except RpcError as error:
            if error.code == revisions.URL_ELICITATION:
                traffic.required(error, audience)
            raise
        finally:
            traffic.end(errand, id)

    def roots_changed(self, home: object) -> None:
        for link in list(self._all()):
            if link.traffic.last is home:
                self._tell_of_roots(link)

    def _tell_of_roots(self, link: L) -> None:
        if link.traffic.hears_of_roots and link.session is not None:
            link.session.peer.send(notification(b'"notifications/roots/list_changed"', EMPTY_OBJECT))

    @abstractmethod
    def _all(self) -> Iterable[L]:
        """Every connection whose server was greeted."""

    # Tools that change

    def _may_have_missed(self) -> None:
        self._relisting.begin(announced=False)

    async def _relist(self) -> bool:
        if self._connecting is not None:  # it said so before it could be used
            await asyncio.wait({self._connecting})
        link = self._link
        if link is None or link.session is None:
            return False
        try:
            async with asyncio.timeout(self.config.limits.connect_timeout):
                definitions = await self._list(link.session)
        except (RpcError, Unanswered, PeerClosed, TimeoutError):
            return False
        if link is not self._link:
            return False  # another has been listed meanwhile
        self.offer(definitions)
        return True

    async def _list_further(self, link: L, *, announced: bool = False) -> None:
        """Offer what a further connection lists beside what the first does, where it can be listed.

        `announced` where the server said that it has changed.
        """
        assert link.session is not None
        try:
            async with asyncio.timeout(self.config.limits.connect_timeout):
                self.offer_further(link.traffic.declared, await self._list(link.session))
        except (RpcError, Unanswered, PeerClosed, TimeoutError):
            return
        self._relisting.tell_soon(announced=announced)

    def _definitions(self) -> list[bytes]:
        return [bytes(tool.definition) for tool in self.found.values()]

    def _tell_of_tools(self, announced: bool) -> None:
        if announced:
            self._heard(TOOLS_CHANGED, Raw(EMPTY_OBJECT))
        self.on_change()
