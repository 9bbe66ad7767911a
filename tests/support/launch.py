"""Starting real workbenches in a folder of their own, and seeing that each ended as it should."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from .client import Client

SERVERS = Path(__file__).parent / "servers"


def child(script: str, *args: str, **keys: Any) -> dict[str, Any]:
    """The configuration entry of one of the servers in `support/servers`."""
    return {"command": sys.executable, "args": ["-S", str(SERVERS / f"{script}.py"), *args], **keys}


def toolbox(*, description: Any = "For tests", **servers: Any) -> dict[str, Any]:
    """A toolbox of these servers."""
    return {"description": description, "mcpServers": servers}


def configuration(**toolboxes: Any) -> dict[str, Any]:
    return {"toolboxes": toolboxes}


class Launcher:
    """Call it with a configuration to have a workbench and its client.

    At the end every workbench that still runs sees its input closed; each must leave with its expected
    status (0 unless `expected_status` says otherwise), nothing running, and nothing but JSON on its output.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.expected_status: dict[Client, int] = {}
        self._started: list[Client] = []

    def __call__(
        self,
        config: Mapping[str, Any] | Path,
        *,
        env: Mapping[str, str] | None = None,
        args: tuple[str, ...] = (),
        stdin: IO[bytes] | int = subprocess.PIPE,
    ) -> Client:
        home = self.folder / f"home{len(self._started)}"
        home.mkdir()
        path = config if isinstance(config, Path) else write_config(home, config)
        client = Client(
            [sys.executable, "-m", "mcp_workbench", *args],
            env={**environment(home), "WORKBENCH_CONFIG": str(path), **(env or {})},
            cwd=home,
            mark=f"{home}/state",
            stdin=stdin,
        )
        self._started.append(client)
        return client

    def __enter__(self) -> Launcher:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for client in self._started:
            if client.process.poll() is None:
                client.remember_processes()
                client.close_input()
        try:
            for client in self._started:
                self._check(client)
        finally:
            for client in self._started:
                client.process.kill()

    def _check(self, client: Client) -> None:
        status = client.wait()
        assert status == self.expected_status.get(client, 0), client.stderr
        assert client.left_behind() == []
        assert client.impure == []


def write_config(folder: Path, config: Mapping[str, Any], name: str = "workbench-config.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(config))
    return path


def environment(home: Path) -> dict[str, str]:
    """The least that a workbench needs, with all its folders inside `home`."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "XDG_CONFIG_HOME": f"{home}/config",
        "XDG_STATE_HOME": f"{home}/state",
        "XDG_CACHE_HOME": f"{home}/cache",
        "XDG_DATA_HOME": f"{home}/data",
    }
