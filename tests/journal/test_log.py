import itertools
import os
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from mcp_workbench.journal import Journal, beginning
from mcp_workbench.journal.log import Log
from mcp_workbench.journal.query import Query

from .calls import journal, write

NOW = 1_742_005_780.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ToolBox.log"


def filled(path: Path, count: int = 100, **options: object) -> list[str]:
    """Ids, the oldest first: a call a second, tools by turns, every tenth an error, each 1 ms longer."""
    log = journal(path, **options)
    return [
        write(
            log,
            ts=NOW + n,
            tool=("read_file", "write_file", "docker_ps")[n % 3],
            server=("filesystem", "filesystem", "docker")[n % 3],
            error="went wrong" if n % 10 == 0 else None,
            caller="claude" if n % 2 else f"schedule_tool_{n}",
            cost=n / 1000,
        )
        for n in range(count)
    ]


def ids(path: Path, query: Query | None = None, limit: int = 1000, offset: int = 0) -> list[str]:
    with Log(str(path)) as log:
        return [found.call.id for found in log.calls(query or Query(), limit=limit, offset=offset)]


def test_calls_come_the_newest_first_and_in_pages(path: Path):
    written = filled(path)
    assert ids(path) == written[::-1]
    assert ids(path, limit=10, offset=20) == written[::-1][20:30]


def test_a_log_that_is_not_there_yet_is_empty(path: Path):
    assert ids(path.parent / "nowhere" / "ToolBox.log") == []


@pytest.mark.parametrize(
    ("query", "chosen"),
    [
        (Query(tool=lambda name: name == "docker_ps"), lambda n: n % 3 == 2),
        (Query(tool=lambda name: name.endswith("_file")), lambda n: n % 3 != 2),
        (Query(tool=lambda name: name == "docker"), lambda n: False),
        (Query(server="docker"), lambda n: n % 3 == 2),
        (Query(server="elsewhere"), lambda n: False),
        (Query(toolbox="dev"), lambda n: True),
        (Query(failed=True), lambda n: n % 10 == 0),
        (Query(failed=False), lambda n: n % 10),
        (Query(caller="claude"), lambda n: n % 2),
        (Query(caller="schedule_tool"), lambda n: n % 2 == 0),
        (Query(caller="schedule_tool_4"), lambda n: n == 4),
        (Query(min_cost=20, max_cost=30), lambda n: 20 <= n <= 30),
        (Query(since=NOW + 90), lambda n: n >= 90),
        (Query(until=NOW + 10), lambda n: n < 10),
        (Query(failed=True, server="docker", since=NOW + 50), lambda n: n in (50, 80)),
    ],
)  # fmt: skip
def test_filters_alone_and_together(path: Path, query: Query, chosen):
    written = filled(path)
    expected = [id for n, id in enumerate(written) if chosen(n)]
    assert ids(path, query) == expected[::-1]
    with Log(str(path)) as log:
        assert log.count(query) == len(expected)


def test_rotated_files_are_read_and_not_indexed_again_when_they_move_on(path: Path):
    written = filled(path, 30, max_size=2000, keep=100)
    assert ids(path) == written[::-1]
    with Log(str(path)) as log:
        before = log._index.progress()  # pyright: ignore[reportPrivateUsage]
    later = filled(path, 30, max_size=2000, keep=100)
    with Log(str(path)) as log:
        after = log._index.progress()  # pyright: ignore[reportPrivateUsage]
    assert len(before) > 3
    assert len(after) > len(before)
    settled = list(before)[:-1]  # the newest one has grown
    assert [after[number] for number in settled] == [before[number] for number in settled]
    assert set(ids(path)) == {*written, *later}


def test_what_rotation_has_deleted_is_forgotten(path: Path):
    options = {"max_size": 2000, "keep": 2}
    written = filled(path, 30, **options)
    assert 0 < len(ids(path)) < 30
    later = filled(path, 30, **options)
    assert ids(path) == later[::-1][: len(ids(path))]
    assert not set(ids(path)) & set(written)


def test_the_index_is_for_the_owner_alone_and_may_be_deleted_at_any_time(path: Path):
    written = filled(path)
    index = Path(f"{path}.index.sqlite")
    with Log(str(path)) as log:
        assert stat.S_IMODE(index.stat().st_mode) == 0o600
        index.unlink()
        assert ids(path) == written[::-1]
        log.refresh()
        assert log.count(Query()) == 100
    assert ids(path) == written[::-1]


def test_a_damaged_index_is_made_again(path: Path):
    written = filled(path)
    index = Path(f"{path}.index.sqlite")
    for damage in (b"this is no database, whatever its name says" * 100, b""):
        ids(path)
        index.write_bytes(damage)
        assert ids(path) == written[::-1]
    whole = index.read_bytes()
    index.write_bytes(whole[:4096] + b"\xaa" * (len(whole) - 4096))
    assert ids(path) == written[::-1]


def test_an_index_of_another_version_is_made_again(path: Path):
    import sqlite3

    written = filled(path)
    other = sqlite3.connect(f"{path}.index.sqlite")
    other.executescript("create table calls (whatever); pragma user_version = 99;")
    other.close()
    assert ids(path) == written[::-1]


def test_a_folder_where_no_index_can_be_is_read_without_one(path: Path):
    written = filled(path)
    Path(f"{path}.index.sqlite").mkdir()
    assert ids(path) == written[::-1]


def test_a_log_that_was_emptied_is_read_anew(path: Path):
    filled(path)
    ids(path)
    os.truncate(path, 0)
    written = filled(path, 5)
    assert ids(path) == written[::-1]


def test_torn_and_foreign_lines_are_skipped_and_counted(path: Path):
    written = filled(path, 5)
    lines = path.read_bytes().split(b"\n")[:-1]
    lines[1:1] = [b"", b"garbage", b'{"ts":"2025', b'{"ts":"x","tool":1}', b"\xff\x00\r", b"[" * 5000]
    path.write_bytes(b"\n".join(lines) + b'\n{"ts":"2025-03-15T02:')
    with Log(str(path)) as log:
        assert [found.call.id for found in log.calls(Query(), limit=10)] == written[::-1]
        assert log.skipped == 5


def test_a_line_behind_half_a_line_of_another_process_is_found(path: Path):
    written = filled(path, 2)
    first, second, _ = path.read_bytes().split(b"\n")
    path.write_bytes(first[:100] + second + b"\n")
    assert ids(path) == [written[1]]


def test_an_index_made_before_damaged_lines_were_skipped_is_made_again(path: Path):
    import sqlite3

    written = filled(path, 2)
    path.write_bytes(path.read_bytes().replace(b"nginx", b"\xff", 1))
    ids(path)
    index = sqlite3.connect(f"{path}.index.sqlite")
    index.executescript("update files set skipped = 0; pragma user_version = 1;")
    index.close()
    with Log(str(path)) as log:
        assert [found.call.id for found in log.calls(Query(), limit=9)] == [written[1]]
        assert log.skipped == 1


def test_a_line_counts_once_it_is_whole(path: Path):
    written = filled(path, 2)
    content = path.read_bytes()
    with Log(str(path)) as log:
        path.write_bytes(content[:-20])
        log.refresh()
        assert log.count(Query()) in (1, 2)
        path.write_bytes(content)
        log.refresh()
        assert [found.call.id for found in log.calls(Query(), limit=9)] == written[::-1]
        assert log.skipped == 0


def test_two_readers_that_index_at_the_same_time_see_every_call_once(path: Path):
    written = filled(path, 5000)
    program = """
        import sys
        from mcp_workbench.journal.log import Log
        from mcp_workbench.journal.query import Query
        with Log(sys.argv[1]) as log:
            print(log.count(Query()), log.skipped)
    """
    readers = [
        subprocess.Popen([sys.executable, "-c", textwrap.dedent(program), str(path)], stdout=subprocess.PIPE)
        for _ in range(3)
    ]
    assert {reader.communicate(timeout=60)[0] for reader in readers} == {b"5000 0\n"}
    assert len(ids(path, limit=10_000)) == len(written)


def chained(log: Journal, depth: int) -> list[str]:
    """A call that calls two, the second of which calls one, and so on; the outermost first."""
    chain = [beginning()[0]]
    for level in range(depth):
        for _ in range(2):
            chain.append(
                write(
                    log,
                    ts=NOW + level + 1,
                    parent=chain[2 * level],
                    root=chain[0],
                    caller=f"tool_{chain[2 * level]}",
                )
            )
    write(log, ts=NOW, id=chain[0])
    return chain


def test_a_chain_is_found_from_any_of_its_calls(path: Path):
    log = journal(path)
    filled(path)
    chain, other = chained(log, 3), chained(log, 2)
    with Log(str(path)) as reader:
        for id in chain:
            assert [found.call.id for found in reader.chain(id)] == chain
        assert [found.call.id for found in reader.chain(other[0])] == other
        assert reader.chain("nobody") == []


def test_the_calls_of_a_chain_whose_first_call_still_runs_are_found_by_its_id(path: Path):
    root = beginning()[0]
    inner = write(journal(path), parent=root, root=root)
    with Log(str(path)) as reader:
        assert [found.call.id for found in reader.chain(root)] == [inner]


def test_one_call_is_found_with_everything_about_it(path: Path):
    id = write(journal(path), args=b'{"a":[1,2]}', error="no", trace="line 1\nline 2", tid="t", principal="p")
    with Log(str(path)) as reader:
        found = reader.call(id)
        assert reader.call("nobody") is None
    assert found
    assert bytes(found.call.args) == b'{"a":[1,2]}'
    assert (found.call.err, found.call.trace, found.call.tid, found.call.principal) == (
        "no",
        "line 1\nline 2",
        "t",
        "p",
    )
    assert found.line + b"\n" == path.read_bytes()


def test_stats_tell_calls_errors_and_durations_of_each_tool(path: Path):
    log = journal(path)
    for n in range(1, 101):
        write(log, tool="often", cost=n, error="no" if n > 95 else None)
    write(log, tool="once", cost=7)
    with Log(str(path)) as reader:
        often, once = reader.stats(Query())
        assert reader.stats(Query(failed=True))[0].calls == 5
    assert often[:5] == ("dev", "docker", "often", 100, 5)
    assert often[5:] == pytest.approx((51_000, 95_000, 100_000), abs=1000)
    assert once[2:] == ("once", 1, 0, 7000, 7000, 7000)


def test_following_shows_each_new_call_once_across_rotations(path: Path):
    filled(path, 10)
    log = journal(path, max_size=3000, keep=50)
    with Log(str(path)) as reader:
        steps = reader.follow(Query(tool=lambda name: name == "new"))
        assert next(steps) == []
        seen: list[str] = []
        written: list[str] = []
        for n in range(10):
            written += [write(log, tool="new") for _ in range(n)]
            write(log, tool="old")
            seen += [found.call.id for found in next(steps)]
        assert seen == written
        assert next(steps) == []


def test_a_log_may_be_written_while_it_is_read(path: Path):
    program = """
        import sys
        from pathlib import Path
        from tests.journal.calls import journal, write
        log = journal(Path(sys.argv[1]), max_size=100_000, keep=1000)
        for n in range(5000):
            write(log)
    """
    writer = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program), str(path)], cwd=Path(__file__).parents[2]
    )
    with Log(str(path)) as reader:
        counts = [0]
        for _ in itertools.takewhile(lambda _: writer.poll() is None, range(1000)):
            reader.refresh()
            counts.append(reader.count(Query()))
        assert writer.wait(timeout=30) == 0
        reader.refresh()
        assert counts == sorted(counts)
        assert reader.count(Query()) == 5000
        assert reader.skipped == 0
