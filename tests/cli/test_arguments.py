from __future__ import annotations

from typing import Any

import pytest

from mcp_workbench.cli.arguments import Arguments, BadArgument


def read(*written: str, **properties: Any) -> dict[str, Any]:
    return Arguments(written, {"properties": properties}).values


def test_a_value_is_what_the_schema_says() -> None:
    assert read("a=1", a={"type": "string"}) == {"a": "1"}
    assert read("a=1", a={"type": "integer"}) == {"a": 1}
    assert read("a=true", a={"type": "boolean"}) == {"a": True}
    assert read("a=1.5", a={"anyOf": [{"type": "number"}, {"type": "null"}]}) == {"a": 1.5}
    assert read("a=1", a={"enum": ["1", "2"]}) == {"a": "1"}
    assert read('a={"b": 1}', a={"type": "object"}) == {"a": {"b": 1}}
    assert read("a=x", "a=y", a={"type": "array", "items": {"type": "string"}}) == {"a": ["x", "y"]}


def test_a_value_that_nothing_is_said_of_is_json_where_it_reads_as_such() -> None:
    assert read("a=1", "b=x", "c=null", "d=a=b") == {"a": 1, "b": "x", "c": None, "d": "a=b"}
    assert read("a=1", a={"type": ["string", "integer"]}) == {"a": 1}


def test_colon_equals_is_json_whatever_the_schema_says() -> None:
    assert read("a:=[1]", a={"type": "string"}) == {"a": [1]}
    with pytest.raises(BadArgument, match="expected JSON"):
        read("a:=x")


def test_missing_arguments_are_known() -> None:
    assert Arguments(["a=1"], {"required": ["a", "b"]}).missing == ["b"]
    assert Arguments([], {"required": "nonsense", "properties": []}).missing == []
