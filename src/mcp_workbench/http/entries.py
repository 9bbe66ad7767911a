"""Entries: what to put into the configuration of each common client so that it finds us over HTTP."""

from __future__ import annotations

import json


def entries(address: str, token_file: str | None, needs_token: bool) -> dict[str, str]:
    """By client. The token itself is never printed: terminals are shared, recorded and scrolled back."""
    token = f"$(cat '{token_file}')" if token_file is not None else "YOUR_TOKEN"
    option = f' --header "Authorization: Bearer {token}"' if needs_token else ""
    headers = {"headers": {"Authorization": "Bearer YOUR_TOKEN"}} if needs_token else {}
    # Some clients start programs only; this one passes everything on to us.
    bridge = ["-y", "mcp-remote", address]
    if needs_token:
        bridge += ["--header", "Authorization:Bearer YOUR_TOKEN"]
    return {
        "Claude Code": f"claude mcp add --transport http workbench {address}{option}",
        "Claude Desktop": json.dumps({"mcpServers": {"workbench": {"command": "npx", "args": bridge}}}),
        "Cursor": json.dumps({"mcpServers": {"workbench": {"url": address, **headers}}}),
        "Windsurf": json.dumps({"mcpServers": {"workbench": {"serverUrl": address, **headers}}}),
        "VS Code": json.dumps({"servers": {"workbench": {"type": "http", "url": address, **headers}}}),
        "Gemini CLI": json.dumps({"mcpServers": {"workbench": {"httpUrl": address, **headers}}}),
    }
