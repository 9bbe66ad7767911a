from __future__ import annotations

import os
from pathlib import Path

from mcp_workbench.clients.change import Backups, Change, read


def test_a_change_keeps_the_files_mode_and_a_link_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "real.json"
    real.write_text("old\n")
    real.chmod(0o640)
    link = tmp_path / "link.json"
    link.symlink_to(real)
    Change(str(link), "old\n", "new\r\n").write()
    assert link.is_symlink()
    assert real.read_bytes() == b"new\r\n"
    assert real.stat().st_mode & 0o777 == 0o640
    assert sorted(each.name for each in tmp_path.iterdir()) == ["link.json", "real.json"]


def test_a_new_file_is_for_its_owner_alone_and_its_folders_are_made(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b.json"
    Change(str(path), None, "{}").write()
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_difference_shows_no_secret(tmp_path: Path) -> None:
    before = '{\n  "API_KEY": "geheim1",\n  "args": ["--pin", "geheim2"],\n  "mode": "fast"\n}\n'
    change = Change("x", before, before.replace("fast", "slow"), frozenset({"geheim2"}))
    text = "\n".join(change.difference())
    assert "geheim" not in text
    assert '-  "mode": "fast"' in text
    assert '+  "mode": "slow"' in text


def test_a_change_can_be_taken_back_until_the_file_changes(tmp_path: Path) -> None:
    backups = Backups({"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")})
    path = tmp_path / "f.json"
    path.write_text("one")
    change = Change(str(path), "one", "two")
    copy = backups.keep(change)
    change.write()
    assert copy is not None
    assert Path(copy).read_text() == "one"
    assert os.stat(copy).st_mode & 0o077 == 0
    undoing = backups.undoing(str(path))
    assert undoing == Change(str(path), "two", "one")
    path.write_text("three")
    assert backups.undoing(str(path)) is None
    assert backups.knows(str(path))
    assert backups.original(str(path)) == "one"
    backups.forget(str(path))
    assert not backups.knows(str(path))


def test_taking_back_the_making_of_a_file_takes_it_away(tmp_path: Path) -> None:
    backups = Backups({"XDG_STATE_HOME": str(tmp_path / "state")})
    path = tmp_path / "f.json"
    change = Change(str(path), None, "two")
    assert backups.keep(change) is None
    change.write()
    undoing = backups.undoing(str(path))
    assert undoing is not None
    undoing.write()
    assert read(str(path)) is None
