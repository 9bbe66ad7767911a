from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.launch import SERVERS

from .commands import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def written(place: Place) -> dict[str, Any]:
    return json.loads((place.project / "workbench-config.json").read_text())["toolboxes"]


def test_a_new_toolbox_and_its_new_servers_work_at_once(place: Place) -> None:
    assert place.run("new", "toolbox", "dev", "--description", "For work").returncode == 0
    echo = [sys.executable, "-S", str(SERVERS / "echo.py")]
    done = place.run("new", "server", "dev/echo", "--env", "A=b", "--", *echo)
    assert done.returncode == 0
    assert "mcp-workbench doctor dev" in done.stdout
    assert place.run("new", "server", "dev/mine", "--path", "./tools").returncode == 0
    assert place.run("new", "tool", "greet").returncode == 0
    assert written(place)["dev"]["mcpServers"]["echo"]["env"] == {"A": "b"}
    assert place.run("call", "dev/mine/greet", "who=Ann").stdout == "Hello, Ann!\n"
    assert place.run("doctor", "dev").returncode == 0


def test_the_name_of_a_server_is_encoded_where_it_is_typed_and_where_it_is_shown(place: Place) -> None:
    place.run("new", "toolbox", "dev", "--description", "For work")
    echo = [sys.executable, "-S", str(SERVERS / "echo.py")]
    assert place.run("new", "server", "dev/a%2Fb%25", "--", *echo).returncode == 0
    assert list(written(place)["dev"]["mcpServers"]) == ["a/b%"]
    assert place.run("call", "dev/a%2Fb%25/echo", "text=x").returncode == 0
    assert "server: dev/a%2Fb%25  " in place.run("doctor", "dev").stdout
    assert "  dev/a%2Fb%25/echo  " in place.run("logs").stdout


def test_variables_that_cannot_be_kept_are_refused(place: Place) -> None:
    place.run("new", "toolbox", "dev", "--description", "x")
    for arguments, said in (
        (["--url", "https://x", "--env", "TOKEN=abc"], "-- COMMAND"),
        (["--path", "tools", "--env", "TOKEN=abc"], "-- COMMAND"),
        (["--env", "FOO", "--", "npx"], "say NAME=VALUE"),
        (["--env", "=x", "--", "npx"], "say NAME=VALUE"),
    ):
        done = place.run("new", "server", "dev/s", *arguments)
        assert done.returncode == 2
        assert said in done.stderr
    assert written(place)["dev"]["mcpServers"] == {}


def test_a_secret_of_a_new_server_is_not_written(place: Place) -> None:
    place.run("new", "toolbox", "dev", "--description", "x")
    done = place.run("new", "server", "dev/s", "--env", "API_KEY=geheim1", "--", "npx", "-y", "s")
    assert "export API_KEY=…" in done.stdout
    assert written(place)["dev"]["mcpServers"]["s"]["env"] == {"API_KEY": "${API_KEY}"}


def test_what_is_there_is_not_replaced_and_what_is_wrong_is_not_written(place: Place) -> None:
    place.run("new", "toolbox", "dev", "--description", "x")
    before = written(place)
    for arguments, said in (
        (["toolbox", "dev", "--description", "y"], "is in"),
        (["toolbox", "a b", "--description", "y"], "a b"),
        (["server", "dve/s", "--url", "https://x"], "Did you mean 'dev'?"),
        (["server", "dev/s", "--url", "no address"], "url"),
    ):
        done = place.run("new", *arguments)
        assert done.returncode == 1
        assert said in done.stderr
    assert place.run("new", "server", "dev/s").returncode == 2
    assert written(place) == before


def test_a_file_that_is_not_trusted_is_not_written_into(place: Place) -> None:
    (place.project / "workbench-config.json").write_text('{"toolboxes": {}}')
    done = place.run("new", "toolbox", "dev", "--description", "x")
    assert done.returncode == 1
    assert "not trusted" in done.stderr


def test_where_trust_cannot_be_kept_the_file_is_as_it_was(place: Place) -> None:
    for before in (None, '{"toolboxes": {}}'):
        config = place.project / "other.json"
        if before is not None:
            config.write_text(before)
        new = ("new", "toolbox", "dev", "--description", "x", "--config", str(config))
        done = place.run(*new, XDG_STATE_HOME="/dev/null/x")
        assert (done.returncode, "/dev/null/x" in done.stderr) == (1, True)
        assert (config.read_text() if config.exists() else None) == before


def test_what_is_asked_is_asked_on_stderr(place: Place) -> None:
    done = place.run("new", "toolbox", "dev", "--json", given="\nFor work\n")
    assert json.loads(done.stdout)["toolbox"] == "dev"
    assert "What is it for (a model reads this): " in done.stderr
    assert written(place)["dev"]["description"] == "For work"
    done = place.run("new", "toolbox", "web")
    assert (done.returncode, done.stdout) == (1, "")


def test_text_that_is_not_in_utf_8_is_refused(place: Place) -> None:
    done = place.run("new", "toolbox", "dev", "--description", "\udcff")
    assert (done.returncode, "UTF-8" in done.stderr) == (1, True)
    assert not (place.project / "workbench-config.json").exists()


def test_programs_are_told_what_was_written(place: Place) -> None:
    config = str(place.project / "workbench-config.json")
    new = ("new", "toolbox", "dev", "--description", "x", "--json")
    assert json.loads(place.run(*new).stdout) == {"config": config, "toolbox": "dev"}
    new = ("new", "server", "dev/s", "--env", "API_KEY=geheim1", "--json", "--", "npx")
    told = {"config": config, "toolbox": "dev", "server": "s", "exports": ["API_KEY"]}
    assert json.loads(place.run(*new).stdout) == told
    greet = {"path": str(place.project / "tools" / "greet.py"), "tool": "greet"}
    assert json.loads(place.run("new", "tool", "greet", "--json").stdout) == greet
