"""Clients that each have a worker of their own of one tool folder: what is one's is never another's."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.client import PATIENCE, invocation
from tests.support.launch import configuration, toolbox

from .conftest import Serve
from .served import Served, Session

OUTER = """
import asyncio, os, pathlib
from mcp_workbench import call_tool, tool

HERE = pathlib.Path(__file__).parent

@tool
async def outer(who: str, target: str = "inner", patience: float = 10) -> str:
    while not (HERE / "gate").exists():
        await asyncio.sleep(0.01)
    ref = {"toolbox": "private", "server": "mine", "name": "read"} if target == "read" else target
    try:
        return (await asyncio.wait_for(call_tool(ref, {"who": who}), patience)).text
    except asyncio.TimeoutError:
        return "gave up"

@tool
async def inner(who: str) -> str:
    return f"{who} in {os.getpid()}"

@tool
async def slow(who: str) -> str:
    await asyncio.sleep(1.5)
    return who
"""

READ = """
from mcp_workbench import tool

@tool
async def read(who: str) -> str:
    return "private"
"""


class Both:
    """A folder in the toolbox `open`, which both may use, and one in `private`, which is for Bob."""

    def __init__(self, tmp_path: Path, serve: Serve) -> None:
        self.path = self._folder(tmp_path, "tools", OUTER)
        private = self._folder(tmp_path, "private", READ)
        tokens = {"alice": {"token": "alice-token", "toolboxes": ["open"]}, "bob": {"token": "bob-token"}}
        boxes = configuration(
            open=toolbox(mine={"path": str(self.path)}), private=toolbox(mine={"path": str(private)})
        )
        self.served = serve({**boxes, "http": {"tokens": tokens}})
        self.alice = self._session("alice")
        self.bob = self._session("bob")
        self.answers: dict[tuple[str, int], Any] = {}
        _ask(self.alice, "open_toolbox", {"toolbox": "open"})
        _ask(self.bob, "open_toolbox", {"toolbox": "private"})

    def _folder(self, tmp_path: Path, name: str, source: str) -> Path:
        path = tmp_path / name
        path.mkdir(mode=0o755)
        (path / "a.py").write_text(source)
        (path / "a.py").chmod(0o644)
        return path

    def _session(self, who: str) -> Session:
        # Who declares something must not share a connection with others.
        headers = {"Authorization": f"Bearer {who}-token"}
        return self.served.session(headers=headers, capabilities={"elicitation": {}})

    def use(self, session: Session, name: str, **arguments: Any) -> Any:
        return _ask(session, "use_tool", invocation(f"open/mine/{name}", arguments))

    def at_once(self, count: int, **arguments: Any) -> None:
        """So many calls of `outer` by each."""
        each = [(who, number, arguments) for number in range(count) for who in ("alice", "bob")]
        self.all_at_once(each)

    def all_at_once(self, each: list[tuple[str, int, dict[str, Any]]]) -> None:
        """Calls of `outer`, all under way before the first of them goes on."""
        sessions = {"alice": self.alice, "bob": self.bob}

        def go(who: str, number: int, arguments: dict[str, Any]) -> None:
            self.answers[who, number] = self.use(sessions[who], "outer", who=who, **arguments)

        calls = [threading.Thread(target=go, args=call) for call in each]
        for call in calls:
            call.start()
        time.sleep(1)
        (self.path / "gate").touch()
        for call in calls:
            call.join(PATIENCE)

    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in log_of(self.served).read_text().splitlines()]


def log_of(served: Served) -> Path:
    return served.home / "log" / "ToolBox.log"


def _ask(session: Session, tool: str, arguments: Any) -> Any:
    answer = session.ask("tools/call", {"name": tool, "arguments": arguments}).message
    assert "result" in answer, answer
    return answer["result"]


def _text(result: Any) -> str:
    return result["content"][0]["text"]


@pytest.fixture
def both(tmp_path: Path, serve: Serve) -> Both:
    return Both(tmp_path, serve)


def test_an_inner_call_is_made_for_whom_its_outer_call_is(both: Both) -> None:
    both.at_once(6)
    said = {_text(answer) for (who, _), answer in both.answers.items() if who == "bob"}
    assert len(said) == 1, said
    assert all(_text(answer).startswith(who) for (who, _), answer in both.answers.items())
    lines = both.log()
    outers = {line["id"]: line for line in lines if line["tool"] == "outer"}
    inners = [line for line in lines if line["tool"] == "inner"]
    assert len(inners) == 12
    assert {line["principal"] for line in inners} == {"alice", "bob"}
    for line in inners:
        assert line["principal"] == line["args"]["who"]
        assert outers[line["parent"]]["principal"] == line["principal"]
        assert outers[line["root"]]["args"]["who"] == line["args"]["who"]
    assert len({line["parent"] for line in inners}) == 12


def test_no_one_reaches_through_a_tool_what_only_another_may_see(both: Both) -> None:
    both.at_once(6, target="read")
    for (who, _), answer in both.answers.items():
        assert (_text(answer) == "private") == (who == "bob"), (who, answer)
        assert who == "bob" or "not found" in _text(answer)


def test_giving_up_an_inner_call_leaves_those_of_others_alone(both: Both) -> None:
    slow = {"target": "slow"}
    both.all_at_once([("alice", 0, {**slow, "patience": 0.3}), ("bob", 0, {**slow, "patience": 10})])
    assert _text(both.answers["alice", 0]) == "gave up"
    assert _text(both.answers["bob", 0]) == "bob"


def test_a_save_reaches_the_workers_of_all_clients(both: Both) -> None:
    both.at_once(1)  # so that each has a worker
    for word in ("first", "second"):
        source = OUTER.replace("return who", f"return '{word}'").replace(
            "who: str) -> str", "who: str = 'x') -> str"
        )
        (both.path / "a.py").write_text(source)
        for _ in range(2):
            held = threading.Thread(target=both.use, args=(both.alice, "slow"))
            held.start()
            time.sleep(0.2)
            assert _text(both.use(both.bob, "slow")) == word
            held.join(PATIENCE)


def test_workers_that_announce_a_tool_differently_can_all_be_called(both: Both) -> None:
    (both.path / "b.py").write_text(
        "import os\n"
        "schema = {'name': 'odd', 'description': str(os.getpid()), 'type': 'object', 'properties': {}}\n"
        "def default(request): return schema['description']\n"
    )
    (both.path / "b.py").chmod(0o644)
    both.at_once(1)
    said = {_text(both.use(session, "odd")) for session in (both.alice, both.bob, both.alice, both.bob)}
    assert len(said) == 2
