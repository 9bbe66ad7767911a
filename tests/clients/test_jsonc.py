from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from mcp_workbench.clients.jsonc import NotJson, parse, with_member, without_member

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(st.text(max_size=6), values, max_size=4)


@given(values, st.sampled_from([None, 1, 2, "\t"]))
def test_plain_json_is_read_as_it_is(value: Any, indent: Any) -> None:
    assert parse(json.dumps(value, indent=indent)) == value
    assert parse(json.dumps(value, ensure_ascii=False)) == value


@given(objects, st.text(max_size=6), values, st.sampled_from([None, 2, "\t"]))
def test_a_member_that_is_set_is_there_and_the_others_are_as_they_were(
    data: dict[str, Any], key: str, value: Any, indent: Any
) -> None:
    text = json.dumps({"mcpServers": data}, indent=indent)
    changed = with_member(text, ["mcpServers", key], value)
    assert parse(changed) == {"mcpServers": {**data, key: value}}
    assert list(parse(changed)["mcpServers"]) == list({**data, key: value})


@given(objects, st.sampled_from([None, 2, "\t"]), st.booleans())
def test_every_member_can_be_taken_out(data: dict[str, Any], indent: Any, trailing: bool) -> None:
    text = json.dumps(data, indent=indent)
    if trailing and data and indent:
        text = text.removesuffix("\n}") + ",\n}"
    for key in data:
        left = {name: value for name, value in data.items() if name != key}
        assert parse(without_member(text, [key])) == left


COMMENTED = """\
// mine
{
    "theme": "dark", // for the night
    "servers": {
        /* the first */
        "a": {"command": "x"}, // stays
        'b': {
            command: 'it\\'s "y"',
        }, // goes
        // the end
    },
    "last": 1 // no comma
}
"""


def test_comments_trailing_commas_single_quotes_and_bare_keys_are_read() -> None:
    assert parse(COMMENTED) == {
        "theme": "dark",
        "servers": {"a": {"command": "x"}, "b": {"command": 'it\'s "y"'}},
        "last": 1,
    }


def test_a_member_is_added_in_the_style_of_the_file_and_nothing_else_changes() -> None:
    changed = with_member(COMMENTED, ["servers", "c"], {"args": ["1", "2"]})
    added = """\
        // the end
        "c": {
            "args": ["1", "2"]
        },
"""
    assert changed == COMMENTED.replace("        // the end\n", added)


def test_a_member_after_one_without_a_comma_gets_its_comma_before_the_comment() -> None:
    changed = with_member(COMMENTED, ["new"], True)
    assert changed.endswith('    "last": 1, // no comma\n    "new": true\n}\n')


def test_a_member_is_taken_out_with_its_lines_and_its_remark() -> None:
    changed = without_member(COMMENTED, ["servers", "b"])
    assert "// goes" not in changed
    assert changed.count("// stays") == 1
    assert parse(changed)["servers"] == {"a": {"command": "x"}}
    assert changed == COMMENTED.replace(
        """\
        'b': {
            command: 'it\\'s "y"',
        }, // goes
""",
        "",
    )


def test_the_last_member_takes_the_comma_before_it_along() -> None:
    assert without_member('{\n  "a": 1,\n  "b": 2\n}\n', ["b"]) == '{\n  "a": 1\n}\n'
    assert without_member('{"a": 1, "b": 2}', ["b"]) == '{"a": 1}'
    assert without_member('{"a": 1, "b": 2}', ["a"]) == '{"b": 2}'


def test_a_value_that_is_there_is_replaced_where_it_stands() -> None:
    text = '{"mcpServers": {"w": {"command": "old"}, "x": 1}} // end\n'
    changed = with_member(text, ["mcpServers", "w"], "new")
    assert changed == '{"mcpServers": {"w": "new", "x": 1}} // end\n'


@pytest.mark.parametrize("text", ["", "  \n", "\ufeff", "{}"])
def test_an_empty_file_becomes_an_object(text: str) -> None:
    assert parse(with_member(text, ["a", "b"], 1)) == {"a": {"b": 1}}


def test_windows_line_ends_and_a_byte_order_mark_are_kept() -> None:
    changed = with_member('\ufeff{\r\n  "a": 1\r\n}\r\n', ["b"], {"c": 2})
    assert changed == '\ufeff{\r\n  "a": 1,\r\n  "b": {\r\n    "c": 2\r\n  }\r\n}\r\n'


def test_what_is_not_there_cannot_be_taken_out() -> None:
    assert without_member(COMMENTED, ["servers", "none"]) == COMMENTED
    assert without_member(COMMENTED, ["none", "none"]) == COMMENTED


@pytest.mark.parametrize(
    "text", ["{", '{"a" 1}', '{"a": 1 "b": 2}', "[1 2]", "{} {}", '"\\x"', "nul", "[" * 5000]
)
def test_what_is_no_json_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(NotJson, match="line 2"):
        parse("\n" + text)


def test_a_list_where_an_object_is_needed_is_refused() -> None:
    with pytest.raises(NotJson):
        with_member('{"mcpServers": []}', ["mcpServers", "w"], {})


def test_what_is_not_closed_is_said_to_be() -> None:
    with pytest.raises(NotJson, match="it ends too soon, on line 2: something is not closed"):
        parse('{"a": {"b": 1}\n')
