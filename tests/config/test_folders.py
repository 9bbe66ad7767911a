import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_workbench.config.folders import at_home, config_folder, state_folder


def test_folders_are_those_of_the_xdg_variables() -> None:
    environ = {"HOME": "/home/me", "XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s"}
    assert config_folder(environ) == "/c/mcp-workbench"
    assert state_folder(environ) == "/s/mcp-workbench"


@pytest.mark.parametrize("relative", ["", "here"])
def test_without_an_absolute_variable_they_are_the_platforms_own(
    relative: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ = {"HOME": "/home/me", "XDG_CONFIG_HOME": relative, "XDG_STATE_HOME": relative}
    monkeypatch.setattr(sys, "platform", "linux")
    assert config_folder(environ) == "/home/me/.config/mcp-workbench"
    assert state_folder(environ) == "/home/me/.local/state/mcp-workbench"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert config_folder(environ) == "/home/me/Library/Application Support/mcp-workbench"
    assert state_folder(environ) == "/home/me/Library/Application Support/mcp-workbench"


@pytest.mark.parametrize(
    ("path", "meant"), [("~", "/home/me"), ("~/x", "/home/me/x"), ("~you/x", "~you/x"), ("./~", "./~")]
)
def test_a_tilde_at_the_beginning_is_home(path: str, meant: str) -> None:
    assert at_home(path, {"HOME": "/home/me"}) == meant


@pytest.mark.parametrize("environ", [{}, {"HOME": ""}])
def test_without_a_variable_home_is_what_the_system_knows(environ: dict[str, str]) -> None:
    assert at_home("~/x", environ) == f"{pwd.getpwuid(os.getuid()).pw_dir}/x"


def test_a_relative_home_is_none() -> None:
    assert not os.path.lexists(config_folder({"HOME": "here"}))
    assert "HOME-is-not-set" in at_home("~/x", {"HOME": "here"})


@pytest.mark.skipif(os.getuid() != 0, reason="only root may be somebody whom the system does not know")
def test_without_any_home_a_folder_that_is_called_so_is_not_used(tmp_path: Path) -> None:
    """What lies beneath `./~` is a stranger's."""
    strangers = tmp_path / "~/.config/mcp-workbench"
    strangers.mkdir(parents=True)
    (strangers / "workbench-config.json").write_text('{"toolboxes": {"strange": {}}}')
    tmp_path.chmod(0o755)
    find = """if True:
        import os, pwd
        from mcp_workbench.config import find
        os.setuid(54321)
        print(find(None, os.environ, os.getcwd()))
    """
    env = {"PATH": os.environ["PATH"]}
    done = subprocess.run(
        [sys.executable, "-c", find], cwd=tmp_path, env=env, timeout=30, capture_output=True, text=True
    )
    assert done.stdout == "Found(path=None, untrusted=None, content=None)\n", done.stderr
