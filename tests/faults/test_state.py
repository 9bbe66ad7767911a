"""Rows 32 to 34: what is written, and what is held on to."""

from __future__ import annotations

import json
import resource
import signal
import threading
import time
from pathlib import Path

from tests.support.client import invocation, is_response
from tests.support.launch import child

from .bench import Rows
from .soak import soak


def test_row_32_the_log_on_a_full_disk(rows: Rows) -> None:
    bench = rows({"echo": child("echo")})
    pid = bench.client.process.pid
    bench.use("dev/echo/echo", {"before": 1})
    # No file of its own may grow any more, as on a full disk; pipes are no files.
    full = bench.log_file.stat().st_size + 40
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (full, resource.RLIM_INFINITY))
    for number in range(20):
        assert bench.use("dev/echo/echo", {"n": number}) == json.dumps({"n": number})
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    bench.use("dev/echo/echo", {"after": 1})
    assert bench.client.stderr.count("the call log") == 1
    whole: list[dict[str, object]] = []
    for line in bench.log_file.read_bytes().splitlines():
        try:
            whole.append(json.loads(line))
        except ValueError:
            continue  # what fitted of the first line that did not
    mine = [line["args"] for line in whole if line["server"] == "echo"]
    assert mine == [{"before": 1}, {"after": 1}]


def test_row_33_kill_9_while_logging(rows: Rows) -> None:
    bench = rows({"echo": child("echo", limits={"concurrency": 64, "queue": 10_000})})
    bench.watch.check()
    client = bench.client
    rows.launcher.expected_status[client] = -signal.SIGKILL
    asked: dict[int, int] = {}

    def ask() -> None:
        for number in range(3000):
            params = {"name": "use_tool", "arguments": invocation("dev/echo/echo", {"n": number})}
            try:
                asked[client.start_request("tools/call", params)] = number
            except OSError:
                return

    asking = threading.Thread(target=ask)
    asking.start()
    until = time.monotonic() + 10
    while len(client.messages) < 300 and time.monotonic() < until:
        time.sleep(0.005)
    client.signal(signal.SIGKILL)
    began = time.monotonic()
    client.wait()
    asking.join(10)
    answered = [number for id, number in asked.items() if any(is_response(m, id) for m in client.messages)]
    assert 200 < len(answered) < 3000
    lines = bench.log_file.read_bytes().split(b"\n")[:-1]  # the last may be half a line
    logged = [json.loads(line) for line in lines]
    numbers = [line["args"]["n"] for line in logged if line["server"] == "echo" and line["toolbox"] == "dev"]
    assert set(answered) <= set(numbers)
    assert len(numbers) == len(set(numbers))
    bench.all_gone(began)


def test_row_34_a_soak_of_random_faults(tmp_path: Path) -> None:
    """In a short form; `make soak` runs it for hours."""
    seed = int(time.time())
    print(f"seed {seed}")  # shown where it fails
    done = soak(tmp_path, seconds=20, seed=seed)
    assert sum(done.values()) > 10
