from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mcp_workbench.cli.programs import Program
from mcp_workbench.servers.installing import how_to_install


def test_a_program_on_the_path_tells_its_version(tmp_path: Path) -> None:
    program = tmp_path / "thing"
    program.write_text("#!/bin/sh\necho thing 1.2\n")
    program.chmod(0o755)
    assert Program.find("thing", {"PATH": str(tmp_path)}) == Program("thing", str(program), "thing 1.2")


def test_one_that_cannot_tell_its_version_is_there_all_the_same(tmp_path: Path) -> None:
    program = tmp_path / "thing"
    program.write_text("no script")
    program.chmod(0o755)
    assert Program.find("thing", {"PATH": str(tmp_path)}).path == str(program)


@pytest.mark.parametrize(("platform", "said"), [("darwin", "brew install uv"), ("linux", "install.sh | sh")])
def test_one_that_is_missing_says_how_to_get_it(
    platform: str, said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    missing = Program.find("uvx", {"PATH": str(tmp_path)})
    assert missing.path is None
    assert said in missing.how_to_install
    assert how_to_install("/usr/local/bin/uvx") == missing.how_to_install
    assert how_to_install("unheard-of") is None
