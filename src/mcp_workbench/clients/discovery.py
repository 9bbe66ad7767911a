"""What servers the clients of this machine and this project have, put into our words."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

import msgspec

from ..config import load
from ..errors import ConfigInvalid
from .client import Client, ClientFile, Home, Unreadable
from .entries import Refused, Setting, is_ours, translated
from .known import CLIENTS
from .secrets import Secrets


class FoundServer(msgspec.Struct, kw_only=True):
    """`entry` is ours; None where `refused` says why it cannot be taken over.

    `forms` are the entry with variables for its secrets, and with the secrets: it is known by either.
    """

    name: str
    client: str
    path: str
    project: str | None = None
    entry: dict[str, Any] | None = None
    forms: tuple[dict[str, Any], ...] = ()
    refused: str | None = None


class Discovery:
    """`servers` in the order of the clients, `problems` of files that cannot be read."""

    def __init__(
        self,
        environ: Mapping[str, str],
        project: str,
        base: str,
        only: Iterable[str] = (),
        keep_secrets: bool = False,
    ) -> None:
        """`base` is the folder of the configuration that it is for; `only` are files to look at alone."""
        self.servers: list[FoundServer] = []
        self.problems: list[str] = []
        self.files: list[ClientFile] = []
        self.secrets = Secrets(environ)
        self._environ = environ
        self._base = base
        self._keep_secrets = keep_secrets
        home = Home.of(environ)
        known = [file for client in CLIENTS for file in client.files(home, project)]
        for file in [_file(path, known) for path in only] or known:
            self._look(file, project)

    def _look(self, file: ClientFile, project: str) -> None:
        if not file.exists:
            return
        try:
            data = file.data()
        except Unreadable as problem:
            self.problems.append(str(problem))
            return
        self.files.append(file)
        groups = [(data.get(file.client.key), file.project)]
        if file.client.name == "claude-code" and file.project is None:
            # What was added for one project alone ("local scope") is in the user's file too.
            own = _object(_object(data.get("projects")).get(project))
            groups.append((own.get("mcpServers"), project))
        for servers, folder in groups:
            for name, entry in _object(servers).items():
                if not is_ours(entry):
                    self._take(file, name, entry, folder, _inputs(data))

    def _take(
        self, file: ClientFile, name: str, written: object, folder: str | None, inputs: Mapping[str, str]
    ) -> None:
        found = FoundServer(name=name, client=file.client.name, path=file.path, project=folder)

        def asked(identifier: str) -> str:
            variable = re.sub(r"\W+", "_", identifier).upper().strip("_")
            return self.secrets.asked_for(variable, name, inputs.get(identifier, ""))

        try:
            words = translated(written, Setting(file.client.name, folder, self._base, asked))
            replaced = self.secrets.replaced(name, words)
            entry = words if self._keep_secrets else replaced
            self._check(name, entry)
            found.entry, found.forms = entry, (replaced, words)
        except Refused as reason:
            found.refused = str(reason)
        self.servers.append(found)

    def _check(self, name: str, entry: dict[str, Any]) -> None:
        """One entry that the configuration would not accept must not spoil the others. Raises Refused."""
        alone = {"toolboxes": {"t": {"description": "t", "mcpServers": {name: entry}}}}
        try:
            content = msgspec.json.encode(alone)
        except UnicodeEncodeError:
            raise Refused("it has text that cannot be written as UTF-8") from None
        try:
            load(os.path.join(self._base, "one.json"), self._environ, content)
        except ConfigInvalid as invalid:
            raise Refused(invalid.problems[0].wrong) from None


def _file(path: str, known: list[ClientFile]) -> ClientFile:
    """A file that was named: one of the known, or one whose name or content says whose it is."""
    path = os.path.abspath(path)
    for file in known:
        if file.path == path:
            return file
    whose = next((client for client in CLIENTS if _is_named_like(client, path)), None)
    client = whose or _by_content(path)
    inside = client.project_file is not None and path.endswith(f"/{client.project_file}")
    project = path.removesuffix(f"/{client.project_file}") if inside else None
    return ClientFile(client, path, project)


def _is_named_like(client: Client, path: str) -> bool:
    return client.project_file is not None and path.endswith(f"/{client.project_file}")


def _by_content(path: str) -> Client:
    if path.endswith(".toml"):
        return next(client for client in CLIENTS if client.name == "codex")
    for client in CLIENTS:
        try:
            if client.key in ClientFile(client, path, None).data():
                return client
        except Unreadable:
            break
    return CLIENTS[0]


def _inputs(data: Mapping[str, Any]) -> dict[str, str]:
    inputs = data.get("inputs")
    listed = [_object(each) for each in cast("list[Any]", inputs)] if isinstance(inputs, list) else []
    return {str(each.get("id")): str(each.get("description") or "") for each in listed}


def _object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
