"""A client that speaks raw lines with a process, and hides nothing of what comes back.

It knows JSON-RPC and how both eras of MCP say who they are; what an answer should be is for the tests.
Every wait has its limit.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from . import processes

PATIENCE = 10.0
"""Seconds that anything may take unless a test says otherwise."""

MODERN_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}

Params = Mapping[str, Any]


class Client:
    """Has a process of its own, in a session of its own.

    `messages` holds everything that it wrote, in order: parsed, or the bytes of a line that is nested too
    deeply to be parsed. `impure` holds the lines that are no JSON at all.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: str | Path,
        mark: str = "",
        stdin: IO[bytes] | int = subprocess.PIPE,
    ) -> None:
        self.mark = mark
        """Stands in the environment of every process that this one may leave behind."""
        self.lines: list[bytes] = []
        self.messages: list[Any] = []
        self.impure: list[bytes] = []
        self.stderr = ""
        self._ids = itertools.count(1)
        self._news = threading.Condition()
        self._silent = False
        self._known: set[processes.Alive] = set()
        self.process = subprocess.Popen(
            argv,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(env),
            cwd=cwd,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self._readers = [
            threading.Thread(target=self._read_lines, args=(self.process.stdout,), daemon=True),
            threading.Thread(target=self._read_stderr, args=(self.process.stderr,), daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    # Saying things

    def send_bytes(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: object) -> None:
        self.send_bytes(json.dumps(message).encode() + b"\n")

    def notify(self, method: str, params: Params | None = None) -> None:
        self.send(_without_none({"jsonrpc": "2.0", "method": method, "params": params}))

    def start_request(self, method: str, params: Params | None = None, *, modern: bool = False) -> int:
        """Ask without waiting; `response` takes the id that this returns."""
        id = next(self._ids)
        if modern:
            params = modern_params(params)
        self.send(_without_none({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
        return id

    # Hearing things

    def request(
        self, method: str, params: Params | None = None, *, modern: bool = False, timeout: float = PATIENCE
    ) -> dict[str, Any]:
        """The whole response: `result` or `error` is in it."""
        return self.response(self.start_request(method, params, modern=modern), timeout=timeout)

    def response(self, id: object, *, timeout: float = PATIENCE, since: int = 0) -> dict[str, Any]:
        """The response to that id among what came in after the first `since` messages."""
        return self.wait_for(lambda message: is_response(message, id), timeout=timeout, since=since)

    def wait_for(self, fits: Callable[[Any], bool], *, timeout: float = PATIENCE, since: int = 0) -> Any:
        """The first message that fits, heard already or still to come."""
        position = since

        def found() -> bool:
            nonlocal position
            while position < len(self.messages):
                if fits(self.messages[position]):
                    return True
                position += 1
            return False

        with self._news:
            self._news.wait_for(lambda: found() or self._silent, timeout)
            if not found():
                heard = [line[:300] for line in self.lines[since:][-5:]]
                raise TimeoutError(
                    f"nothing fitting within {timeout:g} s or before its end; heard: {heard}; "
                    f"stderr: {self.stderr[-2000:]}"
                )
            return self.messages[position]

    def notifications(self, method: str) -> list[dict[str, Any]]:
        """Those of one method so far."""
        with self._news:
            return [each for each in self.messages if is_notification(each, method)]

    # MCP, in so far as most tests need it

    def initialize(self, version: str = "2025-11-25") -> dict[str, Any]:
        """The result of the legacy handshake."""
        who = {"name": "raw", "version": "1"}
        response = self.request(
            "initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": who}
        )
        self.notify("notifications/initialized")
        return response["result"]

    def call(self, tool: str, arguments: object, *, modern: bool = False, timeout: float = PATIENCE) -> Any:
        """The result of `tools/call` for one of our own tools; a JSON-RPC error fails the test."""
        params = {"name": tool, "arguments": arguments}
        response = self.request("tools/call", params, modern=modern, timeout=timeout)
        assert "result" in response, response
        return response["result"]

    def open(self, toolbox: str, *, modern: bool = False, timeout: float = PATIENCE) -> dict[str, Any]:
        """The listing that `open_toolbox` answers with; an error result fails the test."""
        result = self.call("open_toolbox", {"toolbox": toolbox}, modern=modern, timeout=timeout)
        assert not result.get("isError"), result
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        return result["structuredContent"]

    def use(
        self, ref: str, arguments: Params | None = None, *, modern: bool = False, timeout: float = PATIENCE
    ):
        """The result of `use_tool`, whatever it is; `ref` is `toolbox/server/name`."""
        return self.call("use_tool", invocation(ref, arguments), modern=modern, timeout=timeout)

    # The end

    def close_input(self) -> None:
        if self.process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):  # it has gone, with half a line of ours unread
                self.process.stdin.close()

    def signal(self, number: signal.Signals) -> None:
        self.remember_processes()
        os.kill(self.process.pid, number)

    def remember_processes(self) -> set[processes.Alive]:
        """What runs under it now; what is known here is looked for when it has ended."""
        self._known |= processes.descendants(self.process.pid)
        return self._known

    def servers(self) -> list[str]:
        """The commands of what runs under it now, but for the watchdog, which starts servers."""
        running = processes.alive(self.remember_processes())
        return [each for each in map(processes.command, running) if "watchdog.py" not in each]

    def wait(self, timeout: float = PATIENCE) -> int:
        """Its exit status, with everything read that it wrote."""
        status = self.process.wait(timeout)
        for reader in self._readers:
            reader.join(timeout)
        return status

    def left_behind(self, patience: float = 1.0) -> list[str]:
        """The commands of processes that outlived it by `patience` seconds."""
        return processes.wait_until_gone(self._known, self.mark, patience)

    def end(self, timeout: float = PATIENCE) -> int:
        """Close its input, unless it has ended, and wait for its exit status."""
        if self.process.poll() is None:
            self.remember_processes()
            self.close_input()
        return self.wait(timeout)

    def _read_lines(self, stream: IO[bytes]) -> None:
        for line in stream:
            try:
                message = json.loads(line)
            except RecursionError:
                message = line
            except ValueError:
                message = line
                self.impure.append(line)
            with self._news:
                self.lines.append(line)
                self.messages.append(message)
                self._news.notify_all()
        with self._news:
            self._silent = True
            self._news.notify_all()

    def _read_stderr(self, stream: IO[bytes]) -> None:
        for line in stream:
            self.stderr += line.decode(errors="replace")


def modern_params(params: Params | None = None, **meta: object) -> dict[str, Any]:
    """Parameters with the `_meta` that every request of 2026-07-28 carries."""
    given = dict(params or {})
    return {**given, "_meta": {**MODERN_META, **given.get("_meta", {}), **meta}}


def invocation(ref: str, arguments: Params | None = None) -> dict[str, Any]:
    """The arguments of `use_tool` for the tool `toolbox/server/name`."""
    toolbox, server, name = ref.split("/", 2)
    return _without_none(
        {"tool": {"toolbox": toolbox, "server": server, "name": name}, "arguments": arguments}
    )


def is_response(message: object, id: object) -> bool:
    return isinstance(message, dict) and "method" not in message and message.get("id", message) == id


def is_notification(message: object, method: str) -> bool:
    return isinstance(message, dict) and message.get("method") == method


def text(result: Mapping[str, Any]) -> str:
    """The text of a result that is one text block and nothing else of note."""
    (block,) = result["content"]
    assert block["type"] == "text"
    return block["text"]


def _without_none(message: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in message.items() if value is not None}
