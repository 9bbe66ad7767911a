"""The typed form: schemas from signatures, validation before the run, output schemas kept."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from .conftest import Folder

HEAD = """
import datetime
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Dict, List, Literal, Optional, Union
from pydantic import BaseModel, Field
from mcp_workbench import Context, Image, tool

class Color(Enum):
    RED = "red"
    BLUE = "blue"

@dataclass
class Point:
    x: int
    y: float = 0.5

class Part(BaseModel):
    type: str = "resource"
    n: int = 1

class Node(BaseModel):
    name: str
    children: "List[Node]" = []

"""


def typed(folder: Folder, text: str) -> None:
    folder.write("a.py", HEAD + text)


@pytest.mark.parametrize(
    ("parameter", "schema", "required"),
    [
        ("x: str", {"type": "string"}, True),
        ("x: int = 3", {"type": "integer", "default": 3}, False),
        ("x: float", {"type": "number"}, True),
        ("x: bool = False", {"type": "boolean", "default": False}, False),
        ("x", {}, True),
        ("x: Literal['a', 'b'] = 'a'", {"type": "string", "enum": ["a", "b"], "default": "a"}, False),
        ("x: List[int]", {"type": "array", "items": {"type": "integer"}}, True),
        ("x: Dict[str, int]", {"type": "object", "additionalProperties": {"type": "integer"}}, True),
        (
            "x: Optional[int] = None",
            {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
            False,
        ),
        (
            "x: Annotated[int, Field(description='How many', ge=1)]",
            {"type": "integer", "minimum": 1, "description": "How many"},
            True,
        ),
        ("x: Annotated[int, Field(default=3)]", {"type": "integer", "default": 3}, False),
        (
            "x: Annotated[List[int], Field(default_factory=list)]",
            {"type": "array", "items": {"type": "integer"}},
            False,
        ),
        ("x: int = Field(5, le=9)", {"type": "integer", "maximum": 9, "default": 5}, False),
        ("x: Color", {"$ref": "#/$defs/Color"}, True),
        ("x: Point", {"$ref": "#/$defs/Point"}, True),
        ("x: Node", {"$ref": "#/$defs/Node"}, True),
        ("x: datetime.date", {"type": "string", "format": "date"}, True),
    ],
)
def test_a_parameter_is_its_schema(
    folder: Folder, parameter: str, schema: dict[str, Any], required: bool
) -> None:
    typed(folder, f"@tool\ndef a({parameter}, *, ctx: Context):\n    return None\n")
    announced = folder.start().tools()["a"]["inputSchema"]
    assert announced["type"] == "object"
    assert announced["properties"] == {"x": schema}
    assert announced.get("required", []) == (["x"] if required else [])
    jsonschema_rs.validator_for(announced)


def test_parameters_may_be_named_as_they_like(folder: Folder) -> None:
    typed(folder, "@tool\ndef a(json: int, copy: int, schema: int, model_config: int, _x: int, self: int):\n"
                  "    return [json, copy, schema, model_config, _x, self]\n")  # fmt: skip
    arguments = {"json": 1, "copy": 2, "schema": 3, "model_config": 4, "_x": 5, "self": 6}
    assert folder.start().call("a", arguments)["structuredContent"]["result"] == [1, 2, 3, 4, 5, 6]


def test_arguments_arrive_as_the_annotated_types(folder: Folder) -> None:
    typed(
        folder,
        "@tool\ndef a(c: Color, p: Point, n: Node, d: datetime.date, o: Optional[int] = 4,\n"
        "      u: Union[int, str] = 1):\n"
        "    return repr([c, p, n.children[0].name, d, o, u])\n",
    )
    text = folder.start().text(
        "a", c="red", p={"x": 1}, n={"name": "r", "children": [{"name": "k"}]}, d="2026-01-02", u="s"
    )
    assert text == "[<Color.RED: 'red'>, Point(x=1, y=0.5), 'k', datetime.date(2026, 1, 2), 4, 's']"


@pytest.mark.parametrize(
    ("arguments", "problems"),
    [
        ({}, ["city: required, but missing"]),
        ({"city": 3}, ["city: Input should be a valid string, but got 3"]),
        ({"city": "x", "days": "5"}, ['days: Input should be a valid integer, but got "5"']),
        ({"city": "x", "days": 0}, ["days: Input should be greater than or equal to 1, but got 0"]),
        ({"city": "x", "unit": "K"}, ["unit: Input should be 'C' or 'F', but got \"K\""]),
        ({"city": "x", "where": {"x": "no"}}, ['where.x: Input should be a valid integer, but got "no"']),
        ({"city": "x", "color": "green"}, ["color: Input should be 'red' or 'blue', but got \"green\""]),
        ({"city": "x", "town": 1}, ["town: no such argument (expected: city, days, unit, where, color)"]),
        ({"days": "x", "unit": 1}, ["city: required", "days: Input", "unit: Input"]),
    ],
)
def test_a_bad_argument_is_named_with_what_was_expected_and_what_came(
    folder: Folder, arguments: dict[str, Any], problems: list[str]
) -> None:
    marks = folder.path.parent / "marks"
    typed(
        folder,
        f"""
@tool
async def weather(city: str, days: Annotated[int, Field(ge=1)] = 1, unit: Literal["C", "F"] = "C",
                  where: Optional[Point] = None, color: Color = Color.RED):
    open({str(marks)!r}, "w")
""",
    )
    text = folder.start().error("weather", **arguments)
    assert text.startswith("Invalid arguments for tool 'weather': ")
    assert all(problem in text for problem in problems)
    assert not marks.exists()


def test_a_validation_error_of_the_tools_own_is_its_own(folder: Folder) -> None:
    typed(folder, "@tool\ndef a():\n    Node(name=3)\n")
    result = folder.start().call("a")
    assert "validation error for Node" in result["content"][0]["text"]
    assert "workbench/trace" in result["_meta"]


RETURNS = [
    ("str", "'hi'", "hi", {"result": "hi"}),
    ("int", "3", "3", {"result": 3}),
    ("bool", "True", "true", {"result": True}),
    ("Optional[str]", "None", "null", {"result": None}),
    ("List[Point]", "[Point(1)]", '[{"x": 1, "y": 0.5}]', {"result": [{"x": 1, "y": 0.5}]}),
    ("Dict[str, int]", "{'a': 1}", '{"a": 1}', {"a": 1}),
    ("dict", "{'a': [1]}", '{"a": [1]}', {"a": [1]}),
    ("Point", "Point(2)", '{"x": 2, "y": 0.5}', {"x": 2, "y": 0.5}),
    ("Node", "Node(name='r')", '{"name": "r", "children": []}', {"name": "r", "children": []}),
    ("Part", "Part()", '{"type": "resource", "n": 1}', {"type": "resource", "n": 1}),
    ("dict", "{'type': 'text', 'text': 't'}", '{"type": "text", "text": "t"}', {"type": "text", "text": "t"}),
    ("dict", "{'type': ['string']}", '{"type": ["string"]}', {"type": ["string"]}),
    ("Color", "Color.BLUE", "blue", {"result": "blue"}),
    ("datetime.date", "datetime.date(2026, 1, 2)", "2026-01-02", {"result": "2026-01-02"}),
]


@pytest.mark.parametrize(("annotation", "value", "text", "structured"), RETURNS)
def test_a_return_annotation_is_announced_and_kept(
    folder: Folder, annotation: str, value: str, text: str, structured: dict[str, Any]
) -> None:
    typed(folder, f"@tool\ndef a() -> {annotation}:\n    return {value}\n")
    worker = folder.start()
    schema = worker.tools()["a"]["outputSchema"]
    assert schema["type"] == "object"
    result = worker.call("a")
    assert result == {"content": [{"type": "text", "text": text}], "structuredContent": structured}
    jsonschema_rs.validator_for(schema).validate(structured)


@pytest.mark.parametrize("annotation", ["", " -> None", " -> Any", " -> Image", " -> List[Image]"])
def test_a_return_annotation_that_is_no_data_announces_nothing(folder: Folder, annotation: str) -> None:
    typed(folder, f"@tool\ndef a(){annotation}:\n    return Image(b'x')\n")
    worker = folder.start()
    assert "outputSchema" not in worker.tools()["a"]
    assert worker.call("a")["content"][0]["type"] == "image"


def test_a_default_inside_the_annotation_is_used(folder: Folder) -> None:
    typed(folder, "@tool\ndef a(x: Annotated[int, Field(default=3)]) -> int:\n    return x\n")
    worker = folder.start()
    assert worker.text("a") == "3"
    assert worker.text("a", x=4) == "4"


def test_content_where_the_annotation_promises_data_is_a_clear_error(folder: Folder) -> None:
    typed(folder, "@tool\ndef a() -> str:\n    return Image(b'x')\n")
    assert "promises data, and it returned content" in folder.start().error("a")


def test_a_value_that_the_annotation_does_not_allow_is_a_clear_error(folder: Folder) -> None:
    typed(folder, "@tool\ndef a() -> List[int]:\n    return [1, 'x']\n")
    assert "its return annotation does not allow it in 1" in folder.start().error("a")


def test_a_whole_result_still_carries_the_announced_structure(folder: Folder) -> None:
    typed(folder, "@tool\ndef a() -> dict:\n    return {'content': [{'type': 'text', 'text': 't'}]}\n")
    result = folder.start().call("a")
    assert result["content"] == [{"type": "text", "text": "t"}]
    assert result["structuredContent"] == {"content": [{"type": "text", "text": "t"}]}


def test_a_docstring_describes_the_tool_and_its_parameters(folder: Folder) -> None:
    typed(
        folder,
        '@tool\ndef a(x: int, y: Annotated[int, Field(description="own")]):\n'
        '    """Adds.\n\n    Args:\n        x: The first\n        y: The second\n    """\n',
    )
    tool = folder.start().tools()["a"]
    assert tool["description"] == "Adds."
    assert tool["inputSchema"]["properties"]["x"]["description"] == "The first"
    assert tool["inputSchema"]["properties"]["y"]["description"] == "own"


def test_the_decorators_options_win(folder: Folder) -> None:
    typed(
        folder,
        "@tool(name='b', title='B', description='Said', annotations={'readOnlyHint': True})\n"
        "def a():\n    'Doc.'\n    return 'ran'\n",
    )
    worker = folder.start()
    tool = worker.tools()["b"]
    assert (tool["title"], tool["description"], tool["annotations"]) == ("B", "Said", {"readOnlyHint": True})
    assert worker.text("b") == "ran"


def test_a_tool_stays_a_function_that_others_call(folder: Folder) -> None:
    typed(
        folder, "@tool\ndef a(x: int) -> int:\n    return x + 1\n@tool\ndef b() -> int:\n    return a(a(1))\n"
    )
    assert folder.start().text("b") == "3"


def test_annotations_of_the_future_are_read(folder: Folder) -> None:
    folder.write(
        "a.py",
        "from __future__ import annotations\nfrom mcp_workbench import Context, tool\n"
        "@tool\ndef a(x: int, ctx: Context) -> list[int]:\n    return [x]\n",
    )
    worker = folder.start()
    assert worker.tools()["a"]["inputSchema"]["properties"] == {"x": {"type": "integer"}}
    assert worker.text("a", x=1) == "[1]"
