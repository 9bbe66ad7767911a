"""Which configuration files the user trusts, by path and content: one that changes is not trusted then."""

import os
from collections.abc import Mapping

import msgspec

from .folders import private, state_folder


class Trust:
    """Kept in `trust.json` of the state folder; a file that cannot be read trusts nothing."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.file = os.path.join(state_folder(environ), "trust.json")

    def holds(self, path: str, content: bytes) -> bool:
        return self.files().get(os.path.realpath(path)) == _digest(content)

    def files(self) -> dict[str, str]:
        """Digests of the trusted contents by path."""
        try:
            with open(self.file, "rb") as file:
                return msgspec.json.decode(file.read(), type=dict[str, str])
        except (OSError, msgspec.MsgspecError, UnicodeError):
            return {}

    def add(self, path: str, content: bytes) -> None:
        self._write({**self.files(), os.path.realpath(path): _digest(content)})

    def remove(self, path: str) -> bool:
        """Whether it was trusted."""
        files = self.files()
        known = files.pop(os.path.realpath(path), None) is not None
        if known:
            self._write(files)
        return known

    def _write(self, files: dict[str, str]) -> None:
        private(os.path.dirname(self.file))
        fresh = f"{self.file}.{os.getpid()}"
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(files)))
        os.replace(fresh, self.file)


def _digest(content: bytes) -> str:
    import hashlib

    return hashlib.sha256(content).hexdigest()
