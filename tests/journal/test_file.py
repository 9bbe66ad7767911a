import json
import os
import random
import signal
import stat
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from mcp_workbench.journal.file import LogFile
from mcp_workbench.journal.log import Log
from mcp_workbench.journal.query import Query
from mcp_workbench.wire.turn import turn

from .calls import journal, lines, write


def start(program: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )


def test_the_log_and_its_folder_are_for_the_owner_alone(tmp_path: Path):
    path = tmp_path / "log" / "ToolBox.log"
    write(journal(path))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_log_that_others_could_read_is_closed_to_them(tmp_path: Path):
    path = tmp_path / "ToolBox.log"
    path.touch(0o644)
    write(journal(path))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def device(path: Path) -> None:
    """One of our own that swallows everything, as /dev/null does: the machine's is not to be played with."""
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        path.chmod(0o666)
        path.write_bytes(b"x")
    except PermissionError:
        pytest.skip("devices cannot be made here")


def test_a_device_is_written_and_left_as_it_is(tmp_path: Path):
    path = tmp_path / "null"
    device(path)
    log = journal(path, max_size=1000)
    for _ in range(50):
        write(log)
    assert log.dropped == 0
    assert stat.S_ISCHR(path.stat().st_mode)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666
    assert os.listdir(tmp_path) == ["null"]


def test_a_device_is_not_moved_however_fast_it_is_written(tmp_path: Path):
    path = tmp_path / "null"
    device(path)
    file = LogFile(str(path), max_size=100, keep=2)
    for _ in range(1000):
        file.append(b"a line of no great length\n")
    assert os.listdir(tmp_path) == ["null"]


def test_a_pipe_gets_the_lines_and_nobody_waits_for_its_reader(tmp_path: Path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    path.chmod(0o622)
    log = journal(path, max_size=1000)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    first = write(log)
    assert json.loads(os.read(reader, 65536))["id"] == first
    assert stat.S_IMODE(path.stat().st_mode) == 0o622
    while not log.dropped:
        write(log)
    os.close(reader)
    assert os.listdir(tmp_path) == ["pipe"]


def test_a_log_that_was_a_pipe_and_is_a_file_now_is_rotated(tmp_path: Path):
    path = tmp_path / "ToolBox.log"
    os.mkfifo(path)
    file = LogFile(str(path), max_size=100, keep=2)
    file.append(b"1\n")
    path.unlink()
    time.sleep(0.01)
    for _ in range(10):
        file.append(b"a line of no great length\n")
    assert (tmp_path / "ToolBox.log.1").is_file()


def test_a_full_log_is_moved_aside_and_only_so_many_are_kept(tmp_path: Path):
    path = tmp_path / "ToolBox.log"
    log = journal(path, max_size=1000, keep=2)
    ids = [write(log) for _ in range(50)]
    names = sorted(file.name for file in tmp_path.iterdir())
    assert names == ["ToolBox.log", "ToolBox.log.1", "ToolBox.log.2", "ToolBox.log.lock"]
    assert all(file.stat().st_size <= 1000 for file in tmp_path.iterdir())
    kept = [line["id"] for line in lines(path)]
    assert kept == ids[-len(kept) :]


def test_a_line_that_is_larger_than_the_whole_log_may_be_is_written_all_the_same(tmp_path: Path):
    path = tmp_path / "ToolBox.log"
    log = journal(path, max_size=10, keep=3)
    ids = [write(log) for _ in range(3)]
    assert [line["id"] for line in lines(path)] == ids


def test_with_nothing_to_keep_the_log_begins_anew(tmp_path: Path):
    path = tmp_path / "ToolBox.log"
    log = journal(path, max_size=1000, keep=0)
    last = [write(log) for _ in range(20)][-1]
    assert lines(path)[-1]["id"] == last
    assert not list(tmp_path.glob("*.1"))


def test_a_writer_follows_when_another_has_moved_the_log(tmp_path: Path):
    path = tmp_path / "ToolBox.log"
    one, other = LogFile(str(path), max_size=40, keep=5), LogFile(str(path), max_size=10_000, keep=5)
    other.append(b'"a line of thirty characters.."\n')
    one.append(b'"another one of thirty chars.."\n')
    time.sleep(0.01)
    other.append(b'"third"\n')
    assert path.read_bytes() == b'"another one of thirty chars.."\n"third"\n'


def test_a_deleted_log_is_made_again(tmp_path: Path):
    path = tmp_path / "log" / "ToolBox.log"
    file = LogFile(str(path), max_size=1000, keep=1)
    file.append(b"1\n")
    path.unlink()
    path.parent.rmdir()
    time.sleep(0.01)
    file.append(b"2\n")
    assert path.read_bytes() == b"2\n"


def test_the_lines_of_a_turn_are_in_the_file_at_its_end_and_before_anything_is_sent(tmp_path: Path):
    path = tmp_path / "ToolBox.log"
    log = journal(path)
    ids, seen = [write(log)], list[int]()
    turn.lasts = True
    turn.send_then(lambda: seen.append(len(lines(path))))
    ids += [write(log) for _ in range(3)]
    seen.append(len(lines(path)))
    turn.end()
    ids.append(write(log))
    assert seen == [1, 4]
    assert [line["id"] for line in lines(path)] == ids


def test_what_is_sent_before_a_turn_ends_has_its_lines_in_the_file_too(tmp_path: Path):
    path = tmp_path / "ToolBox.log"
    log = journal(path)
    turn.lasts = True
    ids = [write(log) for _ in range(2)]
    turn.record()
    assert [line["id"] for line in lines(path)] == ids
    ids.append(write(log))
    turn.end()
    assert [line["id"] for line in lines(path)] == ids


def test_lines_of_a_turn_that_would_overfill_the_log_are_rotated_like_others(tmp_path: Path):
    path = tmp_path / "ToolBox.log"
    log = journal(path, max_size=1000, keep=50)
    turn.lasts = True
    ids = [write(log) for _ in range(50)]
    turn.end()
    assert all(file.stat().st_size <= 1000 for file in tmp_path.iterdir())
    assert [line["id"] for line in lines(path)] == ids


def test_of_a_turn_only_the_lines_are_lost_for_which_there_was_no_room(tmp_path: Path):
    path = tmp_path / "ToolBox.log"
    program = """
        import resource, signal, sys
        from pathlib import Path
        from mcp_workbench.wire.turn import turn
        from tests.journal.calls import journal, write
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        log = journal(Path(sys.argv[1]))
        write(log)
        size = Path(sys.argv[1]).stat().st_size
        # Room for the first, two more, and half of the one behind them.
        resource.setrlimit(resource.RLIMIT_FSIZE, (3 * size + size // 2, resource.RLIM_INFINITY))
        turn.lasts = True
        for _ in range(6):
            write(log)
        turn.end()
        assert log.dropped == 4, log.dropped
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        write(log, tool="last")
    """
    process = start(program, path)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 0, errors
    assert errors.count("cannot be written") == 1
    whole = [json.loads(line) for line in path.read_bytes().splitlines() if line.endswith(b"}")]
    assert [line["tool"] for line in whole] == ["docker_tool"] * 3 + ["last"]


def test_half_a_line_that_a_killed_process_left_gets_its_end(tmp_path: Path):
    path = tmp_path / "ToolBox.log"
    path.write_bytes(b'{"ts":"20')
    LogFile(str(path), max_size=1000, keep=1).append(b"{}\n")
    assert path.read_bytes() == b'{"ts":"20\n{}\n'


def test_where_nothing_can_be_moved_the_log_grows(tmp_path: Path):
    path = tmp_path / "ToolBox.log"
    (tmp_path / "ToolBox.log.lock").mkdir()
    log = journal(path, max_size=1000, keep=3)
    ids = [write(log) for _ in range(20)]
    assert [line["id"] for line in lines(path)] == ids
    assert log.dropped == 0


def test_two_processes_writing_over_many_rotations_lose_and_tear_nothing(tmp_path: Path):
    path = tmp_path / "ToolBox.log"
    program = """
        import sys
        from pathlib import Path
        from tests.journal.calls import journal, write
        log = journal(Path(sys.argv[1]), max_size=400_000, keep=100)
        for n in range(10_000):
            write(log, tool=sys.argv[2], args=b'{"n":%d}' % n)
        print(log.dropped)
    """
    writers = [start(program, path, name) for name in ("one", "other")]
    for writer in writers:
        out, err = writer.communicate(timeout=60)
        assert (out, err) == ("0\n", "")
    written = lines(path)
    assert len(list(tmp_path.glob("ToolBox.log.[0-9]*"))) > 5
    assert len(written) == 20_000
    for name in ("one", "other"):
        assert sorted(line["args"]["n"] for line in written if line["tool"] == name) == list(range(10_000))


def test_a_killed_process_has_logged_every_call_that_it_answered(tmp_path: Path):
    program = """
        import sys
        from pathlib import Path
        from tests.journal.calls import journal, write
        log = journal(Path(sys.argv[1]), max_size=50_000, keep=100)
        while True:
            print(write(log), flush=True)
    """
    path = tmp_path / "ToolBox.log"
    answered: list[str] = []
    for _ in range(10):
        process = start(program, path)
        assert process.stdout
        wanted = random.randint(1, 300)
        answered += [process.stdout.readline().strip() for _ in range(wanted)]
        os.kill(process.pid, signal.SIGKILL)
        answered += process.stdout.read().split("\n")[:-1]
        process.wait(timeout=10)
    with Log(str(path)) as log:
        logged = {found.call.id for found in log.calls(Query(), limit=1_000_000)}
        assert log.skipped <= 10  # a line may be torn where its call was not answered
    assert logged.issuperset(answered)


def test_a_full_disk_costs_lines_and_one_warning_but_no_call(tmp_path: Path):
    program = """
        import resource, sys
        from pathlib import Path
        from tests.journal.calls import journal, write
        log = journal(Path(sys.argv[1]))
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, hard))
        for _ in range(20):
            write(log)
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        print(log.dropped, write(log))
    """
    path = tmp_path / "ToolBox.log"
    out, err = start(program, path).communicate(timeout=30)
    dropped, last = out.split()
    assert err.count("\n") == 1
    assert f"the call log {path} cannot be written: " in err
    *whole, torn, end = path.read_bytes().split(b"\n")[:-1]
    assert len(whole) == 20 - int(dropped) > 0
    assert all(json.loads(line) for line in whole)
    assert b'"ts"' in torn
    assert json.loads(end)["id"] == last


def test_an_unwritable_folder_costs_lines_and_one_warning_until_it_can_be_written(tmp_path: Path, capfd):
    folder = tmp_path / "log"
    folder.touch()  # a file where the folder should be: this stops even root
    log = journal(folder / "ToolBox.log")
    for _ in range(3):
        write(log)
    assert log.dropped == 3
    assert capfd.readouterr().err.count("\n") == 1
    folder.unlink()
    id = write(log)
    assert [line["id"] for line in lines(folder / "ToolBox.log")] == [id]
    assert log.dropped == 3
