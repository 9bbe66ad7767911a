"""A process under measurement: in a session of its own, behind wide pipes, its costs read from /proc."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

PATIENCE = 3.0


class Process:
    """What it says on stderr goes to `log`, and with `pipes` off (it serves HTTP) so does its output."""

    def __init__(
        self, command: Sequence[str], *, log: Path, env: Mapping[str, str] | None = None, pipes: bool = True
    ) -> None:
        self._log = log
        self._pipes = pipes
        self.began = time.perf_counter()
        with log.open("ab") as file:
            # In one session with others, the scheduler's autogroups would share out the time between them.
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE if pipes else subprocess.DEVNULL,
                stdout=subprocess.PIPE if pipes else file,
                stderr=file,
                env={**_environment(), **(env or {})},
                bufsize=0,
                start_new_session=True,
            )
        self.pid = self._process.pid
        for stream in filter(None, (self._process.stdin, self._process.stdout)):
            with contextlib.suppress(OSError, AttributeError):  # a smaller pipe is only slower
                fcntl.fcntl(stream, fcntl.F_SETPIPE_SZ, 1 << 20)

    @property
    def input(self) -> int:
        assert self._process.stdin is not None
        return self._process.stdin.fileno()

    @property
    def output(self) -> int:
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    @property
    def age_ms(self) -> float:
        """Milliseconds since it was started."""
        return (time.perf_counter() - self.began) * 1000

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    @property
    def last_words(self) -> str:
        return self._log.read_text(errors="replace").strip()[-300:]

    def cpu(self) -> int:
        """Nanoseconds of CPU so far, of all its threads and none of its children."""
        total = 0
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            with contextlib.suppress(OSError):  # a thread that has just ended
                total += int((task / "schedstat").read_text().split()[0])
        return total

    def memory(self) -> int:
        """Bytes of it that are in memory."""
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        return 0

    def end(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()  # which well-behaved servers take for the end
        else:
            self._process.terminate()
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                self._process.wait(PATIENCE)
                break
            except subprocess.TimeoutExpired:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self.pid, number)
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


def _environment() -> dict[str, str]:
    # Everyone starts from bytecode, as installed programs do, whatever a developer's shell says.
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
