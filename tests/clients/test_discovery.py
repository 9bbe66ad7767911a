from __future__ import annotations

import json
from pathlib import Path

import pytest

from mcp_workbench.clients.discovery import Discovery

from .home import SECRETS, lay_out


@pytest.fixture
def place(tmp_path: Path) -> tuple[Path, Path]:
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    lay_out(home, project)
    return home, project


def test_the_servers_of_every_client_are_found_in_our_words_and_without_their_secrets(
    place: tuple[Path, Path],
) -> None:
    home, project = place
    found = Discovery({"HOME": str(home)}, str(project), str(project))
    assert found.problems == []
    assert [(each.name, each.client) for each in found.servers] == [
        ("notes", "claude-code"),
        ("scratch", "claude-code"),
        ("build", "claude-code"),
        ("github", "claude-desktop"),
        ("notes", "claude-desktop"),
        ("postgres", "cursor"),
        ("search", "cursor"),
        ("broken", "cursor"),
        ("tracker", "vscode"),
        ("docs", "vscode"),
        ("memory", "windsurf"),
        ("intranet", "windsurf"),
        ("calendar", "gemini"),
        ("files", "zed"),
        ("from-an-extension", "zed"),
        ("browser", "codex"),
        ("tickets", "codex"),
    ]
    entries = {each.name: each.entry for each in found.servers}
    assert entries["from-an-extension"] is None
    assert entries["tickets"] == {
        "url": "http://127.0.0.1:9/mcp",
        "headers": {"Authorization": "Bearer ${TICKETS_TOKEN}"},
        "disabled": True,
    }
    assert not any(secret in str(entries) for secret in SECRETS)
    assert {each.value for each in found.secrets.variables.values()} == {*SECRETS, None}


def test_secrets_are_kept_where_that_was_asked_for(place: tuple[Path, Path]) -> None:
    home, project = place
    found = Discovery({"HOME": str(home)}, str(project), str(project), keep_secrets=True)
    assert all(secret in str([each.entry for each in found.servers]) for secret in SECRETS)


def test_our_own_entry_is_not_found_and_a_broken_file_is_a_problem(place: tuple[Path, Path]) -> None:
    home, project = place
    (home / ".cursor/mcp.json").write_text('{"mcpServers": {"w": {"command": "mcp-workbench"}}}')
    (home / ".gemini/settings.json").write_text("{oops, oops}")
    found = Discovery({"HOME": str(home)}, str(project), str(project))
    assert "w" not in {each.name for each in found.servers}
    [problem] = found.problems
    assert "settings.json cannot be read: no JSON from line 1 on" in problem


@pytest.mark.parametrize(
    ("name", "text", "client"),
    [
        ("a.toml", '[mcp_servers.x]\ncommand = "c"\n', "codex"),
        ("a.json", '{"servers": {"x": {"command": "c"}}}', "vscode"),
        ("a.json", '{"context_servers": {"x": {"command": "c"}}}', "zed"),
        ("a.json", '{"mcpServers": {"x": {"command": "c"}}}', "claude-code"),
        (".gemini/settings.json", '{"mcpServers": {"x": {"command": "c"}}}', "gemini"),
    ],
)
def test_a_file_that_was_named_is_looked_at_alone_and_known_by_its_name_or_content(
    tmp_path: Path, name: str, text: str, client: str
) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    found = Discovery({"HOME": str(tmp_path)}, str(tmp_path), str(tmp_path), [str(file)])
    assert [(each.name, each.client) for each in found.servers] == [("x", client)]


def test_an_entry_that_the_configuration_would_not_accept_is_refused_alone(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    servers = {
        "good": {"command": "c"},
        "bad": {"command": "c", "args": ["${workspaceFolder}"]},
        "odd": {"command": 1},
    }
    file.write_text(json.dumps({"mcpServers": servers}))
    found = Discovery({}, str(tmp_path), str(tmp_path), [str(file)])
    assert [each.name for each in found.servers if each.refused is None] == ["good"]
    assert "is known to an editor only" in str(found.servers[1].refused)
