from __future__ import annotations

import json
from pathlib import Path

import pytest

from mcp_workbench.search.extra import installed
from tests.support.launch import child, configuration, toolbox, write_config

from .commands import Place

HOW = "words and meaning" if installed() else "words"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    config = configuration(
        dev=toolbox(echo=child("echo", "read_file", toolFilters=["read_file"])),
        web=toolbox(gone={"command": "no-such-program"}),
    )
    place.environ["WORKBENCH_CONFIG"] = str(write_config(tmp_path, config))
    return place


def test_what_is_known_now_is_told(place: Place) -> None:
    done = place.run("index", "dev")
    assert (done.returncode, done.stdout) == (
        0,
        f"find_tools knows 1 tool of 1 server now, by {HOW}.\n",
    )


def test_a_server_that_fails_is_not_counted_and_is_status_1(place: Place) -> None:
    done = place.run("index")
    assert done.returncode == 1
    assert "1 tool of 1 server now" in done.stdout
    assert "web/gone" in done.stderr
    outcome = json.loads(place.run("index", "--json").stdout)
    assert [each["server"] for each in outcome["servers"]] == ["echo", "gone"]
    assert outcome["semantic"] is installed()


def test_a_place_that_cannot_be_written_is_an_error(place: Place, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = place.run("index", "dev", XDG_STATE_HOME=str(tmp_path / "file"))
    assert done.returncode == 1
    assert "The tools could not be remembered: " in done.stderr


def test_servers_that_are_configured_no_more_are_forgotten(place: Place, tmp_path: Path) -> None:
    place.run("index", "dev")
    path = Path(place.environ["WORKBENCH_CONFIG"])
    path.write_text(json.dumps(configuration(other=toolbox(echo=child("echo", "write_file")))))
    place.run("index")
    catalogue = next(tmp_path.rglob("catalogue.sqlite")).read_bytes()
    assert b"write_file" in catalogue
    assert b"read_file" not in catalogue
