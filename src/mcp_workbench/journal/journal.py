"""Journal: one line of JSON for one call. Masking, cutting, recording and the file itself are its parts."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol, TypeAlias

from msgspec import Raw

from ..names import ToolRef
from ..wire.turn import turn
from .arguments import Arguments
from .beginnings import THOUSANDTHS
from .file import LogFile
from .masking import Mask
from .quoting import quote

if TYPE_CHECKING:
    from .recorded import ServerListing
    from .recording import Recording


_ONES = tuple(f"{number}." for number in range(10))

Words: TypeAlias = tuple[str, str, str]
Note: TypeAlias = tuple[str, str, object]
"""What is before and behind the outcome in a line, and by whose rules."""


class Link(Protocol):
    """A call, as one that it made tells of it."""

    @property
    def id(self) -> str: ...


class Logged(Link, Protocol):
    """What a line tells of a call."""

    @property
    def ref(self) -> ToolRef: ...
    @property
    def arguments(self) -> Raw | bytes:
        """A JSON object as it was received."""
        ...

    @property
    def caller(self) -> str: ...
    @property
    def began(self) -> str:
        """ISO 8601."""
        ...

    @property
    def parent(self) -> Link | None: ...
    @property
    def root(self) -> Link: ...
    @property
    def tid(self) -> str | None: ...
    @property
    def principal(self) -> str | None: ...
    @property
    def trace(self) -> str | None: ...
    @property
    def note(self) -> Note | None: ...


class Journal:
    """The call log of one process; several processes may write to one file.

    Every line is in the file when `write` returns or, in a turn, before anything is sent: whatever happens to
    the process, an answer that somebody has seen is in its log. Nothing here raises: what cannot be written
    is reported once on stderr, counted in `dropped` (lines) or `unrecorded`, and the next is tried again.
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
        self._held: list[bytes] = []
        """Lines of this turn."""
        self._mask()

    def add_secrets(self, secrets: Iterable[str]) -> None:
        """Mask these too, from now on."""
        more = self._secrets.union(secrets)
        if more != self._secrets:
            self._secrets = more
            self._mask()

    def masked(self, text: str) -> str:
        """A text for others, without the secrets that we know of."""
        return self._known.known(text)

    def _mask(self) -> None:
        self._known = Mask(self._secrets, self._redact)
        self._arguments = Arguments(self._known, self._value_limit)
        self._words = lru_cache(1024)(self._always)
        if self._record:
            from .recording import Recording

            self._recording = Recording(self.path, self._secrets, self._redact)

    def note(self, call: Logged) -> Note | None:
        """What a line will tell of a call but for its outcome, to be kept by the call: that can be made while
        it is under way. Its arguments were read as JSON.
        """
        try:
            return self._around(call, valid=True)
        except Exception:
            return None  # `write` will find out why

    def write(
        self, call: Logged, cost: int, error: str | None = None, answer: Sequence[Raw | bytes] = ()
    ) -> None:
        """The line of a call that took so many nanoseconds, with the text of its error where it failed.

        `answer` is the member of an Exchange that came of the call, in pieces: `"result":` and the result.
        """
        record = self._recorded(call, answer) if self._recording is not None and answer else ""
        try:
            note = call.note
            # What was noted holds as long as no other secrets have become known since.
            if note is not None and note[2] is self._arguments:
                before, behind, _ = note
            else:
                before, behind, _ = self._around(call)
            duration = _milliseconds(cost)
            if error is None:
                line = f'{before}"success","cost":{duration}{behind}{record}}}\n'
            else:
                failure = self._failure(error, call.trace)
                line = f'{before}"error","cost":{duration}{failure}{behind}{record}}}\n'
            if not turn.lasts:
                self._file.append(line.encode())
                return
            if not self._held:
                turn.record_then(self._put_held)
            self._held.append(line.encode())
        except Exception as problem:
            self._dropped(problem)

    def _around(self, call: Logged, *, valid: bool = False) -> Note:
        arguments, id, parent = call.arguments, call.id, call.parent
        raw = arguments if type(arguments) is bytes else bytes(arguments)
        shown = self._arguments.json(raw, valid=valid)
        tool, tid, place = self._words(call.ref, call.caller, call.tid, call.principal)
        before = f'{{"ts":"{call.began}{tool}{shown},"stat":'
        if parent is None:
            return before, f'{tid}"id":"{id}","root":"{id}{place}', self._arguments
        behind = f'{tid}"id":"{id}","parent":"{parent.id}","root":"{call.root.id}{place}'
        return before, behind, self._arguments

    def _always(self, ref: ToolRef, caller: str, tid: str | None, principal: str | None) -> Words:
        """What is the same in all lines of a caller and a tool: behind the time, before the id, the end."""
        text = self._arguments.text
        # Names are never masked, unlike free text: a toolbox may be called as a variable's value is
        # (`production`), and a line must tell where its tool lives.
        return (
            f'","tool":{quote(ref.name)},"caller":{text(caller)},"args":',
            "," if tid is None else f',"tid":{text(tid)},',
            f'","toolbox":{quote(ref.toolbox)},"server":{quote(ref.server)}'
            + ("" if principal is None else f',"principal":{text(principal)}'),
        )

    def _failure(self, error: str, trace: str | None) -> str:
        said = f',"err":{self._arguments.text(error)}'
        return f'{said},"trace":{self._arguments.text(trace)}' if trace else said

    def _put_held(self) -> None:
        missing, self._held = self._held, []
        with suppress(Exception):  # found out again, and counted, for each of them
            missing = self._file.append_all(missing)
        for line in missing:
            try:
                self._file.append(line)
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
        if self._held:
            self._put_held()
        self._file.close()

    def _recorded(self, call: Logged, answer: Sequence[Raw | bytes]) -> str:
        assert self._recording is not None
        try:
            file = self._recording.call(call.id, bytes(call.arguments), b"".join(answer))
        except Exception as problem:
            self._not_recorded(problem)
            return ""
        return f',"result":{quote(file)}'

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


def _milliseconds(cost: int) -> str:
    """Whole ones, as nobody reads more; below ten, where a call would look free, with its microseconds."""
    microseconds = (cost + 500) // 1000
    if microseconds >= 10_000:
        return str((cost + 500_000) // 1_000_000)
    return _ONES[microseconds // 1000] + THOUSANDTHS[microseconds % 1000]
