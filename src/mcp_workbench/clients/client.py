"""An MCP client: where its configuration is, and how servers are written in it. `known` lists the clients."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, cast

import msgspec

from ..errors import WorkbenchError
from . import jsonc, toml
from .change import Backups, Change, ChangedSince, read
from .entries import is_ours
from .secrets import Secrets

OURS = "workbench"
"""The name of our entry in a client's configuration."""


class Unreadable(WorkbenchError):
    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{path} cannot be read: {reason}")


class Home(msgspec.Struct, frozen=True):
    """Where clients look for their files."""

    folder: str
    environ: Mapping[str, str]
    platform: str = sys.platform

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Home:
        return cls(environ.get("HOME") or os.path.expanduser("~"), environ)

    def under(self, *path: str) -> str:
        return os.path.join(self.folder, *path)

    def application(self, name: str) -> str:
        """The folder of a desktop application."""
        if self.platform == "darwin":
            return self.under("Library", "Application Support", name)
        return os.path.join(self.environ.get("XDG_CONFIG_HOME") or self.under(".config"), name)


class Client(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    title: str
    user_file: Callable[[Home], str]
    """The configuration for every project."""
    project_file: str | None = None
    """The one inside a project, from its folder."""
    key: str = "mcpServers"
    needs_type: bool = False
    address_key: str | None = "url"
    """Where the address of a server over HTTP stands; None where it starts programs only."""
    headers_key: str = "headers"
    signs: tuple[str, ...] = ()
    """Beside the configuration's own folder, what in a home tells that the client is there."""
    restart: str = "Restart it"

    def files(self, home: Home, project: str) -> list[ClientFile]:
        """The user's, then the project's."""
        files = [ClientFile(self, self.user_file(home), None)]
        if self.project_file is not None:
            files.append(ClientFile(self, os.path.join(project, self.project_file), project))
        return files

    def is_here(self, home: Home) -> bool:
        file = self.user_file(home)
        folder = os.path.dirname(file)
        return (
            os.path.exists(file)
            or (folder != home.folder and os.path.isdir(folder))
            or any(os.path.exists(home.under(sign)) for sign in self.signs)
        )


class ClientFile(msgspec.Struct, frozen=True):
    """`project` is the folder of a project's own file."""

    client: Client
    path: str
    project: str | None

    @property
    def exists(self) -> bool:
        return os.path.isfile(self.path)

    @property
    def _is_toml(self) -> bool:
        return self.path.endswith(".toml")

    def data(self) -> dict[str, Any]:
        """Everything in it; empty where there is no file. Raises Unreadable."""
        return self._parsed(self._text())

    def entries(self) -> dict[str, Any]:
        """Servers by name, as they are written. Raises Unreadable."""
        return self._entries(self._text())

    def our_entry(self) -> tuple[str, dict[str, Any]] | None:
        """The entry that starts a workbench, under whatever name. Raises Unreadable."""
        return _ours(self.entries())

    def connecting(self, entry: Mapping[str, Any], leaving_out: tuple[str, ...] = ()) -> Change:
        """Our entry in it, and others out of it. Raises Unreadable."""
        before = self._text()
        ours = self.our_entry()
        after = self._with(before or "", ours[0] if ours is not None else OURS, entry)
        for other in leaving_out:
            after = self._without(after, other)
        return self._change(before, after)

    def disconnecting(self, backups: Backups) -> Change:
        """Our entry out of it, and back in what we took out; as it was before us where that is still so.

        Raises Unreadable.
        """
        before = self._text()
        ours = self.our_entry()
        if before is None or ours is None:
            return Change(self.path, before, before)
        original = backups.original(self.path)
        had = self._entries(original)
        if _ours(had) is None and (undoing := backups.undoing(self.path)) is not None:
            return self._change(before, undoing.after)
        after = self._without(before, ours[0])
        for name in had.keys() - self.entries().keys():
            after = self._with(after, name, had[name])
        return self._change(before, after)

    def undoing(self, backups: Backups) -> Change | None:
        """The last change taken back. Raises ChangedSince."""
        change = backups.undoing(self.path)
        if change is None and backups.knows(self.path):
            raise ChangedSince(self.path)
        return None if change is None else self._change(change.before, change.after)

    def _change(self, before: str | None, after: str | None) -> Change:
        """With the secrets of all entries out of sight."""
        secrets = Secrets({})
        for entries in map(self._entries, (before, after)):
            for name, entry in entries.items():
                words = _object(entry)
                secrets.replaced(name, words)
                secrets.replaced(name, _object(words.get("command")))
        hidden = (each.value for each in secrets.variables.values())
        return Change(self.path, before, after, frozenset(each for each in hidden if each is not None))

    def _entries(self, text: str | None) -> dict[str, Any]:
        return _object(self._parsed(text).get(self.client.key))

    def _text(self) -> str | None:
        try:
            return read(self.path)
        except (OSError, UnicodeDecodeError) as error:
            raise Unreadable(self.path, str(error)) from None

    def _parsed(self, text: str | None) -> dict[str, Any]:
        if text is None or not text.strip():
            return {}
        try:
            found: Any = toml.parse(text) if self._is_toml else jsonc.parse(text)
        except (jsonc.NotJson, toml.NotToml) as error:
            raise Unreadable(self.path, str(error)) from None
        return _object(found)

    def _with(self, text: str, name: str, entry: Mapping[str, Any]) -> str:
        path = (self.client.key, name)
        try:
            if self._is_toml:
                return toml.with_table(text, path, entry)
            return jsonc.with_member(text, path, entry)
        except (jsonc.NotJson, toml.NotToml) as error:
            raise Unreadable(self.path, str(error)) from None

    def _without(self, text: str, name: str) -> str:
        path = (self.client.key, name)
        try:
            return toml.without_table(text, path) if self._is_toml else jsonc.without_member(text, path)
        except (jsonc.NotJson, toml.NotToml) as error:
            raise Unreadable(self.path, str(error)) from None


def _ours(entries: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
    return next((each for each in entries.items() if is_ours(each[1])), None)


def _object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
