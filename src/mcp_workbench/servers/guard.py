"""Starting the watchdog, which starts and ends all children. It needs no event loop, and can come early."""

from __future__ import annotations

import os
import socket
import sys
from typing import NamedTuple

_WATCHDOG = os.path.join(os.path.dirname(__file__), "watchdog.py")


class Watchdog(NamedTuple):
    pid: int
    link: socket.socket
    """Our end of what it gets its orders by. It leaves when nobody holds that any more."""


def start_watchdog() -> Watchdog:
    """Raises OSError."""
    ours, theirs = socket.socketpair()
    # The socket goes to descriptor 3; the watchdog needs nothing else that is ours.
    actions = [
        (os.POSIX_SPAWN_DUP2, theirs.fileno(), 3),
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
    ]
    argv = [sys.executable, "-I", "-S", _WATCHDOG]
    with theirs:
        pid = os.posix_spawn(
            sys.executable,
            argv,
            {"PATH": os.defpath},
            file_actions=actions,
            setsid=True,
            setsigmask=(),  # we may be heeding no signals yet; it and its children must
        )
    return Watchdog(pid, ours)
