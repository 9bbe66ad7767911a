"""What a child is given: a safe environment, what its entry declares, and its folder."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.client import text
from tests.support.launch import Launcher, child, configuration, toolbox


def test_a_child_gets_a_safe_environment_and_what_its_entry_declares(
    workbench: Launcher, tmp_path: Path
) -> None:
    (tmp_path / "work").mkdir()
    env_file = tmp_path / "vars.env"
    env_file.write_text(
        "# comment\nFROM_FILE=file\nexport BOTH=\"file\"\nQUOTED='a b # c'\n", encoding="utf-8-sig"
    )
    servers = {
        "plain": child("echo"),
        "declared": child("echo", env={"API_TOKEN": "${CANARY_TOKEN}", "PATH": "/somewhere:${PATH}"}),
        "some": child("echo", inheritEnv=["CANARY_*"]),
        "all": child("echo", inheritEnv=True),
        "filed": child("echo", envFile=str(env_file), env={"BOTH": "entry"}, cwd=str(tmp_path / "work")),
    }
    client = workbench(
        configuration(dev=toolbox(**servers)),
        env={
            "CANARY_TOKEN": "canary",
            "OTHER": "o",
            "UV_PUBLISH_TOKEN": "canary",
            "LC_ALL": "C.UTF-8",
            "http_proxy": "",
        },
    )
    listing = client.open("dev")
    assert "_errors" not in listing
    facts = {server: json.loads(text(client.use(f"dev/{server}/about"))) for server in servers}
    plain = facts["plain"]["env"]
    assert "canary" not in str(plain)
    assert "OTHER" not in plain
    assert "WORKBENCH_CONFIG" not in plain
    assert {"PATH", "HOME", "LANG", "LC_ALL", "XDG_STATE_HOME", "http_proxy"} <= set(plain)
    assert facts["declared"]["env"]["API_TOKEN"] == "canary"
    assert facts["declared"]["env"]["PATH"].startswith("/somewhere:")
    assert facts["some"]["env"]["CANARY_TOKEN"] == "canary"
    assert "OTHER" not in facts["some"]["env"]
    assert facts["all"]["env"]["OTHER"] == "o"
    filed = facts["filed"]["env"]
    assert (filed["FROM_FILE"], filed["BOTH"], filed["QUOTED"]) == ("file", "entry", "a b # c")
    assert facts["filed"]["cwd"] == str(tmp_path / "work")
    assert facts["plain"]["cwd"] == str(Path(client.mark).parent)


def test_an_env_file_that_is_not_there_fails_its_server(workbench: Launcher) -> None:
    servers = {"a": child("echo", envFile="missing.env"), "b": child("echo")}
    client = workbench(configuration(dev=toolbox(**servers)))
    (said,) = client.open("dev")["_errors"]
    assert "missing.env" in said


def test_a_secret_that_a_server_was_given_is_not_in_its_last_words(workbench: Launcher) -> None:
    env = {"API_KEY": "${GIVEN}"}
    starting = child("starting", "exits", "invalid key sk-supersecret-9876", env=env)
    config = configuration(dev=toolbox(echo=child("echo", env=env), starting=starting))
    client = workbench(config, env={"GIVEN": "sk-supersecret-9876"})
    (said,) = client.open("dev")["_errors"]
    assert said.endswith("Its last words: invalid key [masked]")
    said = text(client.use("dev/echo/die", {"stderr": "not sk-supersecret-9876"}))
    assert "Its last words: not [masked]" in said
    # What it answers is its own affair.
    said = text(client.use("dev/echo/fail", {"message": "refused: sk-supersecret-9876"}))
    assert said.endswith("refused: sk-supersecret-9876")


def test_a_relative_cwd_counts_from_the_configuration_and_the_command_from_the_path(
    workbench: Launcher, tmp_path: Path
) -> None:
    folder = tmp_path / "project" / "deep"
    folder.mkdir(parents=True)
    path = tmp_path / "project" / "config.json"
    path.write_text(json.dumps(configuration(dev=toolbox(echo=child("echo", cwd="deep")))))
    client = workbench(path)
    client.open("dev")
    assert json.loads(text(client.use("dev/echo/about")))["cwd"] == str(folder)
