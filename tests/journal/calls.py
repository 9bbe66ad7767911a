"""Calls to log, and the lines that became of them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mcp_workbench.journal import Journal, beginning
from mcp_workbench.journal.beginnings import written
from mcp_workbench.names import ToolRef
from mcp_workbench.servers.call import Call

ROOMY = {"max_size": 100_000_000, "keep": 5, "value_limit": 16384}


def journal(path: Path, **options: Any) -> Journal:
    return Journal(str(path), **{**ROOMY, "redact": (), "secrets": (), **options})


def write(
    journal: Journal,
    *,
    ts: float = 1742005780.1234,
    tool: str = "docker_tool",
    toolbox: str = "dev",
    server: str = "docker",
    caller: str = "claude-code",
    args: bytes = b'{"image":"nginx"}',
    cost: float = 0.158,
    id: str = "",
    parent: str | None = None,
    root: str = "",
    error: str | None = None,
    answer: Sequence[bytes] = (),
    **more: Any,
) -> str:
    """Log a call that is as given, and otherwise plain; returns its id."""
    call = Call(
        ref=ToolRef(toolbox, server, tool),
        caller=caller,
        arguments=args,
        id=id or beginning()[0],
        began=written(int(ts * 1000)),
        parent=_above(parent, root) if parent is not None else None,
        **more,
    )
    journal.write(call, round(cost * 1_000_000_000), error, answer)
    return call.id


def _above(id: str, root: str) -> Call:
    """The call that made another one, with what is above it."""
    nothing = {"ref": ToolRef("dev", "docker", "outer"), "arguments": b"{}", "caller": "claude-code"}
    return Call(id=id, parent=None if root in ("", id) else Call(id=root, **nothing), **nothing)


def lines(path: Path) -> list[dict[str, Any]]:
    """Every line of the log and its rotated files, the oldest first; fails where one is not JSON."""
    rotated = sorted(path.parent.glob(f"{path.name}.[0-9]*"), key=lambda file: -int(file.suffix[1:]))
    return [
        json.loads(line)
        for file in (*rotated, path)
        if file.exists()
        for line in file.read_bytes().split(b"\n")
        if line
    ]
