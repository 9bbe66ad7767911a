"""The configuration's text as data: what is wrong with the JSON itself is found here, and nothing else."""

import json
import math
import re
from typing import Any, NoReturn, cast

from .place import is_comment
from .problems import Problem

_FIRST_AID = {
    "/": "JSON has no comments: use a key that begins with '_'",
    "#": "JSON has no comments: use a key that begins with '_'",
    "'": 'Use double quotes: "…"',
    "“": 'Use straight double quotes: "…"',
    ",": "Remove the comma, or write what is missing before it",
    "}": "Remove the comma before it, or write what is missing",
    "]": "Remove the comma before it, or write what is missing",
    '"': "Put a comma between the two values, or a colon between key and value",
    "": "The file ends too early: close what is open",
}


# What Python reads and JSON does not know, and what has too many digits for it; strings are passed over.
_NO_NUMBER = re.compile(r'"(?:[^"\\]|\\.)*"|(-?Infinity|NaN|[0-9]{1000,})')

# Whole numbers up to here are what was written.
_EXACT = 2**53

# No configuration needs ten levels; what comes after this module is recursive.
_DEEPEST = 50


class Unparsable(Exception):
    """The text is no JSON; there is one problem, and nothing more to look at."""

    def __init__(self, place: str, wrong: str, fix: str) -> None:
        self.place, self.wrong, self.fix = place, wrong, fix
        super().__init__(wrong)


class _Repeated(dict[str, Any]):
    """An object in which keys were written twice."""

    repeated: tuple[str, ...] = ()


def parse(content: bytes) -> Any:
    """The data of a JSON text, with or without a byte order mark. Raises `Unparsable`."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unparsable(
            _position(content[: error.start].decode("utf-8", "replace")),
            "This is no UTF-8",
            "Save the file as UTF-8",
        ) from None
    if not text.strip():
        raise Unparsable("config", "The file is empty", 'Write at least {"toolboxes": {}}')
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant, parse_float=_number)
    except json.JSONDecodeError as error:
        found = text[error.pos : error.pos + 1]
        aid = _FIRST_AID.get(found, "Correct the JSON there")
        raise Unparsable(_position(text[: error.pos]), error.msg.removesuffix(" at"), aid) from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError:
        start = next((found.start() for found in _NO_NUMBER.finditer(text) if found[1]), 0)
        raise Unparsable(
            _position(text[:start]), "This is no JSON number", "Write a smaller number"
        ) from None


def flaws(data: object) -> list[Problem]:
    """What JSON lets through and nobody means: keys written twice, half characters, endless numbers.

    What is in a comment is nobody's business.

    Raises `Unparsable` where the nesting has no end.
    """
    found: list[Problem] = []
    remaining: list[tuple[tuple[str | int, ...], object]] = [((), data)]
    while remaining:
        place, value = remaining.pop()
        if len(place) > _DEEPEST:
            raise _too_deep()
        if isinstance(value, _Repeated):
            found += [
                Problem((*place, key), "This key is written more than once", "Keep one of them")
                for key in value.repeated
                if not is_comment(place, key)
            ]
        if isinstance(value, dict):
            every = cast("dict[str, object]", value)
            children = {key: child for key, child in every.items() if not is_comment(place, key)}
            found += [
                Problem(place, "A key holds half a character (a lone surrogate)", "Write the whole character")
                for key in children
                if _is_broken(key)
            ]
            remaining += [((*place, key), child) for key, child in children.items()]
        elif isinstance(value, list):
            items = cast("list[object]", value)
            remaining += [((*place, index), child) for index, child in enumerate(items)]
        elif isinstance(value, str) and _is_broken(value):
            found.append(Problem(place, "Half a character (a lone surrogate)", "Write the whole character"))
        elif isinstance(value, float) and not math.isfinite(value):
            found.append(Problem(place, "This number is too large", "Write a smaller one"))
    return found


def _too_deep() -> Unparsable:
    return Unparsable("config", "The JSON is nested too deeply", "Take some levels away")


def _is_broken(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) == len(pairs):
        return data
    seen: set[str] = set()
    marked = _Repeated(data)
    marked.repeated = tuple(dict.fromkeys(key for key, _ in pairs if key in seen or seen.add(key)))
    return marked


def _number(text: str) -> float:
    """To JSON, and to editors, 5.0 is a whole number."""
    number = float(text)
    return int(number) if abs(number) < _EXACT and number.is_integer() else number


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _position(before: str) -> str:
    line = before.count("\n") + 1
    column = len(before) - (before.rfind("\n") + 1) + 1
    return f"line {line}, column {column}"
