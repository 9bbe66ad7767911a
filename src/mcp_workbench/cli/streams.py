"""Our standard streams as commands use them: whatever there is to say can be said, heard or not."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


def forgive_odd_characters() -> None:
    """What an encoding does not have is shown as an escape, and bytes that are no text can be read.

    Names, paths and variables may hold anything, and a terminal's encoding may have few characters.
    """
    for stream, errors in ((sys.stdin, "surrogateescape"), (sys.stdout, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)


def outlast_readers() -> None:
    """From here on, a reader that goes away does not end us: what was begun is done, heard or not.

    For commands that change something. The others end with their reader, as `head` expects.
    """
    sys.stdout, sys.stderr = _lasting(sys.stdout), _lasting(sys.stderr)


def _lasting(stream: TextIO) -> TextIO:
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    stream.flush()
    raw = _Unheard(stream.fileno(), "w", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(raw), encoding=stream.encoding, errors=stream.errors, line_buffering=True
    )


class _Unheard(io.FileIO):
    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            return memoryview(data).nbytes
