import os
import stat
from pathlib import Path

from mcp_workbench.config import Trust


def test_trust_holds_for_path_and_content(tmp_path: Path) -> None:
    book = Trust({"HOME": str(tmp_path)})
    book.add("/a/b.json", b"content")
    assert book.holds("/a/../a/b.json", b"content")
    assert not book.holds("/a/b.json", b"changed")
    assert not book.holds("/a/c.json", b"content")
    assert book.remove("/a/b.json")
    assert not book.remove("/a/b.json")
    assert not book.holds("/a/b.json", b"content")


def test_a_link_is_the_file_that_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("{}")
    (tmp_path / "link.json").symlink_to("real.json")
    book = Trust({"HOME": str(tmp_path)})
    book.add(str(tmp_path / "link.json"), b"{}")
    assert book.holds(str(tmp_path / "real.json"), b"{}")


def test_the_file_is_closed_to_others_even_where_the_folder_was_open(tmp_path: Path) -> None:
    folder = tmp_path / "mcp-workbench"
    folder.mkdir(mode=0o755)
    Trust({"XDG_STATE_HOME": str(tmp_path)}).add("/a", b"")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "trust.json").stat().st_mode) == 0o600
    assert os.listdir(folder) == ["trust.json"]


def test_a_damaged_file_trusts_nothing(tmp_path: Path) -> None:
    book = Trust({"XDG_STATE_HOME": str(tmp_path)})
    book.add("/a", b"")
    for damage in (b"", b"{", b"[]", b'{"/a": 1}', b"\xff"):
        (tmp_path / "mcp-workbench" / "trust.json").write_bytes(damage)
        assert not book.holds("/a", b"")
