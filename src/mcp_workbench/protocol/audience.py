"""Audience: the client at the far end of a call, as somebody whom its server may ask and tell things.

How it is reached is for whoever took the call; whose calls share a connection is for the servers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import msgspec
from msgspec import Raw

from ..errors import RpcError
from ..wire.messages import EMPTY_OBJECT, INVALID_PARAMS, METHOD_NOT_FOUND, patiently

QUESTIONS = {
    "elicitation/create": "elicitation",
    "sampling/createMessage": "sampling",
    "roots/list": "roots",
}
"""What a server may ask, and the capability that says so."""

NOTHING = b""
"""The declaration of a client that cannot be asked anything."""

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


class _Message(msgspec.Struct):
    level: str = ""


class _Elicitation(msgspec.Struct):
    mode: str = "form"


_decode_message = msgspec.json.Decoder(_Message).decode
_decode_elicitation = msgspec.json.Decoder(_Elicitation).decode
_decode_members = msgspec.json.Decoder(dict[str, Raw]).decode


class Audience(ABC):
    modern = False
    """Whether it can be asked only through the result of its call, which it then makes again."""
    quiet = False
    """Whether it hears no log messages before it has named a level."""
    sole = False
    """Whether it is the one client that there is: then whatever a server says is for it, in a call or not."""
    declared: bytes = NOTHING
    """What it can be asked, as `declaration` writes it."""
    level: str | None = None
    """From which on it wants to hear log messages, where it has said so."""

    @property
    def key(self) -> object:
        """Calls of the same key are one client's: asked in any of them, that client is asked."""
        return self

    @property
    def home(self) -> object:
        """Whom the calls of the same client have in common, as far as that can be known.

        An Audience, where the client outlasts its calls.
        """
        return self

    @abstractmethod
    async def ask(self, method: str, params: Raw) -> Raw:
        """The client's own result. Raises RpcError."""

    @abstractmethod
    def tell(self, method: bytes, params: Raw | bytes) -> None:
        """Pass on a notification."""

    def tell_message(self, params: Raw) -> None:
        """Pass on a log message, where it is one that the client wants to hear."""
        if self.level is None:
            wanted = not self.quiet
        else:
            try:
                level = patiently(_decode_message, params).level
            except (msgspec.DecodeError, RecursionError):
                return
            wanted = level not in LEVELS or LEVELS.index(level) >= LEVELS.index(self.level)
        if wanted:
            self.tell(b'"notifications/message"', params)


def refusal_of(method: str, params: Raw, declared: bytes) -> RpcError | None:
    """Why a client that declared this must not be asked that, where it must not."""
    kind = QUESTIONS[method]
    capabilities = _decode_members(declared or EMPTY_OBJECT)
    if kind not in capabilities:
        return RpcError(METHOD_NOT_FOUND, f"The client does not support {kind}")
    if kind == "elicitation":
        try:
            mode = _decode_elicitation(params or EMPTY_OBJECT).mode
            modes = _decode_members(capabilities[kind]) or {"form": EMPTY_OBJECT}
        except (msgspec.DecodeError, RecursionError):
            return RpcError(INVALID_PARAMS, "Invalid params: an elicitation has a mode, a string")
        if mode not in modes:
            return RpcError(INVALID_PARAMS, f"The client does not support elicitation of mode '{mode}'")
    return None


def declaration(capabilities: Raw | bytes, *, modern: bool) -> bytes:
    """What of a client's capabilities is about being asked; the same bytes for the same capabilities.

    The legacy era's `listChanged` of roots is no capability of a `modern` client.
    """
    try:
        said = _decode_members(capabilities) if capabilities else {}
        declared: dict[str, object] = {
            kind: msgspec.json.decode(said[kind], type=dict[str, object])
            for kind in QUESTIONS.values()
            if kind in said
        }
    except (msgspec.DecodeError, RecursionError):
        return NOTHING
    if modern and "roots" in declared:
        declared["roots"] = {}
    return msgspec.json.encode(declared, order="sorted") if declared else NOTHING


def modern_capabilities(declared: bytes) -> bytes:
    """A declaration as the `clientCapabilities` of a modern request."""
    return declaration(declared, modern=True) or EMPTY_OBJECT
