import json
import os
import pty
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from random import Random

import pytest
import typer
from typer.testing import CliRunner, Result

from mcp_workbench.cli.log_page import lasting
from mcp_workbench.cli.logs import logs
from mcp_workbench.journal import beginning

from .calls import journal, write

app = typer.Typer(pretty_exceptions_enable=False)
app.command()(logs)

COMMAND = """
    import typer
    from mcp_workbench.cli.logs import logs
    app = typer.Typer()
    app.command()(logs)
    app()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ToolBox.log"


def run(path: Path, *options: str) -> Result:
    return CliRunner().invoke(app, ["--log", str(path), *options])


def shown(path: Path, *options: str) -> list[str]:
    """The ids that are printed."""
    result = run(path, "--json", *options)
    assert result.exit_code == 0, result.output
    return [json.loads(line)["id"] for line in result.stdout.splitlines()]


def on_a_terminal(path: Path, *options: str) -> str:
    terminal, end = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(COMMAND), "--log", str(path), *options],
        stdout=end,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120", "NO_COLOR": ""},
    )
    os.close(end)
    output = b""
    try:
        while data := os.read(terminal, 65536):
            output += data
    except OSError:  # how the other end of a terminal says that it was closed
        pass
    assert process.wait(timeout=30) == 0
    os.close(terminal)
    return output.decode()


def test_calls_are_filtered_by_every_option(path: Path):
    log = journal(path)
    now = time.time()
    old = write(log, ts=now - 90_000, tool="read_file", cost=2.0)
    failed = write(log, ts=now - 600, tool="read_dir", server="files", error="no", caller="cursor")
    recent = write(log, ts=now - 60, tool="write_file", toolbox="prod", cost=0.001)
    assert shown(path) == [recent, failed, old]
    assert shown(path, "--tool", "read_*") == [failed, old]
    assert shown(path, "--tool", "read") == []
    assert shown(path, "--server", "files") == [failed]
    assert shown(path, "--toolbox", "prod") == [recent]
    assert shown(path, "--status", "error") == [failed]
    assert shown(path, "--status", "success") == [recent, old]
    assert shown(path, "--caller", "cursor") == [failed]
    assert shown(path, "--min", "1s") == [old]
    assert shown(path, "--max", "100") == [recent]
    assert shown(path, "--since", "15m") == [recent, failed]
    assert shown(path, "--since", "2d", "--until", "5m") == [failed, old]
    assert shown(path, "--page-size", "1", "--page", "2") == [failed]


def test_json_lines_are_the_lines_of_the_log(path: Path):
    write(journal(path), args='{"a":"é\\n"}'.encode())
    assert run(path, "--json").stdout_bytes == path.read_bytes()


def test_without_a_terminal_a_call_is_a_plain_line(path: Path):
    id = write(journal(path), error="first line\nsecond line")
    assert run(path).stdout == (
        f"2025-03-15T02:29:40.123Z  dev/docker/docker_tool  claude-code  error  158 ms  first line  {id}\n"
    )


def test_on_a_terminal_calls_are_a_table_that_no_value_can_break(path: Path):
    id = write(journal(path), args=b'{"a":"[red]\\u001b[2J"}', tool="bell\x07[bold]")
    output = on_a_terminal(path)
    assert "arguments or error" in output
    assert id in output
    assert "[red]" in output
    assert "bell\\x07[bold]" in output
    assert "\x1b[2J" not in output
    assert "\x07" not in output


def test_a_chain_is_drawn_as_a_tree_with_durations(path: Path):
    log = journal(path)
    root = beginning()[0]
    first = write(log, ts=1, tool="fetch", parent=root, root=root, cost=0.02)
    deep = write(log, ts=2, tool="parse", parent=first, root=root, error="bad", cost=0.001)
    last = write(log, ts=3, tool="format", parent=root, root=root, cost=12)
    assert run(path, "--chain", root).stdout.splitlines()[0] == f"(not in the log: {root})"
    write(log, ts=0, tool="report", id=root, cost=130)
    for id in (root, first, deep, last):
        assert run(path, "--chain", id).stdout.splitlines() == [
            f"dev/docker/report  2 min 10 s  success  {root}",
            f"├─ dev/docker/fetch  20 ms  success  {first}",
            f"│  └─ dev/docker/parse  1 ms  error  {deep}  bad",
            f"└─ dev/docker/format  12.0 s  success  {last}",
        ]
    assert shown(path, "--chain", deep) == [root, first, deep, last]


def test_stats_have_a_bar_on_a_terminal_only(path: Path):
    log = journal(path)
    for n in range(4):
        write(log, cost=n, error=None if n else "no")
    plain = run(path, "--stats").stdout
    assert (
        plain.split()
        == "tool calls errors p50 p95 max dev/docker/docker_tool 4 1 2000 ms 3000 ms 3000 ms".split()
    )
    assert "█" in on_a_terminal(path, "--stats")
    (line,) = run(path, "--stats", "--json").stdout.splitlines()
    assert json.loads(line)["calls"] == 4


def test_one_call_is_shown_whole(path: Path):
    id = write(journal(path), args=b'{"a":{"b":1}}', error="no", trace="line 1\nline 2\x1b[2J")
    output = run(path, "--show", id).stdout
    assert '"b": 1' in output
    assert "line 1\n" in output
    assert "line 2\\x1b[2J" in output
    assert shown(path, "--show", id) == [id]


def test_a_call_or_a_log_that_is_not_there_is_status_1(path: Path):
    missing = run(path)
    assert missing.exit_code == 1
    assert f"There is no call log at {path}" in missing.stderr
    write(journal(path))
    assert run(path, "--show", "nobody").exit_code == 1
    assert run(path, "--chain", "nobody").exit_code == 1
    assert "cannot be read: Is a directory" in run(path.parent).stderr


@pytest.mark.parametrize(
    "options",
    [("--since", "soon"), ("--min", "fast"), ("--status", "maybe"), ("--page", "0"), ("--stats", "--follow")],
)
def test_a_bad_option_is_status_2_and_named(path: Path, options: tuple[str, ...]):
    result = run(path, *options)
    assert result.exit_code == 2
    assert options[0] in result.stderr


def test_lines_that_cannot_be_read_are_mentioned(path: Path):
    write(journal(path))
    with path.open("ab") as file:
        file.write(b"torn\n")
    assert "1 line of the log could not be read" in run(path).stderr


def forms(id: str) -> list[tuple[str, ...]]:
    """Every way to look at a log."""
    looks = [(), ("--since", "2000-01-01"), ("--stats",), ("--show", id), ("--chain", id)]
    return [(*look, *as_json) for look in looks for as_json in ((), ("--json",))]


@pytest.mark.parametrize(
    ("whole", "damaged"),
    [
        (b'"nginx"', b'"\xff\xfe"'),
        (b'"docker_tool"', b'"\xff"'),
        (b"2025-03-15T02:29:40.123Z", b"0001-01-01T00:00:00"),
        (b"158", b"1e999"),
    ],
)
def test_a_damaged_line_is_counted_and_skipped_in_every_form(path: Path, whole: bytes, damaged: bytes):
    log = journal(path)
    id = write(log)
    path.write_bytes(path.read_bytes().replace(whole, damaged))
    other = write(log)
    for form in forms(other):
        result = run(path, *form)
        assert result.exit_code == 0, (form, result.exception)
        assert "1 line of the log could not be read" in result.stderr
        assert id not in result.stdout
    assert shown(path) == [other]
    assert run(path, "--show", id).exit_code == 1


@pytest.mark.parametrize("number", [b"7" * 5000, b"1e400", b"1.50"])
def test_a_number_is_shown_as_it_was_written(path: Path, number: bytes):
    id = write(journal(path), args=b'{"n":%b}' % number)
    assert b'"n": %b\n' % number in run(path, "--show", id).stdout_bytes
    for form in forms(id):
        assert run(path, *form).exit_code == 0


@pytest.mark.parametrize("ts", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_a_time_that_no_calendar_here_has_is_shown_as_it_is_written(path: Path, ts: str):
    write(journal(path), caller="c")
    path.write_text(path.read_text().replace("2025-03-15T02:29:40.123Z", ts))
    assert ts in on_a_terminal(path)
    assert ts in run(path).stdout


@pytest.mark.parametrize("seed", range(20))
def test_no_damage_at_all_ends_in_a_traceback(path: Path, seed: int):
    chance = Random(seed)
    log = journal(path)
    id = write(log, args='{"a":"é\\n","n":[1,2.50,1e400]}'.encode(), error="no\nmore", trace="é", tid="t")
    write(log, parent=id, root=id)
    damaged = bytearray(path.read_bytes())
    for _ in range(chance.choice((1, 2, 5))):
        at = chance.randrange(len(damaged))
        length = chance.choice((0, 1, 10))
        damaged[at : at + length] = chance.choice((b"", chance.randbytes(1), b'"', b"\\ud800", b"1" * 5000))
    path.write_bytes(damaged)
    for form in forms(id):
        assert run(path, *form).exit_code in (0, 1)


@pytest.mark.parametrize(
    "options",
    [("--since", "9" * 30 + "d"), ("--since", "9" * 400 + "d"), ("--page-size", "9" * 20)],
)
def test_a_number_that_is_too_large_means_all(path: Path, options: tuple[str, str]):
    id = write(journal(path))
    assert shown(path, *options) == [id]
    assert shown(path, "--page", "9" * 20) == []


def test_the_log_of_a_configuration_is_found(tmp_path: Path):
    config = tmp_path / "c.json"
    config.write_text('{"toolboxes": {}, "log": {"path": "here/T.log"}}')
    id = write(journal(tmp_path / "here" / "T.log"))
    assert id in CliRunner().invoke(app, ["--config", str(config)]).stdout
    config.write_text("{")
    assert CliRunner().invoke(app, ["--config", str(config)]).exit_code == 1


def test_following_goes_on_until_it_is_interrupted(path: Path):
    log = journal(path)
    first = write(log)
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(COMMAND), "--log", str(path), "--follow", "--json"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert json.loads(process.stdout.readline())["id"] == first
    for _ in range(3):
        id = write(log)
        assert json.loads(process.stdout.readline())["id"] == id
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=10) == 0


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [(0, "0 ms"), (0.413, "0.413 ms"), (158, "158 ms"), (12_345, "12.3 s"), (125_000, "2 min 05 s")],
)
def test_a_duration_is_short_to_read(milliseconds: float, text: str):
    assert lasting(milliseconds) == text
