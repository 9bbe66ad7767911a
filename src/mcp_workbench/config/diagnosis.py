"""All problems of a configuration that does not decode, found with the schema of its structs.

Slow, and used only when something is wrong; `agreement` has what no schema can say.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, cast

import jsonschema_rs

from .place import Place, as_object, quoted
from .problems import Problem, nearest
from .schema import strict_schema
from .secrets import secrets_in, speaks_of_a_secret
from .written import LimitsEntry

_TYPES = {
    "object": "an object",
    "array": "a list",
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}

# Keys whose values are words, times and sizes: a wrong one is told, to be recognized.
_SETTINGS = {
    *LimitsEntry.__struct_encode_fields__,
    *("detail", "listen", "maxBody", "maxSize", "transport", "type"),
}

_DIGITS = re.compile(r"\+?[0-9]{1,20}")

_INTO_A_TOOLBOX = 'Put it into a toolbox: {"toolboxes": {"NAME": {"description": "…", "mcpServers": {…}}}}'
_ELSEWHERE = {"mcpServers": _INTO_A_TOOLBOX, "servers": _INTO_A_TOOLBOX}


def diagnose(data: object) -> Iterator[Problem]:
    """Each mistake once."""
    schema = strict_schema()
    # A variable's value may hold bytes that are no UTF-8; the validator takes none of those.
    clean = json.loads(json.dumps(data, ensure_ascii=False).encode("utf-8", "replace"))
    errors = list(jsonschema_rs.Draft202012Validator(schema).iter_errors(clean))
    meant: set[tuple[Place, str | None]] = set()
    for place, node, kind in [_facts(schema, clean, error) for error in errors]:
        if kind.name == "additionalProperties":
            for key in kind.unexpected:
                known = as_object(node.get("properties"))
                likely = "toolboxes" if not place and key in _ELSEWHERE else nearest(key, known)
                meant.add((place, likely))
                yield Problem((*place, key), "Unknown key", _instead(key, place, likely, known))
    for error in errors:
        place, node, kind = _facts(schema, clean, error)
        shown = _shown(place, error.instance)
        match kind.name:
            case "additionalProperties":
                pass
            case "required":
                # A required key that is misspelt is one mistake, not two.
                if (place, kind.property) not in meant:
                    wrong = f"The key {quoted(kind.property)} is missing"
                    yield Problem(place, wrong, _example(node, kind.property))
            case "propertyNames":
                yield Problem((*place, kind.error.instance), f"This name {node['errorMessage']}", "Rename it")
            case "type":
                yield _wrong_type(place, error.instance, kind.types)
            case "enum":
                allowed = ", ".join(json.dumps(each) for each in node["enum"])
                yield Problem(place, f"{shown} is not possible here", f"Write one of {allowed}")
            case "anyOf" if "errorMessage" not in node:
                yield _wrong_type(place, error.instance, [str(each.get("type")) for each in node["anyOf"]])
            case _:
                rule = node.get("errorMessage", error.message)
                yield Problem(place, f"{shown} is not possible here", f"It {rule}")


def _facts(
    schema: dict[str, Any], data: object, error: jsonschema_rs.ValidationError
) -> tuple[Place, dict[str, Any], Any]:
    """Where the error is, the part of the schema that it is about, and its kind."""
    node: Any = schema
    for step in error.schema_path[:-1]:
        node = node[step]
    return _place(data, error), as_object(node), error.kind


def _place(data: object, error: jsonschema_rs.ValidationError) -> Place:
    """The validator loses steps through names that are empty, and takes names of digits for numbers."""
    place: list[str | int] = []
    for step in error.instance_path:
        if isinstance(data, list):
            place.append(step)
            data = cast("list[object]", data)[int(step)]
            continue
        while (key := _key(as_object(data), step)) is None and "" in as_object(data):
            place.append("")
            data = as_object(data)[""]
        place.append(str(step) if key is None else key)
        data = as_object(data).get(str(place[-1]))
    while data != error.instance and "" in as_object(data):
        place.append("")
        data = as_object(data)[""]
    return tuple(place)


def _key(data: dict[str, Any], step: str | int) -> str | None:
    if isinstance(step, str):
        return step if step in data else None
    return next((key for key in data if _DIGITS.fullmatch(key) and int(key) == step), None)


def _instead(key: str, place: Place, meant: str | None, known: dict[str, Any]) -> str:
    if not place and key in _ELSEWHERE:
        return _ELSEWHERE[key]
    return f"Did you mean {quoted(meant)}?" if meant else f"Known keys: {', '.join(known)}"


def _example(node: dict[str, Any], key: str) -> str:
    kind = as_object(as_object(node.get("properties")).get(key)).get("type")
    value = "{…}" if kind == "object" else '"…"'
    return f'Add "{key}": {value}'


def _wrong_type(place: Place, found: object, types: list[str]) -> Problem:
    expected = " or ".join(_TYPES.get(each, each) for each in types)
    actual = next(_TYPES[name] for name, kind in _KINDS if isinstance(found, kind))
    fix = f"Write {expected}"
    if types == ["string"] and isinstance(found, (bool, int, float)):
        fix = 'Put it into quotes: "…"'
        if not _may_be_secret(place, found):
            fix = f"Write {json.dumps(json.dumps(found))}"
    elif types == ["array"] and isinstance(found, str):
        fix = 'Put it into a list: ["…"]'
    elif types == ["boolean"] and found in ("true", "false"):
        fix = f"Write {found}, without quotes"
    elif types == ["integer"] and isinstance(found, str) and found.isdecimal() and len(found) < 16:
        fix = f"Write {int(found)}, without quotes"
    elif found is None:
        fix = f"Write {expected}, or leave the key out"
    return Problem(place, f"Expected {expected}, found {actual}", fix)


_KINDS: list[tuple[str, type | tuple[type, ...]]] = [
    ("boolean", bool),
    ("number", (int, float)),
    ("string", str),
    ("array", list),
    ("null", type(None)),
    ("object", object),
]


def _shown(place: Place, value: object) -> str:
    """A value in a message, if it is short and nobody keeps a secret there."""
    if not isinstance(value, (str, bool, int, float)):
        return "This"
    shown = json.dumps(value)
    if len(shown) <= 24 and not _may_be_secret(place, value):
        return shown
    return "This text" if isinstance(value, str) else "This number"


def _may_be_secret(place: Place, value: str | float) -> bool:
    if isinstance(value, bool) or (isinstance(value, str) and not value.strip()):
        return False
    name = next((step for step in reversed(place) if isinstance(step, str)), "")
    if not isinstance(value, str):
        return speaks_of_a_secret(name) or bool(secrets_in(name, json.dumps(value)))
    match place:
        case ("toolboxes", _, "mcpServers", _, "env" | "headers" | "auth", *_) | ("http", "tokens", *_):
            return True
        case _:
            return name not in _SETTINGS and bool(secrets_in(name, value))
