"""A tool's definition as a value: read, hashed and written. Where it came from is not known here."""

from __future__ import annotations

import json
import math
import re
from typing import Any


def read(text: str | bytes) -> Any:
    """The JSON in a text. Raises ValueError also for what readers of JSON understand differently."""
    return json.loads(text, object_pairs_hook=_members, parse_float=_number, parse_constant=_number)


def value_of(definition: bytes) -> Any:
    """What a server said of a tool; where it cannot be read in one way only, its very text."""
    try:
        return read(definition)
    except (ValueError, RecursionError):
        return definition.decode(errors="backslashreplace")


def digest(value: object) -> str:
    """The hash of every member, whatever the order of keys."""
    import hashlib

    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def written(value: object, indent: int | None = None) -> str:
    """JSON to be looked at: what a reader could not see or would be misled by stands as an escape."""
    return _NOT_ASCII.sub(_escaped, json.dumps(value, sort_keys=True, ensure_ascii=False, indent=indent))


_NOT_ASCII = re.compile(r"[^\n\x20-\x7e]")


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    return character if character.isprintable() else json.dumps(character)[1:-1]


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a key stands there twice")
    return members


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is out of range")
    return number
