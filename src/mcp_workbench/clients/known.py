"""The clients that we know, where each keeps its configuration, and the entry that we put into it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from typing import Any

from .client import Client

CLIENTS = (
    Client(
        name="claude-code",
        title="Claude Code",
        user_file=lambda home: os.path.join(
            home.environ.get("CLAUDE_CONFIG_DIR") or home.folder, ".claude.json"
        ),
        project_file=".mcp.json",
        needs_type=True,
        signs=(".claude",),
        restart="Start a new session (claude mcp list shows it)",
    ),
    Client(
        name="claude-desktop",
        title="Claude Desktop",
        user_file=lambda home: os.path.join(home.application("Claude"), "claude_desktop_config.json"),
        restart="Quit and open Claude Desktop",
    ),
    Client(
        name="cursor",
        title="Cursor",
        user_file=lambda home: home.under(".cursor", "mcp.json"),
        project_file=".cursor/mcp.json",
        restart="Turn it on in Cursor's settings under MCP",
    ),
    Client(
        name="vscode",
        title="VS Code",
        user_file=lambda home: os.path.join(home.application("Code"), "User", "mcp.json"),
        project_file=".vscode/mcp.json",
        key="servers",
        needs_type=True,
        restart="Run “MCP: List Servers” and start it",
    ),
    Client(
        name="windsurf",
        title="Windsurf",
        user_file=lambda home: home.under(".codeium", "windsurf", "mcp_config.json"),
        restart="Refresh the MCP servers in Cascade",
    ),
    Client(
        name="gemini",
        title="Gemini CLI",
        user_file=lambda home: home.under(".gemini", "settings.json"),
        project_file=".gemini/settings.json",
        restart="Start a new session (/mcp shows it)",
    ),
    Client(
        name="zed",
        title="Zed",
        user_file=lambda home: os.path.join(
            home.environ.get("XDG_CONFIG_HOME") or home.under(".config"), "zed", "settings.json"
        ),
        project_file=".zed/settings.json",
        key="context_servers",
        restart="Look for the green dot in the Agent panel's settings",
    ),
    Client(
        name="codex",
        title="Codex",
        user_file=lambda home: os.path.join(
            home.environ.get("CODEX_HOME") or home.under(".codex"), "config.toml"
        ),
        project_file=".codex/config.toml",
        key="mcp_servers",
        restart="Start a new session (codex mcp list shows it)",
    ),
)

BY_NAME = {client.name: client for client in CLIENTS}


def our_entry(client: Client, config: str | None, variables: Iterable[str]) -> dict[str, Any]:
    """What starts us from a client. `variables` are those that the configuration refers to.

    The command is an absolute path: an application that was not started from a shell has another PATH.
    """
    command, *args = _command()
    entry: dict[str, Any] = {"type": "stdio"} if client.needs_type else {}
    entry["command"] = command
    if args or client.name != "codex":
        entry["args"] = args
    env = {"WORKBENCH_CONFIG": config} if config is not None else {}
    if client.name == "gemini":
        # It withholds what looks like a secret unless the entry names it.
        env |= {name: f"${name}" for name in variables}
    if env:
        entry["env"] = env
    if client.name == "codex" and (passed := list(variables)):
        entry["env_vars"] = passed  # it passes on nothing else
    return entry


def _command() -> list[str]:
    """How to start this very installation."""
    beside = os.path.join(os.path.dirname(sys.executable), "mcp-workbench")
    for path in (beside, shutil.which("mcp-workbench")):
        if path is not None and os.access(path, os.X_OK):
            return [os.path.abspath(path)]
    return [sys.executable, "-m", "mcp_workbench"]
