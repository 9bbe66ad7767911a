"""The others, each installed at a pinned version into a folder of its own; ours is never touched by them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

CACHE = Path(__file__).parent / ".cache"

FASTMCP = "4.1.2"
MCP_PROXY = "0.13.0"
MCP_HUB = "4.2.1"


class Missing(Exception):
    """It could not be installed; says why."""


def fastmcp() -> Path:
    """An interpreter that has FastMCP."""
    return _venv("fastmcp", FASTMCP) / "bin" / "python"


def mcp_proxy() -> Path:
    return _venv("mcp-proxy", MCP_PROXY) / "bin" / "mcp-proxy"


def mcp_hub() -> list[str]:
    """The command that runs it."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        raise Missing("needs Node.js with npm")
    folder = CACHE / f"mcp-hub-{MCP_HUB}"
    script = folder / "node_modules" / "mcp-hub" / "dist" / "cli.js"
    if not script.exists():
        folder.mkdir(parents=True, exist_ok=True)
        _run(
            [
                npm,
                "install",
                "--silent",
                "--no-audit",
                "--no-fund",
                "--prefix",
                str(folder),
                f"mcp-hub@{MCP_HUB}",
            ]
        )
    return [node, str(script)]


def _venv(package: str, version: str) -> Path:
    folder = CACHE / f"{package}-{version}"
    ready = folder / ".ready"
    if not ready.exists():
        _run([sys.executable, "-m", "venv", "--clear", str(folder)])
        pip = [
            str(folder / "bin" / "python"),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
        ]
        _run([*pip, f"{package}=={version}"])
        ready.touch()
    return folder


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        reason = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
        raise Missing(f"could not be installed: {' '.join(reason)}")
