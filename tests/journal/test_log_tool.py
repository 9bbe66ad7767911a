import json
import runpy
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema_rs
import pytest

import mcp_workbench

from .calls import journal, write

TOOL = runpy.run_path(str(Path(mcp_workbench.__file__).parent / "bundled" / "log_tool.py"))


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "ToolBox.log"
    monkeypatch.setenv("MCP_WORKBENCH_LOG", str(path))
    return path


def ask(**arguments: Any) -> dict[str, Any]:
    return TOOL["default"](SimpleNamespace(params=SimpleNamespace(name="log_tool", arguments=arguments)))


def ids(**arguments: Any) -> list[str]:
    return [call["id"] for call in ask(**arguments)["calls"]]


def test_the_newest_ten_calls_are_the_first_page(path: Path):
    log = journal(path)
    written = [write(log, ts=1742005780 + n) for n in range(25)]
    assert ids() == written[:-11:-1]
    assert ids(page=3) == written[4::-1]
    answer = ask(page=2, pageSize=7)
    assert (answer["page"], answer["pageSize"], answer["pages"], answer["total"]) == (2, 7, 4, 25)
    assert len(answer["calls"]) == 7


def test_all_filters(path: Path):
    log = journal(path)
    now = time.time()
    one = write(log, ts=now - 7200, tool="read_file", cost=2.0, error="no")
    two = write(log, ts=now - 60, tool="docker_ps", cost=0.1, caller="cursor", server="d", toolbox="t")
    assert ids(toolName="^read_") == ids(status="error") == ids(minDuration=1000) == [one]
    assert ids(toolName="docker|podman") == ids(maxDuration=150.5) == ids(startTime="1h") == [two]
    assert ids(endTime="1h") == [one]
    assert ids(caller="cursor") == ids(server="d") == ids(toolbox="t") == [two]
    assert ids(toolName="file$", status="success") == []


def test_a_log_without_calls_is_an_empty_page(path: Path):
    assert ask() == {"page": 1, "pageSize": 10, "pages": 0, "total": 0, "calls": []}


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"toolName": "("}, "toolName"),
        ({"toolName": "(?=x)"}, "toolName"),
        ({"toolName": "a{1000}{1000}{1000}"}, "toolName"),
        ({"startTime": "soon"}, "startTime"),
        ({"endTime": "2025-99-99"}, "endTime"),
        ({"minDuration": 5, "maxDuration": 1}, "minDuration"),
        ({"startTime": "1h", "endTime": "2h"}, "startTime"),
    ],
)
def test_a_bad_value_is_an_error_that_names_it(path: Path, arguments: dict[str, Any], named: str):
    with pytest.raises(ValueError, match=named):
        ask(**arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"page": 0},
        {"pageSize": 0},
        {"pageSize": 101},
        {"status": "maybe"},
        {"minDuration": -1},
        {"toolName": 3},
    ],
)
def test_its_schema_refuses_values_out_of_range(arguments: dict[str, Any]):
    schema = {key: TOOL["schema"][key] for key in ("type", "properties")}
    (problem,) = jsonschema_rs.validator_for(schema).iter_errors(arguments)
    assert problem.instance_path == list(arguments)


def test_a_pattern_made_to_run_away_is_answered_at_once(path: Path):
    write(journal(path), tool="a" * 5000 + "b")
    began = time.monotonic()
    assert ids(toolName="^(a+)+$") == []
    assert ids(toolName="(a|aa)+$") == []
    assert ids(toolName="(.*a){12}c") == []
    assert time.monotonic() - began < 2


def test_long_values_are_cut_for_the_agents_sake(path: Path):
    write(journal(path), args=b'{"a":"' + b"x" * 10_000 + b'"}', error="e" * 9000, trace="t" * 9000)
    (call,) = ask()["calls"]
    assert all(len(call[field]) < 2100 and "cut" in call[field] for field in ("args", "err", "trace"))


def test_numbers_that_python_cannot_hold_are_told_as_texts(path: Path):
    log = journal(path)
    write(log, args=b'{"n":%b}' % (b"7" * 5000))
    write(log, args=b'{"n":[1e400,-1e999,2.5,7]}')
    large, long = (call["args"] for call in ask()["calls"])
    assert large == {"n": ["1e400", "-1e999", 2.5, 7]}
    assert long.startswith('{"n": "777')
    json.dumps(ask(), allow_nan=False)


def test_damaged_lines_are_left_out(path: Path):
    log = journal(path)
    write(log)
    path.write_bytes(path.read_bytes().replace(b"nginx", b"\xff"))
    assert ids() == []
    other = write(log)
    path.write_bytes(path.read_bytes().replace(b'"stat"', b'"err":null,"stat"'))
    assert ids() == [other]


def test_without_a_place_for_the_log_it_says_so(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("MCP_WORKBENCH_LOG", raising=False)
    with pytest.raises(RuntimeError, match="MCP_WORKBENCH_LOG"):
        ask()
