from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.launch import child, configuration, toolbox, write_config

from .commands import Place, at_terminal


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    config = configuration(
        dev=toolbox(description="Development", echo=child("echo")),
        web=toolbox(description="The web", gone={"command": "uvx", "args": ["nothing"]}),
    )
    place.environ["WORKBENCH_CONFIG"] = str(write_config(tmp_path, config))
    return place


def test_toolboxes_are_listed_without_starting_anything(place: Place) -> None:
    done = place.run("toolboxes")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "TOOLBOX  SERVERS  DESCRIPTION",
        "dev      echo     Development",
        "web      gone     The web",
    ]
    listed = json.loads(place.run("toolboxes", "--json").stdout)["toolboxes"]
    assert listed[0] == {"name": "dev", "description": "Development", "servers": ["echo"]}


def test_without_toolboxes_the_next_step_is_named(place: Place, tmp_path: Path) -> None:
    empty = write_config(tmp_path, {"toolboxes": {}}, "empty.json")
    assert "mcp-workbench init" in place.run("toolboxes", "--config", str(empty)).stdout


def test_the_tools_of_a_toolbox_are_listed_as_they_are_called(place: Place) -> None:
    done = place.run("tools", "dev")
    assert done.returncode == 0
    assert "dev/echo/slow(): Does slow" in done.stdout.splitlines()
    assert "\x1b" not in done.stdout


def test_schemas_and_json_are_whole_definitions(place: Place) -> None:
    assert '"inputSchema"' in place.run("tools", "dev", "--schema").stdout
    listed = json.loads(place.run("tools", "dev", "--json").stdout)
    [slow] = [each for each in listed["tools"] if each["name"] == "slow"]
    assert (slow["toolbox"], slow["server"], slow["inputSchema"]) == ("dev", "echo", {"type": "object"})
    assert listed["servers"][0]["failure"] is None


def test_a_tool_file_that_was_skipped_is_named_with_the_reason(place: Place, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "bad.py").write_text("import nothere\n")
    config = write_config(tmp_path, configuration(dev=toolbox(mine={"path": str(tools)})), "mine.json")
    for command, status in (("tools", 0), ("call dev/mine/bad", 1), ("index", 0), ("toolboxes --tokens", 0)):
        done = place.run(*command.split(), "--config", str(config))
        assert done.returncode == status
        assert "warning: Tool files of server 'mine' (toolbox 'dev'): bad.py" in done.stderr
        assert "nothere" in done.stderr


def test_a_server_that_fails_leaves_the_others_and_status_1_and_says_how_to_install_what_is_missing(
    place: Place,
) -> None:
    done = place.run("tools", PATH="/usr/bin:/bin")
    assert done.returncode == 1
    assert "dev/echo/slow(): Does slow" in done.stdout
    assert "✗ web/gone" in done.stderr
    assert "command not found: 'uvx'" in done.stderr
    assert "Install uv (uvx comes with it): " in done.stderr


def test_a_toolbox_with_a_typing_error_is_guessed(place: Place) -> None:
    done = place.run("tools", "dve")
    assert (done.returncode, done.stdout) == (1, "")
    assert "Toolbox 'dve' not found. Did you mean 'dev'?" in done.stderr


def test_a_command_with_a_typing_error_is_guessed(place: Place) -> None:
    done = place.run("toolbxes")
    assert done.returncode == 2
    assert "Did you mean 'toolboxes'" in done.stderr


def test_at_a_terminal_each_server_is_told_as_it_settles(place: Place, tmp_path: Path) -> None:
    config = place.environ["WORKBENCH_CONFIG"]
    seen = at_terminal(tmp_path, "tools", "dev", WORKBENCH_CONFIG=config)
    assert seen.status == 0
    assert "dev/echo  0." in seen.screen


def test_tools_are_searched_for_by_words_the_best_first(place: Place) -> None:
    done = place.run("tools", "dev", "--search", "slow", "--limit", "1")
    assert done.stdout == "dev/echo/slow(): Does slow\n"
    assert place.run("tools", "dev", "--search", "Portuguese recipes").stdout == ""


def test_tokens_are_counted_of_every_toolbox_and_of_everything_up_front(place: Place) -> None:
    done = place.run("toolboxes", "--tokens", "--json")
    assert done.returncode == 1  # one of its servers is not there
    outcome = json.loads(done.stdout)
    dev, web = outcome["toolboxes"]
    assert dev["json"] > dev["signatures"] > 0
    assert (web["tools"], web["tools_alone"]) == (0, 0)
    assert outcome["everything"] == dev["tools_alone"]
    assert outcome["workbench"] > 0
    assert "Tokens are estimated" in place.run("toolboxes", "--tokens").stdout
