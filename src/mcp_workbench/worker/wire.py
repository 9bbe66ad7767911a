"""The pipe to the workbench: whole lines in, messages out. Knows JSON, nothing of MCP."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
from typing import Any

from .content import jsonable

READ_SIZE = 1 << 16  # a buffer of this size is quick to get; one of a megabyte costs more than a call

encode_json = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=jsonable
).encode


class Wire:
    """Owns what were stdin and stdout: from here on `print`, subprocesses and C code write to stderr and
    read nothing, and a forked copy of this process can neither read nor write the pipe."""

    def __init__(self) -> None:
        self._in = os.dup(0)
        self._out = os.dup(1)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        os.dup2(2, 1)
        with contextlib.suppress(AttributeError):  # sys.stdout may be anything under a foreign site module
            sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
        # Two event loops may look at the pipe for a moment, see loops.py: neither may hang in a read.
        os.set_blocking(self._in, False)
        self._partial: list[bytes] = []
        self._writing = threading.Lock()
        self.forked = False
        os.register_at_fork(after_in_child=self._abandon)

    def _abandon(self) -> None:
        self.forked = True
        os.close(self._in)
        os.close(self._out)

    def fileno(self) -> int:
        return self._in

    def read(self) -> list[bytes]:
        """The lines that have arrived whole. Raises EOFError when the workbench closed the pipe."""
        try:
            chunk = os.read(self._in, READ_SIZE)
        except BlockingIOError:
            return []
        if not chunk:
            raise EOFError
        head, newline, rest = chunk.partition(b"\n")
        if not newline:
            self._partial.append(chunk)
            return []
        *lines, tail = rest.split(b"\n")
        if self._partial:
            head = b"".join([*self._partial, head])
        self._partial = [tail] if tail else []
        return [head, *lines]

    def send(self, message: dict[str, Any]) -> None:
        """Raises TypeError, ValueError or RecursionError for what JSON cannot say; then nothing was sent."""
        # A lone surrogate (from a file name, say) has no UTF-8; the line must stay readable all the same.
        data = encode_json(message).encode("utf-8", "replace") + b"\n"
        if self.forked:
            return
        # A workbench that is gone is noticed by the reader, as the end of its pipe.
        with self._writing, contextlib.suppress(BrokenPipeError):
            while data:
                data = data[os.write(self._out, data) :]
