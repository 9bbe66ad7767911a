"""Random faults over five servers for as long as wanted; afterwards everything is as it was at the beginning.

    python -m tests.faults.soak [SECONDS [SEED]]

Each fault is one of the rows of docs/reliability.md; what a row promises in detail is for the other tests.
"""

from __future__ import annotations

import base64
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.support.client import Client, invocation, text
from tests.support.launch import Launcher, child
from tests.support.processes import descendants

from .bench import faulty, memory

MB = 1_000_000
ROOM = 32 * MB
"""Memory that may be kept beyond the beginning, however long it runs: what an allocator holds on to."""

LIMITS = {"timeout": 0.5, "maxLine": 2 * MB, "concurrency": 8, "queue": 8}
SERVERS = {
    "a": child("echo"),
    "b": child("echo"),
    "modern": child("modern"),
    "noisy": child("noisy"),
    "awkward": faulty("awkward"),
}
CONFIG = {
    "toolboxes": {"dev": {"description": "To be maltreated", "mcpServers": SERVERS, "limits": LIMITS}},
    "log": {"maxSize": "1MB", "keep": 1},
}

SPARED = 3
"""Deaths a minute that a server is put through: after more, it is not started for a while."""


class State(NamedTuple):
    descriptors: int
    threads: int
    processes: int

    @classmethod
    def of(cls, pid: int) -> State:
        return cls(
            len(os.listdir(f"/proc/{pid}/fd")), len(os.listdir(f"/proc/{pid}/task")), len(descendants(pid))
        )


class Soak:
    def __init__(self, client: Client, seed: int) -> None:
        self._client = client
        self._random = random.Random(seed)
        self._deaths: dict[str, deque[float]] = {server: deque(maxlen=SPARED) for server in SERVERS}
        self.done: Counter[str] = Counter()

    def run(self, seconds: float) -> None:
        """Raises AssertionError where something is left, or nobody answers any more."""
        self._client.initialize()
        self._client.open("dev")
        for number, fault in enumerate(HARMLESS + DEADLY):  # what is loaded at its first use is no leak
            server = "ab"[number % 2]
            if fault in DEADLY:
                self._may_die(server)
            fault(self, server)
        self._repair()
        began = self._state()
        memory_before = memory(self._client.process.pid, "VmRSS")
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self._one()
        self._repair()
        self._settle(began)
        grown = memory(self._client.process.pid, "VmRSS") - memory_before
        assert grown < ROOM, f"{grown / MB:.1f} MB more after {self.done}"

    def _one(self) -> None:
        server = self._echo()
        deadly = self._random.random() < 0.2 and self._may_die(server)
        fault = self._random.choice(DEADLY if deadly else HARMLESS)
        self.done[fault.__name__] += 1
        fault(self, server)
        began = time.monotonic()
        assert self._client.request("ping", timeout=5)["result"] == {}
        assert time.monotonic() - began < 1, f"no sign of life after {fault.__name__}"
        self._client.messages.clear()  # or we are the one who grows
        self._client.lines.clear()

    def _echo(self) -> str:
        return self._random.choice(["a", "b"])

    def _may_die(self, server: str) -> bool:
        deaths = self._deaths[server]
        if len(deaths) == SPARED and time.monotonic() - deaths[0] < 65:
            return False
        deaths.append(time.monotonic())
        return True

    def _repair(self) -> None:
        """Every server is there again."""
        listing = self._client.open("dev", timeout=20)
        assert "_errors" not in listing, listing["_errors"]
        for ref, arguments in [
            ("dev/a/echo", {}),
            ("dev/b/echo", {}),
            ("dev/modern/seen", {}),
            ("dev/noisy/hello", {}),
            ("dev/awkward/late", {"seconds": 0}),
        ]:
            result = self._client.use(ref, arguments)
            assert not result.get("isError"), result

    def _state(self) -> State:
        """As it is when nothing has changed for a second; the last of the dead may still be going."""
        until = time.monotonic() + 15
        seen = State.of(self._client.process.pid)
        since = time.monotonic()
        while time.monotonic() - since < 1:
            assert time.monotonic() < until, "it does not come to rest"
            time.sleep(0.1)
            if (now := State.of(self._client.process.pid)) != seen:
                seen, since = now, time.monotonic()
        return seen

    def _settle(self, began: State) -> None:
        until = time.monotonic() + 15
        while (now := State.of(self._client.process.pid)) != began:
            assert time.monotonic() < until, f"{now} instead of {began} after {self.done}"
            time.sleep(0.2)

    # Rows

    def _start(self, ref: str, arguments: dict[str, object] | None = None) -> int:
        params = {"name": "use_tool", "arguments": invocation(ref, arguments)}
        return self._client.start_request("tools/call", {**params, "_meta": {"progressToken": "soak"}})

    def dies(self, server: str) -> None:
        self._client.use(f"dev/{server}/die", {"stderr": "goodbye\n"})

    def killed(self, server: str) -> None:
        os.kill(self._pid(server), signal.SIGKILL)

    def stopped(self, server: str) -> None:
        os.kill(self._pid(server), signal.SIGSTOP)
        self._client.use(f"dev/{server}/echo")
        self._client.use(f"dev/{server}/echo")  # by a new one

    def torn(self, server: str) -> None:
        self._client.use(f"dev/{server}/large", {"size": 3 * MB})

    def _pid(self, server: str) -> int:
        return json.loads(text(self._client.use(f"dev/{server}/about")))["pid"]

    def noise(self, server: str) -> None:
        self._client.use("dev/noisy/hello")

    def large(self, server: str) -> None:
        assert len(text(self._client.use(f"dev/{server}/large", {"size": MB}))) == MB

    def odd_ids(self, server: str) -> None:
        lines = b'{"id":"ID","result":{}}\n{"id":999,"result":{}}\nID\n{"id":ID,"result":{"content":[]}}\n[]'
        result = self._client.use(f"dev/{server}/line", {"base64": base64.b64encode(lines).decode()})
        assert result == {"content": []}

    def much_stderr(self, server: str) -> None:
        self._client.use(f"dev/{server}/flood", {"bytes": 2 * MB})

    def times_out(self, server: str) -> None:
        self._client.use(f"dev/{server}/slow", {"seconds": 60})

    def late(self, server: str) -> None:
        self._client.use("dev/awkward/late", {"seconds": 0.6})

    def cancelled(self, server: str) -> None:
        for id in [self._start(f"dev/{each}/slow", {"seconds": 60}) for each in (server, "modern")]:
            self._client.notify("notifications/cancelled", {"requestId": id})

    def progress(self, server: str) -> None:
        self._client.response(self._start(f"dev/{server}/progress", {"steps": 2000}))

    def shouted(self, server: str) -> None:
        self._client.use("dev/awkward/shout", {"times": 200})

    def crowd(self, server: str) -> None:
        for id in [self._start(f"dev/{server}/slow", {"seconds": 0.05}) for _ in range(20)]:
            self._client.response(id)

    def opened(self, server: str) -> None:
        opening = {"name": "open_toolbox", "arguments": {"toolbox": "dev"}}
        for id in [self._client.start_request("tools/call", opening) for _ in range(20)]:
            self._client.response(id)

    def garbage(self, server: str) -> None:
        self._client.send_bytes(b'garbage\n\xff\n[]\n{"id":null,"method":"ping"}\n{"jsonrpc":"2.0"}\n\n')


Fault = Callable[[Soak, str], None]

HARMLESS: list[Fault] = [
    Soak.noise,
    Soak.large,
    Soak.odd_ids,
    Soak.much_stderr,
    Soak.times_out,
    Soak.late,
    Soak.cancelled,
    Soak.progress,
    Soak.shouted,
    Soak.crowd,
    Soak.opened,
    Soak.garbage,
]
DEADLY: list[Fault] = [Soak.dies, Soak.killed, Soak.stopped, Soak.torn]


def soak(folder: Path, seconds: float, seed: int) -> Counter[str]:
    """How often each fault was done."""
    with Launcher(folder) as launcher:
        soaking = Soak(launcher(CONFIG), seed)
        soaking.run(seconds)
        return soaking.done


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 4 * 3600
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
    print(f"{seconds:g} s of faults, with the seed {seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for fault, times in sorted(soak(Path(folder), seconds, seed).items()):
            print(f"{times:8d}  {fault}")
    print("Descriptors, threads, processes and memory ended where they began.")


if __name__ == "__main__":
    main()
