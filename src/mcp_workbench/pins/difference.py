"""The difference between two definitions in words: a line for each place. Knows nothing of pins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from .definition import written

AROUND = 24
"""Characters that are shown on either side of where two long texts differ."""


def difference(before: object, after: object) -> list[str]:
    """A line for each member that was added, removed or changed, with its path and its values."""
    return list(_lines("", before, after))


def in_short(lines: list[str], *, most: int = 5, width: int = 200) -> str:
    """The same as one line, where there is no room for all of it."""
    shown = [line if len(line) <= width else f"{line[:width]}…" for line in lines[:most]]
    if len(lines) > most:
        shown.append(f"and {len(lines) - most} more")
    return "; ".join(shown)


def _lines(path: str, before: object, after: object) -> Iterator[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _members(path, cast("dict[str, Any]", before), cast("dict[str, Any]", after))
        return
    old, new = written(cast("object", before)), written(after)
    if old != new:
        yield f"{path or 'definition'}: {' → '.join(_contrast(old, new))}"


def _members(path: str, before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    for key in dict.fromkeys([*before, *after]):
        step = written(key)[1:-1]
        place = f"{path}.{step}" if path else step
        if key not in after:
            yield f"{place}: removed, was {written(before[key])}"
        elif key not in before:
            yield f"{place}: added, {written(after[key])}"
        else:
            yield from _lines(place, before[key], after[key])


def _contrast(old: str, new: str) -> tuple[str, str]:
    """Both texts without what is the same at both ends, but for a few words."""
    shortest = min(len(old), len(new))
    head = next((at for at in range(shortest) if old[at] != new[at]), shortest)
    rest = shortest - head
    tail = next((at for at in range(rest) if old[-1 - at] != new[-1 - at]), rest)
    skip, drop = max(head - AROUND, 0), max(tail - AROUND, 0)

    def middle(text: str) -> str:
        return ("…" if skip else "") + text[skip : len(text) - drop] + ("…" if drop else "")

    return middle(old), middle(new)
