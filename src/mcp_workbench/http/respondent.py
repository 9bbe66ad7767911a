"""Respondent: a legacy client over HTTP, which is asked on the stream of its call and answers with a POST."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable

from msgspec import Raw

from ..errors import RpcError
from ..protocol.audience import Audience
from ..wire import messages
from ..wire.lines import Piece
from ..wire.messages import EMPTY_OBJECT, INTERNAL_ERROR, Message, encode
from .streams import Stream


class Respondent(Audience):
    """For as long as its session lasts; `within` is the same client in one of its calls."""

    def __init__(self, declared: bytes, own: Stream) -> None:
        """`own` is the stream of what belongs to no request."""
        self.declared = declared
        self._own = own
        self._ids = itertools.count(1)
        self._asked: dict[bytes, asyncio.Future[Raw]] = {}

    async def ask(self, method: str, params: Raw) -> Raw:
        return await self.ask_through(self._own.put, method, params)

    def tell(self, method: bytes, params: Raw | bytes) -> None:
        self._own.put(*messages.notification(method, params))

    def within(self, put: Callable[..., bool]) -> Audience:
        """In a call, whose stream takes messages through `put`, or says that it does not."""

        def put_somewhere(*message: Piece) -> None:
            if not put(*message):
                self._own.put(*message)

        return _InACall(self, put_somewhere)

    def answered(self, reply: Message) -> None:
        """The client has answered one of our requests, or it says so."""
        waiting = self._asked.get(reply.key)
        if waiting is None or waiting.done():
            return
        if reply.error:
            waiting.set_exception(messages.read_error(reply.error))
        else:
            waiting.set_result(reply.result)

    def leave(self) -> None:
        """Nobody will answer any more."""
        for waiting in self._asked.values():
            if not waiting.done():
                waiting.set_exception(RpcError(INTERNAL_ERROR, "The client went away"))

    async def ask_through(self, put: Callable[..., None], method: str, params: Raw) -> Raw:
        """Ask on a stream that takes messages through `put`. Raises RpcError."""
        id = b"%d" % next(self._ids)
        answer = self._asked[id] = asyncio.get_running_loop().create_future()
        put(*messages.request(id, encode(method), params or EMPTY_OBJECT))
        try:
            return await answer
        except asyncio.CancelledError:
            reason = b'{"requestId":%b,"reason":"no longer needed"}' % id
            put(*messages.notification(b'"notifications/cancelled"', reason))
            raise
        finally:
            del self._asked[id]


class _InACall(Audience):
    def __init__(self, client: Respondent, put: Callable[..., None]) -> None:
        self.declared = client.declared
        self.level = client.level
        self._client = client
        self._put = put

    @property
    def key(self) -> object:
        return self._client

    @property
    def home(self) -> object:
        return self._client

    async def ask(self, method: str, params: Raw) -> Raw:
        return await self._client.ask_through(self._put, method, params)

    def tell(self, method: bytes, params: Raw | bytes) -> None:
        self._put(*messages.notification(method, params))
