"""Arguments against a tool's schema: what is wrong, in words that name the argument."""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from ..wire.messages import decode


class Validator:
    """Compiled when the first arguments come."""

    def __init__(self, schema: Raw) -> None:
        self._schema = schema
        self._compiled: Any = None

    def problems(self, arguments: Raw | bytes) -> list[str]:
        """One sentence for each problem; none for arguments that fit."""
        if self._compiled is None:
            import jsonschema_rs

            self._compiled = jsonschema_rs.validator_for(decode(self._schema))
        given = decode(arguments)
        if self._compiled.is_valid(given):
            return []
        return [_sentence(error) for error in self._compiled.iter_errors(given)]


def _sentence(error: Any) -> str:
    """The place is written as Python would: `filters[0].name`."""
    place = ""
    for step in error.instance_path:
        place += f"[{step}]" if isinstance(step, int) else f".{step}" if place else step
    message = str(error.message)
    return f"{place}: {message}" if place else message
