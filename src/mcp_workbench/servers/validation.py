"""Values against a JSON Schema: what is wrong, in words that name the place."""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from ..wire.messages import decode


class Validator:
    def __init__(self, schema: Raw) -> None:
        """Raises ValueError for a schema that is none."""
        import jsonschema_rs

        self._compiled: Any = jsonschema_rs.validator_for(decode(schema))

    def problems(self, value: Raw | bytes) -> list[str]:
        """One sentence for each problem; none for a value that fits."""
        try:
            given = decode(value)
            if self._compiled.is_valid(given):
                return []
            if _is_endless(given):
                return ["a number in it is too large to be read"]  # the validator takes it for null
            return [_sentence(error) for error in self._compiled.iter_errors(given)]
        except (ValueError, RecursionError) as error:
            return [f"cannot be read: {error}"]


def _is_endless(value: object) -> bool:
    """Whether it holds a number that `decode` made infinite: 1e400, or one of thousands of digits."""
    import json

    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return True
    return False


def _sentence(error: Any) -> str:
    """The place is written as Python would: `filters[0].name`."""
    place = ""
    for step in error.instance_path:
        place += f"[{step}]" if isinstance(step, int) else f".{step}" if place else step
    message = str(error.message)
    return f"{place}: {message}" if place else message
