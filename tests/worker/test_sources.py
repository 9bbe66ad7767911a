"""Files that others could have written are refused, with the command that mends it."""

from __future__ import annotations

import mmap
import os
import subprocess
import time

import pytest

from mcp_workbench.worker.sources import Sources

from .conftest import Folder, WireError


def mend(line: str) -> None:
    """Do what the error line says, to the letter."""
    subprocess.run(line.rpartition("Run: ")[2], shell=True, check=True, timeout=10)


def test_a_symlink_out_of_the_folder_is_refused_until_it_is_mended(folder: Folder) -> None:
    folder.plain("a", "return 'a'").rename(folder.path.parent / "outside.py")
    (folder.path / "a.py").symlink_to("../outside.py")
    folder.plain("b", "return 'b'")
    worker = folder.start()
    (line,) = worker.errors()
    assert line.startswith("a.py: skipped: it is a symlink that leads out of the folder, to ")
    with pytest.raises(WireError):
        worker.call("a")
    assert worker.text("b") == "b"
    mend(line)
    assert worker.text("a") == "a"


def test_a_symlink_within_the_folder_is_a_file_like_any_other(folder: Folder) -> None:
    folder.write("_source.py", folder.plain("a", "return 'a'").read_text())
    (folder.path / "a.py").unlink()
    (folder.path / "a.py").symlink_to("_source.py")
    assert folder.start().text("a") == "a"


@pytest.mark.parametrize("mode", [0o664, 0o646, 0o666])
def test_a_file_that_others_may_write_is_refused_until_it_is_mended(folder: Folder, mode: int) -> None:
    path = folder.plain("a", "return 'a'")
    path.chmod(mode)
    worker = folder.start()
    (line,) = worker.errors()
    assert line == f"a.py: skipped: others may write to it (mode {mode:04o}). Run: chmod go-w {path}"
    mend(line)
    assert worker.text("a") == "a"


def test_a_helper_that_others_may_write_is_refused_too(folder: Folder) -> None:
    helper = folder.write("_helper.py", "WORD = 'x'\n")
    helper.chmod(0o666)
    folder.write("a.py", "import _helper\n" + folder.plain("a", "return _helper.WORD").read_text())
    worker = folder.start()
    (line,) = worker.errors()
    assert line.startswith("a.py: skipped: its helper _helper.py: others may write to it")
    mend(line)
    assert worker.text("a") == "x"


def test_a_file_that_becomes_writable_loses_its_tools(folder: Folder) -> None:
    path = folder.plain("a", "return 'a'")
    worker = folder.start()
    assert worker.text("a") == "a"
    path.chmod(0o666)
    with pytest.raises(WireError):
        worker.call("a")
    assert len(worker.errors()) == 1


def test_a_folder_that_others_may_write_is_refused_as_a_whole(folder: Folder) -> None:
    folder.plain("a", "return 'a'")
    os.chmod(folder.path, 0o777)
    worker = folder.start()
    assert worker.tools() == {}
    (line,) = worker.errors()
    assert (
        line == f"{folder.path}: refused: others may write to it (mode 0777). Run: chmod go-w {folder.path}"
    )
    mend(line)
    assert worker.text("a") == "a"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_is_refused(folder: Folder) -> None:
    path = folder.plain("a", "return 'a'")
    os.chown(path, 12345, -1)
    worker = folder.start()
    (line,) = worker.errors()
    assert "it belongs to another user (id 12345)" in line
    assert f"chown 0 {path}" in line


def test_a_file_that_cannot_be_read_is_skipped(folder: Folder) -> None:
    (folder.path / "a.py").symlink_to("gone.py")
    (folder.path / "b.py").mkdir()
    folder.plain("c", "return 'c'")
    worker = folder.start()
    assert [line.partition(":")[0] for line in worker.errors()] == ["a.py", "b.py"]
    assert worker.text("c") == "c"


def test_a_save_that_no_clock_shows_is_seen(folder: Folder) -> None:
    path = folder.plain("a", "return '0'")
    sources = Sources(str(folder.path))
    # A second write to a mapped page changes a file without a new time, as a save within one tick of the
    # clock does where the kernel's clock is coarse.
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as page:
        page[-3:-2] = b"1"
        first = sources.look()
        status = os.stat(path)
        page[-3:-2] = b"2"
        if os.stat(path).st_ctime_ns != status.st_ctime_ns:
            pytest.skip("this kernel tells the two writes apart by itself")
        second = sources.look()
    assert second != first
    assert sources.look() == second


def test_looking_again_at_what_did_not_change_sees_no_change(folder: Folder) -> None:
    folder.write("_lib/__init__.py", "")
    folder.plain("a", "return 'a'")
    sources = Sources(str(folder.path))
    first = sources.look()
    assert set(first) == {"a.py", "_lib/__init__.py"}
    for _ in range(10):
        time.sleep(0.01)
        assert sources.look() == first
