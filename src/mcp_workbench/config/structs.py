"""The configuration as everyone else reads it: resolved, absolute, frozen. Nothing here reads a file."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from .filters import Filters


class Limits(msgspec.Struct, frozen=True):
    """Seconds, counts and bytes; what the server, its toolbox and the root left out has its default."""

    connect_timeout: float = 30.0
    timeout: float = 600.0
    idle_timeout: float | None = None
    idle_shutdown: float | None = None
    concurrency: int = 32
    queue: int = 256
    connections: int = 8
    max_line: int = 64 * 2**20


class ServerConfig(msgspec.Struct, frozen=True, kw_only=True):
    """What the three kinds of server have in common."""

    toolbox: str
    name: str
    limits: Limits = Limits()
    filters: Filters = Filters()
    read_only: bool = False
    pinned: bool = False
    problem: str | None = None
    """Why it cannot be connected (a missing variable and its place); the other fields are not usable then."""

    @property
    def complaint(self) -> str | None:
        """The problem as a sentence of its own, as it stands among the warnings."""
        if self.problem is None:
            return None
        return f"Server '{self.name}' in toolbox '{self.toolbox}' cannot be connected: {self.problem}"


class ChildConfig(ServerConfig, frozen=True, kw_only=True):
    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    env_file: str | None = None
    cwd: str | None = None
    inherit_env: bool | tuple[str, ...] = False


class AuthConfig(msgspec.Struct, frozen=True, kw_only=True):
    type: Literal["oauth", "client_credentials"] = "oauth"
    client_id: str | None = None
    client_secret: str | None = None
    scopes: tuple[str, ...] = ()


class RemoteConfig(ServerConfig, frozen=True, kw_only=True):
    url: str
    headers: Mapping[str, str] = {}
    transport: Literal["http", "sse"] = "http"
    auth: AuthConfig | None = None


class FolderConfig(ServerConfig, frozen=True, kw_only=True):
    path: str
    python: str | None = None


class ToolboxConfig(msgspec.Struct, frozen=True, kw_only=True):
    """`servers` are in configuration order, without the disabled ones."""

    name: str
    description: str
    servers: Mapping[str, ServerConfig] = {}
    detail: Literal["json", "signature"] = "json"
    listing_limit: int = 80_000
    open_on_use: bool = False


class LogConfig(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    max_size: int = 100_000_000
    keep: int = 5
    value_limit: int = 16_384
    redact: tuple[str, ...] = ()
    record: bool = False


class TokenConfig(msgspec.Struct, frozen=True):
    """`toolboxes` is None where the token may see all of them."""

    token: str
    toolboxes: tuple[str, ...] | None = None


class OAuthConfig(msgspec.Struct, frozen=True):
    issuer: str
    audience: str
    jwks: str | None = None


class HttpConfig(msgspec.Struct, frozen=True, kw_only=True):
    listen: str = "127.0.0.1:8484"
    tokens: Mapping[str, TokenConfig] = {}
    oauth: OAuthConfig | None = None
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    max_body: int = 4 * 2**20


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """`path` is None for the default; `untrusted` is a ./workbench-config.json that was passed over."""

    path: str | None = None
    toolboxes: Mapping[str, ToolboxConfig]
    log: LogConfig
    search: bool = True
    http: HttpConfig = HttpConfig()
    secrets: frozenset[str] = frozenset()
    warnings: tuple[str, ...] = ()
    untrusted: str | None = None

    @property
    def has_children(self) -> bool:
        """Whether any server runs as a process of ours."""
        return any(
            not isinstance(server, RemoteConfig)
            for toolbox in self.toolboxes.values()
            for server in toolbox.servers.values()
        )
