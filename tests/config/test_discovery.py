import os
from pathlib import Path

import pytest

from mcp_workbench.config import FolderConfig, Trust, configuration, find
from mcp_workbench.errors import ConfigNotFound

EMPTY = '{"toolboxes": {}}'


@pytest.fixture
def places(tmp_path: Path) -> Path:
    for name in (
        "option.json",
        "variable.json",
        "cwd/workbench-config.json",
        "config/mcp-workbench/workbench-config.json",
    ):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(EMPTY)
    return tmp_path


def environment(places: Path, **more: str) -> dict[str, str]:
    return {"XDG_CONFIG_HOME": str(places / "config"), "XDG_STATE_HOME": str(places / "state"), **more}


def test_the_option_comes_first(places: Path) -> None:
    environ = environment(places, WORKBENCH_CONFIG=str(places / "variable.json"))
    assert find("../option.json", environ, str(places / "cwd")).path == str(places / "cwd/../option.json")


def test_the_variable_comes_second_and_may_begin_at_home(places: Path) -> None:
    environ = environment(places, WORKBENCH_CONFIG="~/variable.json", HOME=str(places))
    assert find(None, environ, str(places / "cwd")).path == str(places / "variable.json")


def test_a_file_in_the_folder_is_passed_over_until_it_is_trusted_and_again_when_it_changes(
    places: Path,
) -> None:
    here = places / "cwd/workbench-config.json"
    environ = environment(places)
    own = str(places / "config/mcp-workbench/workbench-config.json")

    config = configuration(None, environ, str(here.parent))
    assert (config.path, config.untrusted) == (own, str(here))

    Trust(environ).add(str(here), here.read_bytes())
    config = configuration(None, environ, str(here.parent))
    assert (config.path, config.untrusted) == (str(here), None)

    here.write_text(EMPTY + "\n")
    config = configuration(None, environ, str(here.parent))
    assert (config.path, config.untrusted) == (own, str(here))


def test_what_was_trusted_is_what_is_used(places: Path) -> None:
    here = places / "cwd/workbench-config.json"
    environ = environment(places)
    Trust(environ).add(str(here), here.read_bytes())
    assert find(None, environ, str(here.parent)).content == EMPTY.encode()


def test_the_users_own_file_needs_no_trust_in_its_own_folder_either(places: Path) -> None:
    own = places / "config/mcp-workbench/workbench-config.json"
    (places / "linked").symlink_to("config")
    environ = environment(places, XDG_CONFIG_HOME=str(places / "linked"))
    for config in (configuration(None, each, str(own.parent)) for each in (environment(places), environ)):
        assert os.path.realpath(config.path or "") == str(own)
        assert config.untrusted is None


def test_a_link_to_the_users_own_file_is_another_configuration(places: Path) -> None:
    here = places / "cwd/workbench-config.json"
    own = places / "config/mcp-workbench/workbench-config.json"
    here.unlink()
    here.symlink_to(own)
    config = configuration(None, environment(places), str(here.parent))
    assert (config.path, config.untrusted) == (str(own), str(here))


def test_without_any_file_there_is_the_embedded_default(tmp_path: Path) -> None:
    config = configuration(None, {"HOME": str(tmp_path), "WORKBENCH_CONFIG": ""}, str(tmp_path))
    assert config.path is None
    assert config.warnings == ()
    assert list(config.toolboxes) == ["workbench"]
    [tools] = config.toolboxes["workbench"].servers.values()
    assert isinstance(tools, FolderConfig)
    assert config.log.path.startswith(str(tmp_path))


@pytest.mark.parametrize(("option", "variable"), [("nowhere.json", None), (None, "nowhere.json")])
def test_a_file_that_was_asked_for_and_is_not_there_is_an_error(
    places: Path, option: str | None, variable: str | None
) -> None:
    environ = environment(places, **({"WORKBENCH_CONFIG": variable} if variable else {}))
    with pytest.raises(
        ConfigNotFound, match=r"nowhere\.json not found \(asked for by (--config|WORKBENCH_CONFIG)\)"
    ):
        find(option, environ, str(places))
