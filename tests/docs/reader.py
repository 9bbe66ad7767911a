"""A reader of the documentation: a home, a project in it, and a shell that does what the page says."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mcp_workbench.config import Trust

from .pages import ROOT

PATIENCE = 60.0
BIN = Path(sys.executable).parent
SERVING = re.compile(r"make run\b|mcp-workbench serve --http")
SHORTER = {"run": "127.0.0.1:0", "test": "tests/test_names.py -p no:cacheprovider", "bench": "--help"}
"""Goals of make that take minutes, or a port that may be taken, and arguments with which they do not."""

BROWSER = f"#!{sys.executable}\nimport sys, urllib.request\nurllib.request.urlopen(sys.argv[-1])\n"
"""It looks at the page that it is given, as a browser does where nobody need type anything."""


class Reader:
    """Paths in what commands say are shown as if the home were `/home/me`."""

    def __init__(self, folder: Path) -> None:
        self.home = folder.resolve()
        self.project = self.home / "project"
        self.project.mkdir()
        programs = self.home / "bin"
        programs.mkdir()
        self.environ = {
            "PATH": f"{programs}:{BIN}:{os.environ['PATH']}",
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "PIP_NO_INDEX": "1",  # what is not installed would be asked of the network
        }
        self.answers = ""
        """What is typed at each command; without any there is no terminal."""
        for name in ("xdg-open", "open"):
            browser = programs / name
            browser.write_text(BROWSER)
            browser.chmod(0o755)

    def write(self, name: str, text: str) -> Path:
        file = self.project / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def configure(self, config: Mapping[str, Any]) -> None:
        """The project's configuration, which is trusted."""
        file = self.write("workbench-config.json", json.dumps(config))
        Trust(self.environ).add(str(file), file.read_bytes())

    def run(self, line: str) -> tuple[int, str]:
        """The status of a command, and everything that it said."""
        ours, theirs = pty.openpty() if self.answers else (None, subprocess.DEVNULL)
        process = subprocess.Popen(
            ["sh", "-c", _in_this_checkout(line)],
            cwd=self.project,
            env=self.environ,
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        if ours is not None:
            os.close(theirs)
            os.write(ours, self.answers.encode())
        limit = threading.Timer(PATIENCE, os.killpg, (process.pid, signal.SIGKILL))
        limit.start()
        try:
            said = self._listen(process, line)
            return process.wait(PATIENCE), self._shown(said)
        finally:
            limit.cancel()
            process.kill()
            process.wait()
            if ours is not None:
                os.close(ours)

    def _listen(self, process: subprocess.Popen[str], line: str) -> str:
        assert process.stdout is not None
        said = ""
        for heard in process.stdout:
            said += heard
            if "--no-browser" in line and heard.startswith("http://"):
                urllib.request.urlopen(heard.strip(), timeout=PATIENCE).close()
            elif SERVING.search(line) and (served := re.search(r"serves (http://\S+)/mcp", heard)):
                urllib.request.urlopen(f"{served[1]}/healthz", timeout=PATIENCE).close()
                os.killpg(process.pid, signal.SIGINT)  # Ctrl-C
        return said

    def _shown(self, said: str) -> str:
        return re.sub(r"(127\.0\.0\.1):\d+", r"\1:8484", said.replace(str(self.home), "/home/me"))


def _in_this_checkout(line: str) -> str:
    """`make` has its place and its environment, and need not set the latter up."""
    if not (found := re.match(r"make (\w+)(.*)", line)):
        return line
    goal, rest = found.groups()
    if goal in SHORTER:
        rest = f"ARGS='{SHORTER[goal]}'"
    return f"exec make -C '{ROOT}' -o '{BIN.parent / '.ready'}' VENV='{BIN.parent}' {goal} {rest}"
