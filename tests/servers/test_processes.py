"""Children through the watchdog: started, heard of, and ended with everything they started."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from mcp_workbench.servers.processes import Process, Processes, StartFailed
from tests.support.processes import command, descendants

T = TypeVar("T")


def with_processes(work: Callable[[Processes], Awaitable[T]]) -> T:
    """What `work` returns; afterwards nothing that it started is left."""

    async def main() -> T:
        processes = Processes()
        try:
            return await asyncio.wait_for(work(processes), 10)
        finally:
            await asyncio.wait_for(processes.close(), 10)

    before = descendants(os.getpid())
    try:
        return asyncio.run(main())
    finally:
        assert descendants(os.getpid()) <= before


def start(processes: Processes, code: str, cwd: str | None = None) -> Awaitable[Process]:
    env = {"PATH": os.environ["PATH"], "GIVEN": "é"}
    return processes.start(sys.executable, [sys.executable, "-S", "-c", code], env, cwd)


async def output(process: Process) -> str:
    with os.fdopen(process.stdout, "rb") as file:
        return (await asyncio.to_thread(file.read)).decode()


def test_a_child_runs_in_a_session_of_its_own_with_what_it_was_given(tmp_path: Path) -> None:
    async def work(processes: Processes) -> str:
        code = "import os; print(os.getsid(0) == os.getpid(), os.getcwd(), os.environ['GIVEN'])"
        return await output(await start(processes, code, str(tmp_path)))

    assert with_processes(work) == f"True {tmp_path} é\n"


def test_a_child_inherits_no_other_descriptor_and_no_ignored_signal() -> None:
    async def work(processes: Processes) -> str:
        code = (
            "import os, signal\n"
            "ignored = [each.name for each in signal.Signals if signal.getsignal(each) == signal.SIG_IGN]\n"
            "print(sorted(os.listdir('/proc/self/fd'), key=int), ignored)"
        )
        return await output(await start(processes, code))

    # 3 is the folder that is being listed; the two signals are ignored by Python itself.
    assert with_processes(work) == "['0', '1', '2', '3'] ['SIGPIPE', 'SIGXFSZ']\n"


@pytest.mark.parametrize(
    ("code", "status"),
    [("raise SystemExit(7)", 7), ("import os; os.kill(os.getpid(), 9)", -9), ("pass", 0)],
)
def test_the_end_of_a_child_is_heard_of_with_its_status(code: str, status: int) -> None:
    async def work(processes: Processes) -> int:
        return await (await start(processes, code)).exited

    assert with_processes(work) == status


@pytest.mark.parametrize("fault", ["missing", "format", "folder"])
def test_a_program_that_cannot_be_run_says_why(tmp_path: Path, fault: str) -> None:
    path = tmp_path / "program"
    if fault == "format":
        path.write_bytes(b"\x00\x01\x02")
        path.chmod(0o755)
    program = shutil.which("true") or "/bin/true" if fault == "folder" else str(path)
    cwd = str(tmp_path / "nowhere") if fault == "folder" else None

    async def work(processes: Processes) -> None:
        with pytest.raises(StartFailed) as caught:
            await processes.start(program, [program], {}, cwd)
        assert str(tmp_path) in str(caught.value)

    with_processes(work)


def test_a_child_that_ignores_the_end_of_its_input_is_told_to_go_after_two_seconds() -> None:
    async def work(processes: Processes) -> tuple[int, float]:
        process = await start(processes, "import time; print(flush=True); time.sleep(60)")
        await asyncio.to_thread(os.read, process.stdout, 1)
        began = time.monotonic()
        os.close(process.stdin)
        processes.end(process)
        return await process.exited, time.monotonic() - began

    status, took = with_processes(work)
    assert status == -signal.SIGTERM
    assert 1.9 < took < 3


def test_a_child_may_leave_by_itself_when_its_input_ends() -> None:
    async def work(processes: Processes) -> int:
        process = await start(processes, "import sys; sys.stdin.read(); raise SystemExit(5)")
        os.close(process.stdin)
        processes.end(process)
        return await process.exited

    assert with_processes(work) == 5


def test_what_a_child_leaves_behind_in_its_group_when_it_dies_is_ended_too() -> None:
    async def work(processes: Processes) -> None:
        code = (
            "import os, time\n"
            "for _ in range(2):\n"
            "    if os.fork() == 0: time.sleep(60)\n"
            "print(flush=True)\n"
            "time.sleep(60)\n"
        )
        process = await start(processes, code)
        await asyncio.to_thread(os.read, process.stdout, 1)
        family = {each.pid for each in descendants(process.pid)}
        assert len(family) == 2
        os.kill(process.pid, signal.SIGKILL)
        await process.exited
        until = time.monotonic() + 5
        while family & {each.pid for each in descendants(os.getpid())}:
            assert time.monotonic() < until
            await asyncio.sleep(0.05)

    with_processes(work)


def test_many_children_start_at_once() -> None:
    async def work(processes: Processes) -> set[str]:
        started = await asyncio.gather(*(start(processes, f"print({number})") for number in range(30)))
        return set(await asyncio.gather(*(output(process) for process in started)))

    assert with_processes(work) == {f"{number}\n" for number in range(30)}


def test_an_order_larger_than_any_buffer_is_obeyed() -> None:
    async def work(processes: Processes) -> str:
        env = {f"V{number}": "x" * 100_000 for number in range(10)}
        code = "import os; print(sum(len(v) for k, v in os.environ.items() if k[0] == 'V'))"
        process = await processes.start(sys.executable, [sys.executable, "-S", "-c", code], env, None)
        return await output(process)

    assert with_processes(work) == "1000000\n"


def test_after_the_watchdog_was_killed_a_new_one_starts_children() -> None:
    async def work(processes: Processes) -> None:
        others = descendants(os.getpid())  # workbenches that other tests of this run still use
        first = await start(processes, "import time; time.sleep(60)")
        (watchdog,) = [each for each in descendants(os.getpid()) - others if "watchdog" in command(each)]
        os.kill(watchdog.pid, signal.SIGKILL)
        assert await first.exited == -signal.SIGKILL
        assert await (await start(processes, "raise SystemExit(3)")).exited == 3

    with_processes(work)
