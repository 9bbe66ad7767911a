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


def test_a_link_to_a_trusted_file_is_another_configuration(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    real, link = tmp_path / "a" / "real.json", tmp_path / "b" / "link.json"
    real.write_text("{}")
    link.symlink_to(real)
    book = Trust({"HOME": str(tmp_path)})
    book.add(str(real), b"{}")
    assert not book.holds(str(link), b"{}")
    book.add(str(link), b"{}")
    assert book.remove(str(real))
    assert book.holds(str(link), b"{}")
    assert not book.holds(str(real), b"{}")


def test_a_file_is_the_same_through_a_link_to_its_folder(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    book = Trust({"HOME": str(tmp_path)})
    book.add(str(tmp_path / "link" / "c.json"), b"{}")
    assert list(book.files()) == [str(tmp_path / "real" / "c.json")]
    assert book.holds(str(tmp_path / "real" / "c.json"), b"{}")


def test_a_folder_whose_name_is_no_utf8_can_be_trusted(tmp_path: Path) -> None:
    file = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9/c.json")
    book = Trust({"HOME": str(tmp_path)})
    book.add(file, b"{}")
    assert book.holds(file, b"{}")
    assert not book.holds(f"{tmp_path}/caf%E9/c.json", b"{}")
    assert list(book.files()) == [f"file://{tmp_path}/caf%E9/c.json"]
    assert book.remove(file)


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
