"""Arguments as people type them, `key=value`, read by what the tool's schema says of each key."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, cast

from ..errors import WorkbenchError
from .not_found import nearest


class BadArgument(WorkbenchError):
    """`written` cannot be read; says what was expected in its place."""

    def __init__(self, written: str, expected: str) -> None:
        super().__init__(f"{written}; expected {expected}")


class MissingArguments(BadArgument):
    def __init__(self, keys: Iterable[str], signature: str) -> None:
        super().__init__("missing: " + " ".join(f"{key}=…" for key in keys), signature)


class Arguments:
    """`values` is what the tool is called with; `warnings` are about keys that it does not know."""

    def __init__(self, written: Iterable[str], schema: Mapping[str, Any]) -> None:
        """Raises BadArgument."""
        self.values: dict[str, Any] = {}
        self.warnings: list[str] = []
        self._properties = _object(schema.get("properties"))
        required = schema.get("required")
        self._required = (
            [str(key) for key in cast("list[Any]", required)] if isinstance(required, list) else []
        )
        for each in written:
            self._read(each)

    @property
    def missing(self) -> list[str]:
        return [key for key in self._required if key not in self.values]

    def _read(self, written: str) -> None:
        key, equals, text = written.partition("=")
        if not equals or not key:
            raise BadArgument(written, "key=value, or key:=JSON")
        if key.endswith(":"):
            key = key[:-1]
            value = _json(written, text, "JSON after :=")
        else:
            value = self._value(written, key, text)
        if key not in self._properties and (meant := nearest(key, self._properties)) is not None:
            self.warnings.append(f"the tool declares no argument '{key}'. Did you mean '{meant}'?")
        before = self.values.get(key)
        if isinstance(before, list) and isinstance(value, list):
            value = [*cast("list[Any]", before), *cast("list[Any]", value)]
        self.values[key] = value

    def _value(self, written: str, key: str, text: str) -> Any:
        kinds = _kinds(_object(self._properties.get(key)))
        if kinds == {"string"}:
            return text
        if "array" in kinds and not text.lstrip().startswith("["):
            items = _kinds(_object(_object(self._properties.get(key)).get("items")))
            return [text if items <= {"string"} else _json(written, text, " or ".join(sorted(items)))]
        if not kinds or "string" in kinds:
            # Nothing says what it is: what reads as JSON and is no string is that.
            try:
                return json.loads(text)
            except ValueError:
                return text
        return _json(written, text, " or ".join(sorted(kinds)))


def _json(written: str, text: str, expected: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise BadArgument(written, expected) from None


def _kinds(schema: Mapping[str, Any]) -> set[str]:
    """The JSON types that a schema allows, as far as it says so plainly; empty where it does not."""
    said = schema.get("type")
    if isinstance(said, str):
        return {said}
    if isinstance(said, list):
        return {str(each) for each in cast("list[Any]", said)}
    choices = schema.get("enum")
    if isinstance(choices, list) and all(isinstance(each, str) for each in cast("list[Any]", choices)):
        return {"string"}
    either = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(either, list):
        return {kind for each in cast("list[Any]", either) for kind in _kinds(_object(each))}
    return set()


def _object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
