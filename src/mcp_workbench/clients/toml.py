"""Tables of a TOML file: read, added at the end, and taken out, with every other line kept."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, cast

_HEADER = re.compile(r"^[ \t]*\[\[?(?P<name>[^\]\n]+)\]\]?[ \t]*(?:#[^\n]*)?$", re.MULTILINE)
_BARE = re.compile(r"[A-Za-z0-9_-]+")


class NotToml(ValueError):
    """The text cannot be read, or not be changed without touching something else."""


def parse(text: str) -> dict[str, Any]:
    """Raises NotToml."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise NotToml(str(error)) from None


def with_table(text: str, path: Sequence[str], value: Mapping[str, Any]) -> str:
    """The text with a table of its own for `value` at the end. Raises NotToml."""
    text = without_table(text, path)
    newline = "\r\n" if "\r\n" in text else "\n"
    kept = text.rstrip()
    lines = [f"[{_name(path)}]", *(f"{_name([key])} = {inline(each)}" for key, each in value.items())]
    longer = (kept + newline * 2 if kept else "") + newline.join(lines) + newline
    if _at(parse(longer), path) != value:
        raise NotToml(f"{_name(path)} is written in a form that cannot be extended")
    return longer


def without_table(text: str, path: Sequence[str]) -> str:
    """The text without the table and its subtables; the same where there is none. Raises NotToml."""
    if _at(parse(text), path) is None:
        return text
    shorter = text
    for start, end in reversed(_spans(text, list(path))):
        shorter = shorter[:start] + shorter[end:]
    expected = parse(text)
    _without(expected, path)
    if _pruned(parse(shorter)) != _pruned(expected):
        raise NotToml(f"{_name(path)} is not written as a table of its own")
    return shorter


def _spans(text: str, path: list[str]) -> list[tuple[int, int]]:
    """Each table at or below `path`, from its header up to the next header or the comments above that."""
    headers = list(_HEADER.finditer(text))
    ends = [*(header.start() for header in headers[1:]), len(text)]
    spans: list[tuple[int, int]] = []
    for header, end in zip(headers, ends, strict=False):
        if _parts(header["name"])[: len(path)] == path:
            body = text[header.start() : end]
            # Comments right above the next table belong to that one.
            following = re.search(r"(?:^[ \t]*#[^\n]*\n)+\Z", body, re.MULTILINE)
            cut = following.start() if following and end < len(text) else len(body)
            spans.append((header.start(), header.start() + cut))
    return spans


def _parts(name: str) -> list[str]:
    """The keys of a header; empty where they cannot be read."""
    try:
        found: Any = tomllib.loads(f"[{name}]")
    except tomllib.TOMLDecodeError:
        return []
    parts: list[str] = []
    while found:
        [(key, found)] = found.items()
        parts.append(key)
    return parts


def _name(path: Sequence[str]) -> str:
    return ".".join(key if _BARE.fullmatch(key) else json.dumps(key) for key in path)


def inline(value: object) -> str:
    """A value on one line."""
    if isinstance(value, Mapping):
        members = cast("Mapping[str, object]", value).items()
        return "{ " + ", ".join(f"{_name([key])} = {inline(each)}" for key, each in members) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(inline, cast("list[object]", value))) + "]"
    return json.dumps(value, ensure_ascii=False)


def _at(data: Any, path: Sequence[str]) -> Any:
    for key in path:
        if not isinstance(data, dict) or key not in data:
            return None
        data = cast("dict[str, Any]", data)[key]
    return data


def _without(data: dict[str, Any], path: Sequence[str]) -> None:
    parent = _at(data, path[:-1])
    del parent[path[-1]]


def _pruned(data: Any) -> Any:
    """Without empty tables: whether they are there says nothing."""
    if not isinstance(data, dict):
        return data
    members = {key: _pruned(each) for key, each in cast("dict[str, Any]", data).items()}
    return {key: each for key, each in members.items() if each != {}}
