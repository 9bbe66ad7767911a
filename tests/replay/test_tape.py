"""Recorded calls, answered again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mcp_workbench.errors import NotRecorded
from mcp_workbench.journal.recorded import recorded_calls
from mcp_workbench.replay.tape import Tape
from tests.journal.calls import journal, write


def tape(folder: Path, *calls: tuple[dict[str, Any], Any]) -> Tape:
    """Of one tool, `docker_tool`: arguments, and what they gave."""
    path = folder / "ToolBox.log"
    log = journal(path, record=True)
    for arguments, result in calls:
        answer = (b'"result":', json.dumps({"n": result}).encode())
        write(log, args=json.dumps(arguments).encode(), answer=answer)
    return Tape(recorded_calls(str(path), "dev"))


def played(tape: Tape, arguments: dict[str, Any]) -> Any:
    return json.loads(bytes(tape.play("docker_tool", json.dumps(arguments).encode()).result))["n"]


def test_the_same_call_gets_its_answers_in_their_order_and_the_last_one_for_ever(tmp_path: Path) -> None:
    recorded = tape(tmp_path, ({"a": 1}, "x"), ({"b": 1}, "other"), ({"a": 1}, "y"))
    assert [played(recorded, {"a": 1}) for _ in range(3)] == ["x", "y", "y"]
    assert played(recorded, {"b": 1}) == "other"


def test_what_was_masked_is_tried_last(tmp_path: Path) -> None:
    recorded = tape(
        tmp_path, ({"token": "secret"}, "masked"), ({"token": None}, "none"), ({"token": 7}, "number")
    )
    assert played(recorded, {"token": 7}) == "number"
    assert played(recorded, {"token": None}) == "none"
    assert played(recorded, {"token": "whatever"}) == "masked"


def test_the_nearest_call_is_found_among_many_and_shown_in_short(tmp_path: Path) -> None:
    calls = [({"path": f"/srv/{name * 3}", "text": "x" * 5000}, 0) for name in "abcdefgh"]
    recorded = tape(tmp_path, *calls)
    with pytest.raises(NotRecorded) as caught:
        played(recorded, {"path": "/srv/ddd/", "text": "x" * 5000})
    assert 'The difference: path: "/srv/ddd" → "/srv/ddd/"' in caught.value.message
    assert "The nearest of 8" in caught.value.message
    assert len(caught.value.message) < 3000
