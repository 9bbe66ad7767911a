"""Secrets in the entries of other clients: found, and replaced by `${VARIABLES}`. Nothing prints a value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

import msgspec

from ..config.secrets import secrets_in

# Tokens that show by their form what they are, and long mixtures of letters and digits.
_TOKEN = re.compile(
    r"(?:sk|pk|rk|gh[opsu]|github_pat|glpat|xox[abeprs]|xapp|ntn|secret|hf|npm|pat|figd|lin_api|tvly|fc|ctx7sk)[-_]"
    r"[\w.-]{10,}|AKIA\w{12,}|AIza[\w-]{20,}|eyJ[\w-]{10,}\.[\w.-]{10,}"
)
_MIXTURE = re.compile(r"(?=[^\s/]*\d)(?=[^\s/]*[A-Za-z])[A-Za-z0-9_+=.-]{24,}")
_VERSIONED = re.compile(r"@?[\w.-]*[@/][\w./@-]+")
_PLACE = re.compile(r"(?:~|\.{1,2})?/\S*|[A-Za-z]:\\\S*")
_VARIABLE = re.compile(r"\$[A-Za-z_]\w*|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_SCHEME = re.compile(r"(?:Bearer|Basic|Token|ApiKey)\s+(\S{4,})", re.IGNORECASE)
_PASSWORD = re.compile(r"://[^/\s:@]*:([^/\s@]+)@")
_PARAMETER = re.compile(r"[?&]([^=&#\s]+)=([^&#\s]+)")
_OPTION = re.compile(r"-{1,2}([A-Za-z][\w-]*)=(.+)", re.DOTALL)
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.+)", re.DOTALL)
_HEADER = re.compile(r"([A-Za-z][\w-]*):(?!//)\s*(.+)", re.DOTALL)


def looks_secret(name: str, value: str) -> bool:
    return any(True for _ in _parts(name, value))


class Variable(msgspec.Struct):
    """What a secret became; `value` is None where the client would have asked for it."""

    name: str
    value: str | None
    purpose: str


class Secrets:
    """Collects the variables of all entries, so that equal secrets share one and different ones do not."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self.variables: dict[str, Variable] = {}

    def replaced(self, server: str, entry: Mapping[str, Any]) -> dict[str, Any]:
        """The entry with a reference in place of every secret."""
        changed = dict(entry)
        for group in ("env", "headers"):
            members = entry.get(group)
            if isinstance(members, dict):
                changed[group] = {
                    name: self._text(server, name, value, own_name=group == "env")
                    for name, value in cast("dict[str, Any]", members).items()
                }
        if isinstance(url := entry.get("url"), str):
            changed["url"] = self._text(server, "url", url)
        if isinstance(args := entry.get("args"), list):
            changed["args"] = list(self._args(server, cast("list[Any]", args)))
        return changed

    def asked_for(self, name: str, server: str, description: str) -> str:
        """A variable for what a client asks its user; the reference to it."""
        variable = self.variables.setdefault(name, Variable(name, None, description or server))
        return f"${{{variable.name}}}"

    def _args(self, server: str, args: list[Any]) -> Iterator[Any]:
        before = ""
        for arg in args:
            if not isinstance(arg, str):
                yield arg
                continue
            named = _OPTION.fullmatch(arg) or _ASSIGNMENT.fullmatch(arg) or _HEADER.fullmatch(arg)
            if named is not None:
                value = self._text(
                    server, named[1], named[2], own_name=_ASSIGNMENT.fullmatch(arg) is not None
                )
                yield arg[: named.start(2)] + value
            else:
                yield self._text(server, before, arg)
            before = arg.lstrip("-") if arg.startswith("-") else ""

    def _text(self, server: str, name: str, value: Any, own_name: bool = False) -> Any:
        if not isinstance(value, str):
            return value
        for part, purpose in list(_parts(name, value)):
            wanted = _upper(name) if own_name else f"{_upper(server)}_{_upper(purpose)}"
            reference = f"${{{self._variable(wanted, part, server)}}}"
            value = value.replace(part, reference)
        return value

    def _variable(self, wanted: str, value: str, server: str) -> str:
        """A name that stands for this value and no other, neither here nor in the environment."""
        own = _upper(server)
        further = [] if wanted.startswith(own) else [f"{own}_{wanted}"]
        for name in (wanted, *further, *(f"{wanted}_{count}" for count in range(2, 100))):
            held = self.variables.get(name)
            if held is not None and held.value == value:
                return name
            if held is None and self._environ.get(name, value) == value:
                self.variables[name] = Variable(name, value, server)
                return name
        raise AssertionError(f"a hundred different values of {wanted}")


def _parts(name: str, value: str) -> Iterator[tuple[str, str]]:
    """The secret parts of a value, and what each is."""
    if "${" in value or _VARIABLE.fullmatch(value):
        return
    if "://" in value:
        if password := _PASSWORD.search(value):
            yield password[1], "password"
        for parameter, content in _PARAMETER.findall(value):
            if _is_secret(parameter, content):
                yield content, parameter
    elif scheme := _SCHEME.fullmatch(value):
        yield scheme[1], "token"
    elif _is_secret(name, value):
        yield value, name or "token"


def _is_secret(name: str, value: str) -> bool:
    if _PLACE.fullmatch(value):
        return False
    # Four letters count as a secret only under a name that speaks of one.
    if secrets_in(name, "abcd"):
        return bool(secrets_in(name, value))
    if _TOKEN.fullmatch(value):
        return True
    return _MIXTURE.fullmatch(value) is not None and _VERSIONED.fullmatch(value) is None


def _upper(name: str) -> str:
    word = re.sub(r"[^A-Z0-9]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper()).strip("_")
    word = {"AUTHORIZATION": "TOKEN"}.get(word, word) or "SECRET"
    return f"_{word}" if word[0].isdigit() else word
