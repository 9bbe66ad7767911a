"""Which configuration files the user trusts, by path and content: one that changes is not trusted then.

A path is the real folder and the name in it. What a configuration says of folders and programs counts from
the folder that it stands in, so a link to a trusted file is another one, and needs trust of its own.
"""

import os
from collections.abc import Mapping

import msgspec

from .folders import private, state_folder


class Trust:
    """Kept in `trust.json` of the state folder; a file that cannot be read trusts nothing."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.file = os.path.join(state_folder(environ), "trust.json")

    def holds(self, path: str, content: bytes) -> bool:
        return self.files().get(place(path)) == _digest(content)

    def files(self) -> dict[str, str]:
        """Digests of the trusted contents by path."""
        try:
            with open(self.file, "rb") as file:
                return msgspec.json.decode(file.read(), type=dict[str, str])
        except (OSError, msgspec.MsgspecError, UnicodeError):
            return {}

    def add(self, path: str, content: bytes) -> None:
        self._write({**self.files(), place(path): _digest(content)})

    def remove(self, path: str) -> bool:
        """Whether it was trusted."""
        files = self.files()
        known = files.pop(place(path), None) is not None
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


def place(path: str) -> str:
    """What stands for a file: its name in its real folder, whatever the name leads to."""
    folder, name = os.path.split(os.path.abspath(path))
    real = os.path.join(os.path.realpath(folder), name)
    try:
        real.encode()
    except UnicodeEncodeError:  # no UTF-8, and so nothing for JSON
        from urllib.parse import quote

        return f"file://{quote(os.fsencode(real))}"
    return real


def _digest(content: bytes) -> str:
    import hashlib

    return hashlib.sha256(content).hexdigest()
