"""A client that reads as fast as it can and notes when each line was whole. It looks at the lines later.

What it measures is the other side: a client that parses a large answer holds up the small one behind it.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

PATIENCE = 30.0


class LeanClient:
    def __init__(self, argv: Sequence[str], env: Mapping[str, str], cwd: Path) -> None:
        self.process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=dict(env),
            cwd=cwd,
            start_new_session=True,
        )
        self._ids = itertools.count(1)
        self._sent: dict[int, float] = {}
        self._arrived: dict[int, tuple[float, list[bytes]]] = {}
        self._news = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()
        who = {"name": "lean", "version": "1"}
        self.answer(self.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=who))

    def ask(self, method: str, **params: Any) -> int:
        id = next(self._ids)
        line = json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode() + b"\n"
        assert self.process.stdin is not None
        self._sent[id] = time.monotonic()
        self.process.stdin.write(line)
        self.process.stdin.flush()
        return id

    def took(self, id: int) -> float:
        """Seconds between a question and its whole answer."""
        with self._news:
            assert self._news.wait_for(lambda: id in self._arrived, PATIENCE)
            return self._arrived[id][0] - self._sent[id]

    def arrived(self, id: int) -> bool:
        return id in self._arrived

    def answer(self, id: int) -> Any:
        self.took(id)
        return json.loads(b"".join(self._arrived[id][1]))["result"]

    def __enter__(self) -> LeanClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(PATIENCE)
        finally:
            self.process.kill()

    def _read(self) -> None:
        assert self.process.stdout is not None
        parts: list[bytes] = []
        while chunk := os.read(self.process.stdout.fileno(), 1 << 20):
            now = time.monotonic()
            if b"\n" in chunk:
                *ends, chunk = chunk.split(b"\n")
                for end in ends:
                    self._note(now, [*parts, end])
                    parts = []
            parts.append(chunk)

    def _note(self, now: float, parts: list[bytes]) -> None:
        head = b"".join(parts[:2])[:80] if len(parts[0]) < 80 else parts[0][:80]
        _, has_id, after = head.partition(b'"id":')
        if has_id:  # both sides write it first, so the rest need not be looked at
            with self._news:
                self._arrived[int(after.lstrip().split(b",")[0])] = (now, parts)
                self._news.notify_all()
