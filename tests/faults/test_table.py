"""The table of docs/reliability.md: every row has a test that bears its number, and every test has a row."""

from __future__ import annotations

import re
from pathlib import Path

from mcp_workbench.config.written import LimitsEntry

HERE = Path(__file__).parent
DOCUMENT = (HERE.parents[1] / "docs" / "reliability.md").read_text()
ROWS = re.findall(r"^\| (S?[0-9]+) \|", DOCUMENT, re.MULTILINE)


def test_every_row_has_its_test_and_every_test_its_row() -> None:
    tested = {
        number.upper()
        for file in HERE.glob("test_*.py")
        for number in re.findall(r"^def test_row_(s?[0-9]+)_", file.read_text(), re.MULTILINE)
    }
    assert len(ROWS) == len(set(ROWS))
    assert set(ROWS) == tested
    assert set(ROWS) == {*map(str, range(1, 35)), *(f"S{number}" for number in range(1, 7))}


def test_every_limit_that_is_named_exists() -> None:
    named = set(re.findall(r"`(\w+(?:Timeout|Shutdown|Line)|timeout|concurrency|queue)`", DOCUMENT))
    assert named <= set(LimitsEntry.__struct_encode_fields__)
