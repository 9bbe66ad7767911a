"""Masking in JSON that somebody else wrote. Which texts are secret is for whoever asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from ...wire import messages

Mask = Callable[[str], str]


def masked_json(written: bytes, mask: Mask) -> bytes:
    """JSON without what `mask` hides in its strings, and as it is written where it hides nothing.

    What is no JSON is taken as a text.
    """
    text = written.decode(errors="replace")
    if mask(text) == text and "\\" not in text:  # escapes can hide a secret from a look at the text
        return written
    try:
        data = messages.decode(written)
        hidden = _hidden(data, mask)
    except (ValueError, RecursionError):
        return mask(text).encode(errors="replace")
    return written if hidden == data else messages.encode(hidden)


def _hidden(value: object, mask: Mask) -> Any:
    # Keys stay: what reads the error needs them, and nobody quotes a secret there.
    match value:
        case str():
            return mask(value)
        case list():
            return [_hidden(each, mask) for each in cast("list[object]", value)]
        case dict():
            return {key: _hidden(each, mask) for key, each in cast("dict[str, object]", value).items()}
        case _:
            return value
