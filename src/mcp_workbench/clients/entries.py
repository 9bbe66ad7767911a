"""A client's server entry in our words. What cannot be said in them is refused with the reason."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import Any, cast

import msgspec

from ..config.pasted import REFUSED, RENAMED

_REFERENCE = re.compile(r"\$\{([^}]*)\}")
_BARE = re.compile(r"\$([A-Za-z_]\w*)")
_OURS = (
    *("command", "args", "env", "envFile", "cwd", "inheritEnv"),
    *("url", "transport", "headers", "auth", "toolFilters", "disabled", "limits"),
)
_INCLUDING = ("includeTools", "tools")
_EXCLUDING = ("excludeTools", "disabledTools")


class Refused(Exception):
    """This entry has no counterpart here; says why."""


class Setting(msgspec.Struct, frozen=True):
    """What an entry is read in: the client's dialect, its project's folder, and what it asks its user.

    `base` is the folder of the configuration that the entry is for.
    """

    client: str
    folder: str | None
    base: str
    asked: Callable[[str], str]
    """The reference that stands for `${input:…}`."""


def is_ours(entry: object) -> bool:
    """Whether the entry starts a workbench: to import that would be a loop."""
    if not isinstance(entry, dict):
        return False
    words = cast("dict[str, Any]", entry)
    command, args = words.get("command"), words.get("args")
    if isinstance(command, dict):  # as Zed has it
        command = cast("dict[str, Any]", command).get("path")
    name = os.path.basename(command) if isinstance(command, str) else ""
    return name == "mcp-workbench" or (isinstance(args, list) and "mcp_workbench" in cast("list[Any]", args))


def translated(entry: object, setting: Setting) -> dict[str, Any]:
    """Raises Refused."""
    if not isinstance(entry, dict):
        raise Refused("its entry is no object")
    words = dict(cast("dict[str, Any]", entry))
    match setting.client:
        case "zed":
            words = _from_zed(words)
        case "codex":
            words = _from_codex(words)
        case "gemini":
            words = _from_gemini(words)
        case _:
            pass
    words = _common(words)
    if "command" not in words and "url" not in words:
        raise Refused("it has neither a command nor a url")
    words = _with_variables(words, setting)
    return _placed(words, setting)


def _common(words: dict[str, Any]) -> dict[str, Any]:
    if words.pop("enabled", True) is False:
        words["disabled"] = True
    if words.get("disabled") is False:
        del words["disabled"]
    for theirs, ours in RENAMED.items():
        if theirs in words:
            words.setdefault(ours, words.pop(theirs))
    if isinstance(oauth := words.pop("oauth", None), dict):
        known = cast("dict[str, Any]", oauth)
        auth = {key: known[key] for key in ("clientId", "scopes") if known.get(key)}
        if auth:
            words["auth"] = {"type": "oauth", **auth}
    for key in REFUSED:
        if words.get(key):
            raise Refused(f"its key '{key}' has no counterpart here")
    # The kind shows in the other keys, but for this one.
    if words.pop("type", words.get("transport")) == "sse":
        words["transport"] = "sse"
    else:
        words.pop("transport", None)
    if (filters := _filters(words)) is not None:
        words["toolFilters"] = filters
    # Empty groups say nothing, but for the filters: an empty list of tools to offer is none.
    return {
        key: words[key]
        for key in _OURS
        if key in words and (key == "toolFilters" or words[key] not in ({}, []))
    }


def _filters(words: dict[str, Any]) -> list[str] | None:
    """Lists of tools to offer and to hide, as one; None where there is no such list. Raises Refused."""
    shown = [_names(words, key) for key in _INCLUDING if key in words]
    hidden = [_names(words, key) for key in _EXCLUDING if key in words]
    excluding = [f"!{name}" for names in hidden for name in names]
    if not shown:
        return excluding or None
    including = [name for names in shown for name in names]
    return [*including, *excluding] if including else []


def _names(words: dict[str, Any], key: str) -> list[str]:
    names = words[key]
    if not isinstance(names, list) or not all(isinstance(each, str) for each in cast("list[Any]", names)):
        raise Refused(f"its key '{key}' is no list of names")
    return cast("list[str]", names)


def _from_zed(words: dict[str, Any]) -> dict[str, Any]:
    if words.get("source") == "extension" or not ("command" in words or "url" in words):
        raise Refused("it belongs to an extension of Zed, which starts it")
    if isinstance(command := words.get("command"), dict):
        words = {**words, **cast("dict[str, Any]", command)}
        words["command"] = words.pop("path", None)
    if words.get("env") is None:
        words.pop("env", None)
    return words


def _from_codex(words: dict[str, Any]) -> dict[str, Any]:
    headers = {**_table(words, "http_headers")}
    for name, variable in _table(words, "env_http_headers").items():
        headers[name] = f"${{{variable}}}"
    if token := words.pop("bearer_token_env_var", None):
        headers["Authorization"] = f"Bearer ${{{token}}}"
    if headers:
        words["headers"] = headers
    if "env_vars" in words:
        words["env_vars"] = _variable_names(words["env_vars"])
        words["inheritEnv"] = _names(words, "env_vars")
    if isinstance(words.get("tools"), dict):
        del words["tools"]  # approvals of single tools, and no list of those to offer
    limits = {
        ours: words.pop(theirs)
        for theirs, ours in (("startup_timeout_sec", "connectTimeout"), ("tool_timeout_sec", "timeout"))
        if theirs in words
    }
    if limits:
        words["limits"] = limits
    for theirs, ours in (("enabled_tools", "includeTools"), ("disabled_tools", "excludeTools")):
        if theirs in words:
            words[ours] = words.pop(theirs)
    return words


def _table(words: dict[str, Any], key: str) -> dict[str, Any]:
    table = words.pop(key, {})
    if not isinstance(table, dict):
        raise Refused(f"its key '{key}' is no table")
    return cast("dict[str, Any]", table)


def _variable_names(variables: object) -> object:
    """Names of variables, each of which may be in a table."""
    if not isinstance(variables, list):
        return variables
    listed = cast("list[Any]", variables)
    return [cast("dict[str, Any]", each).get("name") if isinstance(each, dict) else each for each in listed]


def _from_gemini(words: dict[str, Any]) -> dict[str, Any]:
    # A `url` without a type is an SSE endpoint there; Streamable HTTP is `httpUrl`.
    if "url" in words and "httpUrl" not in words and "type" not in words:
        words["transport"] = "sse"
    return _each_text(words, lambda text: _BARE.sub(r"${\1}", text))


def _with_variables(words: dict[str, Any], setting: Setting) -> dict[str, Any]:
    folder = setting.folder

    def reference(found: re.Match[str]) -> str:
        inner = found[1]
        kind, colon, name = inner.partition(":")
        if kind == "env" and colon:
            return f"${{{name}}}"
        if kind == "input" and colon:
            return setting.asked(name)
        if inner == "userHome":
            return "${HOME}"
        if inner in ("/", "pathSeparator"):
            return "/"
        if kind in ("workspaceFolder", "workspaceRoot", "cwd") and folder is not None:
            return folder
        if inner == "workspaceFolderBasename" and folder is not None:
            return os.path.basename(folder)
        if re.fullmatch(r"[A-Za-z_]\w*(:-.*)?", inner):
            return found[0]
        raise Refused(f"{found[0]} is known to its editor only")

    return _each_text(words, lambda text: _REFERENCE.sub(reference, text))


def _placed(words: dict[str, Any], setting: Setting) -> dict[str, Any]:
    """A project's entries count their paths from the project's folder, wherever we are started."""
    folder = setting.folder
    if folder is None or "command" not in words:
        return words
    # Paths beside the configuration stay good when the project is moved or shared.
    root = "." if folder == setting.base else folder
    placed = {**words, "cwd": os.path.normpath(os.path.join(root, str(words.get("cwd", "."))))}
    if isinstance(file := words.get("envFile"), str):
        placed["envFile"] = os.path.normpath(os.path.join(root, file))
    return placed


def _each_text(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_each_text(each, change) for each in cast("list[Any]", value)]
    if isinstance(value, Mapping):
        members = cast("Mapping[str, Any]", value).items()
        return {key: _each_text(each, change) for key, each in members}
    return value
