"""Journal: one line of JSON for one call. Masking, cutting, recording and the file itself are its parts."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Raw

from .arguments import Arguments
from .file import LogFile
from .masking import Mask
from .quoting import quote

if TYPE_CHECKING:
    from .recorded import ServerListing
    from .recording import Recording


class Journal:
    """The call log of one process; several processes may write to one file.

    Every line is in the file when `write` returns, and nothing here raises: what cannot be written is
    reported once on stderr, counted in `dropped` (lines) or `unrecorded`, and the next line is tried again.
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
        record: bool = False,
    ) -> None:
        """`record` keeps what came of calls, too."""
        self.path = path
        self.dropped = 0
        self.unrecorded = 0
        self._value_limit = value_limit
        self._redact = redact
        self._secrets: frozenset[str] = frozenset(secrets)
        self._record = record
        self._recording: Recording | None = None
        self._file = LogFile(path, max_size=max_size, keep=keep, on_rotated=self._prune if record else None)
        # Names come again and again. Unlike free text, they are never masked: a toolbox may be called as a
        # variable's value is (`production`), and a line must tell where its tool lives.
        self._name = lru_cache(1024)(quote)
        self._mask()

    def add_secrets(self, secrets: Iterable[str]) -> None:
        """Mask these too, from now on."""
        more = self._secrets.union(secrets)
        if more != self._secrets:
            self._secrets = more
            self._mask()

    def _mask(self) -> None:
        self._arguments = Arguments(Mask(self._secrets, self._redact), self._value_limit)
        self._text = lru_cache(256)(self._arguments.text)
        if self._record:
            from .recording import Recording

            self._recording = Recording(self.path, self._secrets, self._redact)

    def note(self, args: bytes) -> tuple[str, object] | None:
        """Arguments as a line will show them, for `write`: that can be done while their call is under way."""
        try:
            return self._arguments.json(args), self._arguments
        except Exception:
            return None  # `write` will find out why

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
        answer: Sequence[Raw | bytes] = (),
        note: tuple[str, object] | None = None,
    ) -> None:
        """`ts` is seconds since 1970, `cost` seconds, `args` a JSON object as it was received.

        A `note` of the arguments holds as long as no other secrets have become known since.

        `answer` is the member of an Exchange that came of the call, in pieces: `"result":` and the result.
        """
        result_file = self._recorded(id, args, answer) if self._recording is not None and answer else None
        try:
            shown = note[0] if note and note[1] is self._arguments else self._arguments.json(args)
            seconds, milliseconds = divmod(int(ts * 1000), 1000)
            line = (
                f'{{"ts":"{_stamp(seconds)}.{milliseconds:03d}Z","tool":{self._name(tool)}'
                f',"caller":{self._text(caller)},"args":{shown}'
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

    def list_toolbox(self, name: str, description: str, servers: Mapping[str, ServerListing | None]) -> None:
        """Put on record what a toolbox offers, where calls are; None for a server that is away."""
        if self._recording is None:
            return
        try:
            self._recording.toolbox(name, description, servers)
        except Exception as problem:
            self._not_recorded(problem)

    def close(self) -> None:
        self._file.close()

    def _recorded(self, id: str, args: bytes, answer: Sequence[Raw | bytes]) -> str | None:
        assert self._recording is not None
        try:
            return self._recording.call(id, args, b"".join(answer))
        except Exception as problem:
            self._not_recorded(problem)
            return None

    def _prune(self) -> None:
        if self._recording is not None:
            self._recording.prune()

    def _dropped(self, problem: Exception) -> None:
        self.dropped += 1
        if self.dropped == 1:
            self._complain(f"the call log {self.path} cannot be written", problem, "lines are")

    def _not_recorded(self, problem: Exception) -> None:
        self.unrecorded += 1
        if self.unrecorded == 1:
            self._complain(f"results cannot be recorded beside {self.path}", problem, "results are")

    def _complain(self, what: str, problem: Exception, lost: str) -> None:
        if not sys.stderr:
            return
        reason = problem.strerror if isinstance(problem, OSError) and problem.strerror else repr(problem)
        with suppress(OSError, ValueError):  # nobody may be listening
            print(
                f"mcp-workbench: {what}: {reason}."
                f" Calls go on, {lost} lost and counted, and every call tries again.",
                file=sys.stderr,
            )


@lru_cache(8)
def _stamp(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


def _milliseconds(seconds: float) -> str:
    """Whole milliseconds, as nobody reads more; below ten, where a call would look free, microseconds."""
    microseconds = round(seconds * 1_000_000)
    if microseconds >= 10_000:
        return str((microseconds + 500) // 1000)
    return f"{microseconds // 1000}.{microseconds % 1000:03d}"
