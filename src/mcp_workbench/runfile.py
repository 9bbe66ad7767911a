"""What a running workbench tells the commands about itself, in a file of the state folder."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping

import msgspec

from .config.folders import as_text, private, state_folder


class RunFile:
    """`run/<pid>.json`; whatever goes wrong with it disturbs nobody."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._folder = os.path.join(state_folder(environ), "run")
        self._path = os.path.join(self._folder, f"{os.getpid()}.json")
        self._written: dict[str, object] = {}
        self._facts: dict[str, object] = {"pid": os.getpid(), "started": time.time()}

    def write(self, **facts: object) -> None:
        """Say what is so now; writes only where that is news."""
        self._facts.update(
            {key: as_text(fact) if isinstance(fact, str) else fact for key, fact in facts.items()}
        )
        if self._facts == self._written:
            return
        with contextlib.suppress(OSError):
            private(os.path.dirname(self._folder))
            private(self._folder)
            fresh = f"{self._path}.new"
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with open(descriptor, "wb") as file:
                file.write(msgspec.json.encode(self._facts))
            os.replace(fresh, self._path)
            self._written = dict(self._facts)

    def remove(self) -> None:
        with contextlib.suppress(OSError):
            os.unlink(self._path)
