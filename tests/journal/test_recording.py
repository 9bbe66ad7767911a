"""What is kept of calls beside the log, and what is not."""

import json
import os
import stat
import time
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw

from mcp_workbench.journal import Journal
from mcp_workbench.journal.recorded import (
    ServerListing,
    recorded_calls,
    recorded_listing,
    recorded_toolboxes,
)

from .calls import journal, lines, write

CANARY = "canary-5f1d"
INFO = Raw(b'{"name":"docker","version":"1"}')
ANSWER = (b'"result":', b'{"content":[],"n":1.50}')


def kept(path: Path) -> list[dict[str, Any]]:
    """The recorded calls, as the lines name them."""
    return [json.loads((path.parent / line["result"]).read_bytes()) for line in lines(path)]


def list_tools(log: Journal, **servers: list[dict[str, Any]] | None) -> None:
    def listing(name: str, tools: list[dict[str, Any]]) -> ServerListing:
        definitions = [Raw(json.dumps(tool).encode()) for tool in tools]
        return ServerListing(name, False, INFO, f"Use {CANARY}", definitions)

    log.list_toolbox(
        "dev",
        "For tests",
        {name: None if tools is None else listing(name, tools) for name, tools in servers.items()},
    )


def listed(path: Path) -> dict[str, Any]:
    """The tools on record, by server."""
    listing = recorded_listing(str(path), "dev")
    assert listing is not None
    return {server.name: [json.loads(bytes(tool)) for tool in server.tools] for server in listing.servers}


def test_a_result_is_in_a_file_that_its_line_names(tmp_path: Path):
    path = tmp_path / "ToolBox.log"
    write(journal(path, record=True), args=b'{"b":1, "a":[2]}', answer=ANSWER)
    assert kept(path) == [{"args": {"b": 1, "a": [2]}, "result": {"content": [], "n": 1.5}}]
    (file,) = path.parent.glob("ToolBox.log.recorded/calls/*")
    assert b"1.50" in file.read_bytes()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_nothing_is_kept_unless_it_is_asked_for(tmp_path: Path):
    path = tmp_path / "ToolBox.log"
    log = journal(path)
    write(log, answer=ANSWER)
    list_tools(log, docker=[{"name": "run"}])
    assert "result" not in lines(path)[0]
    assert os.listdir(tmp_path) == ["ToolBox.log"]


def test_nothing_is_cut_that_is_to_be_served_again(tmp_path: Path):
    path = tmp_path / "ToolBox.log"
    large = json.dumps({"text": "x" * 100_000, "token": "y" * 100_000}).encode()
    write(journal(path, record=True, value_limit=100), args=large, answer=(b'"result":', large))
    assert kept(path) == [{key: {"text": "x" * 100_000, "token": "[masked]"} for key in ("args", "result")}]
    assert "[cut" in lines(path)[0]["args"]["text"]


def test_what_is_nested_deeply_is_whole_and_masked(tmp_path: Path):
    path = tmp_path / "ToolBox.log"
    deep: Any = {"password": "hunter22", "rest": [{"n": number} for number in range(100)]}
    for _ in range(200):
        deep = {"a": [deep]}
    write(journal(path, record=True), answer=(b'"result":', json.dumps(deep).encode()))
    for _ in range(200):
        deep = deep["a"][0]
    deep["password"] = "[masked]"
    (found,) = kept(path)
    result = found["result"]
    for _ in range(200):
        result = result["a"][0]
    assert result == deep


def test_a_secret_is_in_no_recording(tmp_path: Path):
    path = tmp_path / "ToolBox.log"
    log = journal(path, record=True, secrets=(CANARY,))
    said = json.dumps({"content": [{"type": "text", "text": f"it is {CANARY}!"}], CANARY: [CANARY]}).encode()
    for kind in (b'"result":', b'"error":'):
        write(log, args=said, answer=(kind, said))
    write(log, answer=(b'"unanswered":', f'"died of {CANARY}"'.encode()))
    list_tools(log, docker=[{"name": "run", "description": f"Runs with {CANARY}"}])
    assert len(kept(path)) == 3
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert len(files) == 5
    assert [file for file in files if b"canary" in file.read_bytes()] == []


def test_a_secret_that_is_learned_later_is_masked_from_then_on(tmp_path: Path):
    path = tmp_path / "ToolBox.log"
    log = journal(path, record=True)
    log.add_secrets({CANARY})
    said = json.dumps({"a": CANARY}).encode()
    write(log, args=said, caller=CANARY, answer=(b'"result":', said))
    assert kept(path) == [{"args": {"a": "[masked]"}, "result": {"a": "[masked]"}}]
    assert b"canary" not in path.read_bytes()


def test_a_tool_with_a_password_among_its_parameters_is_listed_as_it_is(tmp_path: Path):
    path = tmp_path / "ToolBox.log"
    log = journal(path, record=True, redact=("iban",), secrets=("production",))
    schema = {"type": "object", "properties": {"password": {"type": "string"}, "iban": {"type": "string"}}}
    tool = {"description": "d", "name": "deploy_production", "inputSchema": schema}
    list_tools(log, docker=[tool])
    assert listed(path) == {"docker": [tool]}


def test_a_server_that_is_away_keeps_what_is_on_record_of_it(tmp_path: Path):
    path = tmp_path / "ToolBox.log"
    log = journal(path, record=True)
    list_tools(log, a=[{"name": "one"}], b=[{"name": "two"}])
    list_tools(log, b=[{"name": "three"}], a=None, c=None)
    assert listed(path) == {"b": [{"name": "three"}], "a": [{"name": "one"}]}
    list_tools(log, b=[])
    assert listed(path) == {"b": []}
    assert recorded_toolboxes(str(path)) == ["dev"]


def test_what_cannot_be_recorded_costs_neither_the_line_nor_a_second_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "ToolBox.log"
    (tmp_path / "ToolBox.log.recorded").touch()
    log = journal(path, record=True)
    list_tools(log, docker=[])
    for _ in range(3):
        write(log, answer=ANSWER)
    assert (log.dropped, log.unrecorded) == (0, 4)
    assert ["result" in line for line in lines(path)] == [False, False, False]
    assert capsys.readouterr().err.count("cannot be recorded") == 1


def test_calls_are_read_in_order_across_rotated_files_without_the_torn_and_the_lost(tmp_path: Path):
    path = tmp_path / "ToolBox.log"
    log = journal(path, record=True, max_size=1000)
    for number in range(9):
        toolbox = "other" if number == 3 else "dev"
        write(log, args=b'{"n":%d}' % number, toolbox=toolbox, answer=ANSWER)
    assert (tmp_path / "ToolBox.log.1").exists()
    (tmp_path / lines(path)[5]["result"]).unlink()
    with path.open("ab") as file:
        file.write(b'{"ts":"2025')
    found = [json.loads(bytes(each.exchange.args))["n"] for each in recorded_calls(str(path), "dev")]
    assert found == [0, 1, 2, 4, 6, 7, 8]


def test_a_line_with_a_time_that_cannot_be_costs_no_other_line(tmp_path: Path):
    path = tmp_path / "ToolBox.log"
    log = journal(path, record=True, max_size=1000, keep=1)
    write(log, answer=ANSWER)
    path.write_bytes(path.read_bytes().replace(b"2025-03-15T02:29:40.123Z", b"0001-01-01T00:00:00"))
    for _ in range(9):
        write(log, answer=ANSWER)
    assert (tmp_path / "ToolBox.log.1").exists()
    assert log.dropped == 0


def test_results_go_when_their_lines_are_rotated_away(tmp_path: Path):
    path = tmp_path / "ToolBox.log"
    log = journal(path, record=True, max_size=1000, keep=1)
    now = time.time()
    ages: dict[str, float] = {}
    for number in range(12):
        began = now - 86400 + number * 3600
        id = write(log, ts=began, answer=ANSWER)
        ages[id] = began + 0.158
        for known in (tmp_path / "ToolBox.log.recorded" / "calls").iterdir():
            os.utime(known, (ages[known.stem], ages[known.stem]))
    named = {line["id"] for line in lines(path)}
    left = {file.stem for file in (tmp_path / "ToolBox.log.recorded" / "calls").iterdir()}
    assert len(named) < 12
    assert left == named
