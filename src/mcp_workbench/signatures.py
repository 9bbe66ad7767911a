"""A tool in a line that a model can call from; who lists tools, and which, is decided elsewhere."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, cast

from .names import ToolRef

LIMIT = 400
"""Characters of a parameter list: past it, detail is given up, innermost first."""

_SENTENCE = 80
"""Characters of a first sentence; of a longer one whole clauses are kept, or else whole words."""
_NODES = 400
_NESTING = 32
_CONSTRAINTS = (
    "format", "pattern", "minLength", "maxLength",
    "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf",
    "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties",
)  # fmt: skip
_PLAIN = re.compile(r"[\w.$@-]+")
_STOP = re.compile(r"[。！？]|(?<=[\w)\]\"'`”’*…])[.!?]+[\"'`)”’*]*(?=\s+[^\sa-z]|\s*$)")
_CLAUSE = re.compile(r"[,;:](?=\s)|\s(?=[(–—-])|[，；：（]")
_ABBREVIATION = re.compile(r"\b(?:e\.?g|i\.?e|etc|vs|cf|approx|incl|max|min|no|[a-z])\.$", re.IGNORECASE)
_BREAK = re.compile(r"\n\s*(?:\n|[-*•]\s|\d+[.)]\s|#|```|Args?:|Parameters:|Returns:)")
_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))} | {
    9: "\\t",
    10: "\\n",
    13: "\\r",
    0x2028: "\\u2028",
    0x2029: "\\u2029",
}


class _Detail(NamedTuple):
    """How much is told: levels of nested objects, members of an enumeration, characters of a literal."""

    depth: int
    choices: int
    literal: int


_DETAILS = (_Detail(4, 8, 40), _Detail(2, 6, 24), _Detail(1, 5, 24), _Detail(0, 3, 12))
_WHOLE = _Detail(1, 60, 200)


def signature(name: str, schema: Mapping[str, Any]) -> str:
    """`read_file(path: string, head?: integer = 10)`, in one line, whatever the schema."""
    return f"{name}({_parameters(schema)})".translate(_CONTROLS)


def line(ref: ToolRef, definition: Mapping[str, Any]) -> str:
    """The signature under the joined name, and the first sentence of the description."""
    said = first_sentence(_description(definition))
    shape = signature(str(ref), _mapping(definition.get("inputSchema")))
    return f"{shape}: {said}" if said else shape


def full(ref: ToolRef, definition: Mapping[str, Any]) -> str:
    """The signature, the whole description, and what the schema says of each parameter."""
    schema = _mapping(definition.get("inputSchema"))
    parts = [signature(str(ref), schema)]
    if said := _description(definition).strip():
        parts.append(said)
    if notes := list(_Printer(schema, _WHOLE).notes(schema)):
        parts.append("Parameters:\n" + "\n".join(notes))
    return "\n".join(parts)


def first_sentence(description: str) -> str:
    """In one line; what is left of a long one ends in `…`."""
    text = description.strip()
    if stop := _BREAK.search(text):
        text = text[: stop.start()]
    text = " ".join(text.lstrip("# ").split())
    for stop in _STOP.finditer(text):
        if not _ABBREVIATION.search(text, 0, stop.end()):
            text = text[: stop.end()]
            break
    return _shortened(text)


def _description(definition: Mapping[str, Any]) -> str:
    for key in ("description", "title"):
        said = definition.get(key)
        if isinstance(said, str) and said.strip():
            return said
    return ""


def _parameters(schema: Mapping[str, Any]) -> str:
    said = ""
    for detail in _DETAILS:
        said = ", ".join(_Printer(schema, detail).members(schema))
        if len(said) <= LIMIT:
            return said
    return _without_optional(schema)


def _without_optional(schema: Mapping[str, Any]) -> str:
    """Required parameters first, since a call fails without them, then as many others as fit."""
    printer = _Printer(schema, _DETAILS[-1])
    members = list(printer.members(schema))
    required = [each for each in members if not _OPTIONAL.match(each)]
    others = [each for each in members if _OPTIONAL.match(each)]
    kept: list[str] = []
    room = LIMIT
    for each in (*required, *others):
        room -= len(each) + 2
        if room < 0:
            break
        kept.append(each)
    return ", ".join([*kept, f"… {len(members) - len(kept)} more"])


_OPTIONAL = re.compile(r'(?:"(?:[^"\\]|\\.)*"|[^\s":]+)\?: ')


class _Shape(NamedTuple):
    """What a schema says of an object's members, its references and parts put together."""

    properties: dict[str, Any]
    required: set[str]
    others: Any


class _Printer:
    """Writes one schema's types. Bounded: a schema that refers to itself, or is vast, ends in `…`."""

    def __init__(self, root: Mapping[str, Any], detail: _Detail) -> None:
        self._root = root
        self._detail = detail
        self._left = _NODES
        self._entered: list[str] = []

    def members(self, schema: Mapping[str, Any], level: int = 0) -> Iterator[str]:
        shape = self._shape(schema)
        for name, member in shape.properties.items():
            if self._left <= 0:
                yield "…"
                return
            yield self._member(name, member, name in shape.required, level)
        if others := _mapping(shape.others):
            yield f"[key]: {self._type(others, level + 1)}"

    def notes(self, schema: Mapping[str, Any], place: str = "", level: int = 0) -> Iterator[str]:
        """A line for each parameter, nested ones too, of which there is more to say than its type."""
        shape = self._shape(schema)
        for name, member in shape.properties.items():
            self._left -= 1
            if self._left <= 0 or level > _NESTING:
                return
            whole = self._resolved(_mapping(member))
            path = f"{place}{_plain(name)}"
            if said := self._note(whole, _mapping(member), name in shape.required):
                yield f"- {path}{said}"
            inner = _mapping(member)
            while _mapping(whole.get("items")) and self._left > 0:
                self._left -= 1
                path += "[]"
                inner = _mapping(whole["items"])
                whole = self._resolved(inner)
            for each in (inner, *self._choices(whole)):
                with self._entering(each) as entered:
                    if entered:
                        yield from self.notes(each, f"{path}.", level + 1)

    def _note(self, whole: Mapping[str, Any], member: Mapping[str, Any], required: bool) -> str:
        said = member.get("description") or whole.get("description")
        constraints = [f"{key} {self._literal(whole[key])}" for key in _CONSTRAINTS if key in whole]
        for choice in self._choices(whole):
            constraints += [f"{key} {self._literal(choice[key])}" for key in _CONSTRAINTS if key in choice]
        if "examples" in whole:
            constraints.append(f"examples {self._literal(whole['examples'])}")
        if not isinstance(said, str) or not said.strip():
            said = ""
        if not said and not constraints:
            return ""
        kind = f" ({self._type(member, 1)}{', required' if required else ''})"
        text = f": {' '.join(said.split())}" if said else ""
        return kind + text + (f" [{', '.join(constraints)}]" if constraints else "")

    def _member(self, name: str, member: Any, required: bool, level: int) -> str:
        kind = self._type(member, level + 1)
        if required:
            return f"{_plain(name)}: {kind}"
        default = ""
        schema = self._resolved(_mapping(member))
        if "default" in schema:
            if schema["default"] is None:
                # Leaving it out says the same, in fewer words.
                kind = kind.removesuffix(" | null")
            else:
                default = f" = {self._literal(schema['default'])}"
        return f"{_plain(name)}?: {kind}{default}"

    def _type(self, value: Any, level: int) -> str:
        self._left -= 1
        schema = _mapping(value)
        if self._left <= 0 or level > _NESTING:
            return "…"
        target = self._resolved(schema)
        with self._entering(schema) as entered:
            said = self._plain_type(target, level) if entered else _plain(_last(schema["$ref"]))
        return f"{said} | null" if target.get("nullable") is True and "null" not in said else said

    @contextmanager
    def _entering(self, schema: Mapping[str, Any]) -> Generator[bool]:
        """Whether it can be entered: a reference inside what it refers to is not followed again."""
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            yield True
        elif reference in self._entered:
            yield False
        else:
            self._entered.append(reference)
            yield True
            self._entered.pop()

    def _plain_type(self, schema: Mapping[str, Any], level: int) -> str:
        if "const" in schema:
            return self._literal(schema["const"])
        if choices := _sequence(schema.get("enum")):
            shown = [self._literal(each) for each in choices[: self._detail.choices]]
            return " | ".join([*shown, "…"] if len(choices) > len(shown) else shown)
        if schema.get("properties") or _sequence(schema.get("allOf")):
            return self._object(schema, level)
        if choices := self._choices(schema):
            return _union(self._type(each, level + 1) for each in choices)
        kind = schema.get("type")
        if isinstance(kind, str):
            return self._named(kind, schema, level)
        if kinds := [each for each in _sequence(kind) if isinstance(each, str)]:
            return _union(self._named(each, schema, level) for each in kinds)
        if "items" in schema or "prefixItems" in schema:
            return self._array(schema, level)
        return "object" if "additionalProperties" in schema else "any"

    def _named(self, kind: str, schema: Mapping[str, Any], level: int) -> str:
        if kind == "object":
            return self._object(schema, level)
        if kind == "array":
            return self._array(schema, level)
        return _plain(kind)

    def _object(self, schema: Mapping[str, Any], level: int) -> str:
        shape = self._shape(schema)
        if not shape.properties:
            parts = [each for each in _sequence(schema.get("allOf")) if _mapping(each)]
            if parts and not _mapping(shape.others):
                return " & ".join(dict.fromkeys(self._type(each, level + 1) for each in parts))
        if level > self._detail.depth or not (shape.properties or _mapping(shape.others)):
            return "object"
        return "{" + ", ".join(self.members(schema, level)) + "}"

    def _array(self, schema: Mapping[str, Any], level: int) -> str:
        places = _sequence(schema.get("prefixItems")) or _sequence(schema.get("items"))
        if places:
            return "[" + ", ".join(self._type(each, level + 1) for each in places) + "]"
        items = schema.get("items")
        inner = self._type(items, level) if _mapping(items) else "any"
        return f"({inner})[]" if " | " in inner and not inner.startswith("{") else f"{inner}[]"

    def _choices(self, schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """The alternatives that are types of their own; `{"required": […]}` alone is not one."""
        found = [*_sequence(schema.get("anyOf")), *_sequence(schema.get("oneOf"))]
        return [each for each in map(_mapping, found) if set(each) - {"required"}]

    def _shape(self, schema: Mapping[str, Any]) -> _Shape:
        shape = _Shape({}, set(), None)
        waiting = [schema]
        steps = _NESTING
        while waiting and steps:
            steps -= 1
            each = self._resolved(waiting.pop(0))
            shape.properties.update({str(k): v for k, v in _mapping(each.get("properties")).items()})
            shape.required.update(name for name in _sequence(each.get("required")) if isinstance(name, str))
            others = each.get("additionalProperties")
            patterns = list(_mapping(each.get("patternProperties")).values())
            if _mapping(others) or patterns:
                shape = shape._replace(others=others if _mapping(others) else patterns[0])
            waiting += [_mapping(part) for part in _sequence(each.get("allOf"))]
            if choices := self._choices(each):
                self._add_choices(shape, choices)
        return shape

    def _add_choices(self, shape: _Shape, choices: list[Mapping[str, Any]]) -> None:
        """Members of alternatives are all shown; only what every alternative requires is required."""
        common: set[str] | None = None
        for each in map(self._resolved, choices):
            for name, member in _mapping(each.get("properties")).items():
                shape.properties.setdefault(str(name), member)
            names = {name for name in _sequence(each.get("required")) if isinstance(name, str)}
            common = names if common is None else common & names
        shape.required.update(common or ())

    def _resolved(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """What a reference means, with what stands beside it; an unknown one is a type by its name."""
        seen: set[str] = set()
        while isinstance(reference := schema.get("$ref"), str):
            beside = {key: value for key, value in schema.items() if key != "$ref"}
            target = self._find(reference)
            if target is None or reference in seen:
                return {"type": _last(reference), **beside}
            seen.add(reference)
            schema = {**target, **beside}
        return schema

    def _find(self, reference: str) -> Mapping[str, Any] | None:
        if not reference.startswith("#"):
            return None
        place: Any = self._root
        for step in reference[1:].split("/")[1:]:
            step = step.replace("~1", "/").replace("~0", "~")
            if isinstance(place, Mapping):
                place = cast("Mapping[str, Any]", place).get(step)
            else:
                return None
        return cast("Mapping[str, Any]", place) if isinstance(place, Mapping) else None

    def _literal(self, value: Any) -> str:
        try:
            text = json.dumps(value, ensure_ascii=False)
        except (RecursionError, ValueError, TypeError):
            return "…"
        return _cut(text, self._detail.literal)


def _last(reference: str) -> str:
    return reference.rsplit("/", 1)[-1] or "any"


def _union(kinds: Iterator[str]) -> str:
    found = list(dict.fromkeys(kinds))
    # Null last: it is the least of what can be given.
    return " | ".join(sorted(found, key=lambda kind: kind == "null"))


def _plain(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def _shortened(sentence: str) -> str:
    if len(sentence) <= _SENTENCE:
        return sentence
    kept = sentence[: _SENTENCE - 1]
    ends = [stop.start() for stop in _CLAUSE.finditer(kept) if stop.start() >= _SENTENCE // 2]
    kept = kept[: ends[-1]] if ends else kept.rpartition(" ")[0] or kept
    return kept.rstrip(" ,;:(") + "…"


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _sequence(value: Any) -> Sequence[Any]:
    return cast("Sequence[Any]", value) if isinstance(value, list | tuple) else ()
