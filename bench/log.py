"""The call log under load: what writing a line costs, how fast it is indexed, how fast it is asked.

python bench/log.py [--lines 1000000] [--folder DIR]
"""

import argparse
import json
import os
import random
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from mcp_workbench.journal import Journal, beginning
from mcp_workbench.journal.beginnings import written
from mcp_workbench.journal.log import Log
from mcp_workbench.journal.query import Query
from mcp_workbench.names import ToolRef
from mcp_workbench.servers.call import Call

TEXT = "The quick brown fox jumps over the lazy dog. "
ARGUMENTS = {
    "20 bytes": {"path": "/etc/host"},
    "100 bytes": {"path": "/etc/hosts", "limit": 20, "query": "words to look for", "names": ["a", "b", "c"]},
    "200 bytes": {"title": TEXT, "body": TEXT * 3, "draft": False},
    "100 bytes, a password": {"host": "db.example.com", "user": "reader", "password": "x", "query": TEXT},
    "20 kB, a vector": {"collection": "docs", "vector": [round(n / 7, 5) for n in range(2000)], "top": 3},
    "1 MB, a file": {"content": 'print("hello")\n' * 60_000, "path": "/tmp/x.py"},
}
SECRETS = [f"sk-{random.randbytes(12).hex()}" for _ in range(10)]


def journal(folder: Path) -> Journal:
    return Journal(
        str(folder / "ToolBox.log"),
        max_size=100_000_000,
        keep=20,
        value_limit=16384,
        redact=(),
        secrets=SECRETS,
    )


def call(
    arguments: bytes = b"{}",
    *,
    tool: str = "read_file",
    server: str = "files",
    caller: str = "claude-code",
    id: str = "18e82b5d7e0423f1c93c3",
    ago: float = 0,
    parent: Call | None = None,
) -> Call:
    return Call(
        ref=ToolRef("dev", server, tool),
        arguments=arguments,
        caller=caller,
        id=id,
        began=written(int((time.time() - ago) * 1000)),
        parent=parent,
    )


def cost_of(act: Callable[[], object], *, budget: float = 1.0) -> float:
    """Microseconds, of the fastest tenth of many batches: neighbours can only make it slower."""
    act()
    began = time.perf_counter()
    act()
    size = max(1, int(0.005 / (time.perf_counter() - began)))
    batches: list[float] = []
    until = began + budget
    while time.perf_counter() < until or len(batches) < 3:
        started = time.perf_counter()
        for _ in range(size):
            act()
        batches.append((time.perf_counter() - started) / size)
    return sorted(batches)[len(batches) // 10] * 1e6


def measure_writing(folder: Path) -> None:
    log = journal(folder)
    for name, arguments in ARGUMENTS.items():
        raw = json.dumps(arguments, separators=(",", ":")).encode()
        print(f"write, arguments of {name:24} {cost_of(partial(log.write, call(raw), 12_300_000)):10.1f} µs")
    print(f"{'beginning':44} {cost_of(beginning):10.1f} µs")
    assert log.dropped == 0


def fill(folder: Path, count: int) -> None:
    """A call every 50 ms up to now, every fourth one from outside and with three calls inside it."""
    log = journal(folder)
    raw = json.dumps(ARGUMENTS["100 bytes"]).encode()
    began = time.perf_counter()
    outer: Call | None = None
    for n in range(count):
        place = {"id": beginning()[0], "ago": (count - n) * 0.05, "server": f"server_{n % 5}"}
        if n % 4 == 0 or outer is None:
            made = outer = call(raw, tool=f"tool_{random.randrange(50)}", **place)
        else:
            made = call(raw, tool="inner_tool", caller=f"{outer.ref.name}_{outer.id}", parent=outer, **place)
        log.write(made, int(random.expovariate(0.00000001)), None if n % 37 else "went wrong")
    print(f"{count:,} lines written at {count / (time.perf_counter() - began):,.0f} lines/s")


def measure_reading(folder: Path, count: int) -> None:
    path = str(folder / "ToolBox.log")
    began, cpu_began = time.perf_counter(), time.process_time()
    with Log(path) as log:
        taken, cpu = time.perf_counter() - began, time.process_time() - cpu_began
        size = os.path.getsize(f"{path}.index.sqlite") >> 20
        print(
            f"indexed at {count / taken:,.0f} lines/s ({count / cpu:,.0f} per second of CPU time), {size} MiB"
        )
        hour = time.time() - 3600
        (somewhere,) = log.calls(Query(), limit=1, offset=count // 2)
        questions: dict[str, Callable[[], object]] = {
            "open, with nothing new": lambda: Log(path).__exit__(),
            "last 50 of a tool": lambda: log.calls(Query(tool="tool_7".__eq__), limit=50),
            "last 50 of tools by pattern": lambda: log.calls(
                Query(tool=lambda name: name[:6] == "tool_1"), limit=50
            ),
            "last 50 of a server": lambda: log.calls(Query(server="server_3"), limit=50),
            "errors of the last hour, all": lambda: log.calls(Query(failed=True, since=hour), limit=count),
            "errors of the last hour, how many": lambda: log.count(Query(failed=True, since=hour)),
            "one chain": lambda: log.chain(somewhere.call.id),
            "one call": lambda: log.call(somewhere.call.id),
            "all calls, how many": lambda: log.count(Query()),
            "stats of the last hour": lambda: log.stats(Query(since=hour)),
        }
        for name, ask in questions.items():
            print(f"{name:44} {cost_of(ask) / 1000:10.2f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, help="where to put the logs; a temporary folder by default")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        measure_writing(Path(folder) / "writing")
        fill(Path(folder) / "reading", options.lines)
        measure_reading(Path(folder) / "reading", options.lines)


if __name__ == "__main__":
    main()
