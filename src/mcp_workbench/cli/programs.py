"""The programs that servers are started with: whether they are here, and how to get them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping

import msgspec

_NODE = "Node.js (npm and npx come with it)"
_UV = "uv (uvx comes with it)"

# What brings the program, and the command that installs it: on macOS, and elsewhere.
_INSTALL = {
    "node": (_NODE, "brew install node", "sudo apt install nodejs npm"),
    "npx": (_NODE, "brew install node", "sudo apt install nodejs npm"),
    "npm": (_NODE, "brew install node", "sudo apt install nodejs npm"),
    "uv": (_UV, "brew install uv", "curl -LsSf https://astral.sh/uv/install.sh | sh"),
    "uvx": (_UV, "brew install uv", "curl -LsSf https://astral.sh/uv/install.sh | sh"),
    "bun": ("Bun", "brew install oven-sh/bun/bun", "curl -fsSL https://bun.sh/install | bash"),
    "bunx": ("Bun", "brew install oven-sh/bun/bun", "curl -fsSL https://bun.sh/install | bash"),
    "deno": ("Deno", "brew install deno", "curl -fsSL https://deno.land/install.sh | sh"),
    "pipx": ("pipx", "brew install pipx", "sudo apt install pipx"),
    "docker": ("Docker", "brew install --cask docker", "curl -fsSL https://get.docker.com | sh"),
    "git": ("Git", "brew install git", "sudo apt install git"),
}

USUAL = ("node", "npx", "uvx", "docker")
"""What most servers are started with."""

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
        return cls(name, path, _version(path) if path is not None else None)

    @property
    def how_to_install(self) -> str:
        return how_to_install(self.name) or f"Install {self.name}, or correct PATH"


def how_to_install(command: str) -> str | None:
    """A sentence with the command to run; None for a program that we do not know."""
    known = _INSTALL.get(os.path.basename(command))
    if known is None:
        return None
    return f"Install {known[0]}: {known[1 if sys.platform == 'darwin' else 2]}"


def _version(path: str) -> str | None:
    try:
        done = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return None
    words = (done.stdout or done.stderr).split("\n")[0].strip()
    return words or None
