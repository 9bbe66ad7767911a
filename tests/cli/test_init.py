from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mcp_workbench.config.folders import user_config
from tests.clients.home import SECRETS, lay_out

from .commands import Place, at_terminal


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def furnished(place: Place) -> Place:
    """With sample configurations of every client."""
    lay_out(place.home, place.project)
    return place


def written(place: Place) -> dict[str, Any]:
    return json.loads((place.project / "workbench-config.json").read_text())


def test_the_servers_of_all_clients_become_toolboxes_that_are_proved_to_work(furnished: Place) -> None:
    done = furnished.run("init", "--yes", SAMPLE_ZONE="UTC", TRACKER_KEY="k")
    assert done.returncode == 0
    assert list(written(furnished)["toolboxes"]) == ["code", "data", "web", "office", "mind", "more"]
    assert "✓ code/github" in done.stdout
    assert "✓ office/calendar" in done.stdout
    assert "✗ more/broken" in done.stdout
    assert "✓ called code/github/describe, which gave a result" in done.stdout
    assert "12 of 13 servers connected" in done.stdout
    assert "it belongs to an extension of Zed" in done.stdout


def test_secrets_are_named_to_be_exported_and_are_neither_written_nor_printed(furnished: Place) -> None:
    done = furnished.run("init", "--yes")
    assert "export GITHUB_PERSONAL_ACCESS_TOKEN=…  # github" in done.stdout
    assert "export TRACKER_KEY=…  # Key of the issue tracker" in done.stdout
    for text in (done.stdout, done.stderr, json.dumps(written(furnished))):
        assert not any(secret in text for secret in SECRETS)
    # Proved all the same: the values are known while it runs.
    assert "✓ code/github" in done.stdout


def test_secrets_are_copied_only_where_that_was_asked_for_into_a_file_for_its_owner(furnished: Place) -> None:
    done = furnished.run("init", "--yes", "--copy-secrets", "--no-proof")
    assert done.returncode == 0
    assert all(secret in json.dumps(written(furnished)) for secret in SECRETS)
    assert not any(secret in done.stdout for secret in SECRETS)
    assert (furnished.project / "workbench-config.json").stat().st_mode & 0o777 == 0o600


def test_what_is_written_is_trusted_and_used_at_once(furnished: Place) -> None:
    furnished.run("init", "--yes", "--no-proof")
    done = furnished.run("call", "more/notes/describe")
    assert (done.returncode, done.stdout) == (0, "describe of notes\n")


def test_a_second_time_nothing_changes_and_new_servers_are_added_to_what_is_there(furnished: Place) -> None:
    furnished.run("init", "--yes", "--no-proof")
    file = furnished.project / "workbench-config.json"
    text = file.read_text()
    assert furnished.run("init", "--yes", "--no-proof").returncode == 0
    assert file.read_text() == text
    (furnished.project / ".mcp.json").write_text('{"mcpServers": {"fresh": {"command": "fetch"}}}')
    outcome = json.loads(furnished.run("init", "--yes", "--json", "--no-proof").stdout)
    assert outcome["written"]
    assert outcome["toolboxes"]["tools"] == ["fresh"]
    assert "build" in outcome["toolboxes"]["more"]


def test_a_dry_run_shows_the_difference_and_writes_nothing(furnished: Place) -> None:
    done = furnished.run("init", "--dry-run")
    assert done.returncode == 0
    assert '+    "code": {' in done.stdout
    assert not (furnished.project / "workbench-config.json").exists()
    assert not any(secret in done.stdout for secret in SECRETS)


def test_one_file_can_be_named_and_one_toolbox_and_another_place(furnished: Place, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere" / "c.json"
    source = str(furnished.home / ".gemini" / "settings.json")
    options = ["--from", source, "--toolbox", "all", "--config", str(target)]
    done = furnished.run("init", "--yes", *options, SAMPLE_ZONE="UTC")
    assert done.returncode == 0
    assert f"Next: mcp-workbench connect --config {target}" in done.stdout
    assert list(json.loads(target.read_text())["toolboxes"]["all"]["mcpServers"]) == ["calendar"]


def test_the_users_own_file_can_be_written(furnished: Place) -> None:
    assert furnished.run("init", "--yes", "--user", "--no-proof").returncode == 0
    outcome = json.loads(furnished.run("init", "--yes", "--user", "--no-proof", "--json").stdout)
    assert outcome["config"] == user_config(furnished.environ)
    assert not (furnished.project / "workbench-config.json").exists()


def test_without_any_server_there_is_a_tool_of_ones_own_to_begin_with(place: Place) -> None:
    done = place.run("init", "--yes")
    assert done.returncode == 0
    assert "1 of 1 server connected, 1 tool." in done.stdout
    assert done.stdout.endswith("\nTry it: mcp-workbench call mine/tools/hello who=Ann\n")
    assert place.run("call", "mine/tools/hello", "who=Ann").stdout == "Hello, Ann!\n"
    assert place.run("init", "--yes").returncode == 0


def test_a_file_that_somebody_else_put_there_is_not_written_into(furnished: Place) -> None:
    (furnished.project / "workbench-config.json").write_text('{"toolboxes": {}}')
    done = furnished.run("init", "--yes")
    assert done.returncode == 1
    assert "is there and not trusted" in done.stderr
    assert written(furnished) == {"toolboxes": {}}


def test_without_a_terminal_and_without_a_word_nothing_is_done(furnished: Place) -> None:
    done = furnished.run("init")
    assert done.returncode == 2
    assert "--yes" in done.stderr


def test_nothing_working_is_status_1(place: Place) -> None:
    (place.project / ".mcp.json").write_text('{"mcpServers": {"gone": {"command": "no-such-program"}}}')
    assert place.run("init", "--yes").returncode == 1


def test_a_server_whose_secrets_were_copied_is_known_again_and_the_other_way_round(furnished: Place) -> None:
    for first, second in (("--copy-secrets", "--no-proof"), ("--no-proof", "--copy-secrets")):
        file = furnished.project / "workbench-config.json"
        file.unlink(missing_ok=True)
        furnished.run("init", "--yes", "--no-proof", first)
        text = file.read_text()
        assert furnished.run("init", "--yes", "--no-proof", second).returncode == 0
        assert file.read_text() == text


def test_where_trust_cannot_be_kept_nothing_is_written(furnished: Place) -> None:
    done = furnished.run("init", "--yes", "--no-proof", XDG_STATE_HOME="/dev/null/x")
    assert (done.returncode, "/dev/null/x" in done.stderr) == (1, True)
    assert not (furnished.project / "workbench-config.json").exists()


def test_odd_entries_of_any_client_are_refused_alone(place: Place) -> None:
    for folder in (".cursor", ".codex"):
        (place.home / folder).mkdir()
    servers = {
        "good": {"command": "fetch"},
        "null": {"command": "x", "disabledTools": None},
        "five": {"command": "x", "disabledTools": 5},
        "half \ud800": {"command": "x"},
    }
    (place.home / ".cursor" / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    (place.home / ".codex" / "config.toml").write_text('[mcp_servers.odd]\ncommand = "x"\nenv_vars = [1]\n')
    seen = place.run("init", "--dry-run")
    assert (seen.returncode, seen.stderr) == (0, "")
    assert "it has text that cannot be written as UTF-8" in seen.stdout
    outcome = json.loads(place.run("init", "--yes", "--no-proof", "--json").stdout)
    assert outcome["toolboxes"] == {"tools": ["good"]}
    refused = [each["name"] for each in outcome["found"] if each["refused"]]
    assert refused == ["null", "five", "half \ud800", "odd"]


def test_a_server_of_which_no_tool_is_offered_stays_one(place: Place) -> None:
    (place.project / ".gemini").mkdir()
    servers = {"quiet": {"command": "x", "includeTools": []}}
    (place.project / ".gemini" / "settings.json").write_text(json.dumps({"mcpServers": servers}))
    assert place.run("init", "--yes", "--no-proof").returncode == 0
    assert written(place)["toolboxes"]["tools"]["mcpServers"]["quiet"]["toolFilters"] == []


def test_at_a_terminal_questions_are_asked(furnished: Place) -> None:
    seen = at_terminal(
        furnished.project, "init", "--no-proof", typed="n\ny\n", HOME=str(furnished.home), XDG_CONFIG_HOME=""
    )
    assert "Copy 4 secrets in clear, instead of naming variables? [y/N]" in seen.screen
    assert "Write " in seen.screen
    assert seen.status == 0
    assert "${GITHUB_PERSONAL_ACCESS_TOKEN}" in json.dumps(written(furnished))
