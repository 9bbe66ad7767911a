"""The plain form, and every way to write a file that offers no tool."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import Folder

DEFAULT = "\ndef default(request):\n    return 'ran'\n"
GOOD: dict[str, Any] = {
    "name": "a",
    "description": "d",
    "type": "object",
    "properties": {"x": {"type": "string", "description": "d"}},
}
LEFT_OUT = object()


def plain(function: str = DEFAULT, **changes: Any) -> str:
    """A plain file that is good but for these changes of its schema."""
    schema = {key: value for key, value in {**GOOD, **changes}.items() if value is not LEFT_OUT}
    return f"schema = {schema!r}\n{function}"


def typed(text: str) -> str:
    return f"from mcp_workbench import tool\n{text}"


def test_a_plain_tool_is_listed_with_its_own_schema_and_nothing_more(folder: Folder) -> None:
    about = {"title": "A", "annotations": {"readOnlyHint": True}}
    shape = {"required": ["x"], "additionalProperties": False}
    folder.write("a.py", plain(**about, **shape, outputSchema={"type": "object"}))
    tool = folder.start().tools()["a"]
    assert tool["_meta"].pop("workbench/version") > 0
    assert tool == {
        "name": "a",
        "description": "d",
        **about,
        "inputSchema": {"type": "object", "properties": GOOD["properties"], **shape},
        "_meta": {
            "workbench/form": "plain",
            "workbench/file": "a.py",
            "workbench/resultSchema": {"type": "object"},
        },
    }


@pytest.mark.parametrize("form", ["def", "async def"])
def test_a_plain_tool_gets_its_name_and_its_arguments(folder: Folder, form: str) -> None:
    folder.plain("a", "return [request.params.name, request.params.arguments]", form)
    result = folder.start().call("a", {"x": [1, None]})
    assert result["structuredContent"] == {"result": ["a", {"x": [1, None]}]}


def test_a_property_without_type_or_description_loads_with_a_warning(folder: Folder) -> None:
    folder.write("a.py", plain())
    folder.write("b.py", plain(name="b", properties={"y": {}}))
    worker = folder.start()
    assert worker.text("b") == "ran"
    assert worker.errors() == []
    assert worker.close() == 0
    assert "b.py: property 'y' has no type and no description" in worker.stderr()
    assert "a.py" not in worker.stderr()


BAD = {
    "a syntax error": ("def broken(:\n", "syntax error in line 1"),
    "a null byte": ("x = 1\0\n", "syntax error"),
    "an empty file": ("", "it has no tool"),
    "no schema": (DEFAULT, "no `schema`"),
    "no function": (plain(""), "no function `default`"),
    "a function that is none": (plain("default = 3\n"), "no function `default`"),
    "a function without a request": (plain("def default(): pass\n"), "takes no request"),
    "a schema that is no dict": ("schema = [1]\n" + DEFAULT, "is no dict but list"),
    "a schema that is no object schema": (plain(type="array"), "no object schema"),
    "no name": (plain(name=LEFT_OUT), "no 'name'"),
    "no description": (plain(description=" "), "no 'description'"),
    "no type": (plain(type=LEFT_OUT), "no object schema"),
    "no properties": (plain(properties=LEFT_OUT), "no 'properties'"),
    "a property that is no schema": (plain(properties={"x": "string"}), "property 'x' is no schema"),
    "a type that JSON does not have": (plain(properties={"x": {"type": "text"}}), "'x' has the type 'text'"),
    "an enum that is no list": (plain(properties={"x": {"enum": "en"}}), "'enum' of property 'x'"),
    "a required that names no property": (
        plain(required=["y"]),
        "'required' names 'y', which is no property",
    ),
    "a required that is no list": (plain(required=True), "'required' is no list"),
    "an output schema that is none": (plain(outputSchema=3), "'outputSchema' is no dict"),
    "a schema that is no JSON": (plain(x={1}), "is no JSON"),
    "a name with spaces": (plain(name="a b"), "'a b' is no tool name"),
    "a name of 300 characters": (plain(name="a" * 300), "has 300 characters, and 128 are allowed"),
    "an import of what is not installed": ("import not_here_at_all\n", "-m pip install not_here_at_all"),
    "an exception": ("x = 1\n\n1 / 0\n", "importing it failed in line 3: ZeroDivisionError"),
    "an exit": ("import sys\nsys.exit(3)\n", "SystemExit: 3"),
    "a typed function that takes anything": (typed("@tool\ndef a(*args): pass\n"), "parameter 'args' of a()"),
    "a typed function with an unknown type": (
        typed("@tool\ndef a(x: 'Nowhere'): pass\n"),
        "annotations of a() cannot be read",
    ),
    "a typed parameter without a schema": (
        typed("class C: pass\n@tool\ndef a(x: C): pass\n"),
        "parameters of a() have no JSON Schema",
    ),
    "two typed tools of one name": (
        typed("@tool(name='x')\ndef a(): pass\n@tool(name='x')\ndef b(): pass\n"),
        "two tools named 'x'",
    ),
    "a typed name with spaces": (typed("@tool(name='a b')\ndef a(): pass\n"), "'a b' is no tool name"),
    "a default that JSON cannot say": (
        typed("@tool\ndef a(limit: float = float('inf')) -> str: return ''\n"),
        "what is said of the tool 'a' is no JSON",
    ),
    "an annotation that JSON cannot say": (
        typed("@tool(annotations={'x': b'x'})\ndef a() -> str: return ''\n"),
        "a value of type bytes has no JSON form",
    ),
    "an error that cannot be written": (
        "class E(Exception):\n    def __str__(self): raise KeyError\nraise E\n",
        "importing it failed in line 3: E: E, whose __str__ failed with KeyError",
    ),
    "an object that can be called": (
        typed("class C:\n    def __call__(self) -> str: return ''\nc = tool(C())\n@tool\ndef a(): pass\n"),
        "@tool stands before a function, not before C",
    ),
    "a class": (typed("@tool\nclass C: pass\n@tool\ndef a(): pass\n"), "not before a class"),
    "a title that is no string": (typed("@tool(title=5)\ndef a(): pass\n"), "title is a str, not int"),
    "an option that @tool does not have": (typed("@tool(nam='x')\ndef a(): pass\n"), "no option 'nam'"),
}


@pytest.mark.parametrize(("text", "reason"), BAD.values(), ids=BAD.keys())
def test_a_bad_file_is_skipped_with_one_line_and_the_others_load(
    folder: Folder, text: str, reason: str
) -> None:
    folder.write("bad.py", text)
    folder.plain("good", "return 'fine'")
    worker = folder.start()
    (line,) = worker.errors()
    assert line.startswith("bad.py: skipped: ")
    assert reason in line
    assert "\n" not in line
    assert worker.text("good") == "fine"
    assert set(worker.tools()) == {"good"}
    assert worker.close() == 0
    assert worker.stderr().count(line) == 1


def test_both_forms_may_share_a_file(folder: Folder) -> None:
    folder.write("a.py", plain() + typed("@tool\ndef b() -> str:\n    return 'typed'\n"))
    worker = folder.start()
    assert (worker.text("a"), worker.text("b")) == ("ran", "typed")


def test_a_tool_imported_from_a_helper_belongs_to_nobody(folder: Folder) -> None:
    folder.write("_shared.py", typed("@tool\ndef shared() -> str:\n    return 's'\n"))
    folder.write("a.py", typed("from _shared import shared\n@tool\ndef a() -> str:\n    return shared()\n"))
    worker = folder.start()
    assert set(worker.tools()) == {"a"}
    assert worker.text("a") == "s"
