import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

RUN = "import sys; from mcp_workbench.cli.app import run; sys.exit(run(sys.argv[1:]))"


def command(*arguments: str, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", RUN, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=cwd,
        env={"PATH": os.environ["PATH"], "HOME": str(cwd / "home"), **environ},
    )


def configured(folder: Path, entry: dict[str, Any], name: str = "c.json") -> Path:
    file = folder / name
    file.write_text(json.dumps({"toolboxes": {"dev": {"description": "Tools", "mcpServers": {"s": entry}}}}))
    return file


def test_a_good_file_is_summed_up_without_its_secrets(tmp_path: Path) -> None:
    file = configured(tmp_path, {"command": "npx", "args": ["--key", "canary"], "env": {"A_TOKEN": "canary"}})
    done = command("check", str(file), cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.splitlines() == ["dev (1 server): Tools", "  s: command npx", f"{file} is fine"]
    assert "canary" not in done.stdout + done.stderr


def test_problems_are_told_with_status_1(tmp_path: Path) -> None:
    file = configured(tmp_path, {"comand": "npx", "env": {"A": 1}})
    done = command("check", str(file), cwd=tmp_path)
    assert done.returncode == 1
    assert 'mcpServers.s.comand: Unknown key. Did you mean "command"?' in done.stdout
    assert done.stdout.splitlines()[-1] == f"{file}: 2 problems"


def test_a_missing_variable_is_an_error_here(tmp_path: Path) -> None:
    file = configured(tmp_path, {"command": "${PROGRAM}"})
    done = command("check", "--json", str(file), cwd=tmp_path)
    assert done.returncode == 1
    report = json.loads(done.stdout)
    assert not report["valid"]
    assert "PROGRAM is not set (config.toolboxes.dev.mcpServers.s.command)" in report["problems"][0]["wrong"]
    assert report["warnings"] == []
    assert command("check", str(file), cwd=tmp_path, PROGRAM="npx").returncode == 0


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("http://[bad/mcp", "It must be an http:// or https:// address"),
        ("http://[bad]/mcp", "url: It cannot be read as an address"),
    ],
)
def test_a_url_that_is_no_address_is_a_problem(tmp_path: Path, url: str, problem: str) -> None:
    file = configured(tmp_path, {"url": url})
    done = command("check", str(file), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert problem in done.stdout


def test_without_a_path_the_file_of_a_start_is_checked_trusted_or_not(tmp_path: Path) -> None:
    file = configured(tmp_path, {"command": "npx"}, "workbench-config.json")
    done = command("check", cwd=tmp_path)
    assert done.returncode == 0
    assert f"{file} is not trusted" in done.stdout
    asked = command("check", cwd=tmp_path, WORKBENCH_CONFIG=str(configured(tmp_path, {}, "asked.json")))
    assert asked.returncode == 1


def test_without_any_file_the_embedded_default_is_checked(tmp_path: Path) -> None:
    done = command("check", cwd=tmp_path)
    assert done.returncode == 0
    assert "the embedded default is fine" in done.stdout


@pytest.mark.parametrize("arguments", [["nowhere.json"], ["."]])
def test_a_file_that_cannot_be_read_has_status_1(tmp_path: Path, arguments: list[str]) -> None:
    done = command("check", *arguments, cwd=tmp_path)
    assert done.returncode == 1
    assert "cannot be read" in done.stdout


@pytest.mark.parametrize("arguments", [["check", "--nonsense"], ["nonsense"], ["check", "a", "b"]])
def test_a_command_line_that_makes_no_sense_has_status_2(tmp_path: Path, arguments: list[str]) -> None:
    assert command(*arguments, cwd=tmp_path).returncode == 2


def test_control_characters_of_a_file_do_not_reach_the_terminal(tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    servers = {"\x1b[2J": {"command": "x"}, "s": {"command": "\x1b]0;x\x07", "extra\x1b\n": 1}}
    for named in (servers, {"s": {"command": "\x1b[31mx"}}):
        file.write_text(
            json.dumps({"toolboxes": {"dev": {"description": "\x1b[2J\nx", "mcpServers": named}}})
        )
        done = command("check", str(file), cwd=tmp_path)
        assert all(line.isprintable() for line in done.stdout.splitlines())


def test_the_schema_is_printed(tmp_path: Path) -> None:
    done = command("check", "--schema", cwd=tmp_path)
    assert done.returncode == 0
    documented = Path(__file__).parents[2] / "docs/workbench-config.schema.json"
    assert json.loads(done.stdout) == json.loads(documented.read_text())


def test_an_address_is_told_with_its_port_and_a_folder_that_is_not_there_is_a_warning(tmp_path: Path) -> None:
    remote = configured(tmp_path, {"url": "https://me:canary@example.com:8443/mcp?key=canary"})
    told = command("check", str(remote), cwd=tmp_path).stdout
    assert "  s: url https://example.com:8443/mcp\n" in told
    assert "canary" not in told
    done = command("check", str(configured(tmp_path, {"path": "./toolz"})), cwd=tmp_path)
    assert done.returncode == 0
    assert f"warning: Server 's' in toolbox 'dev' has no folder yet: {tmp_path}/toolz\n" in done.stdout
