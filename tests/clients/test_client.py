"""Every client's file: connected, disconnected and undone, with everything else in it kept."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from mcp_workbench.clients import jsonc
from mcp_workbench.clients.change import Backups, ChangedSince
from mcp_workbench.clients.client import ClientFile, Home, Unreadable
from mcp_workbench.clients.known import BY_NAME, CLIENTS
from mcp_workbench.clients.ours import our_entry

from .home import lay_out


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "project").mkdir()
    lay_out(tmp_path, tmp_path / "project")
    return Home(str(tmp_path), {})


def file_of(name: str, home: Home) -> ClientFile:
    return BY_NAME[name].files(home, f"{home.folder}/project")[0]


def connected(file: ClientFile, backups: Backups, *leaving_out: str) -> None:
    change = file.connecting(our_entry(file.client, "/c.json", ["A_TOKEN"]), leaving_out)
    backups.keep(change)
    change.write()


@pytest.mark.parametrize("name", BY_NAME)
def test_a_client_that_is_connected_and_disconnected_has_its_file_as_it_was(name: str, home: Home) -> None:
    file = file_of(name, home)
    backups = Backups({"XDG_STATE_HOME": home.folder})
    before = Path(file.path).read_text()
    others = file.entries()
    connected(file, backups, *others)
    assert [*file.entries()] == ["workbench"]
    again = file.connecting(our_entry(file.client, "/c.json", ["A_TOKEN"]))
    assert not again
    file.disconnecting(backups).write()
    assert Path(file.path).read_text() == before


@pytest.mark.parametrize("name", BY_NAME)
def test_a_file_that_its_client_has_rewritten_keeps_that_and_gets_its_servers_back(
    name: str, home: Home
) -> None:
    file = file_of(name, home)
    backups = Backups({"XDG_STATE_HOME": home.folder})
    others = file.entries()
    connected(file, backups, *others)
    path = Path(file.path)
    is_toml = path.suffix == ".toml"
    path.write_text(
        f"new = 1\n{path.read_text()}" if is_toml else jsonc.with_member(path.read_text(), ["new"], 1)
    )
    with pytest.raises(ChangedSince):
        file.undoing(backups)
    file.disconnecting(backups).write()
    assert file.entries() == others
    data = tomllib.loads(path.read_text()) if is_toml else jsonc.parse(path.read_text())
    assert data["new"] == 1


def test_a_client_without_a_file_gets_one_and_undoing_takes_it_away(tmp_path: Path) -> None:
    backups = Backups({"XDG_STATE_HOME": str(tmp_path)})
    for client in CLIENTS:
        file = client.files(Home(str(tmp_path / client.name), {}), str(tmp_path))[0]
        assert not client.is_here(Home(str(tmp_path / client.name), {}))
        connected(file, backups)
        assert file.our_entry() is not None
        undoing = file.undoing(backups)
        assert undoing is not None
        undoing.write()
        assert not file.exists


def test_an_entry_of_ours_under_another_name_is_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text('{"mcpServers": {"bench": {"command": "/gone/mcp-workbench"}}}')
    file = file_of("cursor", Home(str(tmp_path), {}))
    file.connecting(our_entry(file.client, None, [])).write()
    assert [*file.entries()] == ["bench"]
    assert file.entries()["bench"]["command"] != "/gone/mcp-workbench"


def test_places_are_those_of_the_platform(tmp_path: Path) -> None:
    linux, mac = Home("/h", {}, "linux"), Home("/h", {}, "darwin")
    assert [client.user_file(linux) for client in CLIENTS] == [
        "/h/.claude.json",
        "/h/.config/Claude/claude_desktop_config.json",
        "/h/.cursor/mcp.json",
        "/h/.config/Code/User/mcp.json",
        "/h/.codeium/windsurf/mcp_config.json",
        "/h/.gemini/settings.json",
        "/h/.config/zed/settings.json",
        "/h/.codex/config.toml",
    ]
    support = "/h/Library/Application Support"
    assert BY_NAME["claude-desktop"].user_file(mac) == f"{support}/Claude/claude_desktop_config.json"
    assert BY_NAME["vscode"].user_file(mac) == f"{support}/Code/User/mcp.json"
    assert BY_NAME["zed"].user_file(mac) == "/h/.config/zed/settings.json"
    moved = Home("/h", {"CODEX_HOME": "/c", "CLAUDE_CONFIG_DIR": "/d"}, "linux")
    assert BY_NAME["codex"].user_file(moved) == "/c/config.toml"
    assert BY_NAME["claude-code"].user_file(moved) == "/d/.claude.json"


def test_a_file_that_cannot_be_read_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_bytes(b"\xff\xfe")
    file = file_of("cursor", Home(str(tmp_path), {}))
    with pytest.raises(Unreadable):
        file.connecting({"command": "x"})
    path.write_text('{"mcpServers": []}')
    with pytest.raises(Unreadable):
        file.connecting({"command": "x"})


def test_clients_that_withhold_variables_are_told_which_to_pass() -> None:
    codex = our_entry(BY_NAME["codex"], "/c.json", ["A_TOKEN"])
    assert codex["env_vars"] == ["A_TOKEN"]
    gemini = our_entry(BY_NAME["gemini"], "/c.json", ["A_TOKEN"])
    assert gemini["env"] == {"WORKBENCH_CONFIG": "/c.json", "A_TOKEN": "$A_TOKEN"}
    assert our_entry(BY_NAME["vscode"], None, ["A"]) == {
        "type": "stdio",
        "command": gemini["command"],
        "args": gemini["args"],
    }
