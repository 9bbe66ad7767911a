"""Words on the worker's stderr, which no tool can take away: `sys.stderr` may be closed, replaced or None."""

from __future__ import annotations

import os
import traceback

_STDERR = 2


def say(line: str) -> None:
    data = f"{line}\n".encode("utf-8", "backslashreplace")
    try:
        while data:
            data = data[os.write(_STDERR, data) :]
    except OSError:
        return  # nobody reads it any more


def say_trace() -> None:
    """The trace of the exception that is being handled."""
    say(traceback.format_exc().rstrip())
