from __future__ import annotations

import pytest

from mcp_workbench.cli.table import print_json, print_table


def test_columns_are_aligned_also_where_characters_are_wide(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("NAME", "WHAT"), [("世界", "two"), ("a", "one"), ("evil\x1b[2J", "three")])
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["NAME         WHAT", "世界         two", "a            one", "evil\\x1b[2J  three"]


def test_json_is_indented(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"a": [1]})
    assert capsys.readouterr().out == '{\n  "a": [\n    1\n  ]\n}\n'


def test_bytes_that_are_no_utf_8_are_escaped_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"path": "a\udcff"})
    assert capsys.readouterr().out == '{\n  "path": "a\\udcff"\n}\n'
