"""A raw client of the real worker process, which answers its requests as the workbench would."""

from __future__ import annotations

import itertools
import json
import os
import queue
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

WORKER = Path(__file__).parents[2] / "src" / "mcp_workbench" / "worker" / "__main__.py"
PATIENCE = 20.0


class WireError(Exception):
    def __init__(self, error: dict[str, Any]) -> None:
        self.code = error["code"]
        super().__init__(error["message"])


class Worker:
    """A worker process over pipes. Every wait is bounded by PATIENCE."""

    def __init__(
        self,
        folder: Path,
        python: str = sys.executable,
        import_seconds: float | None = None,
        options: Sequence[str] = (),
    ) -> None:
        limit = [] if import_seconds is None else [str(import_seconds)]
        self.process = subprocess.Popen(
            [python, *options, str(WORKER), str(folder), *limit],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.notices: list[dict[str, Any]] = []
        self.log: list[dict[str, Any]] = []
        self.cancelled: list[Any] = []
        self.strays: queue.Queue[dict[str, Any]] = queue.Queue()  # replies to nobody: their id is null
        self.hold_inner = threading.Event()  # set: inner requests are never answered
        self.held: list[Any] = []
        self._ids = itertools.count(1)
        self._replies: dict[int, queue.Queue[dict[str, Any]]] = {}
        self._chains: dict[int, dict[str, Any]] = {}
        self._stderr: list[str] = []
        self._writing = threading.Lock()
        self._readers = [
            threading.Thread(target=each, daemon=True) for each in (self._read, self._read_stderr)
        ]
        for reader in self._readers:
            reader.start()
        self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}})
        self.notify("notifications/initialized")

    def send_line(self, line: bytes) -> None:
        assert self.process.stdin is not None
        with self._writing:
            self.process.stdin.write(line + b"\n")
            self.process.stdin.flush()

    def send(self, message: dict[str, Any]) -> None:
        self.send_line(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        self.send({"method": method, "params": params or {}})

    def begin(self, method: str, params: dict[str, Any] | None = None) -> int:
        number = next(self._ids)
        self._replies[number] = queue.Queue()
        self.send({"id": number, "method": method, "params": params or {}})
        return number

    def end(self, number: int, timeout: float = PATIENCE) -> dict[str, Any]:
        reply = self._replies[number].get(timeout=timeout)
        if "error" in reply:
            raise WireError(reply["error"])
        return reply["result"]

    def request(self, method: str, params: dict[str, Any] | None = None, timeout: float = PATIENCE) -> Any:
        return self.end(self.begin(method, params), timeout)

    def begin_call(self, name: str, /, arguments: dict[str, Any] | None = None, **meta: Any) -> int:
        number = next(self._ids)
        chain = {
            "id": f"c{number}",
            "root": f"c{number}",
            "caller": "client",
            "toolbox": "dev",
            "server": "mine",
        }
        chain.update(meta.pop("chain", {}))
        self._chains[number] = {**chain, "tool": name}
        self._replies[number] = queue.Queue()
        params = {"name": name, "arguments": arguments or {}, "_meta": {"workbench/call": chain, **meta}}
        self.send({"id": number, "method": "tools/call", "params": params})
        return number

    def call(
        self, name: str, /, arguments: dict[str, Any] | None = None, timeout: float = PATIENCE, **meta: Any
    ) -> Any:
        return self.end(self.begin_call(name, arguments, **meta), timeout)

    def text(self, name: str, /, **arguments: Any) -> str:
        """The text of a call that must succeed."""
        result = self.call(name, arguments)
        assert not result.get("isError"), result
        return result["content"][0]["text"]

    def error(self, name: str, /, **arguments: Any) -> str:
        """The text of a call that must fail."""
        result = self.call(name, arguments)
        assert result.get("isError") is True, result
        return result["content"][0]["text"]

    def tools(self) -> dict[str, dict[str, Any]]:
        return {tool["name"]: tool for tool in self.request("tools/list")["tools"]}

    def errors(self) -> list[str]:
        return self.request("tools/list")["_meta"]["workbench/errors"]

    def stderr(self) -> str:
        return "".join(self._stderr)

    def close(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        for reader in self._readers:
            reader.join(PATIENCE)
        return self.process.wait(PATIENCE)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message = json.loads(line)
            if "method" not in message:
                self._replies.get(message["id"], self.strays).put(message)
            elif "id" in message:
                threading.Thread(target=self._serve, args=(message,), daemon=True).start()
            elif message["method"] == "notifications/cancelled":
                self.cancelled.append(message["params"]["requestId"])
            else:
                self.notices.append(message)

    def _serve(self, message: dict[str, Any]) -> None:
        """What the workbench does with a request of a tool; its tools are those of this worker."""
        params = message["params"]
        if message["method"] == "workbench/check_schemas":
            fault = "no such minimum" if '"minimum": "' in json.dumps(params) else None
            self.send({"id": message["id"], "result": {"fault": fault}})
            return
        if self.hold_inner.is_set():
            self.held.append(message["id"])
            return
        try:
            if message["method"] == "workbench/list_tools":
                listed = [
                    {"toolbox": "dev", "server": "mine", "name": name, "inputSchema": tool["inputSchema"]}
                    for name, tool in self.tools().items()
                ]
                result: Any = {"tools": listed}
            else:
                result = self._serve_call(params)
        except WireError as error:
            self.send({"id": message["id"], "error": {"code": error.code, "message": str(error)}})
        else:
            self.send({"id": message["id"], "result": result})

    def _serve_call(self, params: dict[str, Any]) -> Any:
        outer = self._chains[params["outer"]]
        tool = params["tool"]
        name = tool if isinstance(tool, str) else tool["name"]
        caller = params["caller"] or f"{outer['tool']}_{outer['id']}"
        self.log.append({"tool": name, "caller": caller, "parent": outer["id"], "tid": params["tid"]})
        chain = {"parent": outer["id"], "root": outer["root"], "caller": caller}
        return self.call(name, params["arguments"], chain=chain)

    def _read_stderr(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._stderr.append(line.decode())


class Folder:
    """A tool folder and the workers that were started on it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._workers: list[Worker] = []

    def write(self, name: str, text: str) -> Path:
        """Save a file as editors do: beside it, then over it."""
        path = self.path / name
        path.parent.mkdir(exist_ok=True, mode=0o755)
        new = path.with_name(path.name + ".new")
        new.write_text(textwrap.dedent(text), encoding="utf-8")
        new.chmod(0o644)
        new.rename(path)
        return path

    def plain(self, name: str, body: str, form: str = "def") -> Path:
        """A tool file in the plain form whose function has this body."""
        head = f'schema = {{"name": "{name}", "description": "d", "type": "object", "properties": {{}}}}\n'
        lines = textwrap.indent(textwrap.dedent(body).strip(), "    ")
        return self.write(f"{name}.py", f"{head}\n{form} default(request):\n{lines}\n")

    def start(self, *args: Any, **options: Any) -> Worker:
        worker = Worker(self.path, *args, **options)
        self._workers.append(worker)
        return worker

    def end(self) -> None:
        for worker in self._workers:
            worker.kill()


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    path = tmp_path / "tools"
    path.mkdir(mode=0o755)
    os.chmod(path, 0o755)
    folder = Folder(path)
    yield folder
    folder.end()


def wait_until(true: Callable[[], Any], seconds: float = PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)
