"""The configuration file that `init` and `new` write: edited in place, checked before, trusted after."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from ..clients import jsonc
from ..clients.change import Backups, Change, read
from ..config import LOCAL_NAME, Trust, load
from ..config.folders import at_home, user_config
from ..errors import ConfigUnreadable, WorkbenchError


class NotTrustedYet(WorkbenchError):
    """To write into it would be to trust what somebody else has put there."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} is there and not trusted. Look at it, then run: mcp-workbench trust {path}")


class NotUtf8(WorkbenchError):
    def __init__(self, path: str) -> None:
        super().__init__(f"{path} can hold text in UTF-8 only")


class OwnConfig:
    """`data` is what the file says; each `add_…` changes what it will say."""

    def __init__(self, path: str, environ: Mapping[str, str]) -> None:
        """Raises ConfigError, NotTrustedYet."""
        self.path = os.path.abspath(path)
        self._environ = environ
        try:
            self._before = read(self.path)
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigUnreadable(self.path, str(error)) from None
        self._after = self._before or '{\n  "toolboxes": {}\n}\n'
        if self._before is not None:
            content = self._before.encode()
            needs_trust = os.path.basename(self.path) == LOCAL_NAME and self.path != user_config(environ)
            if needs_trust and not Trust(environ).holds(self.path, content):
                raise NotTrustedYet(self.path)
            load(self.path, environ, content)
        self.data: dict[str, Any] = jsonc.parse(self._after)

    @classmethod
    def chosen(cls, option: str | None, user: bool, environ: Mapping[str, str]) -> OwnConfig:
        """The file that was named, the user's own where that was asked for, or the one of this folder."""
        if option is not None:
            return cls(at_home(option, environ), environ)
        return cls(user_config(environ) if user else LOCAL_NAME, environ)

    def add_toolbox(self, name: str, description: str) -> None:
        self._set(("toolboxes", name), {"description": description, "mcpServers": {}})

    def add_server(self, toolbox: str, name: str, entry: Mapping[str, Any]) -> None:
        self._set(("toolboxes", toolbox, "mcpServers", name), dict(entry))

    def change(self, hidden: Iterable[str] = ()) -> Change:
        return Change(self.path, self._before, self._after, frozenset(hidden))

    def save(self, private: bool = False) -> None:
        """Raises ConfigError where it could not be used, and OSError."""
        content = self._encoded()
        load(self.path, self._environ, content)
        change = self.change()
        if change:
            if change.before is not None:
                Backups(self._environ).keep(change)
            change.write()
            if private or change.before is None:
                os.chmod(self.path, 0o600 if private else 0o644)
        try:
            Trust(self._environ).add(self.path, content)
        except OSError:
            # Untrusted it would be used by nobody, and be in the way of whoever tries again.
            Change(self.path, change.after, change.before).write()
            raise

    def _encoded(self) -> bytes:
        try:
            return self._after.encode()
        except UnicodeEncodeError:
            raise NotUtf8(self.path) from None

    def _set(self, path: tuple[str, ...], value: object) -> None:
        self._after = jsonc.with_member(self._after, path, value)
        self.data = jsonc.parse(self._after)
