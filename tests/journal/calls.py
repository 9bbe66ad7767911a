"""Calls to log, and the lines that became of them."""

import json
from pathlib import Path
from typing import Any

from mcp_workbench.journal import Journal, new_id

ROOMY = {"max_size": 100_000_000, "keep": 5, "value_limit": 16384}


def journal(path: Path, **options: Any) -> Journal:
    return Journal(str(path), **{**ROOMY, "redact": (), "secrets": (), **options})


def write(journal: Journal, **fields: Any) -> str:
    """Log a call that is as given, and otherwise plain; returns its id."""
    id = fields.pop("id", None) or new_id()
    call: dict[str, Any] = {
        "ts": 1742005780.1234,
        "tool": "docker_tool",
        "caller": "claude-code",
        "args": b'{"image":"nginx"}',
        "error": None,
        "trace": None,
        "cost": 0.158,
        "tid": None,
        "id": id,
        "parent": None,
        "root": id,
        "toolbox": "dev",
        "server": "docker",
        "principal": None,
    }
    journal.write(**{**call, **fields})
    return id


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
