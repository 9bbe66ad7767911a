"""What a start and a call may cost, in counts that are the same on every machine. Times are for `make bench`.

A count that goes down may be lowered here; one that goes up needs a reason beside it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.client import Client
from tests.support.launch import child, configuration, environment, toolbox, write_config

DECODES_A_CALL = 6
"""Request, parameters, their arguments; reply, its result's top level; the arguments for the log."""

PASSES_OVER_ARGUMENTS = 4
"""In the request, in its parameters, in their arguments, and for the log."""

PASSES_OVER_RESULT = 2
"""As part of the reply, and for its top level. Its content is decoded by nobody."""

STEPS_A_CALL = 160
"""Functions entered for one call, Python's and C's."""

BLOCKS_A_CALL = 0.5
"""Pieces of memory that a call may leave behind, on average; the tables of caches grow now and then."""

# Imported before the first answer, beside asyncio, msgspec and uvloop with all that they import.
ALLOWED = {
    *("runpy", "importlib.util", "importlib._abc"),  # python -m
    *("json", "_json", "encodings.utf_8_sig"),  # the configuration
    "termios",  # how much of what was written nobody has read yet
    *("shutil", "fnmatch", "bz2", "_bz2", "lzma", "_lzma", "zlib", "_compression"),  # finding commands
}

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

    def start(*arguments: str) -> Client:
        env = {**environment(tmp_path), "WORKBENCH_CONFIG": str(config)}
        started.append(Client([sys.executable, *arguments], env=env, cwd=tmp_path))
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


def test_nothing_is_imported_before_the_first_answer_but_what_serving_needs(start: Start) -> None:
    serving = start("-X", "importtime", "-m", "mcp_workbench")
    serving.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}})
    serving.process.kill()  # what it imports to end well is not of the start
    serving.wait()
    bare = start("-X", "importtime", "-c", "import asyncio, msgspec, uvloop")
    assert bare.wait() == 0
    extra = imported(serving.stderr) - imported(bare.stderr)
    unexpected = {name for name in extra if not is_allowed(name)}
    assert unexpected == set()


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


def imported(importtime: str) -> set[str]:
    """The modules that `-X importtime` tells of."""
    lines = [line for line in importtime.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in lines}


def is_allowed(module: str) -> bool:
    return module.split(".")[0] in {"mcp_workbench", "imported package"} or any(
        module == name or module.startswith(f"{name}.") for name in ALLOWED
    )
