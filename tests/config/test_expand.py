import time

import pytest

from mcp_workbench.config.expand import Expansion

ENVIRON = {"NAME": "value", "EMPTY": "", "QUOTE": '"}, {', "NESTED": "${NAME}"}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("${NAME}", "value"),
        ("a ${NAME} b ${NAME}", "a value b value"),
        ("${NAME:-other}", "value"),
        ("${env:NAME}", "value"),
        ("${NOT_SET:-other}", "other"),
        ("${NOT_SET:-}", ""),
        ("${EMPTY}", ""),
        ("${EMPTY:-other}", ""),
        ("$${NAME}", "${NAME}"),
        ("$$${NAME}", "$${NAME}"),
        ("$NAME $ {NAME}", "$NAME $ {NAME}"),
        ("${QUOTE}", '"}, {'),
        ("${NESTED}", "${NAME}"),
        ("${NAME} $${NAME", "value ${NAME"),
        ("$$${{", "$${{"),
    ],
)
def test_a_reference_becomes_its_value(written: str, meant: str) -> None:
    expansion = Expansion({"log": {"path": written}}, ENVIRON)
    assert expansion.data == {"log": {"path": meant}}
    assert not expansion.problems
    assert not expansion.missing


def test_keys_are_expanded_too() -> None:
    data = {"toolboxes": {"${NAME}": {"mcpServers": {"a": {"env": {"${NAME}": "${NAME}"}}}}}}
    expanded = {"toolboxes": {"value": {"mcpServers": {"a": {"env": {"value": "value"}}}}}}
    assert Expansion(data, ENVIRON).data == expanded


def test_keys_that_become_the_same_are_a_problem() -> None:
    [problem] = Expansion({"toolboxes": {"value": {}, "${NAME}": {}}}, ENVIRON).problems
    assert problem.place == ("toolboxes", "${NAME}")


def test_comments_are_left_out_where_keys_are_fixed_and_kept_among_names() -> None:
    data = {
        "$schema": "x",
        "_note": "${NOT_SET}",
        "toolboxes": {
            "_dev": {"_note": 1, "mcpServers": {"_s": {"$c": 1, "env": {"_A": "1"}, "headers": {"$B": "2"}}}}
        },
    }
    expansion = Expansion(data, {})
    assert expansion.data == {
        "toolboxes": {"_dev": {"mcpServers": {"_s": {"env": {"_A": "1"}, "headers": {"$B": "2"}}}}}
    }
    assert not expansion.missing


def test_a_missing_variable_is_told_with_its_place_and_the_string_stays() -> None:
    expansion = Expansion({"a": ["x", "${ONE}/${TWO}"]}, {})
    assert expansion.missing == {("a", 1): ["ONE", "TWO"]}
    assert expansion.data == {"a": ["x", "${ONE}/${TWO}"]}


@pytest.mark.parametrize(
    "written", ["${input:token}", "${workspaceFolder}/x", "${userHome}", "${command:pick}", "${/}", "${file}"]
)
def test_what_only_an_editor_knows_is_refused_with_the_reason(written: str) -> None:
    [problem] = Expansion({"a": written}, {}).problems
    assert "editor" in problem.wrong


@pytest.mark.parametrize("written", ["${", "${}", "${1}", "${a b}", "${x%y}", "${A:-${B}}", "${unclosed"])
def test_what_is_no_variable_is_refused_with_the_way_to_write_it(written: str) -> None:
    [problem] = Expansion({"a": written}, {}).problems
    assert "$${" in problem.fix


def test_only_values_that_were_used_are_remembered() -> None:
    assert Expansion({"a": "${NAME}"}, ENVIRON).used == {"NAME": "value"}


def test_what_is_never_closed_is_one_problem() -> None:
    [problem] = Expansion({"log": {"path": "${NAME} ${NAME $${ ${"}}, ENVIRON).problems
    assert problem.place == ("log", "path")
    assert problem.wrong.startswith('"${" is no variable')


def test_many_openings_take_no_longer_than_their_length() -> None:
    for text in ("${" * 500_000, "$${" * 500_000, "${" * 500_000 + "}", "${NAME}" + "${" * 500_000):
        began = time.monotonic()
        Expansion({"log": {"path": text}}, ENVIRON)
        assert time.monotonic() - began < 5
