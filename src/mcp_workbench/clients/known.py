"""The clients that we know: where each keeps its configuration, and its words for what is in it."""

from __future__ import annotations

import os

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
        address_key=None,
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
        address_key="serverUrl",
        restart="Refresh the MCP servers in Cascade",
    ),
    Client(
        name="gemini",
        title="Gemini CLI",
        user_file=lambda home: home.under(".gemini", "settings.json"),
        project_file=".gemini/settings.json",
        address_key="httpUrl",
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
        headers_key="http_headers",
        restart="Start a new session (codex mcp list shows it)",
    ),
)

BY_NAME = {client.name: client for client in CLIENTS}
