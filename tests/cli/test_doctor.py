from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.launch import child, configuration, toolbox, write_config

from .commands import COMMAND, PATIENCE, Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def configured(place: Place, http: dict[str, Any] | None = None, **servers: Any) -> Path:
    config = {**configuration(dev=toolbox(**servers)), "http": http or {}}
    path = write_config(place.project, config, "c.json")
    place.environ["WORKBENCH_CONFIG"] = str(path)
    return path


def found(place: Place, *arguments: str, status: int = 0) -> dict[str, dict[str, Any]]:
    done = place.run("doctor", "--json", *arguments)
    assert done.returncode == status, done.stdout + done.stderr
    findings = json.loads(done.stdout)["findings"]
    return {f"{each['area']}: {each['subject']}": each for each in findings}


def test_a_healthy_setup_has_status_0_and_tells_of_every_part(place: Place) -> None:
    config = configured(place, echo=child("echo"))
    findings = found(place)
    assert findings["version: Python"]["detail"].split(",")[1].strip() == sys.executable
    assert findings[f"configuration: {config}"]["state"] == "good"
    assert findings[f"log: {place.project}/log/ToolBox.log"]["state"] == "good"
    assert "tools" in findings["server: dev/echo"]["detail"]
    assert "Everything is in order." in place.run("doctor").stdout


def test_a_server_that_fails_is_a_problem_with_its_own_words_and_what_mends_it(place: Place) -> None:
    crash = {"command": sys.executable, "args": ["-c", "import sys; sys.exit('out of tea')"]}
    configured(
        place, crash=crash, missing={"command": "uvx"}, unset={"command": "x", "env": {"A": "${NOPE}"}}
    )
    place.environ["PATH"] = "/usr/bin:/bin"
    findings = found(place, status=1)
    assert "out of tea" in findings["server: dev/crash"]["detail"]
    assert findings["program: uvx"]["state"] == "problem"
    assert "dev/missing" in findings["program: uvx"]["detail"]
    assert findings["program: uvx"]["fix"].startswith("Install uv")
    assert "export NAME" in findings["server: dev/unset"]["fix"]
    assert "server: dev/crash" not in found(place, "--no-servers", status=1)


def test_a_configuration_that_cannot_be_used_is_a_problem(place: Place) -> None:
    configured(place).write_text("{")
    findings = found(place, status=1)
    [problem] = [each for each in findings.values() if each["state"] == "problem"]
    assert problem["fix"].startswith("mcp-workbench check ")


def test_a_file_here_that_is_not_trusted_is_a_problem(place: Place) -> None:
    path = write_config(place.project, configuration(dev=toolbox()))
    findings = found(place, status=1)
    assert findings[f"configuration: {path}"]["fix"] == f"mcp-workbench trust {path}"


def test_a_port_in_use_is_a_note(place: Place) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        configured(place, http={"listen": listen})
        assert found(place)[f"port: {listen}"]["state"] == "note"


def test_a_log_whose_folder_is_a_file_is_a_problem(place: Place) -> None:
    configured(place)
    (place.project / "log").write_text("")
    finding = found(place, status=1)[f"log: {place.project}/log/ToolBox.log"]
    assert finding["state"] == "problem"
    assert "mkdir -p" in finding["fix"]


def test_clients_are_told_with_the_command_that_connects_them(place: Place) -> None:
    configured(place)
    (place.home / ".cursor").mkdir()
    assert found(place)["client: Cursor"]["fix"] == "mcp-workbench connect cursor"
    entry = {"mcpServers": {"workbench": {"command": "/gone/mcp-workbench"}}}
    (place.home / ".cursor" / "mcp.json").write_text(json.dumps(entry))
    finding = found(place, status=1)["client: Cursor"]
    assert (finding["state"], finding["fix"]) == ("problem", "mcp-workbench connect cursor")


def test_running_workbenches_are_told_and_the_files_of_dead_ones_are_swept_away(place: Place) -> None:
    configured(place)
    run = place.home / ".local" / "state" / "mcp-workbench" / "run"
    run.mkdir(parents=True)
    done = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True
    )
    dead = int(done.stdout)
    (run / f"{dead}.json").write_text(json.dumps({"pid": dead, "transport": "stdio"}))
    here = os.getpid()
    facts = {"pid": here, "transport": "stdio", "calls": 3, "errors": 1, "config": "/c.json", "new": 1}
    (run / f"{here}.json").write_text(json.dumps(facts))
    findings = found(place)
    assert findings[f"running: pid {here}, stdio"]["detail"] == "3 calls, 1 error"
    assert [each.name for each in run.iterdir()] == [f"{here}.json"]
    (run / f"{here}.json").write_text(json.dumps({**facts, "reload_error": "a comma too many"}))
    finding = found(place, status=1)[f"running: pid {here}, stdio"]
    assert finding["detail"] == "a comma too many"


def test_a_toolbox_with_a_typing_error_is_guessed(place: Place) -> None:
    configured(place)
    done = place.run("doctor", "dve")
    assert done.returncode == 1
    assert "Did you mean 'dev'?" in done.stderr
    assert place.run("doctor", "dve", "--no-servers").returncode == 1


def test_a_workbench_that_waits_for_trust_is_mended_by_trust(place: Place) -> None:
    path = write_config(place.project, configuration(dev=toolbox()))
    assert place.run("trust").returncode == 0
    with subprocess.Popen(
        COMMAND, stdin=subprocess.PIPE, stderr=subprocess.PIPE, cwd=place.project, env=place.environ
    ) as workbench:
        assert workbench.stderr is not None
        run = place.home / ".local" / "state" / "mcp-workbench" / "run" / f"{workbench.pid}.json"
        deadline = time.monotonic() + PATIENCE
        while not run.exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        write_config(place.project, configuration(dev=toolbox(), more=toolbox()))
        assert b"waits for: mcp-workbench trust" in workbench.stderr.readline()
        while "waits for" not in run.read_text():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        finding = found(place, status=1)[f"running: pid {workbench.pid}, stdio"]
        assert finding["fix"] == f"mcp-workbench trust {path}"
        workbench.communicate()
