"""Tickets: what clients know the tasks of several servers by.

Whose task it is and what its server calls it stands in the ticket, signed; nothing is remembered of it here.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

import msgspec

from ..names import TaskRef
from ..wire.messages import encode

_SIGNATURE = 16
"""Bytes of it."""

_decode = msgspec.json.Decoder(tuple[str, str, str]).decode


class Tickets:
    def __init__(self, secrets: Iterable[str]) -> None:
        """`secrets` are those of the configuration: processes that share it know each other's tickets."""
        known = sorted(secrets)
        self._secret = encode(known) if known else os.urandom(32)

    def issue(self, ref: TaskRef, holder: str | None) -> str:
        """A ticket that only this principal can use."""
        import base64

        content = encode((ref.toolbox, ref.server, ref.id))
        return base64.urlsafe_b64encode(self._signature(content, holder) + content).decode().rstrip("=")

    def read(self, ticket: str, holder: str | None) -> TaskRef | None:
        """None for what is no ticket of ours, or not this holder's."""
        import base64
        import hmac

        try:
            data = base64.urlsafe_b64decode(ticket + "=" * (-len(ticket) % 4))
        except ValueError:
            return None
        signature, content = data[:_SIGNATURE], data[_SIGNATURE:]
        if not hmac.compare_digest(signature, self._signature(content, holder)):
            return None
        return TaskRef(*_decode(content))

    def _signature(self, content: bytes, holder: str | None) -> bytes:
        # Not at the top: serving starts without it.
        import hashlib

        key = hashlib.sha256(b"mcp-workbench tasks" + self._secret).digest()
        return hashlib.blake2b(encode(holder) + content, key=key, digest_size=_SIGNATURE).digest()
