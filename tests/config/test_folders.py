import sys

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
