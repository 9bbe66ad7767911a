"""What the keys of a configuration say about each other. Reads faulty data too: all problems are told."""

import re
from collections.abc import Iterator
from typing import Any, cast

from .place import Place, as_object, quoted, server_entries
from .problems import Problem, nearest
from .written import ServerEntry

_KINDS = {
    "command": {"args", "env", "envFile", "cwd", "inheritEnv"},
    "url": {"headers", "auth"},
    "path": {"python"},
}
_TRANSPORTS = {
    "command": {"stdio"},
    "url": {"http", "streamable-http", "streamableHttp", "sse"},
    "path": set[str](),
}
_KNOWN = set(ServerEntry.__struct_encode_fields__)


def disagreements(data: object) -> Iterator[Problem]:
    for place, entry in server_entries(data):
        yield from _server(place, entry)
    yield from _expressions(data)
    yield from _tokens(data)


def _server(place: Place, entry: dict[str, Any]) -> Iterator[Problem]:
    kinds = [kind for kind in _KINDS if kind in entry]
    if len(kinds) != 1:
        # A misspelt `command` is one mistake, not two.
        if not any(nearest(key, list(_KINDS)) for key in entry if key not in _KNOWN):
            found = " and ".join(quoted(kind) for kind in kinds) or "none of them"
            wrong = f'A server has exactly one of "command", "url" and "path"; this has {found}'
            yield Problem(place, wrong, "Keep one" if kinds else 'Add "command", "url" or "path"')
        return
    kind = kinds[0]
    for other, keys in _KINDS.items():
        for key in keys & entry.keys() if other != kind else ():
            yield Problem((*place, key), f"This key belongs to servers with {quoted(other)}", "Remove it")
    yield from _transport(place, entry, kind)
    yield from _bracketed_host(place, entry.get("url"))
    auth = as_object(entry.get("auth"))
    if auth.get("type") == "client_credentials":
        for key in ("clientId", "clientSecret"):
            if key not in auth:
                yield Problem(
                    (*place, "auth"), f"client_credentials needs {quoted(key)}", f'Add "{key}": "…"'
                )


def _transport(place: Place, entry: dict[str, Any], kind: str) -> Iterator[Problem]:
    every = set[str]().union(*_TRANSPORTS.values())
    said = {
        key: entry[key]
        for key in ("type", "transport")
        if isinstance(entry.get(key), str) and entry[key] in every
    }
    for key, value in said.items():
        if value not in _TRANSPORTS[kind]:
            wrong = f"{quoted(value)} does not fit a server with {quoted(kind)}"
            yield Problem((*place, key), wrong, "Leave it out")
            return
    if len({value == "sse" for value in said.values()}) > 1:
        wrong = '"type" and "transport" say different things'
        yield Problem((*place, "transport"), wrong, "Keep one of them")


def _bracketed_host(place: Place, url: object) -> Iterator[Problem]:
    """An IPv6 address has too many forms for a pattern; the standard library knows them."""
    if not isinstance(url, str) or "[" not in url:
        return
    from urllib.parse import urlsplit  # which a start can mostly do without

    try:
        urlsplit(url)
    except ValueError:
        yield Problem((*place, "url"), "It cannot be read as an address", "Correct what is in its brackets")


def _expressions(data: object) -> Iterator[Problem]:
    redact = as_object(as_object(data).get("log")).get("redact")
    for index, pattern in enumerate(cast("list[object]", redact) if isinstance(redact, list) else []):
        if not isinstance(pattern, str):
            continue
        try:
            re.compile(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            yield Problem(("log", "redact", index), f"No regular expression: {error}", "Correct it")


def _tokens(data: object) -> Iterator[Problem]:
    toolboxes = as_object(as_object(data).get("toolboxes"))
    owners: dict[str, str] = {}
    for name, token in as_object(as_object(as_object(data).get("http")).get("tokens")).items():
        said = as_object(token).get("token")
        if isinstance(said, str) and owners.setdefault(said, name) != name:
            wrong = f"The same token as that of {quoted(owners[said])}"
            yield Problem(("http", "tokens", name, "token"), wrong, "Give each name a token of its own")
        visible = as_object(token).get("toolboxes")
        for index, toolbox in enumerate(cast("list[object]", visible) if isinstance(visible, list) else []):
            if isinstance(toolbox, str) and toolbox not in toolboxes:
                meant = nearest(toolbox, toolboxes)
                fix = f"Did you mean {quoted(meant)}?" if meant else f"Toolboxes: {', '.join(toolboxes)}"
                yield Problem(("http", "tokens", name, "toolboxes", index), "No such toolbox", fix)
