from __future__ import annotations

from pathlib import Path

from mcp_workbench.clients.client import Home
from mcp_workbench.clients.known import BY_NAME
from mcp_workbench.clients.standing import Standing


def standing(home: Path) -> Standing:
    place = Home(str(home), {})
    return Standing.of(BY_NAME["cursor"].files(place, str(home))[0], place)


def test_a_client_is_away_here_connected_or_unreadable(tmp_path: Path) -> None:
    assert not standing(tmp_path).here
    (tmp_path / ".cursor").mkdir()
    assert (standing(tmp_path).here, standing(tmp_path).state) == (True, "not connected")
    file = tmp_path / ".cursor" / "mcp.json"
    file.write_text('{"mcpServers": {"w": {"command": "/x/mcp-workbench"}}}')
    connected = standing(tmp_path)
    assert (connected.entry, connected.command, connected.state) == ("w", "/x/mcp-workbench", "connected")
    file.write_text("{")
    assert standing(tmp_path).state == "cannot be read"
