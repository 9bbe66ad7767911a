"""The programs that servers are started with: whether they are here, and in which version."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping

import msgspec

from ..servers.installing import how_to_install

USUAL = ("node", "npx", "uvx", "docker")
"""What most servers are started with."""

TELLING = frozenset({*USUAL, "python", "python3", "uv", "bun", "bunx", "deno", "pipx"})
"""Those that are asked for their version: a server might do anything with an argument it does not know."""

PATIENCE = 10.0
"""Seconds for a program to tell its version."""


class Program(msgspec.Struct):
    """`path` is None where it is not installed."""

    name: str
    path: str | None
    version: str | None = None

    @classmethod
    def find(cls, name: str, environ: Mapping[str, str] = os.environ) -> Program:
        path = shutil.which(name, path=environ.get("PATH", os.defpath))
        return cls(name, path, _version(path) if path is not None and name in TELLING else None)

    @property
    def how_to_install(self) -> str:
        return how_to_install(self.name) or f"Install {self.name}, or correct PATH"


def _version(path: str) -> str | None:
    try:
        done = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return None
    words = (done.stdout or done.stderr).split("\n")[0].strip()
    return words or None
