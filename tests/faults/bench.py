"""A workbench under a fault: somebody asks it for signs of life all the time, and looks at what it leaves.

What every row promises is looked at here, so that a test holds only what its own row promises.
"""

from __future__ import annotations

import contextlib
import json
import statistics
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.support.client import Client, invocation, text
from tests.support.launch import Launcher, child

SERVERS = Path(__file__).parent / "servers"

ALIVE = 1.0
"""Seconds within which a `ping` is answered, whatever goes on."""

GONE = 6.0
"""Seconds after the end within which no process is left."""

NEIGHBOUR = "calm/steady/echo"
"""A tool that nothing happens to; its server should not notice what happens to others."""


def faulty(script: str, **keys: Any) -> dict[str, Any]:
    """The configuration entry of one of the servers in `faults/servers`."""
    return {"command": sys.executable, "args": ["-S", str(SERVERS / f"{script}.py")], **keys}


class Watch:
    """Sends a `ping` and calls the neighbour, over and over, until it is stopped; knows what each took."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._stopping = threading.Event()
        self._sending = threading.Lock()
        self._problem: Exception | None = None
        self.pings: list[float] = []
        self.calls: list[float] = []
        self.usual = statistics.median([self._call() for _ in range(15)])
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def hold(self) -> threading.Lock:
        """Nothing is sent while this is held: half a line of a test's own can be under way."""
        return self._sending

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join(10)
        assert not self._thread.is_alive()

    def check(self) -> None:
        """Everything was answered in time."""
        self.stop()
        assert self._problem is None, self._problem
        assert max(self.pings, default=0.0) < ALIVE, sorted(self.pings)[-5:]
        assert max(self.calls, default=0.0) < ALIVE, sorted(self.calls)[-5:]
        if len(self.calls) >= 5:
            # The machine may be busy with something else; a server that waits for another shows by far more.
            assert statistics.median(self.calls) < 5 * self.usual + 0.02, (self.usual, self.calls)

    def _run(self) -> None:
        try:
            while not self._stopping.wait(0.03):
                self.pings.append(self._ask("ping", {}))
                self.calls.append(self._call())
        except (TimeoutError, OSError) as problem:
            # After `stop` the workbench may be gone; before it, nothing may stay unanswered.
            if not self._stopping.is_set():
                self._problem = problem

    def _call(self) -> float:
        return self._ask("tools/call", {"name": "use_tool", "arguments": invocation(NEIGHBOUR)})

    def _ask(self, method: str, params: Mapping[str, Any]) -> float:
        since = len(self._client.messages)
        with self._sending:
            began = time.monotonic()
            id = self._client.start_request(method, params)
        response = self._client.response(id, since=since, timeout=5)
        took = time.monotonic() - began
        assert not response["result"].get("isError"), response
        return took


class Bench:
    """A workbench with the toolbox `dev` of a row's servers, opened, and a quiet neighbour elsewhere."""

    def __init__(
        self,
        launcher: Launcher,
        servers: Mapping[str, Any],
        *,
        env: Mapping[str, str] | None = None,
        opened: bool = True,
        **root: Any,
    ) -> None:
        config = {
            "toolboxes": {
                "dev": {"description": "What the row is about", "mcpServers": dict(servers)},
                "calm": {"description": "A neighbour", "mcpServers": {"steady": child("echo")}},
            },
            **root,
        }
        self.launcher = launcher
        self.client = client = launcher(config, env=env)
        self.home = Path(client.mark).parent
        client.initialize()
        client.open("calm")
        self.watch = Watch(client)
        if opened:
            client.open("dev", timeout=20)

    # Calls

    def start(self, ref: str, arguments: Mapping[str, Any] | None = None, **meta: Any) -> int:
        """Begin a call; `meta` is its `_meta`."""
        params: dict[str, Any] = {"name": "use_tool", "arguments": invocation(ref, arguments)}
        return self.client.start_request("tools/call", {**params, "_meta": meta} if meta else params)

    def said(self, id: int, *, timeout: float = 20) -> str:
        """The text that a call was answered with, as a success."""
        result = self.client.response(id, timeout=timeout)["result"]
        assert not result.get("isError"), result
        return text(result)

    def use(self, ref: str, arguments: Mapping[str, Any] | None = None, *, timeout: float = 20) -> str:
        return self.said(self.start(ref, arguments), timeout=timeout)

    def failed(self, ref: str, id: int, *words: str, timeout: float = 20) -> str:
        """The reason that a call failed for, with all these words in it."""
        result = self.client.response(id, timeout=timeout)["result"]
        assert result["isError"] is True, result
        toolbox, server, name = ref.split("/", 2)
        return _reason(
            text(result),
            f"Error executing tool '{name}' in server '{server}' (toolbox '{toolbox}'): ",
            words,
        )

    def fails(
        self, ref: str, arguments: Mapping[str, Any] | None = None, *words: str, timeout: float = 20
    ) -> str:
        return self.failed(ref, self.start(ref, arguments), *words, timeout=timeout)

    def refused(self, server: str, listing: Mapping[str, Any], *words: str) -> str:
        """The reason that a server could not be connected for, among the errors of a listing."""
        start = f"Failed to connect to server '{server}' in toolbox 'dev': "
        (line,) = [line for line in listing["_errors"] if line.startswith(start)]
        return _reason(line, start, words)

    def pid(self, ref: str = "dev/echo/about") -> int:
        return json.loads(self.use(ref))["pid"]

    # The log

    def log(self, ref: str) -> list[dict[str, Any]]:
        """The lines about a tool, oldest first."""
        lines = (json.loads(line) for line in self.log_file.read_bytes().splitlines())
        return [line for line in lines if f"{line['toolbox']}/{line['server']}/{line['tool']}" == ref]

    def logged(self, ref: str, stat: str = "error", count: int = 1) -> None:
        """Each call has its one line, and it ended like this."""
        assert [line["stat"] for line in self.log(ref)] == [stat] * count

    @property
    def log_file(self) -> Path:
        return self.home / "log" / "ToolBox.log"

    # The end

    def end(self) -> None:
        """It was alive all the time, leaves with status 0, and nothing is left of it."""
        self.watch.check()
        began = time.monotonic()
        assert self.client.end(GONE + 2) == 0, self.client.stderr
        self.all_gone(began)
        assert "Traceback" not in self.client.stderr, self.client.stderr

    def all_gone(self, since: float) -> None:
        """Nothing that it started is there any more, `GONE` seconds after `since`."""
        left = self.client.left_behind(max(0.0, since + GONE - time.monotonic()))
        assert left == []


class Rows:
    """Starts a bench for a row: `bench = rows({"echo": child("echo")})`; ends them all when the row ends."""

    def __init__(self, launcher: Launcher) -> None:
        self.launcher = launcher
        self._benches: list[Bench] = []

    def __call__(self, servers: Mapping[str, Any], **options: Any) -> Bench:
        bench = Bench(self.launcher, servers, **options)
        self._benches.append(bench)
        return bench

    def end(self) -> None:
        for bench in self._benches:
            if bench.client.process.poll() is None:
                bench.end()


class Took:
    """How long something took, once it is over."""

    seconds = 0.0


@contextlib.contextmanager
def within(seconds: float) -> Iterator[Took]:
    took = Took()
    began = time.monotonic()
    yield took
    took.seconds = time.monotonic() - began
    assert took.seconds < seconds, f"{took.seconds:.2f} s instead of {seconds:g}"


def memory(pid: int, field: str = "VmHWM") -> int:
    """Bytes of memory that a process has (`VmRSS`), or had at most (`VmHWM`)."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split(f"{field}:")[1].split()[0]) * 1024


def _reason(said: str, start: str, words: tuple[str, ...]) -> str:
    assert said.startswith(start), said
    reason = said.removeprefix(start)
    for word in words:
        assert word in reason, (word, reason)
    assert "\x1b" not in reason
    return reason
