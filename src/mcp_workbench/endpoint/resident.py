"""Resident: a legacy client on a connection of its own, which servers may ask whenever it is there."""

from __future__ import annotations

from msgspec import Raw

from ..errors import RpcError
from ..protocol.audience import Audience
from ..wire.messages import EMPTY_OBJECT, INTERNAL_ERROR, encode
from ..wire.peer import Peer, PeerClosed


class Resident(Audience):
    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    @property
    def key(self) -> object:
        return self

    @property
    def home(self) -> object:
        return self

    async def ask(self, method: str, params: Raw) -> Raw:
        try:
            return await self._peer.request(encode(method), params or EMPTY_OBJECT)
        except PeerClosed:
            raise RpcError(INTERNAL_ERROR, "The client went away") from None

    def tell(self, method: bytes, params: Raw | bytes) -> None:
        self._peer.notify(method, params)
