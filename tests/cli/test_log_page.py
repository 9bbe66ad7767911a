from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.journal.calls import journal, write

from .commands import at_terminal


@pytest.mark.parametrize(
    ("columns", "headings"),
    [
        ("60", ["tool", "status", "id"]),
        ("80", ["tool", "status", "id", "arguments or error"]),
        ("120", ["time", "tool", "caller", "status", "took", "id", "arguments or error"]),
    ],
)
def test_a_narrow_terminal_has_fewer_columns_and_whole_ids(
    columns: str, headings: list[str], tmp_path: Path
) -> None:
    log = tmp_path / "ToolBox.log"
    id = write(journal(log), tool="list_allowed_directories")
    seen = at_terminal(tmp_path, "logs", "--log", str(log), COLUMNS=columns, NO_COLOR="1").screen
    lines = re.sub(r"\x1b\[\d*m", "", seen).strip().splitlines()
    assert re.split(r"  +", lines[0].strip()) == headings
    assert id in lines[1]
    assert all(len(line.rstrip()) <= int(columns) for line in lines)
