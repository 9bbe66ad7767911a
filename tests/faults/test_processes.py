"""Rows 1 to 15: what happens to processes, and what is left of them."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from mcp_workbench.servers.restarts import FIRST_PAUSE, LONGEST_PAUSE, STARTS, WINDOW, Restarts
from tests.support.client import text
from tests.support.launch import child
from tests.support.processes import command, kill, wait_until_dead

from .bench import GONE, Bench, Rows, faulty, within

AGAIN = "the next call starts it again"


def starts_in(file: Path) -> int:
    return len(file.read_text().splitlines())


def test_row_1_a_child_that_dies_in_a_call(rows: Rows) -> None:
    bench = rows({"echo": child("echo")})
    with within(1):
        bench.fails("dev/echo/die", {"stderr": "out of cheese\n"}, "status 3", "out of cheese", AGAIN)
    with within(3):
        assert bench.use("dev/echo/echo", {"a": 1}) == '{"a": 1}'
    bench.logged("dev/echo/die")
    assert "out of cheese" in bench.log("dev/echo/die")[0]["err"]
    bench.logged("dev/echo/echo", "success")


def test_row_2_an_idle_child_that_is_killed(rows: Rows) -> None:
    bench = rows({"echo": child("echo")})
    for round in range(1, 4):
        killed = bench.pid()
        kill(killed)  # and not a moment later: the workbench may not know of it yet
        with within(3):
            assert bench.use("dev/echo/echo") == "{}"
        bench.logged("dev/echo/echo", "success", count=round)
        assert bench.pid() != killed


def test_row_3_a_child_that_dies_with_50_calls_in_flight(rows: Rows) -> None:
    bench = rows({"echo": child("echo", limits={"concurrency": 100})})
    ids = [bench.start("dev/echo/slow", {"seconds": 60}) for _ in range(50)]
    bench.use("dev/echo/echo")  # what was sent before it has arrived
    with within(1):
        bench.fails("dev/echo/die", {"stderr": "no more\n"}, "status 3")
        for id in ids:
            bench.failed("dev/echo/slow", id, "status 3", "no more", AGAIN)
    bench.logged("dev/echo/slow", count=50)
    assert bench.use("dev/echo/echo") == "{}"


def test_row_4_a_child_that_exits_at_its_start(rows: Rows, tmp_path: Path) -> None:
    counted = child("starting", "exits", "fatal: no licence", env={"STARTS": str(tmp_path / "starts")})
    bench = rows({"exits": counted, "echo": child("echo")}, opened=False)
    with within(2):
        listing = bench.client.open("dev")
    bench.refused("exits", listing, "status 4", "fatal: no licence", "tries again")
    # Once with each era's greeting, since it may have died of the modern one, and not again in that open.
    assert starts_in(tmp_path / "starts") == 2
    with within(2):
        bench.fails("dev/exits/hello", None, "status 4", "fatal: no licence")
    bench.logged("dev/exits/hello")


def test_row_5_a_command_that_is_not_there(rows: Rows, tmp_path: Path) -> None:
    servers = {
        "missing": {"command": "no-such-program-anywhere"},
        "nowhere": {"command": str(tmp_path / "nothing")},
        "echo": child("echo"),
    }
    bench = rows(servers, opened=False)
    with within(1):
        listing = bench.client.open("dev")
    bench.refused("missing", listing, "command not found", "no-such-program-anywhere", os.environ["PATH"])
    bench.refused("nowhere", listing, "command not found", str(tmp_path / "nothing"))
    with within(1):
        bench.fails("dev/missing/hello", None, "command not found", os.environ["PATH"])
    bench.logged("dev/missing/hello")


def test_row_6_a_child_that_hangs_at_its_start(rows: Rows) -> None:
    hanging = child("starting", "hangs", limits={"connectTimeout": 1.5})
    bench = rows({"hangs": hanging, "echo": child("echo")}, opened=False)
    opening = bench.client.start_request(
        "tools/call", {"name": "open_toolbox", "arguments": {"toolbox": "dev"}}
    )
    began = time.monotonic()
    waiting = bench.start("dev/hangs/hello")
    with within(1):
        assert bench.use("dev/echo/echo") == "{}"
    listing = bench.client.response(opening)["result"]["structuredContent"]
    bench.refused("hangs", listing, "connection timeout")
    assert 1.4 < time.monotonic() - began < 2.5
    bench.failed("dev/hangs/hello", waiting, "connection timeout")
    bench.logged("dev/hangs/hello")


def test_row_7_a_child_that_is_stopped_in_a_call(rows: Rows) -> None:
    bench = rows({"echo": child("echo", limits={"timeout": 1})})
    stopped = bench.pid()
    call = bench.start("dev/echo/slow", {"seconds": 0.3})
    time.sleep(0.1)
    os.kill(stopped, signal.SIGSTOP)
    # The call began before the silence; the one behind it finds out that nobody is there.
    behind = bench.start("dev/echo/echo")
    with within(1.6):
        bench.failed("dev/echo/slow", call, "time-out", "limits.timeout")
        bench.failed("dev/echo/echo", behind)
    with within(3):
        assert bench.pid() != stopped
    wait_until_dead(stopped, 1)
    bench.logged("dev/echo/slow")


def test_row_8_a_child_that_leaves_right_after_the_handshake(rows: Rows, tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    bench = rows({"fleeting": faulty("fleeting", env={"STARTS": str(starts)})})
    reasons = [bench.fails("dev/fleeting/hello") for _ in range(12)]
    assert starts_in(starts) == STARTS == 5
    assert "no time to stay" in reasons[0]
    assert "the next attempt is possible in" in reasons[-1]
    assert "no time to stay" in reasons[-1]
    bench.logged("dev/fleeting/hello", count=12)


def test_row_8_the_pause_grows_and_ends() -> None:
    restarts = Restarts()
    now, started, pauses = 1000.0, [], []
    while len(pauses) < 8:  # somebody who never stops asking
        if pause := restarts.wait(now):
            pauses.append(pause)
            now += pause
        else:
            restarts.started(now)
            started.append(now)
            now += 0.1
    assert pauses == sorted(pauses)
    assert min(pauses) >= FIRST_PAUSE == 30
    assert pauses[-1] == LONGEST_PAUSE == 300
    assert all(later - earlier >= WINDOW for earlier, later in zip(started, started[STARTS:], strict=False))
    assert restarts.wait(now) == 0


def test_row_8_a_server_that_was_put_to_sleep_may_wake_as_often_as_it_likes(
    rows: Rows, tmp_path: Path
) -> None:
    starts = tmp_path / "starts"
    sleepy = child("echo", env={"STARTS": str(starts)}, limits={"idleShutdown": 0.05})
    bench = rows({"echo": sleepy})
    for number in range(1, STARTS + 3):
        assert bench.use("dev/echo/echo") == "{}"
        until = time.monotonic() + 3
        while starts_in(starts) == number and time.monotonic() < until:
            time.sleep(0.1)
            bench.use("dev/echo/echo")
    assert starts_in(starts) > STARTS


def hard(rows: Rows) -> Bench:
    bench = rows({"stubborn": child("stubborn", "family"), "echo": child("echo")})
    family = bench.client.remember_processes()
    # Ours, and of the stubborn one itself, its three relatives.
    assert len([each for each in family if "stubborn" in command(each)]) == 4
    return bench


def test_row_9_a_child_that_ignores_the_end_of_its_input_and_sigterm(rows: Rows) -> None:
    bench = rows({"stubborn": child("stubborn")})
    assert bench.use("dev/stubborn/hello") == "hello"
    bench.logged("dev/stubborn/hello", "success")
    bench.end()


def test_row_10_a_child_with_grandchildren_in_sessions_of_their_own(rows: Rows) -> None:
    hard(rows).end()


def test_row_11_the_input_of_the_workbench_closes(rows: Rows) -> None:
    bench = hard(rows)
    bench.watch.check()
    call = bench.start("dev/echo/slow", {"seconds": 60})
    time.sleep(0.1)
    bench.client.remember_processes()
    began = time.monotonic()
    bench.client.close_input()
    assert bench.client.wait(GONE + 2) == 0
    bench.all_gone(began)
    bench.logged("dev/echo/slow")
    assert not [each for each in bench.client.messages if each.get("id") == call and "result" in each]


def test_row_12_sigterm_with_a_call_in_flight(rows: Rows) -> None:
    benches = {seconds: rows({"echo": child("echo")}) for seconds in (4, 60)}
    calls = {
        seconds: bench.start("dev/echo/slow", {"seconds": seconds}) for seconds, bench in benches.items()
    }
    time.sleep(0.3)
    began = time.monotonic()
    for bench in benches.values():
        bench.watch.check()
        bench.client.signal(signal.SIGTERM)
    assert benches[4].client.wait(6) == 0
    assert benches[4].said(calls[4], timeout=0) == "slept 4"
    benches[4].logged("dev/echo/slow", "success")
    benches[4].all_gone(time.monotonic())
    # The other one has its ten seconds and no more.
    assert benches[60].client.wait(15) == 0
    assert 9 < time.monotonic() - began < 10 + GONE
    benches[60].logged("dev/echo/slow")
    benches[60].all_gone(time.monotonic())


NAP = """
import time

schema = {"name": "nap", "description": "Sleeps", "type": "object", "properties": {}}


def default(request):
    time.sleep(60)
"""


def test_row_13_sigkill_of_the_workbench(rows: Rows, tmp_path: Path) -> None:
    folder = tmp_path / "tools"
    folder.mkdir()
    (folder / "nap.py").write_text(NAP)
    servers = {
        "stubborn": child("stubborn", "family"),
        "echo": child("echo"),
        "mine": {"path": str(folder)},
    }
    bench = rows(servers)
    bench.start("dev/mine/nap")
    bench.start("dev/echo/slow", {"seconds": 60})
    time.sleep(0.2)
    bench.watch.check()
    assert len(bench.client.remember_processes()) >= 8
    rows.launcher.expected_status[bench.client] = -signal.SIGKILL
    bench.client.signal(signal.SIGKILL)
    bench.all_gone(time.monotonic())


def test_row_14_20_parallel_opens(rows: Rows, tmp_path: Path) -> None:
    files = [tmp_path / f"starts{number}" for number in range(3)]
    servers = {f"s{n}": child("echo", env={"STARTS": str(file)}) for n, file in enumerate(files)}
    bench = rows(servers, opened=False)
    opening = {"name": "open_toolbox", "arguments": {"toolbox": "dev"}}
    ids = [bench.client.start_request("tools/call", opening) for _ in range(20)]
    listings = [bench.client.response(id)["result"]["structuredContent"] for id in ids]
    assert all(listing == listings[0] for listing in listings)
    assert [starts_in(file) for file in files] == [1, 1, 1]


def test_row_15_one_of_three_broken_and_then_repaired(rows: Rows, tmp_path: Path) -> None:
    repaired = tmp_path / "repaired"
    broken = child("starting", "repaired", str(repaired))
    bench = rows({"a": child("echo"), "broken": broken, "c": child("echo")}, opened=False)
    listing = bench.client.open("dev")
    assert listing["servers_connected"] == 2
    bench.refused("broken", listing, "status 4", str(repaired))
    repaired.touch()
    listing = bench.client.open("dev")
    assert (listing["servers_connected"], "_errors" in listing) == (3, False)
    assert text(bench.client.use("dev/broken/hello")) == "hello"
    bench.logged("dev/broken/hello", "success")
