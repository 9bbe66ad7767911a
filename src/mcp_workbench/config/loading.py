"""From a configuration file to a `Config`, or to all that is wrong with it. `discovery` says which file."""

import os
from collections.abc import Mapping
from typing import Any

import msgspec

from ..errors import ConfigInvalid, ConfigProblem, ConfigUnreadable
from .agreement import disagreements
from .expand import Expansion
from .pasted import Adaptation
from .place import Place, as_object, server_entries, written
from .problems import Problem
from .resolve import Resolution
from .secrets import secrets_in
from .structs import Config
from .text import Unparsable, flaws, parse
from .written import ConfigFile

# An address for a server that has none, since its variable is missing: it decodes, and leads nowhere.
_NOWHERE = "http://missing.invalid"


def load(path: str, environ: Mapping[str, str], content: bytes | None = None) -> Config:
    """The configuration in a file, or in `content` where it was read already. Raises ConfigError."""
    path = os.path.abspath(path)
    if content is None:
        content = read(path)
    try:
        return _Loading(path, environ, parse(content)).config()
    except Unparsable as error:
        raise ConfigInvalid(path, [ConfigProblem(error.place, error.wrong, error.fix)]) from None


def read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise ConfigUnreadable(path, (error.strerror or str(error)).lower()) from None


class _Loading:
    """One file on its way; every step keeps what it finds wrong, and the end tells it all."""

    def __init__(self, path: str, environ: Mapping[str, str], data: object) -> None:
        self.path = path
        self.environ = environ
        self.problems = flaws(data)
        self.adaptation = Adaptation(data)
        self.expansion = Expansion(data, environ)
        self.data: Any = self.expansion.data

    def config(self) -> Config:
        unconnectable = self._unconnectable()
        file = self._decoded()
        resolution = Resolution(file, os.path.dirname(self.path), self.environ, unconnectable)
        toolboxes = resolution.toolboxes()
        servers = [server for toolbox in toolboxes.values() for server in toolbox.servers.values()]
        missing = [server.complaint for server in servers if server.complaint]
        return Config(
            path=self.path,
            toolboxes=toolboxes,
            log=resolution.log(),
            search=file.search,
            http=resolution.http(),
            secrets=self._secrets(file),
            warnings=(*missing, *self.adaptation.warnings),
        )

    def _unconnectable(self) -> dict[tuple[str, str], str]:
        """Why a server cannot be connected: variables that are missing inside its entry."""
        reasons: dict[tuple[str, str], list[str]] = {}
        for place, names in self.expansion.missing.items():
            match place:
                case ("toolboxes", str(toolbox), "mcpServers", str(server), _, *_):
                    said = [f"environment variable {name} is not set ({written(place)})" for name in names]
                    reasons.setdefault((toolbox, server), []).extend(said)
                case _:
                    for name in names:
                        fix = f"Set it, or give a default: ${{{name}:-…}}"
                        self.problems.append(Problem(place, f"Environment variable {name} is not set", fix))
        return {server: "; ".join(said) for server, said in reasons.items()}

    def _decoded(self) -> ConfigFile:
        self.problems += [*self.adaptation.problems, *self.expansion.problems]
        settled = {problem.place for problem in self.problems} | self.expansion.missing.keys()
        self.problems += [each for each in disagreements(self.data) if each.place not in settled]
        try:
            file = msgspec.convert(self.data, ConfigFile)
        except (msgspec.ValidationError, UnicodeEncodeError):  # the latter for half a character
            from .diagnosis import diagnose

            self.problems += [each for each in diagnose(self.data) if each.place not in settled]
            file = None if self.problems else self._decoded_without_missing()
        if file is None or self.problems:
            raise ConfigInvalid(self.path, self._told())
        return file

    def _decoded_without_missing(self) -> ConfigFile | None:
        """Without the keys whose variables are missing, which is all that is left to be wrong.

        Their servers cannot be connected, and so are not going to use them.
        """
        for place, entry in server_entries(self.data):
            for missing in self.expansion.missing:
                if missing[:4] != place:
                    continue
                if missing[4] == "url":
                    entry["url"] = _NOWHERE
                elif missing[4] not in ("command", "path"):
                    entry.pop(str(missing[4]), None)
        try:
            return msgspec.convert(self.data, ConfigFile)
        except (msgspec.ValidationError, UnicodeEncodeError) as error:
            self.problems.append(Problem((), str(error), "Correct it"))
            return None

    def _told(self) -> list[ConfigProblem]:
        """The problems in the order of the file, without the values of secret variables."""
        hidden = [secret for name, value in self.expansion.used.items() for secret in secrets_in(name, value)]

        def masked(text: str) -> str:
            for secret in hidden:
                text = text.replace(secret, "***")
            return text

        def place(of: Problem) -> str:
            # Before long keys are cut, where half a secret would be left.
            return written(tuple(masked(step) if isinstance(step, str) else step for step in of.place))

        ordered = sorted(self.problems, key=lambda problem: _order(self.data, problem.place))
        return [ConfigProblem(place(each), masked(each.wrong), masked(each.fix)) for each in ordered]

    def _secrets(self, file: ConfigFile) -> frozenset[str]:
        named = [*self.expansion.used.items(), *(("token", each.token) for each in file.http.tokens.values())]
        for place, entry in server_entries(self.data):
            for group in ("env", "headers", "auth"):
                values: dict[str, object] = as_object(entry.get(group))
                for name, value in values.items():
                    # Where a variable is missing there is a reference, and no value to hide.
                    if isinstance(value, str) and (*place, group, name) not in self.expansion.missing:
                        named.append((name, value))
            named.append(("url", entry.get("url", "")))
        return frozenset(secret for name, value in named for secret in secrets_in(name, value))


def _order(data: object, place: Place) -> list[int]:
    order: list[int] = []
    for step in place:
        keys = list(as_object(data))
        order.append(step if isinstance(step, int) else keys.index(step) if step in keys else len(keys))
        data = as_object(data).get(step) if isinstance(step, str) else None
    return order
