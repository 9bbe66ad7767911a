"""A server that is a command of the configuration."""

from __future__ import annotations

import os
from collections.abc import Callable, Set

from ..config import ChildConfig
from ..config.secrets import secrets_in
from ..errors import Unanswered
from .environment import child_environment, is_safe, read_env_file
from .installing import how_to_install
from .processes import Processes
from .spawned import Program, SpawnedServer


class ChildServer(SpawnedServer):
    config: ChildConfig

    def __init__(
        self,
        config: ChildConfig,
        on_change: Callable[[], None],
        processes: Processes,
        hide: Callable[[Set[str]], None],
    ) -> None:
        """`hide` hears of secrets before the child does: those of `envFile`, and inherited ones."""
        super().__init__(config, on_change, processes)
        self._hide = hide

    def _program(self) -> Program:
        config = self.config
        env = self._environment()
        path = _find(os.path.expanduser(config.command), env.get("PATH", os.defpath), config.cwd)
        if config.cwd is not None and not os.path.isdir(config.cwd):
            raise Unanswered(f"its working folder does not exist: {config.cwd}")
        return Program(path, [config.command, *config.args], env, config.cwd)

    def _environment(self) -> dict[str, str]:
        declared = dict(self.config.env)
        if self.config.env_file is not None:
            try:
                with open(self.config.env_file, encoding="utf-8-sig", newline="") as file:
                    declared = {**dict(read_env_file(file.read())), **declared}
            except (OSError, ValueError) as error:
                raise Unanswered(f"envFile {self.config.env_file} cannot be used: {error}") from None
        env = child_environment(os.environ, self.config.inherit_env, declared)
        told = ((name, value) for name, value in env.items() if name in declared or not is_safe(name))
        self._hide({secret for name, value in told for secret in secrets_in(name, value)})
        return env


def _find(command: str, search: str, cwd: str | None) -> str:
    """The file that a command is, as a shell would find it. Raises Unanswered."""
    if not os.path.dirname(command):
        import shutil  # with all its archive formats; serving starts without it

        found = shutil.which(command, path=search)
        if found is None:
            remedy = how_to_install(command) or "Install it, or give its full path"
            raise Unanswered(
                f"command not found: '{command}' is in none of the folders of PATH ({search}). {remedy}"
            )
        return found
    path = os.path.join(cwd or os.getcwd(), command)
    if not os.path.exists(path):
        raise Unanswered(f"command not found: {path}")
    if os.path.isdir(path) or not os.access(path, os.X_OK):
        raise Unanswered(f"command cannot be run: {path} is not an executable file")
    return path
