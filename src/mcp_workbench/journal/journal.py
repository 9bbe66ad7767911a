"""Journal: one line of JSON for one call. Masking, cutting and the file itself are its parts."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from functools import lru_cache

from .arguments import Arguments
from .file import LogFile
from .masking import Mask
from .quoting import quote


class Journal:
    """The call log of one process; several processes may write to one file.

    Every line is in the file when `write` returns, and `write` never raises: what cannot be written is
    reported once on stderr, counted in `dropped`, and the next line is tried again.
    """

    def __init__(
        self,
        path: str,
        *,
        max_size: int,
        keep: int,
        value_limit: int,
        redact: Sequence[str],
        secrets: Collection[str],
    ) -> None:
        self.path = path
        self.dropped = 0
        self._file = LogFile(path, max_size=max_size, keep=keep)
        self._arguments = Arguments(Mask(secrets, redact), value_limit)
        # Names come again and again. Unlike free text, they are never masked: a toolbox may be called as a
        # variable's value is (`production`), and a line must tell where its tool lives.
        self._name = lru_cache(1024)(quote)
        self._text = lru_cache(256)(self._arguments.text)

    def write(
        self,
        *,
        ts: float,
        tool: str,
        caller: str,
        args: bytes,
        error: str | None,
        trace: str | None,
        cost: float,
        tid: str | None,
        id: str,
        parent: str | None,
        root: str,
        toolbox: str,
        server: str,
        principal: str | None,
        result_file: str | None = None,
    ) -> None:
        """`ts` is seconds since 1970, `cost` seconds, `args` a JSON object as it was received."""
        try:
            seconds, milliseconds = divmod(int(ts * 1000), 1000)
            line = (
                f'{{"ts":"{_stamp(seconds)}.{milliseconds:03d}Z","tool":{self._name(tool)}'
                f',"caller":{self._text(caller)},"args":{self._arguments.json(args)}'
                f',"stat":"{"success" if error is None else "error"}","cost":{_milliseconds(cost)}'
            )
            if error is not None:
                line += f',"err":{self._arguments.text(error)}'
                if trace:
                    line += f',"trace":{self._arguments.text(trace)}'
            if tid is not None:
                line += f',"tid":{self._text(tid)}'
            line += f',"id":"{id}"'
            if parent is not None:
                line += f',"parent":"{parent}"'
            line += f',"root":"{root}","toolbox":{self._name(toolbox)},"server":{self._name(server)}'
            if principal is not None:
                line += f',"principal":{self._text(principal)}'
            if result_file is not None:
                line += f',"result":{quote(result_file)}'
            self._file.append((line + "}\n").encode())
        except Exception as problem:
            self._dropped(problem)

    def close(self) -> None:
        self._file.close()

    def _dropped(self, problem: Exception) -> None:
        self.dropped += 1
        if self.dropped > 1 or not sys.stderr:
            return
        reason = problem.strerror if isinstance(problem, OSError) and problem.strerror else repr(problem)
        with suppress(OSError, ValueError):  # nobody may be listening
            print(
                f"mcp-workbench: the call log {self.path} cannot be written: {reason}."
                " Calls go on, lines are lost and counted, and every call tries again.",
                file=sys.stderr,
            )


@lru_cache(8)
def _stamp(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


def _milliseconds(seconds: float) -> float:
    """Whole milliseconds, as nobody reads more; below ten, where a call would look free, microseconds."""
    milliseconds = seconds * 1000
    return round(milliseconds) if milliseconds >= 10 else round(milliseconds, 3)
