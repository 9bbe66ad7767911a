from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mcp_workbench.cli.programs import Program
from mcp_workbench.servers.installing import how_to_install


def test_a_program_on_the_path_tells_its_version(tmp_path: Path) -> None:
    program = tmp_path / "node"
    program.write_text("#!/bin/sh\necho v1.2\n")
    program.chmod(0o755)
    assert Program.find("node", {"PATH": str(tmp_path)}) == Program("node", str(program), "v1.2")


def test_a_server_is_not_started_to_hear_its_version(tmp_path: Path) -> None:
    program = tmp_path / "mcp-server-thing"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n")
    program.chmod(0o755)
    assert Program.find(program.name, {"PATH": str(tmp_path)}) == Program(program.name, str(program), None)
    assert not (tmp_path / "started").exists()


def test_one_that_cannot_tell_its_version_is_there_all_the_same(tmp_path: Path) -> None:
    program = tmp_path / "uvx"
    program.write_text("no script")
    program.chmod(0o755)
    assert Program.find("uvx", {"PATH": str(tmp_path)}).path == str(program)


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
