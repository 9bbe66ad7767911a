"""Whether arguments fit a meta-tool. All that is wrong with them is told at once, for a model to repair.

The usual case is one strict decode; only arguments that do not pass it are looked at piece by piece.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal, cast

import msgspec
from msgspec import UNSET, Raw, UnsetType

from .errors import InvalidInvocation, InvalidParameters, ToolboxUnknown, available, unrecognized_keys
from .names import ToolRef
from .wire.messages import EMPTY_OBJECT, decode, members

# What became of the keys of earlier versions.
_OPEN_HINTS = {"toolbox_name": "renamed to 'toolbox'"}
_ROOT_HINT = "use 'tool': {toolbox, server, name}"
_USE_HINTS = {"toolbox_name": _ROOT_HINT, "tool_name": _ROOT_HINT}
_TOOL_HINTS = {"tool": "renamed to 'name'"}

_PARTS = {"toolbox": "Toolbox", "server": "Server", "name": "Tool"}


MOST_FOUND = 100


class _OpenArguments(msgspec.Struct, forbid_unknown_fields=True):
    toolbox: str
    detail: Literal["json", "signature"] | UnsetType = UNSET


class UseArguments(msgspec.Struct, forbid_unknown_fields=True):
    """What `use_tool` takes, if its names are no blanks."""

    tool: ToolRef
    arguments: Raw = Raw(EMPTY_OBJECT)


class FindArguments(msgspec.Struct, forbid_unknown_fields=True):
    queries: str | list[str]
    toolbox: str | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=MOST_FOUND)] = 10
    detail: Literal["signature", "full"] = "signature"


_decode_find = msgspec.json.Decoder(FindArguments).decode
_decode_open = msgspec.json.Decoder(_OpenArguments).decode
_decode_use = msgspec.json.Decoder(UseArguments).decode


def check_open(arguments: Raw, toolboxes: Iterable[str]) -> tuple[str, Literal["json", "signature"] | None]:
    """The toolbox and the detail that was asked for. Raises InvalidParameters, naming `toolboxes`."""
    try:
        fields = _decode_open(arguments)
    except (msgspec.DecodeError, RecursionError):
        fields = None
    if fields is not None and fields.toolbox.strip():
        return fields.toolbox, fields.detail or None
    given = _read(arguments, InvalidParameters)
    if problems := _open_problems(given, toolboxes):
        raise InvalidParameters(problems)
    # Nothing wrong but lone surrogates, which the fast decoder refuses: JSON all the same.
    return given["toolbox"], given.get("detail")


def check_find(arguments: Raw, toolboxes: Iterable[str]) -> FindArguments:
    """What is to be found. Raises InvalidParameters, or ToolboxUnknown."""
    try:
        fields = _decode_find(arguments)
    except (msgspec.DecodeError, RecursionError):
        raise InvalidParameters(_find_problems(_read(arguments, InvalidParameters))) from None
    queries = [fields.queries] if isinstance(fields.queries, str) else fields.queries
    fields.queries = [query for query in queries if query.strip()]
    if not fields.queries:
        raise InvalidParameters(["queries cannot be empty"])
    if fields.toolbox is not None and fields.toolbox not in toolboxes:
        raise ToolboxUnknown(fields.toolbox, toolboxes)
    return fields


def _find_problems(given: dict[str, Any]) -> list[str]:
    problems: list[str] = []
    if unknown := [key for key in given if key not in FindArguments.__struct_fields__]:
        problems.append(unrecognized_keys(unknown, {}))
    if "queries" not in given:
        problems.append("queries is required")
    else:
        try:
            msgspec.convert(given["queries"], str | list[str])
        except msgspec.ValidationError:
            problems.append("queries must be a string or an array of strings")
    if not isinstance(given.get("toolbox"), str | None):
        problems.append("toolbox must be a string")
    limit = given.get("limit", 10)
    if not isinstance(limit, int) or isinstance(limit, bool) or not 1 <= limit <= MOST_FOUND:
        problems.append(f"limit must be an integer from 1 to {MOST_FOUND}")
    if given.get("detail", "full") not in ("signature", "full"):
        problems.append("detail must be 'signature' or 'full'")
    return problems or ["queries must be readable text"]


def check_use(arguments: Raw) -> tuple[ToolRef, Raw]:
    """The tool and its arguments. Raises InvalidInvocation."""
    try:
        fields = _decode_use(arguments)
    except (msgspec.DecodeError, RecursionError):
        fields = None
    if fields is not None and is_object(fields.arguments):
        tool = fields.tool
        if tool.toolbox.strip() and tool.server.strip() and tool.name.strip():
            return tool, fields.arguments
    if problems := _use_problems(_read(arguments, InvalidInvocation)):
        raise InvalidInvocation(problems)
    # Lone surrogates again.
    parts = members(bytes(arguments))
    return ToolRef(**decode(parts["tool"])), Raw(parts.get("arguments", EMPTY_OBJECT))


def is_object(value: Raw) -> bool:
    return bytes(memoryview(value)[:1]) == b"{"


def _read(arguments: Raw, error: type[InvalidParameters | InvalidInvocation]) -> dict[str, Any]:
    """The arguments as plain objects. Raises `error` where they are too deep for that, or no object."""
    try:
        given = _object(decode(arguments))
    except ValueError as problem:
        raise error([str(problem)]) from None
    if given is None:
        raise error(["Expected an object"])
    return given


def _open_problems(given: dict[str, Any], toolboxes: Iterable[str]) -> list[str]:
    problems: list[str] = []
    if unknown := [key for key in given if key not in ("toolbox", "detail")]:
        problems.append(unrecognized_keys(unknown, _OPEN_HINTS))
    names = available(toolboxes)
    if "toolbox" not in given:
        problems.append(f"toolbox is required. {names}")
    elif not isinstance(toolbox := given["toolbox"], str):
        problems.append(f"toolbox must be a string. {names}")
    elif not toolbox.strip():
        problems.append(f"toolbox cannot be empty. {names}")
    if given.get("detail", "json") not in ("json", "signature"):
        problems.append("detail must be 'json' or 'signature'")
    return problems


def _use_problems(given: dict[str, Any]) -> list[str]:
    problems: list[str] = []
    tool = _object(given.get("tool"))
    if unknown := [key for key in given if key not in ("tool", "arguments")]:
        problems.append(unrecognized_keys(unknown, _USE_HINTS))
    if tool is not None and (unknown := [key for key in tool if key not in _PARTS]):
        problems.append(unrecognized_keys(unknown, _TOOL_HINTS, "tool: "))
    if "tool" not in given:
        problems.append("tool: Required")
    elif tool is None:
        problems.append("tool: Expected an object")
    else:
        problems += _part_problems(tool)
    if "arguments" in given and _object(given["arguments"]) is None:
        problems.append("arguments: Expected an object")
    return problems


def _part_problems(tool: dict[str, Any]) -> list[str]:
    problems: list[str] = []
    for key, noun in _PARTS.items():
        if key not in tool:
            problems.append(f"tool.{key}: Required")
        elif not isinstance(part := tool[key], str):
            problems.append(f"tool.{key}: Expected a string")
        elif not part.strip():
            problems.append(f"tool.{key}: {noun} name cannot be empty")
    return problems


def _object(value: object) -> dict[str, Any] | None:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None
