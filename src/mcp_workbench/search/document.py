"""A tool as words with weights: what is read of a definition, and how much each place in it counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, cast

from ..names import ToolRef
from .words import terms

_NAME = 2.0
_SERVER = 1.0
_DESCRIPTION = 1.0
_PARAMETER = 0.5
_PARAMETER_DESCRIPTION = 0.3
_CHOICE = 0.3

_DEEP = 6
_PARAMETERS = 400


class Document(NamedTuple):
    """`weights` by term, `length` their sum, `name` the terms of the tool's own name."""

    weights: dict[str, float]
    length: float
    name: tuple[str, ...]


def document(ref: ToolRef, definition: Mapping[str, Any]) -> Document:
    """Of any JSON at all: what does not look like a schema is not read."""
    name = terms(ref.name)
    fields = [(_NAME, name), (_SERVER, terms(ref.server)), (_DESCRIPTION, _text(definition, "description"))]
    if "title" in definition:
        fields.append((_PARAMETER, _text(definition, "title")))
    fields += _parameters(definition.get("inputSchema"), _DEEP)
    weights: dict[str, float] = {}
    for weight, found in fields[: 2 * _PARAMETERS]:
        for term in found:
            weights[term] = weights.get(term, 0.0) + weight
    return Document(weights, sum(weights.values()), tuple(dict.fromkeys(name)))


def _parameters(schema: Any, deep: int) -> Iterator[tuple[float, list[str]]]:
    if not isinstance(schema, dict) or not deep:
        return
    schema = cast("dict[str, Any]", schema)
    choices = schema.get("enum")
    if isinstance(choices, list):
        for choice in cast("list[Any]", choices)[:_PARAMETERS]:
            if isinstance(choice, str):
                yield _CHOICE, terms(choice)
    members = schema.get("properties")
    if isinstance(members, dict):
        for name, member in list(cast("dict[str, Any]", members).items())[:_PARAMETERS]:
            yield _PARAMETER, terms(name)
            if isinstance(member, dict):
                member = cast("dict[str, Any]", member)
                if "description" in member:
                    yield _PARAMETER_DESCRIPTION, _text(member, "description")
                yield from _parameters(member, deep - 1)
    yield from _parameters(schema.get("items"), deep - 1)
    for key in ("anyOf", "oneOf", "allOf"):
        parts = schema.get(key)
        if isinstance(parts, list):
            for part in cast("list[Any]", parts)[:_PARAMETERS]:
                yield from _parameters(part, deep - 1)


def _text(holder: Mapping[str, Any], key: str) -> list[str]:
    said = holder.get(key)
    return terms(said) if isinstance(said, str) else []
