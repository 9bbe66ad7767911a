"""What a start and a call may cost, in counts that are the same on every machine. Times are for `make bench`.

A count that goes down may be lowered here; one that goes up needs a reason beside it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.client import Client
from tests.support.launch import child, configuration, environment, toolbox, write_config

DECODES_A_CALL = 2
"""The request as a whole, and the top level of the result."""

PASSES_OVER_ARGUMENTS = 2
"""In the request, and for the log where they are long."""

PASSES_OVER_RESULT = 1
"""For its top level. Its content is decoded by nobody."""

STEPS_A_CALL = 80
"""Functions entered for one call, Python's and C's."""

BLOCKS_A_CALL = 0.5
"""Pieces of memory that a call may leave behind, on average; the tables of caches grow now and then."""

# Imported before the first answer, beside msgspec with all that it needs; so no asyncio, and no inspect.
AT_FIRST = {
    "signal",  # none may end us between the first answer and the loop that heeds them
    *("json", "_json", "encodings.utf_8_sig", "fnmatch"),  # the configuration
    *("gc", "select"),
}

# Imported before the second, beside asyncio, msgspec and uvloop with all that they import.
ALLOWED = {
    *AT_FIRST,
    *("runpy", "importlib.util", "importlib._abc"),  # python -m
    "termios",  # how much of what was written nobody has read yet
}

TELL = """
import os, sys
def tell():
    sys.stderr.write("imported: " + " ".join(sys.modules) + chr(10))
"""

# When the first answer goes out.
TELL_AT_FIRST = f"""{TELL}
write = os.write
def telling(fd, data):
    tell()
    os.write = write
    return write(fd, data)
os.write = telling
"""

# Runs the workbench with `counts`, and says what they came to when it ends.
PREAMBLE = """
import atexit, json, sys
counts = {}
def count(what, amount=1):
    counts[what] = counts.get(what, 0) + amount
atexit.register(lambda: sys.stderr.write("counts: " + json.dumps(counts) + chr(10)))
"""

DECODES = """
import msgspec
def counting(decode):
    def counted(data, *args, **kwargs):
        count("decodes")
        count("bytes", len(data) if isinstance(data, str) else memoryview(data).nbytes)
        return decode(data, *args, **kwargs)
    return counted
class Decoder:
    def __init__(self, *args, **kwargs):
        self.decode = counting(real(*args, **kwargs).decode)
real, msgspec.json.Decoder = msgspec.json.Decoder, Decoder
msgspec.json.decode, json.loads = counting(msgspec.json.decode), counting(json.loads)
"""

STEPS = """
def step(frame, event, argument):
    if event in ("call", "c_call"):
        count("steps")
sys.setprofile(step)
"""

BLOCKS = """
import gc
def tally():
    gc.collect()
    count("blocks", sys.getallocatedblocks())
from mcp_workbench.workbench import Workbench
close = Workbench.close
async def closing(self):
    tally()
    await close(self)
Workbench.close = closing
"""

SERVE = """
from mcp_workbench.__main__ import main
sys.argv = ["mcp-workbench"]
sys.exit(main())
"""

Start = Callable[..., Client]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts an interpreter with these arguments, set up to serve one echo server."""
    config = write_config(tmp_path, configuration(dev=toolbox(echo=child("echo"))))
    started: list[Client] = []

    def start(*arguments: str, stdin: int = subprocess.PIPE) -> Client:
        env = {**environment(tmp_path), "WORKBENCH_CONFIG": str(config)}
        started.append(Client([sys.executable, *arguments], env=env, cwd=tmp_path, stdin=stdin))
        return started[-1]

    yield start
    for client in started:
        client.process.kill()


@pytest.fixture
def cost(start: Start) -> Callable[..., dict[str, float]]:
    """What one call adds to the counts: the difference between few calls and many, divided among them."""

    def counted(script: str, calls: int, text: str) -> dict[str, int]:
        client = start("-c", PREAMBLE + script + SERVE)
        client.initialize()
        client.open("dev")
        for _ in range(calls):
            result = client.use("dev/echo/echo", {"text": text})
            assert text in result["content"][0]["text"]
        assert client.end() == 0, client.stderr
        (line,) = [line for line in client.stderr.splitlines() if line.startswith("counts: ")]
        return json.loads(line.removeprefix("counts: "))

    def cost(script: str, *, text: str = "hello", few: int = 20, many: int = 120) -> dict[str, float]:
        before, after = counted(script, few, text), counted(script, many, text)
        return {what: (after[what] - before[what]) / (many - few) for what in after}

    return cost


def test_the_first_answer_needs_little_more_than_the_configuration_does(start: Start) -> None:
    reading, writing = os.pipe()
    greeting = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-11-25"},
    }
    os.write(writing, json.dumps(greeting).encode() + b"\n")  # there before anybody looks
    serving = start("-c", TELL_AT_FIRST + SERVE, stdin=reading)
    serving.response(1)
    serving.process.kill()
    serving.wait()
    os.close(reading)
    os.close(writing)
    bare = start("-c", f"{TELL}sys.modules['typing_extensions'] = None; import msgspec; tell()")
    assert bare.wait() == 0
    extra = told(serving.stderr) - told(bare.stderr)
    assert {name for name in extra if not is_among(AT_FIRST, name)} == set()


def test_nothing_is_imported_to_serve_but_what_serving_needs(start: Start) -> None:
    serving = start("-X", "importtime", "-m", "mcp_workbench")
    serving.initialize()
    serving.request("tools/list")
    serving.process.kill()  # what it imports to end well is not of the start
    serving.wait()
    bare = start("-X", "importtime", "-c", "import asyncio, msgspec, uvloop")
    assert bare.wait() == 0
    extra = imported(serving.stderr) - imported(bare.stderr)
    assert {name for name in extra if not is_among(ALLOWED, name)} == set()


def test_a_call_is_decoded_as_often_as_the_budget_says(cost: Callable[..., dict[str, float]]) -> None:
    assert cost(DECODES)["decodes"] <= DECODES_A_CALL


def test_a_large_call_is_read_as_often_as_the_budget_says(cost: Callable[..., dict[str, float]]) -> None:
    size = 100_000
    read = cost(DECODES, text="x" * size, few=2, many=12)["bytes"]
    # A tenth for the names and brackets around the text, and for what the log keeps of it.
    assert read / size <= PASSES_OVER_ARGUMENTS + PASSES_OVER_RESULT + 0.6


def test_a_call_takes_no_more_steps_than_the_budget_says(cost: Callable[..., dict[str, float]]) -> None:
    assert cost(STEPS)["steps"] <= STEPS_A_CALL


def test_calls_leave_nothing_behind_in_memory(cost: Callable[..., dict[str, float]]) -> None:
    assert cost(BLOCKS, few=200, many=1200)["blocks"] <= BLOCKS_A_CALL


def told(stderr: str) -> set[str]:
    (line,) = [line for line in stderr.splitlines() if line.startswith("imported: ")]
    return set(line.split()[1:])


def imported(importtime: str) -> set[str]:
    """The modules that `-X importtime` tells of."""
    lines = [line for line in importtime.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in lines}


def is_among(allowed: set[str], module: str) -> bool:
    return module.split(".")[0] in {"mcp_workbench", "imported package"} or any(
        module == name or module.startswith(f"{name}.") for name in allowed
    )
