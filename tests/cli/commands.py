"""Commands as people run them: a process, a folder and a home of their own, with or without a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import threading
from pathlib import Path
from typing import NamedTuple

from tests.support.launch import environment

COMMAND = [sys.executable, "-m", "mcp_workbench"]
PATIENCE = 60


class Place:
    """A home and a project folder; `run` is what somebody types there."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project = folder / "home", folder / "project"
        self.home.mkdir()
        self.project.mkdir()
        self.environ = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8"}

    def run(self, *arguments: str, given: str = "", **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, *arguments],
            input=given,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            cwd=self.project,
            env={**self.environ, **env},
        )


class AtTerminal(NamedTuple):
    status: int
    screen: str


def at_terminal(folder: Path, *arguments: str, typed: str = "", **env: str) -> AtTerminal:
    """Run a command at a terminal of its own, where `typed` waits on the keyboard."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=folder,
        env={**environment(folder), "TERM": "xterm", "COLUMNS": "200", **env},
    )
    os.close(theirs)
    seen: list[bytes] = []

    def look() -> None:
        try:
            while data := os.read(ours, 65536):
                seen.append(data)
        except OSError:
            pass  # Linux says so when the other end is closed

    watching = threading.Thread(target=look, daemon=True)
    watching.start()
    os.write(ours, typed.encode())
    try:
        status = process.wait(PATIENCE)
        watching.join(5)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    return AtTerminal(status, b"".join(seen).decode(errors="replace"))
