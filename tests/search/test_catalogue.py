import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_workbench.search import Catalogue, Place, digest

PLACE = Place("/etc/workbench.json", "dev", "fs", "entry-1")
TOOLS = [{"name": "read", "inputSchema": {"type": "object"}}, {"name": "write", "_meta": {"ü": [1, None]}}]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"XDG_STATE_HOME": str(tmp_path)}


def names(catalogue: Catalogue, place: Place = PLACE) -> list[str] | None:
    seen = catalogue.get(place)
    return None if seen is None else [each.definition["name"] for each in seen]


def test_what_was_put_is_there_for_the_next_process(environ: dict[str, str]) -> None:
    Catalogue(environ).put(PLACE, TOOLS)
    seen = Catalogue(environ).get(PLACE)
    assert seen is not None
    assert [each.definition for each in seen] == TOOLS
    assert [each.hash for each in seen] == [digest(each) for each in TOOLS]


def test_a_server_never_seen_is_not_a_server_without_tools(environ: dict[str, str]) -> None:
    catalogue = Catalogue(environ)
    assert names(catalogue) is None
    catalogue.put(PLACE, [])
    assert names(catalogue) == []


def test_a_path_that_is_no_utf8_is_a_place_like_any_other(environ: dict[str, str]) -> None:
    path = os.fsdecode(b"/caf\xe9/workbench-config.json")
    entry = digest({"path": os.fsdecode(b"/caf\xe9/tools")})
    assert entry != digest({"path": "/caf\\xe9/tools"})
    place, other = Place(path, "dev", "fs", entry), Place("/cafe/workbench-config.json", "dev", "fs", entry)
    catalogue = Catalogue(environ)
    catalogue.put(place, TOOLS)
    assert (names(catalogue, place), names(catalogue, other)) == (["read", "write"], None)
    catalogue.keep(path, [])
    assert names(catalogue, place) is None
    assert catalogue.failure is None


def test_a_changed_entry_is_another_server(environ: dict[str, str]) -> None:
    catalogue = Catalogue(environ)
    catalogue.put(PLACE, TOOLS)
    changed = PLACE._replace(entry="entry-2")
    assert names(catalogue, changed) is None
    catalogue.put(changed, TOOLS[:1])
    assert names(catalogue, changed) == ["read"]
    assert names(catalogue) is None


def test_another_configuration_has_its_own(environ: dict[str, str]) -> None:
    catalogue = Catalogue(environ)
    catalogue.put(PLACE, TOOLS)
    assert names(catalogue, PLACE._replace(config="/other.json")) is None


def test_putting_again_replaces(environ: dict[str, str]) -> None:
    catalogue = Catalogue(environ)
    catalogue.put(PLACE, TOOLS)
    catalogue.put(PLACE, TOOLS[::-1])
    assert names(catalogue) == ["write", "read"]


def test_servers_that_are_gone_are_forgotten(environ: dict[str, str]) -> None:
    catalogue = Catalogue(environ)
    gone = PLACE._replace(server="gone")
    elsewhere = gone._replace(config="/other.json")
    for place in (PLACE, gone, elsewhere):
        catalogue.put(place, TOOLS)
    catalogue.put_vectors({digest(TOOLS[0]): b"needed", "0": b"not needed"})
    catalogue.keep(PLACE.config, [PLACE])
    assert names(catalogue, gone) is None
    assert names(catalogue) == names(catalogue, elsewhere) == ["read", "write"]
    assert catalogue.vectors([digest(TOOLS[0]), "0"]) == {digest(TOOLS[0]): b"needed"}


def test_it_is_closed_to_others(environ: dict[str, str]) -> None:
    catalogue = Catalogue(environ)
    catalogue.put(PLACE, TOOLS)
    assert stat.S_IMODE(os.stat(catalogue.path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(catalogue.path)).st_mode) == 0o700


def test_a_broken_file_is_made_anew(environ: dict[str, str]) -> None:
    catalogue = Catalogue(environ)
    catalogue.put(PLACE, TOOLS)
    Path(catalogue.path).write_bytes(b"this is no database, and long enough to be looked at" * 100)
    fresh = Catalogue(environ)
    assert names(fresh) is None
    fresh.put(PLACE, TOOLS)
    assert names(fresh) == ["read", "write"]


def test_a_place_that_cannot_be_written_is_a_failure_that_nobody_needs_to_catch(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    catalogue = Catalogue({"XDG_STATE_HOME": str(tmp_path / "file")})
    catalogue.put(PLACE, TOOLS)
    assert catalogue.failure is not None
    assert catalogue.get(PLACE) is None


def test_many_processes_write_at_the_same_time(environ: dict[str, str]) -> None:
    code = (
        "import os, sys\n"
        "from mcp_workbench.search import Catalogue, Place\n"
        "for n in range(10):\n"
        "    catalogue = Catalogue(os.environ)\n"
        "    catalogue.put(Place('c', 'dev', f'{sys.argv[1]}-{n}', 'e'), [{'name': str(n)}])\n"
        "    assert catalogue.failure is None, catalogue.failure\n"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", code, str(n)], env={**os.environ, **environ})
        for n in range(4)
    ]
    assert [writer.wait(60) for writer in writers] == [0] * 4
    catalogue = Catalogue(environ)
    for writer in range(4):
        for n in range(10):
            assert names(catalogue, Place("c", "dev", f"{writer}-{n}", "e")) == [str(n)]


def test_the_order_of_keys_does_not_change_a_definition() -> None:
    assert digest({"a": 1, "b": {"c": 2, "d": 3}}) == digest({"b": {"d": 3, "c": 2}, "a": 1})
    assert digest({"a": [1, 2]}) != digest({"a": [2, 1]})
