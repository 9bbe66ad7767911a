"""What a tool may return besides text and data: images, audio, links; and the JSON of Python values."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, cast

_IMAGES = {"png": "image/png", "jpg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"}
_AUDIO = {"wav": "audio/wav", "mp3": "audio/mpeg", "ogg": "audio/ogg", "flac": "audio/flac"}

# What a ready content block of each type must hold; blocks of other types pass as they are.
_FIELDS = {
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource_link": ("uri", "name"),
    "resource": ("resource",),
}

if TYPE_CHECKING:
    PathLike = str | os.PathLike[str]


class NoContent(ValueError):
    """A value that cannot be turned into content."""


class _Media:
    type = ""
    formats: dict[str, str] = {}  # noqa: RUF012 (read only; ClassVar says nothing more here)
    usual = ""

    def __init__(
        self, data: bytes | None = None, *, path: PathLike | None = None, mime_type: str | None = None
    ) -> None:
        if (data is None) == (path is None):
            raise TypeError(f"{type(self).__name__} takes either data or path=")
        self.data = data
        self.path = path
        self.mime_type = mime_type

    def block(self) -> dict[str, Any]:
        from base64 import b64encode

        data = self.data
        mime_type = self.mime_type
        if self.path is not None:
            with open(self.path, "rb") as file:
                data = file.read()
            ending = os.path.splitext(self.path)[1][1:].lower()
            mime_type = mime_type or self.formats.get("jpg" if ending == "jpeg" else ending)
        return {
            "type": self.type,
            "data": b64encode(data or b"").decode(),
            "mimeType": mime_type or self.usual,
        }


class Image(_Media):
    """An image, from bytes or from a file: `Image(data)`, `Image(path="plot.png")`."""

    type, formats, usual = "image", _IMAGES, "image/png"


class Audio(_Media):
    """A sound, from bytes or from a file: `Audio(data)`, `Audio(path="voice.mp3")`."""

    type, formats, usual = "audio", _AUDIO, "audio/wav"


class Link:
    """A link to a resource that the client may fetch: `Link("https://example.com/report.pdf", "Report")`."""

    def __init__(self, uri: str, name: str | None = None, *, mime_type: str | None = None) -> None:
        self.uri = uri
        self.name = name
        self.mime_type = mime_type

    def block(self) -> dict[str, Any]:
        block = {"type": "resource_link", "uri": self.uri, "name": self.name or self.uri}
        if self.mime_type is not None:
            block["mimeType"] = self.mime_type
        return block


def is_ours(value: Any) -> bool:
    """Whether a value is one of the classes above, which are content wherever they stand."""
    return isinstance(value, (_Media, Link))


def is_content(value: Any) -> bool:
    """Whether a value is a content block by itself: one of ours, a ready dict, or a model of one."""
    if is_ours(value):
        return True
    if isinstance(value, dict):
        return _is_block(value)  # pyright: ignore[reportUnknownArgumentType]
    # Data may have a `type` too: only what is a block as a whole is one.
    if not hasattr(value, "model_dump") or not _is_kind(getattr(value, "type", None)):
        return False
    return _is_block(value.model_dump(mode="json", by_alias=True, exclude_none=True))


def _is_kind(value: Any) -> bool:
    return isinstance(value, str) and value in _FIELDS


def _is_block(value: dict[str, Any]) -> bool:
    kind = value.get("type")
    if not _is_kind(kind):
        return False
    if kind == "resource":
        resource = value.get("resource")
        return isinstance(resource, dict) and "uri" in resource
    return all(isinstance(value.get(field), str) for field in _FIELDS[cast("str", kind)])


def block(value: Any) -> dict[str, Any]:
    """The content block that a value is; text for a string. Raises NoContent."""
    if isinstance(value, str):
        return {"type": "text", "text": value}
    if isinstance(value, (_Media, Link)):
        return value.block()
    if hasattr(value, "model_dump"):
        value = value.model_dump(mode="json", by_alias=True, exclude_none=True)
    if not isinstance(value, dict):
        raise NoContent(f"a content block is a dict with 'type', and this is {type(value).__name__}")
    kind = value.get("type")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if not isinstance(kind, str):
        raise NoContent("a content block has no 'type'")
    missing = [field for field in _FIELDS.get(kind, ()) if field not in value]
    if missing:
        raise NoContent(f"a content block of type {kind!r} has no {missing[0]!r}")
    return value  # pyright: ignore[reportUnknownVariableType]


def jsonable(value: Any) -> Any:
    """The JSON form of a value that JSON does not know, one level deep. Raises TypeError."""
    import dataclasses
    import datetime
    import decimal
    import enum
    import uuid

    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (set, frozenset)):
        return list(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if isinstance(value, (uuid.UUID, decimal.Decimal, os.PathLike)):
        return str(value)  # pyright: ignore[reportUnknownArgumentType]
    raise TypeError(f"a value of type {type(value).__name__} has no JSON form")
