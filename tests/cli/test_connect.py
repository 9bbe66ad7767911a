from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.clients.home import SECRETS, lay_out

from .commands import Place, at_terminal


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    lay_out(place.home, place.project)
    assert place.run("init", "--yes", "--no-proof").returncode == 0
    return place


def cursor(place: Place) -> Path:
    return place.home / ".cursor" / "mcp.json"


def test_a_client_is_connected_after_the_difference_was_shown_and_a_backup_made(place: Place) -> None:
    before = cursor(place).read_text()
    done = place.run("connect", "cursor", "--yes")
    assert done.returncode == 0
    assert '+        "workbench": {' in done.stdout
    servers = json.loads(cursor(place).read_text())["mcpServers"]
    assert list(servers) == ["postgres", "search", "workbench"]
    config = str(place.project / "workbench-config.json")
    assert servers["workbench"]["env"] == {"WORKBENCH_CONFIG": config}
    [copy] = (place.home / ".local/state/mcp-workbench/backups").glob("*-mcp.json")
    assert copy.read_text() == before
    assert "is as it should be" in place.run("connect", "cursor", "--yes").stdout


def test_undo_and_disconnect_leave_the_file_as_it_was(place: Place) -> None:
    before = cursor(place).read_text()
    for back in (["connect", "--undo", "cursor", "--yes"], ["disconnect", "cursor", "--yes"]):
        place.run("connect", "cursor", "--yes", "--replace")
        assert list(json.loads(cursor(place).read_text())["mcpServers"]) == ["workbench"]
        assert place.run(*back).returncode == 0
        assert cursor(place).read_text() == before


def test_no_change_of_somebody_else_is_undone(place: Place) -> None:
    place.run("connect", "cursor", "--yes", "--replace")
    cursor(place).write_text(cursor(place).read_text() + "\n// mine\n")
    done = place.run("connect", "--undo", "cursor", "--yes")
    assert done.returncode == 1
    assert (
        "has changed since. To take our entry out all the same, run: mcp-workbench disconnect" in done.stderr
    )
    assert place.run("disconnect", "cursor", "--yes").returncode == 0
    text = cursor(place).read_text()
    assert text.endswith("// mine\n")
    assert "postgres" in text
    assert "workbench" not in text


def test_all_clients_that_are_here_are_connected_and_shown_no_secret(place: Place) -> None:
    done = place.run("connect", "--yes", "--replace", "--json")
    files = json.loads(done.stdout)["files"]
    assert [each["written"] for each in files] == [True] * 8
    assert not any(secret in done.stdout for secret in SECRETS)
    listed = json.loads(place.run("connect", "--list", "--json").stdout)["clients"]
    assert {each["client"] for each in listed if each["entry"] == "workbench"} == {
        *("claude-code", "claude-desktop", "cursor", "vscode", "windsurf", "gemini", "zed", "codex")
    }
    assert json.loads(place.run("disconnect", "--yes", "--json").stdout)["files"][7]["written"]


def test_a_projects_own_file_can_be_chosen(place: Place) -> None:
    assert place.run("connect", "claude-code", "--project", "--yes").returncode == 0
    servers = json.loads((place.project / ".mcp.json").read_text())["mcpServers"]
    assert list(servers) == ["build", "workbench"]
    done = place.run("connect", "windsurf", "--project", "--yes")
    assert done.returncode == 1


def test_nothing_is_written_without_a_word(place: Place) -> None:
    before = cursor(place).read_text()
    dry = place.run("connect", "cursor", "--dry-run")
    assert dry.returncode == 0
    assert "+++" in dry.stdout
    done = place.run("connect", "cursor")
    assert done.returncode == 1
    assert "say --yes" in done.stderr
    home = {"HOME": str(place.home), "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": ""}
    refused = at_terminal(place.project, "connect", "cursor", typed="n\n", **home)
    assert refused.status == 1
    assert cursor(place).read_text() == before
    assert at_terminal(place.project, "connect", "cursor", typed="y\n", **home).status == 0
    assert cursor(place).read_text() != before


def test_a_client_with_a_typing_error_is_guessed(place: Place) -> None:
    done = place.run("connect", "curser", "--yes")
    assert done.returncode == 1
    assert "Client 'curser' not found. Did you mean 'cursor'?" in done.stderr


def test_a_file_that_cannot_be_read_is_left_alone_and_the_others_are_written(place: Place) -> None:
    cursor(place).write_text("{oops")
    done = place.run("connect", "--yes", "--json")
    assert done.returncode == 1
    assert "cannot be read" in done.stderr
    assert cursor(place).read_text() == "{oops"
    assert len(json.loads(done.stdout)["files"]) == 7


def test_on_a_machine_without_clients_they_are_named(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    done = Place(tmp_path / "new").run("connect", "--yes")
    assert done.returncode == 1
    assert "No client was found on this machine. Name one: claude-code" in done.stderr


def test_what_to_do_in_the_client_is_told_where_there_is_something_to_do(place: Place) -> None:
    turn_it_on = "Cursor: Turn it on"
    assert turn_it_on in place.run("connect", "cursor", "--yes").stdout
    assert turn_it_on not in place.run("disconnect", "cursor", "--yes").stdout


def test_servers_that_a_client_starts_as_before_are_mentioned_until_they_are_taken_out(place: Place) -> None:
    advice = "also started by Cursor as before; to take them out there, run: mcp-workbench connect --replace"
    assert advice in place.run("connect", "cursor", "--yes").stdout
    assert "as before" not in place.run("connect", "cursor", "--yes", "--replace").stdout
    assert list(json.loads(cursor(place).read_text())["mcpServers"]) == ["workbench"]
    assert "as before" not in place.run("connect", "cursor", "--yes").stdout
