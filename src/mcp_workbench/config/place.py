"""Where something stands in the configuration, and which of the names there are the user's own."""

import json
import re
from collections.abc import Iterator
from typing import Any, cast

Place = tuple[str | int, ...]

_PLAIN = re.compile(r"[\w-]{1,64}", re.ASCII)


def written(place: Place) -> str:
    """As people read it: `config.toolboxes.dev.mcpServers.docs.args[0]`, on one line whatever the names."""
    return "config" + "".join(map(_step, place))


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _PLAIN.fullmatch(step) else f"[{quoted(step)}]"


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


def as_object(value: object) -> dict[str, Any]:
    """An object's keys and values; nothing where it is none."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def server_entries(data: object) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Every server entry that is an object, with its place, in a configuration that may be faulty."""
    for toolbox, body in as_object(as_object(data).get("toolboxes")).items():
        for server, entry in as_object(as_object(body).get("mcpServers")).items():
            if isinstance(entry, dict):
                yield ("toolboxes", toolbox, "mcpServers", server), as_object(cast("object", entry))
