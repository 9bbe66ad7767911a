"""Results on their way from a server of one era to a client of another. Contents are never looked at."""

from __future__ import annotations

from contextlib import suppress
from typing import Literal

import msgspec
from msgspec import Raw

from ..errors import Unanswered
from ..wire.lines import Piece
from ..wire.messages import members, patiently, with_member


class Head(msgspec.Struct):
    """What we must know of a result."""

    is_error: Raw = msgspec.field(name="isError", default=Raw())
    result_type: Raw = msgspec.field(name="resultType", default=Raw())
    structured: Raw = msgspec.field(name="structuredContent", default=Raw())


class _Text(msgspec.Struct):
    type: Literal["text"]
    text: str


class _Content(msgspec.Struct):
    content: list[Raw] = []


_decode_content = msgspec.json.Decoder(_Content).decode
_decode_text = msgspec.json.Decoder(_Text).decode
decode_head = msgspec.json.Decoder(Head).decode


class Result:
    """A server's result as it came, with the little that we must know of it."""

    __slots__ = ("_head", "_modern", "raw")

    def __init__(self, raw: Raw | bytes, modern: bool = False, head: Head | None = None) -> None:
        """From a server of the modern or the legacy era. Raises Unanswered where it is no result at all.

        `head` is what `decode_head` made of it, for somebody who has asked before.
        """
        self.raw = raw
        self._modern = modern
        if head is not None:
            self._head = head
            return
        try:
            self._head = decode_head(raw)
        except msgspec.ValidationError:
            raise Unanswered("the server's answer is no result object") from None
        except (msgspec.DecodeError, RecursionError):
            # Lone surrogates, most likely, which the reader of the line has let pass. Then the top level
            # is read by its brackets.
            found = members(bytes(raw))
            self._head = Head(
                *(Raw(found.get(key, b"")) for key in ("isError", "resultType", "structuredContent"))
            )

    @property
    def is_error(self) -> bool:
        return bytes(self._head.is_error) == b"true"

    @property
    def error_text(self) -> str | None:
        """What an error result says first; None for any other."""
        if not self.is_error:
            return None
        try:
            blocks = patiently(_decode_content, self.raw).content
        except (msgspec.DecodeError, RecursionError):
            return ""
        # One by one: what is odd about one block says nothing about the others.
        for block in blocks:
            with suppress(msgspec.DecodeError, RecursionError):
                return _decode_text(block).text
        return ""

    @property
    def needs_input(self) -> bool:
        return bytes(self._head.result_type) == b'"input_required"'

    @property
    def is_task(self) -> bool:
        """Whether the server goes on with it, and this is where to ask for the result."""
        return bytes(self._head.result_type) == b'"task"'

    def pieces(self, modern: bool) -> tuple[Piece, ...]:
        """The result as a client of that era may receive it, untouched where it can be."""
        if modern:
            return (self.raw,) if self._head.result_type else with_result_type(self.raw)
        if self._modern and self._head.structured:
            structured = bytes(self._head.structured)
            if not structured.startswith(b"{"):
                # Only from 2026-07-28 on may it be anything but an object.
                wrapped = b'{"result":%b}' % structured
                return (with_member(bytes(self.raw), "structuredContent", wrapped),)
        return (self.raw,)


class _Fresh(msgspec.Struct):
    result_type: Raw = msgspec.field(name="resultType", default=Raw())
    ttl: Raw = msgspec.field(name="ttlMs", default=Raw())
    scope: Raw = msgspec.field(name="cacheScope", default=Raw())


_decode_fresh = msgspec.json.Decoder(_Fresh).decode


def relayed(raw: Raw, *, modern: bool, kept: bool) -> tuple[Piece, ...]:
    """The result of a request that is no call, as a client of that era may receive it.

    `kept`: a modern client may keep results of this kind, so it needs to know for how long. A server that
    said nothing of that promised nothing.
    """
    if not modern:
        return (raw,)
    try:
        found = _decode_fresh(raw)
    except msgspec.ValidationError:
        raise Unanswered("the server's answer is no result object") from None
    except (msgspec.DecodeError, RecursionError):
        has = members(bytes(raw))
        found = _Fresh(*(Raw(has.get(key, b"")) for key in ("resultType", "ttlMs", "cacheScope")))
    missing = b"" if found.result_type else b'"resultType":"complete",'
    if kept and bytes(found.result_type) in (b"", b'"complete"'):
        missing += b"" if found.ttl else b'"ttlMs":0,'
        missing += b"" if found.scope else b'"cacheScope":"private",'
    if not missing:
        return (raw,)
    rest = bytes(raw)[1:].lstrip()
    return (b"{", missing.rstrip(b",") if rest == b"}" else missing, rest)


def with_result_type(raw: Raw | bytes) -> tuple[Piece, ...]:
    """The object `raw`, with the `resultType` that a modern client needs."""
    text = bytes(raw)
    rest = text[1:].lstrip()
    return (b'{"resultType":"complete"', b"}" if rest == b"}" else b"," + rest)
