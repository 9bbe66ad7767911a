"""The configuration: found, read, checked, resolved. What it configures is not known here."""

from .discovery import LOCAL_NAME, Found, configuration, embedded_default, find
from .filters import Filters
from .loading import load
from .structs import (
    AuthConfig,
    ChildConfig,
    Config,
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
from .trust import Trust

__all__ = [
    "LOCAL_NAME",
    "AuthConfig",
    "ChildConfig",
    "Config",
    "Filters",
    "FolderConfig",
    "Found",
    "HttpConfig",
    "Limits",
    "LogConfig",
    "OAuthConfig",
    "RemoteConfig",
    "ServerConfig",
    "TokenConfig",
    "ToolboxConfig",
    "Trust",
    "configuration",
    "embedded_default",
    "find",
    "load",
]
