"""Eras: requests of a client of one era to a server of the other, which differ in how a server asks.

A legacy server asks while it works, a modern one in its result. Where both are of one era, nobody is needed
in between.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import msgspec
from msgspec import Raw

from ..errors import CallFailed, RpcError, Unanswered
from ..protocol.audience import Audience
from ..protocol.results import Result
from ..protocol.session import Asked
from ..wire.messages import encode
from .base import Server
from .call import Call
from .held import HeldCall, HeldCalls, purpose_of
from .rounds import see_through
from .tool import Tool
from .visitor import Visitor

_OF_RETRIES = ("inputResponses", "requestState")


class Eras:
    def __init__(self) -> None:
        self._held = HeldCalls()

    async def call(self, server: Server, tool: Tool, call: Call) -> Result:
        """One round of a modern client's call of a legacy server. Raises what `server.call` does."""
        visitor = call.audience
        assert isinstance(visitor, Visitor)
        inner = msgspec.structs.replace(call, extra=())

        def begin(held: HeldCall) -> Coroutine[Any, Any, Raw]:
            inner.audience = held
            inner.on_progress = held.progressed if call.on_progress is not None else None
            return server.call(tool, inner)

        purpose = purpose_of(visitor.home, call.ref, arguments=call.arguments)
        limit = server.config.limits.timeout
        try:
            return Result(await self._held.call(visitor, purpose, limit, begin, call.on_progress))
        finally:
            call.trace = inner.trace

    async def see_through(
        self,
        server: Server,
        call: Call,
        audience: Audience,
        result: Result,
        make: Callable[[Call], Awaitable[Result]],
    ) -> Result:
        """The last result of a legacy client's call of a modern server, given the first one.

        `make` makes the call again for each round, as a call of its own. Raises CallFailed, and what `make`
        raises.
        """
        if not result.needs_input:
            return result

        async def again(more: dict[str, Raw]) -> Result:
            pairs = ((b',"%b":' % key.encode(), value) for key, value in more.items())
            extra = tuple(piece for pair in pairs for piece in pair)
            return await make(msgspec.structs.replace(call, extra=extra, again=True))

        try:
            return await server.in_all(see_through(result, audience, again, call.waits_for))
        except Unanswered as failure:
            raise CallFailed(call.ref, server.masked(failure.reason)) from None
        except RpcError as error:
            raise CallFailed(call.ref, error.reason, error) from None

    async def ask(self, server: Server, asked: Asked) -> Raw:
        """What `server.ask` gives, to an audience of either era. Raises the same."""
        if not server.connected:
            await server.connect(asked.audience)
        audience = asked.audience
        if audience is None or audience.modern is server.modern:
            return await server.ask(asked)
        own = {key: value for key, value in asked.params.items() if key not in _OF_RETRIES}
        if isinstance(audience, Visitor):
            inner = msgspec.structs.replace(asked, params=own)

            def begin(held: HeldCall) -> Coroutine[Any, Any, Raw]:
                inner.audience = held
                inner.on_progress = held.progressed if asked.on_progress is not None else None
                return server.ask(inner)

            place = (server.config.toolbox, server.config.name, asked.method)
            named = encode({key: value for key, value in own.items() if key != "_meta"})
            purpose = purpose_of(audience.home, *place, arguments=named)
            limit = server.config.limits.timeout
            return await self._held.call(audience, purpose, limit, begin, asked.on_progress)

        async def again(more: dict[str, Raw]) -> Result:
            asked.params = own | more
            return Result(await server.ask(asked), modern=True)

        result = Result(await server.ask(asked), modern=True)
        if result.needs_input:
            result = await server.in_all(see_through(result, audience, again, asked.waits_for))
        return Raw(result.raw)

    def close(self) -> None:
        """Give up the calls that are held open."""
        self._held.close()
