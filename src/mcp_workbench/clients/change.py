"""A change of somebody else's file: shown first, kept for undoing, and written in one step."""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import json
import os
import re
import tempfile
import time
from collections.abc import Mapping

import msgspec

from ..config.folders import private, state_folder
from ..errors import WorkbenchError
from .secrets import looks_secret


class ChangedSince(WorkbenchError):
    """To take our change back would take back somebody else's too."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} has changed since")


class Change(msgspec.Struct, frozen=True):
    """`before` is None for a file that is not there; `after` is None for one that is to go."""

    path: str
    before: str | None
    after: str | None
    hidden: frozenset[str] = frozenset()
    """What must not be shown of it."""

    def __bool__(self) -> bool:
        return self.before != self.after

    def difference(self) -> list[str]:
        """Lines of a unified diff, without values that are or look secret: terminals are shared."""
        before, after = ((text or "").splitlines() for text in (self.before, self.after))
        lines = difflib.unified_diff(before, after, self.path, self.path, lineterm="", n=2)
        return [self._masked(line) for line in lines]

    def _masked(self, line: str) -> str:
        for secret in self.hidden:
            line = line.replace(secret, "***")
        return _MEMBER.sub(_mask, line)

    def write(self) -> None:
        """All or nothing, with the file's own mode; a link stays a link. Raises OSError."""
        target = os.path.realpath(self.path)
        if self.after is None:
            os.unlink(target)
            return
        folder = os.path.dirname(target)
        os.makedirs(folder, exist_ok=True)
        try:
            mode = os.stat(target).st_mode & 0o7777
        except FileNotFoundError:
            mode = 0o600
        descriptor, fresh = tempfile.mkstemp(prefix=f".{os.path.basename(target)}.", dir=folder)
        try:
            with open(descriptor, "w", encoding="utf-8", newline="") as file:
                os.fchmod(file.fileno(), mode)
                file.write(self.after)
                file.flush()
                os.fsync(file.fileno())
            os.replace(fresh, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(fresh)
            raise


class _Kept(msgspec.Struct):
    """`copy` is the file as it was; None where there was none."""

    path: str
    copy: str | None
    digest: str | None


class Backups:
    """What files were before we changed them, in the state folder, newest last."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._folder = os.path.join(state_folder(environ), "backups")
        self._index = os.path.join(self._folder, "index.json")

    def keep(self, change: Change) -> str | None:
        """The copy's path. Raises OSError."""
        private(os.path.dirname(self._folder))
        private(self._folder)
        copy = None
        if change.before is not None:
            stamp = time.strftime("%Y%m%d-%H%M%S")
            name = os.path.basename(change.path).lstrip(".")
            descriptor, copy = tempfile.mkstemp(prefix=f"{stamp}-", suffix=f"-{name}", dir=self._folder)
            with open(descriptor, "w", encoding="utf-8", newline="") as file:
                file.write(change.before)
        self._save([*self._kept(), _Kept(change.path, copy, _digest(change.after))])
        return copy

    def knows(self, path: str) -> bool:
        return self._last(path) is not None

    def undoing(self, path: str) -> Change | None:
        """What takes back our last change; None where there is none, or the file has changed since."""
        kept = self._last(path)
        now = read(path)
        if kept is None or _digest(now) != kept.digest:
            return None
        return Change(path, now, read(kept.copy) if kept.copy is not None else None)

    def original(self, path: str) -> str | None:
        """The file as it was before our last change, whatever it has become."""
        kept = self._last(path)
        return read(kept.copy) if kept is not None and kept.copy is not None else None

    def forget(self, path: str) -> None:
        """The last change of a file has been taken back."""
        kept = self._kept()
        for index in range(len(kept) - 1, -1, -1):
            if kept[index].path == path:
                del kept[index]
                break
        self._save(kept)

    def _last(self, path: str) -> _Kept | None:
        return next((each for each in reversed(self._kept()) if each.path == path), None)

    def _kept(self) -> list[_Kept]:
        try:
            with open(self._index, "rb") as file:
                return msgspec.convert(json.loads(file.read()), list[_Kept])
        except (OSError, ValueError, msgspec.MsgspecError):
            return []

    def _save(self, kept: list[_Kept]) -> None:
        # The paths of files may hold bytes that are no UTF-8, which this writes as escapes.
        Change(self._index, None, json.dumps(msgspec.to_builtins(kept), indent=2)).write()


def read(path: str) -> str | None:
    """A file's text with its own line ends; None where there is none. Raises OSError, UnicodeDecodeError."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None


_MEMBER = re.compile(r"""(["']?)([\w.-]+)\1(\s*[:=]\s*)(["'])((?:[^"'\\]|\\.)+)\4""")


def _mask(found: re.Match[str]) -> str:
    if not looks_secret(found[2], found[5]):
        return found[0]
    return f"{found[1]}{found[2]}{found[1]}{found[3]}{found[4]}***{found[4]}"


def _digest(text: str | None) -> str | None:
    return None if text is None else hashlib.sha256(text.encode()).hexdigest()
