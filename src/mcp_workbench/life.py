"""The life of a running workbench: its configuration file is watched, and commands can see how it is.

What a changed configuration keeps and what it closes is the workbench's to decide.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Callable, Mapping

import msgspec

from .config import Trust, load
from .config.folders import user_config
from .errors import ConfigError, ConfigUnreadable, said_of_a_mistake
from .runfile import RunFile
from .workbench import Workbench

POLL = 0.5
"""Seconds between two looks. Asking for the state of one file costs microseconds, works on every file
system, and does not care whether an editor writes in place or by renaming."""

SETTLE = 0.1
"""Seconds that a changed file must rest before it is read: editors empty a file before they fill it."""


class Life:
    """Begins with a running workbench and goes on until `end`."""

    def __init__(
        self,
        workbench: Workbench,
        *,
        asked_for: bool,
        transport: str,
        warn: Callable[[str], None],
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        """`asked_for` says that the user named the configuration file, so that it needs no trust."""
        self._workbench = workbench
        self._environ = environ
        self._warn = warn
        self._path = workbench.config.path
        # The user's own file has the same name as one that was found in the working folder.
        own = os.path.abspath(user_config(environ))
        self._needs_trust = not asked_for and self._path not in (None, own)
        # Nothing yet, so that the first look reads the file again: it may have changed since it was loaded.
        self._state: object = None
        self._watched = self._path is not None and not _is_read_once(self._path)
        self._run = RunFile(environ)
        self._transport = transport
        self.problem: str | None = None
        """Why the last change has no effect; None where it has."""
        self._watching = asyncio.create_task(self._watch())

    def end(self) -> None:
        self._watching.cancel()
        self._run.remove()

    async def _watch(self) -> None:
        while True:
            self._tell()
            await asyncio.sleep(POLL)
            while (state := self._look()) != self._state:
                await asyncio.sleep(SETTLE)
                if state == self._look():
                    self.reload()

    def _tell(self) -> None:
        self._run.write(
            transport=self._transport,
            config=self._path,
            reload_error=self.problem,
            calls=self._workbench.calls,
            errors=self._workbench.errors,
            skipped=self._workbench.skipped,
            untied=self._workbench.untied,
            log_dropped=self._workbench.journal.dropped,
            log_unrecorded=self._workbench.journal.unrecorded,
        )

    def reload(self) -> None:
        """Take over the file as it is now, or keep what there is and say why."""
        if self._path is None:
            return
        if not self._watched:
            self._warn(f"{self._path} is no regular file: it was read at the start, and is not read again")
            return
        self._state = self._look()
        try:
            self._take_over(self._path)
        except ConfigError as error:
            self._refuse(f"the changed configuration is not used. {error}")
        except Exception as mistake:  # of ours, and no reason to miss the next change
            self._refuse(f"the changed configuration is not used. {said_of_a_mistake(mistake)}")

    def _take_over(self, path: str) -> None:
        content = _content(path)
        if self._needs_trust and not Trust(self._environ).holds(path, content):
            self._refuse(f"{path} has changed and waits for: mcp-workbench trust {path}")
            return
        untrusted = self._workbench.config.untrusted
        config = msgspec.structs.replace(load(path, self._environ, content), untrusted=untrusted)
        self.problem = None
        if config != self._workbench.config:
            self._workbench.reload(config)
            self._warn(f"configuration reloaded: {path}")

    def _refuse(self, problem: str) -> None:
        if problem != self.problem:
            self._warn(problem)
        self.problem = problem

    def _look(self) -> object:
        if self._path is None or not self._watched:
            return None
        files = [self._path]
        if self._needs_trust:
            files.append(Trust(self._environ).file)
        return [_stamp(file) for file in files]


def _stamp(path: str) -> object:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _is_read_once(path: str) -> bool:
    """A pipe, as of `--config <(…)`: what was read is gone, and to open it again is to wait for ever."""
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False  # it may come back


def _content(path: str) -> bytes:
    """Never waits, whatever has taken the place of the file."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ConfigUnreadable(path, "it is no regular file")
            return file.read()
    except OSError as error:
        raise ConfigUnreadable(path, (error.strerror or str(error)).lower()) from None
