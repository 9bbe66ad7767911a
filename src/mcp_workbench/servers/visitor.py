"""Visitor: a modern client in one of its requests, which is asked through the result and comes again."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Raw

from ..errors import RpcError
from ..protocol.audience import Audience
from ..wire.messages import INTERNAL_ERROR


class Visitor(Audience):
    modern = True
    quiet = True

    def __init__(
        self,
        declared: bytes,
        level: str | None,
        principal: str | None,
        notify: Callable[[bytes, bytes], None],
        *,
        responses: Raw,
        state: Raw,
    ) -> None:
        """`responses` and `state` are what it brings where it was asked before, else empty."""
        self.declared = declared
        self.level = level
        self.responses = responses
        self.state = state
        self._principal = principal
        self._notify = notify

    @property
    def home(self) -> object:
        """Nothing tells two of them apart but who they said they are."""
        return self._principal or ""

    async def ask(self, method: str, params: Raw) -> Raw:
        raise RpcError(INTERNAL_ERROR, f"{method} can be asked in a result alone")

    def tell(self, method: bytes, params: Raw | bytes) -> None:
        self._notify(method, bytes(params))
