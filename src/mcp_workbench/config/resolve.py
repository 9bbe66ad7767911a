"""From what is written to what is meant: defaults, inheritance, absolute paths."""

import os
from collections.abc import Mapping
from typing import Any, TypeVar

from msgspec import UNSET, UnsetType, structs

from .filters import Filters
from .folders import at_home
from .structs import (
    AuthConfig,
    ChildConfig,
    FolderConfig,
    HttpConfig,
    Limits,
    LogConfig,
    OAuthConfig,
    RemoteConfig,
    ServerConfig,
    TokenConfig,
    ToolboxConfig,
)
from .values import seconds, size
from .written import (
    AuthEntry,
    ConfigFile,
    HttpEntry,
    LimitsEntry,
    LogEntry,
    OAuthEntry,
    ServerEntry,
    ToolboxEntry,
)

T = TypeVar("T")

# They may download the server before they start it.
_SLOW_STARTERS = {"npx", "uvx", "bunx", "pipx", "docker"}
_SLOW_START = 120.0


class Resolution:
    """Reads one file's entries; `problems` says, by toolbox and server, which cannot be connected."""

    def __init__(
        self,
        file: ConfigFile,
        folder: str,
        environ: Mapping[str, str],
        problems: Mapping[tuple[str, str], str],
    ) -> None:
        self._file = file
        self._folder = folder
        self._environ = environ
        self._problems = problems

    def toolboxes(self) -> dict[str, ToolboxConfig]:
        return {name: self._toolbox(name, entry) for name, entry in self._file.toolboxes.items()}

    def log(self) -> LogConfig:
        entry: LogEntry = self._file.log
        return LogConfig(
            path=self._absolute(_either(entry.path, "log/ToolBox.log")),
            max_size=size(entry.max_size),
            keep=entry.keep,
            value_limit=entry.value_limit,
            redact=tuple(entry.redact),
            record=entry.record,
        )

    def http(self) -> HttpConfig:
        entry: HttpEntry = self._file.http
        oauth = entry.oauth
        return HttpConfig(
            listen=entry.listen,
            tokens={
                name: TokenConfig(each.token, None if each.toolboxes is UNSET else tuple(each.toolboxes))
                for name, each in entry.tokens.items()
            },
            oauth=None if oauth is UNSET else _oauth(oauth),
            hosts=tuple(entry.hosts),
            origins=tuple(entry.origins),
            max_body=size(entry.max_body),
        )

    def _toolbox(self, name: str, entry: ToolboxEntry) -> ToolboxConfig:
        return ToolboxConfig(
            name=name,
            description=entry.description,
            servers={
                server: self._server(name, entry, server, each)
                for server, each in entry.mcp_servers.items()
                if not each.disabled
            },
            detail=entry.detail,
            listing_limit=entry.listing_limit,
            open_on_use=_either(entry.open_on_use, self._file.open_on_use),
        )

    def _server(self, toolbox: str, box: ToolboxEntry, name: str, entry: ServerEntry) -> ServerConfig:
        common: dict[str, Any] = {
            "toolbox": toolbox,
            "name": name,
            "limits": _limits(_defaults(entry), self._file.limits, box.limits, entry.limits),
            "filters": Filters() if entry.tool_filters is UNSET else Filters.parse(entry.tool_filters),
            "read_only": _either(entry.read_only, box.read_only),
            "pinned": _either(entry.pinned, box.pinned),
            "problem": self._problems.get((toolbox, name)),
        }
        if entry.command is not UNSET:
            inherited = entry.inherit_env
            return ChildConfig(
                command=entry.command,
                args=tuple(entry.args),
                env=entry.env,
                env_file=self._maybe(entry.env_file),
                cwd=self._maybe(entry.cwd),
                inherit_env=inherited if isinstance(inherited, bool) else tuple(inherited),
                **common,
            )
        if entry.url is not UNSET:
            return RemoteConfig(
                url=entry.url,
                headers=entry.headers,
                transport="sse" if "sse" in (entry.type, entry.transport) else "http",
                auth=None if entry.auth is UNSET else _auth(entry.auth),
                **common,
            )
        python = _either(entry.python, None)
        return FolderConfig(
            path=self._absolute(_either(entry.path, "")),
            python=self._absolute(python) if python and "/" in python else python,
            **common,
        )

    def _maybe(self, path: str | UnsetType) -> str | None:
        return None if path is UNSET else self._absolute(path)

    def _absolute(self, path: str) -> str:
        return os.path.normpath(os.path.join(self._folder, at_home(path, self._environ)))


def _either(value: T | UnsetType, otherwise: T) -> T:
    return otherwise if value is UNSET else value


def _defaults(entry: ServerEntry) -> Limits:
    slow = entry.command is not UNSET and os.path.basename(entry.command) in _SLOW_STARTERS
    return Limits(connect_timeout=_SLOW_START) if slow else Limits()


def _limits(limits: Limits, *levels: LimitsEntry) -> Limits:
    said: dict[str, Any] = {}
    for level in levels:
        said |= {name: value for name, value in structs.asdict(level).items() if value is not UNSET}
    for name in ("connect_timeout", "timeout", "idle_timeout", "idle_shutdown"):
        if said.get(name) is not None:
            said[name] = seconds(said[name])
    if "max_line" in said:
        said["max_line"] = size(said["max_line"])
    return structs.replace(limits, **said)


def _oauth(entry: OAuthEntry) -> OAuthConfig:
    return OAuthConfig(entry.issuer, entry.audience, _either(entry.jwks, None))


def _auth(entry: AuthEntry) -> AuthConfig:
    scopes = entry.scopes.split() if isinstance(entry.scopes, str) else entry.scopes
    return AuthConfig(
        type=entry.type,
        client_id=_either(entry.client_id, None),
        client_secret=_either(entry.client_secret, None),
        scopes=tuple(scopes),
    )
