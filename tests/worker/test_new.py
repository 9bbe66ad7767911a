"""`mcp-workbench new tool`: what it writes works in the real worker."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mcp_workbench.cli.new import new

from .conftest import Worker


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> tuple[int, str]:
    outcome = CliRunner().invoke(new, ["tool", *arguments])
    return outcome.exit_code, outcome.output


@pytest.mark.parametrize("options", [[], ["--typed"]])
@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("greet", "greet.py"),
        ("my-tool.v2", "my_tool_v2.py"),
        ("3d", "tool_3d.py"),
        ("class", "class_.py"),
        ("CamelCase", "CamelCase.py"),
    ],
)
def test_a_new_tool_works_as_it_is(there: Path, name: str, file: str, options: list[str]) -> None:
    umask = os.umask(0o002)
    try:
        status, output = run(name, *options)
    finally:
        os.umask(umask)
    assert status == 0
    assert f"tools/{file} written." in output
    worker = Worker(there / "tools")
    try:
        assert worker.errors() == []
        assert worker.text(name, who="Ann", times=2) == "Hello, Ann! Hello, Ann!"
        assert worker.text(name, who="Ann") == "Hello, Ann!"
        assert worker.stderr() == ""
    finally:
        worker.kill()


def test_a_folder_may_be_named(there: Path) -> None:
    assert run("greet", "--folder", "deep/er")[0] == 0
    assert (there / "deep" / "er" / "greet.py").exists()


def test_a_file_that_is_there_is_never_overwritten(there: Path) -> None:
    assert run("greet")[0] == 0
    (there / "tools" / "greet.py").write_text("mine")
    status, output = run("greet")
    assert (status, (there / "tools" / "greet.py").read_text()) == (1, "mine")
    assert "is there already" in output


@pytest.mark.parametrize("name", ["my tool", "_helper", "a" * 129, "a/b", "", "é"])
def test_a_name_that_is_none_is_refused(there: Path, name: str) -> None:
    status, output = run(name)
    assert status == 1
    assert "is no tool name" in output
    assert not (there / "tools").exists()


def test_a_folder_that_cannot_be_made_is_an_error(there: Path) -> None:
    (there / "tools").write_text("a file")
    status, output = run("greet")
    assert status == 1
    assert "cannot be written" in output
