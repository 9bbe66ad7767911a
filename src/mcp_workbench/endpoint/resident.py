"""Resident: a legacy client on a connection of its own, which servers may ask whenever it is there."""

from __future__ import annotations

import asyncio

from msgspec import Raw

from ..errors import RpcError
from ..protocol.audience import NOTHING, Audience
from ..wire.messages import EMPTY_OBJECT, INTERNAL_ERROR, encode
from ..wire.peer import Peer, PeerClosed

GIVEN_UP = 2.0
"""Seconds within which the calls of a client that has gone are given up."""


class Resident(Audience):
    sole = True

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        # Its own, not the class's, since every call looks at them: they are found at once.
        self.modern, self.declared, self.level = False, NOTHING, None

    async def ask(self, method: str, params: Raw) -> Raw:
        try:
            return await self._peer.request(encode(method), params or EMPTY_OBJECT)
        except PeerClosed:
            # The call is about to be given up, and its server should hear that and not of some error.
            await asyncio.sleep(GIVEN_UP)
            raise RpcError(INTERNAL_ERROR, "The client went away") from None

    def tell(self, method: bytes, params: Raw | bytes) -> None:
        self._peer.notify(method, params)
