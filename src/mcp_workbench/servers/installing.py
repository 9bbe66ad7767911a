"""How to get the programs that servers are started with."""

from __future__ import annotations

import os
import sys

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


def how_to_install(command: str) -> str | None:
    """A sentence with the command to run; None for a program that we do not know."""
    known = _INSTALL.get(os.path.basename(command))
    if known is None:
        return None
    return f"Install {known[0]}: {known[1 if sys.platform == 'darwin' else 2]}"
