"""What a call costs in counts: instructions, and the cache lines and pages of code that they lie in.

With one call in flight everything is cold, and a change of a few percent is less than what one run differs
from the next. These counts differ by half a percent, and tell which line of source they belong to. Each
instruction is taken by itself, so a call takes seconds. For Linux on x86-64 with a C compiler; Python lines
are told with CPython 3.11 alone, whose frames have to be looked into. Of an instruction that repeats itself,
as some do to copy memory, each time counts.

Run: `python -m bench.instructions [--calls 5] [--top 40] [--json]`
"""

from __future__ import annotations

import argparse
import array
import bisect
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from .competitors import CACHE
from .load import Pipes
from .process import Process
from .targets import HERE, Workbench

TEXT = "x" * 20
WARMING = 2000
STEPS = 120_000
"""More instructions than a call takes."""

CACHE_LINE, PAGE = 6, 12
"""Bits of an address inside them."""

# Of CPython 3.11: where a thread state has its frames, and a code object its bytecode.
FRAMES, BYTECODE = 56, 184
LOOKS_INTO_FRAMES = sys.implementation.name == "cpython" and sys.version_info[:2] == (3, 11)

# Runs the workbench, lets anybody trace it, and leaves behind what its Python code can be told by. What is
# done every so often is put off, and each call is in the next millisecond: they take seconds here, and should
# cost what others do.
PROGRAM = """
import atexit, ctypes, itertools, json, os, sys, time, types
home = os.environ["BENCH_HOME"]
current = ctypes.pythonapi.PyThreadState_Get
current.restype = ctypes.c_void_p
with open(f"{home}/thread", "w") as file:
    file.write(str(current()))
codes = {}
def look(thing):
    if isinstance(thing, types.CodeType) and id(thing) not in codes:
        lines = [(start, end, line or 0) for start, end, line in thing.co_lines()]
        codes[id(thing)] = [thing.co_qualname, thing.co_filename, lines]
        for each in thing.co_consts:
            look(each)
    elif isinstance(thing, types.FunctionType):
        look(thing.__code__)
    elif isinstance(thing, staticmethod | classmethod):
        look(thing.__func__)
    elif isinstance(thing, property):
        look(thing.fget)
    elif isinstance(thing, type) and thing.__module__.startswith("mcp_workbench"):
        for each in vars(thing).values():
            look(each)
def tell():
    for name, module in list(sys.modules.items()):
        if name.startswith("mcp_workbench"):
            for each in list(vars(module).values()):
                look(each)
    with open(f"{home}/codes", "w") as file:
        json.dump(codes, file)
atexit.register(tell)
time.time_ns = itertools.count(time.time_ns(), 1_000_000).__next__
ctypes.CDLL(None).prctl(0x59616D61, ctypes.c_ulong(-1))
from mcp_workbench import life
from mcp_workbench.journal import file as log
life.POLL, log._TRUST = 1e6, 600.0
from mcp_workbench.__main__ import main
sys.argv = ["mcp-workbench"]
sys.exit(main())
"""


class Place(msgspec.Struct, frozen=True):
    """A line of Python, or what is not part of any."""

    function: str
    file: str
    line: int


class Count(msgspec.Struct):
    instructions: float
    code: float
    """Cache lines of code that were first entered here since the process last slept."""


class Counts(msgspec.Struct):
    """Of one call on average."""

    calls: int
    instructions: float
    lines: float
    pages: float
    libraries: dict[str, Count]
    functions: dict[str, Count]
    places: dict[Place, Count]


class Stepped(Workbench):
    def start(self, folder: Path) -> Process:
        (python, *_), env = self.command(folder)
        return Process([python, "-c", PROGRAM], log=folder / "stderr", env={**env, "BENCH_HOME": str(folder)})


class Code:
    """The machine code of a process, by address."""

    def __init__(self, pid: int) -> None:
        self._mapped: list[tuple[int, int, int, str]] = []
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            span, rights, offset, _, _, *path = line.split()
            if "x" in rights and path:
                start, end = (int(address, 16) for address in span.split("-"))
                self._mapped.append((start, end, int(offset, 16), path[0]))
        self.function = cache(self._function)

    def _function(self, address: int) -> tuple[str, str]:
        """The library and the function that have this address, as far as symbols tell."""
        for start, end, offset, path in self._mapped:
            if start <= address < end:
                if not path.startswith("/"):
                    return path, path
                starts, names = _symbols(path)
                found = bisect.bisect_right(starts, address - start + offset) - 1
                return Path(path).name, names[found] if found >= 0 else "?"
        return "?", "?"


@cache
def _symbols(path: str) -> tuple[list[int], list[str]]:
    """The functions in a file, by where in it they begin."""
    shift = 0
    for line in _output("readelf", "-lW", path):
        words = line.split()
        if words[:1] == ["LOAD"] and "E" in words[6:8]:
            shift = int(words[2], 16) - int(words[1], 16)
    for options in (["-n"], ["-Dn"]):
        found = [line.split() for line in _output("nm", *options, "--defined-only", path)]
        functions = [(int(words[0], 16) - shift, words[2]) for words in found if words[1] in "tTwWiu"]
        if functions:
            break
    functions.sort()
    return [start for start, _ in functions], [name.split("@")[0] for _, name in functions]


def _output(*command: str) -> list[str]:
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout.splitlines()


def trace(folder: Path, calls: int) -> Counts:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or sys.platform != "linux" or os.uname().machine != "x86_64":
        raise SystemExit("needs Linux on x86-64, and a C compiler")
    CACHE.mkdir(parents=True, exist_ok=True)
    stepper = str(CACHE / "stepper")
    subprocess.run([compiler, "-O2", "-o", stepper, str(HERE / "stepper.c")], check=True)
    target = Stepped()
    pipes = Pipes(target.start(folder))
    target.greet(pipes)
    target.open(pipes)
    for _ in range(WARMING):
        pipes.check(target, TEXT)
    pid = pipes.process.pid
    code = Code(pid)
    frames = int((folder / "thread").read_text()) + FRAMES if LOOKS_INTO_FRAMES else 0
    core = {min(os.sched_getaffinity(0))}  # stepper and process take turns, which is fastest on one
    os.sched_setaffinity(pid, core)
    with (folder / "trace").open("wb") as file:
        stepping = subprocess.Popen([stepper, str(pid), str(STEPS * (calls + 1)), str(frames)], stdout=file)
        os.sched_setaffinity(stepping.pid, core)
        while stepping.poll() is None:
            pipes.check(target, TEXT)
    pipes.process.end()
    if stepping.returncode:
        raise SystemExit(stepping.returncode)
    return _counted((folder / "trace").read_bytes(), code, json.loads((folder / "codes").read_text()))


def _counted(trace: bytes, code: Code, named: dict[str, Any]) -> Counts:
    numbers = array.array("Q", trace)
    addresses, codes, places = numbers[0::3], numbers[1::3], numbers[2::3]
    waiting = [
        address for address in set(addresses) if code.function(address)[1] in ("epoll_pwait", "epoll_wait")
    ]
    if not waiting:
        raise SystemExit("it was not seen to wait: are `nm` and `readelf` here, and the C library's symbols?")
    asleep = min(waiting)
    sleeps = [index for index, address in enumerate(addresses) if address == asleep]
    wakes = list(itertools.pairwise(sleeps))[2:]  # the first may have been broken into
    wakes = wakes[: len(wakes) // 2 * 2]  # two of them make a call
    calls = len(wakes) // 2
    if not calls:
        raise SystemExit("not one call was seen as a whole: ask for more")
    instructions: Counter[object] = Counter()
    entered: Counter[object] = Counter()
    pages = 0
    for start, end in wakes:
        lines: set[int] = set()
        for index in range(start, end):
            address = addresses[index]
            library, function = code.function(address)
            place = _place(named, codes[index], places[index])
            told = (library, (library, function), place, "all")
            instructions.update(told)
            if address >> CACHE_LINE not in lines:
                lines.add(address >> CACHE_LINE)
                entered.update(told)
        pages += len({line >> PAGE - CACHE_LINE for line in lines})

    def of(thing: object) -> Count:
        return Count(instructions[thing] / calls, entered[thing] / calls)

    everything = of("all")
    return Counts(
        calls,
        everything.instructions,
        everything.code,
        pages / calls,
        {thing: of(thing) for thing in instructions if isinstance(thing, str) and thing != "all"},
        {" in ".join(thing[::-1]): of(thing) for thing in instructions if isinstance(thing, tuple)},
        {thing: of(thing) for thing in instructions if isinstance(thing, Place)},
    )


def _place(named: dict[str, Any], code: int, at: int) -> Place:
    function, file, lines = named.get(str(code), ("elsewhere", "", ()))
    offset = at - code - BYTECODE
    line = next((line for start, end, line in lines if start <= offset < end), 0)
    return Place(function, file, line)


def _table(counts: Counts, top: int) -> Iterator[str]:
    yield f"One small call (the mean of {counts.calls}): {counts.instructions:,.0f} instructions,"
    yield f"in {counts.lines:,.0f} cache lines and {counts.pages:,.0f} pages of code (a wake-up by itself)"
    groups = {"library": counts.libraries, "C function": counts.functions}
    sources = {f"{place.function}:{place.line}": count for place, count in counts.places.items()}
    for title, group in (groups | ({"line of Python": sources} if LOOKS_INTO_FRAMES else {})).items():
        yield f"\n{'instructions':>12} {'new code':>9}  {title}"
        for name, count in sorted(group.items(), key=lambda item: -item[1].instructions)[:top]:
            yield f"{count.instructions:12,.0f} {count.code:9,.1f}  {name}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--calls", type=int, default=5, help="about how many are counted")
    parser.add_argument("--top", type=int, default=40, help="how many rows are shown of each table")
    parser.add_argument("--json", action="store_true", help="everything, for programs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        counts = trace(Path(folder), options.calls)
    if options.json:
        told = msgspec.to_builtins(msgspec.structs.asdict(counts) | {"places": list(counts.places.items())})
        print(json.dumps(told))
    else:
        print("\n".join(_table(counts, options.top)))


if __name__ == "__main__":
    main()
