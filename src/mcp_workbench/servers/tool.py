"""A tool as its server described it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw

from ..wire.messages import decode, encode


class Tool(msgspec.Struct):
    name: str
    definition: Raw
    """The server's own words."""
    call_head: bytes
    """The beginning of a `tools/call` for it, up to its arguments."""
    read_only: bool
    """Whether it declares that it changes nothing."""

    @property
    def plain(self) -> Mapping[str, Any]:
        """The definition as plain objects; no more than the name, where it is too deep for that."""
        try:
            return decode(self.definition)
        except ValueError:
            return {"name": self.name}


class _Annotations(msgspec.Struct):
    read_only: Raw = msgspec.field(name="readOnlyHint", default=Raw())


class _Definition(msgspec.Struct):
    name: str
    annotations: Raw = Raw()


_decode = msgspec.json.Decoder(_Definition).decode
_decode_annotations = msgspec.json.Decoder(_Annotations).decode


def read_tool(definition: Raw) -> Tool | None:
    """None for a definition without a name, or with a blank one: it could not be called."""
    try:
        read = _decode(definition)
    except (msgspec.DecodeError, RecursionError):
        return None
    if not read.name.strip():
        return None
    return Tool(
        name=read.name,
        definition=Raw(bytes(definition)),  # a copy, or the page that it came in would be kept alive
        call_head=b'{"name":%b,"arguments":' % encode(read.name),
        read_only=_is_read_only(read.annotations),
    )


def unlisted_tool(name: str) -> Tool:
    """One that nobody has described; whether there is such a tool is for its server to say."""
    head = b'{"name":%b,"arguments":' % encode(name)
    return Tool(name=name, definition=Raw(b"{}"), call_head=head, read_only=False)


def _is_read_only(annotations: Raw) -> bool:
    try:
        return bool(annotations) and bytes(_decode_annotations(annotations).read_only) == b"true"
    except (msgspec.DecodeError, RecursionError):
        return False
