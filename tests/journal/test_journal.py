import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .calls import journal, lines, write

CANARY = "canary-5f1d"


def test_a_call_from_outside_is_one_line_with_the_fields_of_the_contract(tmp_path: Path):
    path = tmp_path / "ToolBox.log"
    id = write(journal(path))
    assert path.read_bytes().count(b"\n") == 1
    assert lines(path) == [
        {
            "ts": "2025-03-15T02:29:40.123Z",
            "tool": "docker_tool",
            "caller": "claude-code",
            "args": {"image": "nginx"},
            "stat": "success",
            "cost": 158,
            "id": id,
            "root": id,
            "toolbox": "dev",
            "server": "docker",
        }
    ]


def test_a_failed_call_inside_a_chain_has_all_the_other_fields(tmp_path: Path):
    path = tmp_path / "ToolBox.log"
    write(
        journal(path, record=True),
        id="18e82b5d7e04240f1c93c",
        error="Invalid image format",
        trace="Traceback …\n  line 2",
        tid="task-7",
        parent="p1",
        root="r1",
        principal="ci",
        answer=(b'"error":', b'{"code":-32602,"message":"Invalid image format"}'),
    )
    (line,) = lines(path)
    assert line["stat"] == "error"
    assert line["err"] == "Invalid image format"
    assert line["trace"] == "Traceback …\n  line 2"
    assert (line["tid"], line["parent"], line["root"]) == ("task-7", "p1", "r1")
    assert line["principal"] == "ci"
    assert line["result"] == "ToolBox.log.recorded/calls/18e82b5d7e04240f1c93c.json"


@pytest.mark.parametrize(
    ("seconds", "logged"),
    [(0.158, 158), (0.0004126, 0.413), (0, 0), (0.009999, 9.999), (0.01, 10), (600.0004, 600_000)],
)
def test_a_duration_is_in_milliseconds_as_exact_as_it_is_of_use(
    tmp_path: Path, seconds: float, logged: float
):
    path = tmp_path / "ToolBox.log"
    write(journal(path), cost=seconds)
    assert lines(path)[0]["cost"] == logged


def test_a_secret_is_in_no_field_of_free_text(tmp_path: Path):
    path = tmp_path / "ToolBox.log"
    write(
        journal(path, secrets=(CANARY,), value_limit=100),
        args=json.dumps({"a": CANARY, CANARY: [{"b": f"x{CANARY}"}]}).encode(),
        error=f"401 for Bearer {CANARY}",
        trace="x" * 95 + CANARY + "y" * 500,
        caller=f"client {CANARY}",
        tid=CANARY,
        principal=CANARY,
    )
    assert lines(path)
    assert b"canary" not in path.read_bytes()


def test_a_toolbox_named_like_a_variables_value_keeps_its_name(tmp_path: Path):
    path = tmp_path / "ToolBox.log"
    write(journal(path, secrets=("production",)), toolbox="production", args=b'{"where":"production"}')
    (line,) = lines(path)
    assert (line["toolbox"], line["args"]) == ("production", {"where": "[masked]"})


def test_a_long_error_and_a_long_trace_are_cut(tmp_path: Path):
    path = tmp_path / "ToolBox.log"
    write(journal(path, value_limit=100), error="e" * 1000, trace="t" * 1000)
    (line,) = lines(path)
    assert line["err"] == "e" * 100 + "…[cut, 1000 bytes]"
    assert line["trace"] == "t" * 100 + "…[cut, 1000 bytes]"


def test_names_with_newlines_and_control_characters_stay_on_the_line(tmp_path: Path):
    path = tmp_path / "ToolBox.log"
    name = 'a\nb\x1b[31m"\\\u2028\x7f'
    write(journal(path), tool=name, caller=name, server=name, error=name)
    assert len(path.read_text().splitlines()) == 1
    assert "\x1b" not in path.read_text()
    (line,) = lines(path)
    assert {line["tool"], line["caller"], line["server"], line["err"]} == {name}


def test_logging_never_raises_even_with_nowhere_to_complain(tmp_path: Path):
    (tmp_path / "log").touch()
    program = (
        "import sys, pathlib\nfrom tests.journal.calls import journal, write\n"
        "log = journal(pathlib.Path(sys.argv[1]))\nsys.stderr = None\nwrite(log)\nprint(log.dropped)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "log" / "x")],
        capture_output=True,
        timeout=30,
        cwd=Path(__file__).parents[2],
    )
    assert done.stdout == b"1\n"


def test_a_forked_copy_writes_whole_lines_too(tmp_path: Path):
    path = tmp_path / "ToolBox.log"
    log = journal(path)
    write(log)
    if (pid := os.fork()) == 0:
        write(log)
        os._exit(0)
    write(log)
    os.waitpid(pid, 0)
    assert len(lines(path)) == 3


def test_writing_needs_no_reader_and_no_command_line():
    program = "import sys, mcp_workbench.journal\nprint(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=30
    ).stdout
    assert not {"sqlite3", "typer", "rich", "json", "subprocess"} & set(loaded.split())
