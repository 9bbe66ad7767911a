from __future__ import annotations

import tomllib

import pytest

from mcp_workbench.clients.toml import NotToml, parse, with_table, without_table

TEXT = """\
model = "x" # the usual

[mcp_servers.a]
command = "a"

[mcp_servers.a.env]
KEY = "v"

# about b
[mcp_servers."b c"] # here
command = "b"

[tui]
theme = "dark"
"""


def test_a_table_is_added_at_the_end_and_nothing_else_changes() -> None:
    entry = {"command": "/w", "args": ["-m", 'ü"\\'], "env": {"A B": "1"}, "on": True, "n": 2}
    longer = with_table(TEXT, ["mcp_servers", "workbench"], entry)
    assert longer.startswith(TEXT)
    assert tomllib.loads(longer)["mcp_servers"]["workbench"] == entry
    assert without_table(longer, ["mcp_servers", "workbench"]).rstrip() == TEXT.rstrip()


def test_a_table_that_is_there_is_written_anew() -> None:
    once = with_table(TEXT, ["mcp_servers", "w"], {"command": "old"})
    twice = with_table(once, ["mcp_servers", "w"], {"command": "new"})
    assert tomllib.loads(twice)["mcp_servers"]["w"] == {"command": "new"}
    assert twice.count("[mcp_servers.w]") == 1


def test_a_table_is_taken_out_with_its_subtables_and_leaves_the_comment_of_the_next() -> None:
    shorter = without_table(TEXT, ["mcp_servers", "a"])
    assert shorter == TEXT.replace('[mcp_servers.a]\ncommand = "a"\n\n[mcp_servers.a.env]\nKEY = "v"\n\n', "")
    assert '[mcp_servers."b c"]' not in without_table(TEXT, ["mcp_servers", "b c"])
    assert without_table(TEXT, ["mcp_servers", "none"]) == TEXT


def test_an_entry_that_is_no_table_of_its_own_is_refused() -> None:
    with pytest.raises(NotToml, match="not written as a table"):
        without_table('mcp_servers = { a = { command = "a" }, b = 1 }\n', ["mcp_servers", "a"])
    with pytest.raises(NotToml):
        with_table('mcp_servers = { a = { command = "a" } }\n', ["mcp_servers", "w"], {"command": "w"})


def test_a_header_inside_a_string_is_not_taken_for_one() -> None:
    text = '[mcp_servers.a]\nnote = """\n[mcp_servers.b]\n"""\n\n[mcp_servers.b]\ncommand = "b"\n'
    with pytest.raises(NotToml):
        without_table(text, ["mcp_servers", "b"])


def test_what_is_no_toml_is_refused() -> None:
    with pytest.raises(NotToml):
        parse("[")


def test_an_empty_file_gets_the_table_alone() -> None:
    assert with_table("", ["s", "w"], {"a": 1}) == "[s.w]\na = 1\n"
