"""Rows 26 to 31: calls that are slow, many, cancelled or late."""

from __future__ import annotations

import json
import statistics
import time
from pathlib import Path

import pytest

from tests.support.client import invocation, is_response, text
from tests.support.launch import child

from .bench import Bench, Rows, faulty, within

PROGRESS = "notifications/progress"


def test_row_26_one_slow_call_and_100_fast_ones(rows: Rows) -> None:
    bench = rows({"echo": child("echo")})

    def fast(count: int) -> float:
        took: list[float] = []
        for number in range(count):
            began = time.monotonic()
            assert bench.use("dev/echo/echo", {"n": number}) == json.dumps({"n": number})
            took.append(time.monotonic() - began)
        return statistics.median(took)

    usual = fast(50)
    slow = bench.start("dev/echo/slow", {"seconds": 3})
    beside = fast(100)
    assert not any(is_response(each, slow) for each in bench.client.messages)
    # A call that waits for the slow one takes seconds; the rest is what else the machine does.
    assert beside < 3 * usual + 0.01, (usual, beside)
    assert bench.said(slow) == "slept 3"
    bench.logged("dev/echo/slow", "success")
    bench.logged("dev/echo/echo", "success", count=150)


def test_row_27_a_long_call_that_reports_progress(rows: Rows) -> None:
    """In a short form: 3 s instead of 75, with every limit but `timeout` below that."""
    limits = {"connectTimeout": 2, "idleTimeout": 1}
    bench = rows({"echo": child("echo", limits=limits)})
    long = bench.start("dev/echo/progress", {"steps": 15, "pause": 0.2}, progressToken="mine")
    assert bench.said(long) == "done"
    told = [each["params"] for each in bench.client.notifications(PROGRESS)]
    assert [each["progress"] for each in told] == list(range(1, 16))
    assert {each["progressToken"] for each in told} == {"mine"}
    bench.logged("dev/echo/progress", "success")


def test_row_28_idle_timeout_and_timeout(rows: Rows) -> None:
    bench = rows({"echo": child("echo", limits={"timeout": 2, "idleTimeout": 0.5})})
    began = time.monotonic()
    silent = bench.start("dev/echo/slow", {"seconds": 60})
    alive = bench.start("dev/echo/progress", {"steps": 12, "pause": 0.1})
    endless = bench.start("dev/echo/progress", {"steps": 600, "pause": 0.1})
    bench.failed("dev/echo/slow", silent, "no progress for 0.5 s", "limits.idleTimeout")
    assert time.monotonic() - began < 1.5
    assert bench.said(alive) == "done"
    bench.failed("dev/echo/progress", endless, "no answer within 2 s", "limits.timeout")
    assert 1.9 < time.monotonic() - began < 3
    bench.logged("dev/echo/slow")
    assert sorted(line["stat"] for line in bench.log("dev/echo/progress")) == ["error", "success"]


CHAIN = '''
from mcp_workbench import call_tool, tool


@tool
async def outer(server: str) -> str:
    """Calls a slow tool of another server."""
    return (await call_tool({"toolbox": "dev", "server": server, "name": "slow"}, {"seconds": 60})).text
'''


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    folder = tmp_path / "tools"
    folder.mkdir(mode=0o755)
    file = folder / "outer.py"
    file.write_text(CHAIN)
    file.chmod(0o644)
    return folder


@pytest.mark.parametrize("client_era", ["legacy", "modern"])
def test_row_29_cancelling_reaches_the_server(rows: Rows, tools: Path, client_era: str) -> None:
    servers = {"echo": child("echo"), "modern": child("modern"), "mine": {"path": str(tools)}}
    bench = rows(servers)
    for ref, arguments in [
        ("dev/echo/slow", {"seconds": 60}),
        ("dev/modern/slow", {"seconds": 60}),
        ("dev/mine/outer", {"server": "echo"}),
        ("dev/mine/outer", {"server": "modern"}),
    ]:
        server = arguments.get("server", ref.split("/")[1])
        before = cancelled(bench, str(server))
        params = {"name": "use_tool", "arguments": invocation(ref, arguments)}
        id = bench.client.start_request("tools/call", params, modern=client_era == "modern")
        time.sleep(0.5)
        bench.client.notify("notifications/cancelled", {"requestId": id})
        with within(1):
            while cancelled(bench, str(server)) == before:
                time.sleep(0.02)
        assert not any(is_response(each, id) for each in bench.client.messages)
    for server in ("echo", "modern"):
        assert [line["err"] for line in bench.log(f"dev/{server}/slow")] == ["cancelled"] * 2
    bench.logged("dev/mine/outer", count=2)


def cancelled(bench: Bench, server: str) -> int:
    """How often a server was told that a call is no longer wanted."""
    if server == "echo":
        return len(json.loads(bench.use("dev/echo/about"))["cancelled"])
    return json.loads(text(bench.client.use("dev/modern/seen")))["cancelled"]


def test_row_30_more_calls_than_a_server_may_have(rows: Rows) -> None:
    bench = rows({"echo": child("echo", limits={"concurrency": 3, "queue": 4})})
    began = time.monotonic()
    ids = [bench.start("dev/echo/slow", {"seconds": 0.5}) for _ in range(10)]
    for id in ids[7:]:
        bench.failed("dev/echo/slow", id, "busy", "limits.concurrency", "limits.queue", "try again")
    assert time.monotonic() - began < 0.5
    assert [bench.said(id) for id in ids[:7]] == ["slept 0.5"] * 7
    assert time.monotonic() - began > 1.4  # three at a time
    assert sorted(line["stat"] for line in bench.log("dev/echo/slow")) == ["error"] * 3 + ["success"] * 7


def test_row_31_a_reply_after_the_time_out(rows: Rows) -> None:
    bench = rows({"awkward": faulty("awkward", limits={"timeout": 0.4})})
    late = bench.start("dev/awkward/late", {"seconds": 0.8})
    bench.use("dev/awkward/listed")  # a sign of life, so that it is not taken for dead
    bench.failed("dev/awkward/late", late, "time-out", "limits.timeout")
    began = time.monotonic()
    while time.monotonic() - began < 0.8:
        assert bench.use("dev/awkward/late", {"seconds": 0}) == "late"
    assert bench.use("dev/awkward/listed") == "1"
    assert len([each for each in bench.client.messages if is_response(each, late)]) == 1
    assert bench.log("dev/awkward/late")[0]["stat"] == "error"


def test_row_31_a_time_out_does_not_cost_a_server_its_life(rows: Rows) -> None:
    bench = rows({"echo": child("echo", limits={"timeout": 0.3})})
    before = bench.pid()
    for _ in range(6):
        bench.fails("dev/echo/slow", {"seconds": 60}, "time-out")
    assert bench.pid() == before
    bench.logged("dev/echo/slow", count=6)
