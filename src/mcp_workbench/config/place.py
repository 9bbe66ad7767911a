"""Where something stands in the configuration, and which of the names there are the user's own."""

import json
import re
from collections.abc import Iterator
from typing import Any, cast

from .secrets import secrets_in

Place = tuple[str | int, ...]

_PLAIN = re.compile(r"[\w-]{1,64}", re.ASCII)
_NAME_AND_VALUE = re.compile(r"(\s*([^\s:=]+)[\s:=]\s*)(.+)", re.DOTALL)


def written(place: Place) -> str:
    """As people read it: `config.toolboxes.dev.mcpServers.docs.args[0]`, on one line whatever the names."""
    return "config" + "".join(_step(place[:depth], step) for depth, step in enumerate(place))


def _step(within: Place, step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _PLAIN.fullmatch(step) else f"[{quoted(_without_value(within, step))}]"


def _without_value(within: Place, key: str) -> str:
    """A key without the secret that was pasted along with it: `Authorization: Bearer …`, `API_KEY=…`."""
    match within:
        case ("toolboxes",) | ("toolboxes", _, "mcpServers") | ("http", "tokens"):
            return key  # whatever the user calls it
        case _:
            pair = _NAME_AND_VALUE.fullmatch(key)
            return f"{pair[1]}***" if pair and secrets_in(pair[2], pair[3]) else key


def quoted(text: str) -> str:
    """Harmless in a terminal and never long."""
    shown = json.dumps(text if len(text) <= 64 else f"{text[:60]}…", ensure_ascii=not text.isprintable())
    return shown.replace("\x7f", "\\u007f")  # the one control character that JSON leaves alone


def names_are_free(place: Place) -> bool:
    """Whether the keys of the object there are names that the user gives."""
    match place:
        case ("toolboxes",) | ("toolboxes", _, "mcpServers") | ("http", "tokens"):
            return True
        case ("toolboxes", _, "mcpServers", _, "env" | "headers"):
            return True
        case _:
            return False


def is_comment(place: Place, key: str) -> bool:
    """Whether a key of the object there is a comment, and no setting."""
    return key.startswith(("_", "$")) and not names_are_free(place)


def as_object(value: object) -> dict[str, Any]:
    """An object's keys and values; nothing where it is none."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def server_entries(data: object) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Every server entry that is an object, with its place, in a configuration that may be faulty."""
    for toolbox, body in as_object(as_object(data).get("toolboxes")).items():
        for server, entry in as_object(as_object(body).get("mcpServers")).items():
            if isinstance(entry, dict):
                yield ("toolboxes", toolbox, "mcpServers", server), as_object(cast("object", entry))
