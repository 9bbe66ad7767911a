"""The server of `servers/shifting.py` in a configuration, the file of its tools, and waits that end."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.client import Client, text

SCRIPT = Path(__file__).parent / "servers" / "shifting.py"


def tool(name: str, description: str | None = None, **more: Any) -> dict[str, Any]:
    said = {"name": name, "description": description or f"Does {name}", "inputSchema": {"type": "object"}}
    return {**said, **more}


def shifting(tools: Path, *gate: Path, mark: str = "", **keys: Any) -> dict[str, Any]:
    """Its entry; `mark` makes it another entry, which the server tells."""
    if not tools.exists():
        list_tools(tools, tool("work"))
    return {
        "command": sys.executable,
        "args": ["-S", str(SCRIPT), str(tools), *map(str, gate)],
        "env": {"MARK": mark},
        **keys,
    }


def list_tools(file: Path, *tools: dict[str, Any]) -> None:
    file.write_text(json.dumps(tools))


def work(client: Client, ref: str, **arguments: Any) -> dict[str, Any]:
    """What a call says of the process that answered it."""
    result = client.use(ref, arguments)
    assert not result.get("isError"), result
    return json.loads(text(result))


def names(listing: dict[str, Any]) -> list[str]:
    return [each["name"] for each in listing["tools"]]


def eventually(check: Callable[[], object], patience: float = 10.0) -> None:
    until = time.monotonic() + patience
    while not check():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.02)


def running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0]
    except OSError:
        return False
    return state not in (b"Z", b"X")
