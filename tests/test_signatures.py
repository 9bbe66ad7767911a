import time
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from mcp_workbench.names import ToolRef
from mcp_workbench.signatures import LIMIT, first_sentence, full, line, signature

READ = ToolRef("dev", "filesystem", "read_file")
NODE = {"type": "object", "properties": {"value": {"type": "string"}, "next": {"$ref": "#/$defs/Node"}}}


def one(schema: Any, definitions: Any = None, required: bool = True) -> str:
    """How a single parameter of this schema is written."""
    whole: dict[str, Any] = {"type": "object", "properties": {"p": schema}, "$defs": definitions or {}}
    whole["required"] = ["p"] if required else []
    return signature("f", whole).removeprefix("f(").removesuffix(")")


def test_a_signature_tells_types_optionality_and_defaults() -> None:
    schema = {
        "type": "object",
        "properties": {"path": {"type": "string"}, "head": {"type": "integer", "default": 10}},
        "required": ["path"],
    }
    assert signature("read_file", schema) == "read_file(path: string, head?: integer = 10)"


def test_a_tool_without_parameters_has_empty_parentheses() -> None:
    assert signature("ping", {"type": "object"}) == signature("ping", {}) == "ping()"


@pytest.mark.parametrize(
    ("schema", "written"),
    [
        ({"type": "string"}, "p: string"),
        ({}, "p: any"),
        (True, "p: any"),
        ({"type": ["string", "null"]}, "p: string | null"),
        ({"type": ["null", "integer", "string"]}, "p: integer | string | null"),
        ({"enum": ["asc", "desc"]}, 'p: "asc" | "desc"'),
        ({"type": "integer", "enum": [1, 2, None]}, "p: 1 | 2 | null"),
        ({"const": "fixed"}, 'p: "fixed"'),
        ({"type": "array", "items": {"type": "string"}}, "p: string[]"),
        ({"type": "array"}, "p: any[]"),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, 'p: ("a" | "b")[]'),
        ({"type": "array", "items": {"type": "array", "items": {"type": "number"}}}, "p: number[][]"),
        ({"prefixItems": [{"type": "string"}, {"type": "integer"}]}, "p: [string, integer]"),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "p: string | integer"),
        ({"oneOf": [{"type": "null"}, {"type": "integer"}]}, "p: integer | null"),
        ({"type": "string", "nullable": True}, "p: string | null"),
        ({"type": "object"}, "p: object"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "p: {[key]: integer}"),
        (
            {"type": "object", "properties": {"a": {"type": "string"}, "b": {}}, "required": ["a"]},
            "p: {a: string, b?: any}",
        ),
        (
            {"allOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"required": ["b"]}]},
            "p: {a: string}",
        ),
        ({"allOf": [{"type": "string"}]}, "p: string"),
        ({"$ref": "https://example.com/elsewhere/Point"}, "p: Point"),
    ],
)
def test_a_schema_is_written_as_a_type(schema: Any, written: str) -> None:
    assert one(schema) == written


def test_a_reference_is_followed() -> None:
    definitions = {"Unit": {"enum": ["C", "F"], "default": "C"}}
    assert one({"$ref": "#/$defs/Unit"}, definitions, required=False) == 'p?: "C" | "F" = "C"'
    assert one({"$ref": "#/$defs/a~1b"}, {"a/b": {"type": "string"}}) == "p: string"


def test_a_reference_to_itself_is_written_by_its_name() -> None:
    assert one({"$ref": "#/$defs/Node"}, {"Node": NODE}) == "p: {value?: string, next?: Node}"
    assert one({"$ref": "#/$defs/A"}, {"A": {"$ref": "#/$defs/A"}}) == "p: A"


def test_an_optional_parameter_whose_default_is_null_is_just_optional() -> None:
    schema = {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None}
    assert one(schema, required=False) == "p?: integer"


def test_a_required_parameter_has_no_default() -> None:
    assert one({"type": "integer", "default": 3}) == "p: integer"


def test_alternatives_at_the_root_require_what_all_of_them_require() -> None:
    schema = {
        "oneOf": [
            {"properties": {"kind": {"const": "a"}, "x": {"type": "string"}}, "required": ["kind", "x"]},
            {"properties": {"y": {"type": "string"}}, "required": ["kind"]},
        ]
    }
    assert signature("f", schema) == 'f(kind: "a", x?: string, y?: string)'


def test_a_name_that_is_no_word_is_quoted() -> None:
    assert signature("f", {"properties": {"a b": {}, "c\n": {}, "日付": {}}}) == (
        'f("a b"?: any, "c\\n"?: any, 日付?: any)'
    )


def test_a_signature_is_one_line_whatever_the_tool_is_called() -> None:
    assert signature("two\nlines\x07", {}) == "two\\nlines\\x07()"


def test_detail_is_given_up_from_the_inside_before_the_line_grows_too_long() -> None:
    leaf = {"type": "object", "properties": {f"leaf{n}": {"type": "string"} for n in range(12)}}
    schema = {"properties": {f"branch{n}": leaf for n in range(12)}}
    written = signature("f", schema)
    assert written.startswith("f(branch0?: object, branch1?: object")
    assert len(written) <= LIMIT + 40


def test_required_parameters_outlive_the_optional_ones() -> None:
    names = [f"parameter_number_{n}" for n in range(200)]
    schema = {"properties": {name: {"type": "string"} for name in names}, "required": names[-3:]}
    written = signature("f", schema)
    assert written.startswith("f(parameter_number_197: string, parameter_number_198: string")
    assert written.endswith("more)")
    assert len(written) <= LIMIT + 40


def test_a_schema_that_doubles_at_every_step_is_written_at_once() -> None:
    steps = {
        f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}, {"items": {"$ref": f"#/$defs/d{n + 1}"}}]}
        for n in range(30)
    }
    started = time.perf_counter()
    written = one({"$ref": "#/$defs/d0"}, steps)
    assert time.perf_counter() - started < 1
    assert len(written) <= LIMIT + 40


def test_a_line_has_the_joined_name_and_the_first_sentence() -> None:
    definition = {
        "name": "read_file",
        "description": "Read a file. Fails when there is none.",
        "inputSchema": {
            "type": "object",
            "properties": {"path": {"type": "string"}, "head": {"type": "integer"}},
            "required": ["path"],
        },
    }
    assert line(READ, definition) == "dev/filesystem/read_file(path: string, head?: integer): Read a file."


def test_a_slash_in_a_server_name_is_encoded_in_the_line() -> None:
    assert line(ToolRef("dev", "a/b", "c/d"), {}) == "dev/a%2Fb/c/d()"


def test_a_title_stands_in_for_a_missing_description() -> None:
    assert line(READ, {"title": "Read"}) == "dev/filesystem/read_file(): Read"


def test_full_adds_the_description_and_what_is_said_of_each_parameter() -> None:
    definition = {
        "description": "Read a file.\n\nFails when there is none.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "Where\nit is", "minLength": 1, "pattern": "^/"},
                "head": {"type": "integer"},
                "edits": {
                    "type": "array",
                    "maxItems": 3,
                    "items": {
                        "type": "object",
                        "properties": {"old": {"type": "string", "description": "Text to find"}},
                        "required": ["old"],
                    },
                },
            },
            "required": ["path"],
        },
    }
    assert full(READ, definition) == (
        "dev/filesystem/read_file(path: string, head?: integer, edits?: {old: string}[])\n"
        "Read a file.\n\nFails when there is none.\n"
        "Parameters:\n"
        '- path (string, required): Where it is [pattern "^/", minLength 1]\n'
        "- edits ({old: string}[]) [maxItems 3]\n"
        "- edits[].old (string, required): Text to find"
    )


def test_full_follows_a_reference_to_itself_once() -> None:
    node = {**NODE, "properties": {**NODE["properties"], "value": {"description": "The value"}}}
    schema = {"properties": {"list": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}}
    assert full(READ, {"inputSchema": schema}).count("The value") == 1


@pytest.mark.parametrize(
    ("description", "sentence"),
    [
        ("", ""),
        ("Read a file", "Read a file"),
        ("Read a file. Then stop.", "Read a file."),
        ("Read a file, e.g. Text or HTML. More.", "Read a file, e.g. Text or HTML."),
        ("Version 2.5 of the tool. More.", "Version 2.5 of the tool."),
        ("Find a file in the U.S. Use it well. More.", "Find a file in the U.S. Use it well."),
        ("  Read\n  a file\n\nArgs:\n  path", "Read a file"),
        ("# Reader\n\nReads.", "Reader"),
        ("Reads:\n- files\n- folders", "Reads:"),
        ("Is it there? Yes.", "Is it there?"),
        ("读取文件。然后停止。", "读取文件。"),
        ("Lists `a.b.` Then more.", "Lists `a.b.`"),
    ],
)
def test_the_first_sentence_ends_where_a_reader_would_stop(description: str, sentence: str) -> None:
    assert first_sentence(description) == sentence


def test_a_sentence_without_end_is_cut_after_a_whole_word() -> None:
    said = first_sentence("word " * 1000)
    assert len(said) <= 80
    assert said.endswith("word…")
    assert len(first_sentence("字" * 1000)) == 80


def test_of_a_long_sentence_whole_clauses_are_kept() -> None:
    said = "Lists the movies that play in a city and cinema hall, filtered by date, language, and format."
    assert first_sentence(said) == "Lists the movies that play in a city and cinema hall, filtered by date…"
    assert first_sentence("First, " + "word " * 100).endswith("word…")


KEYS = st.sampled_from(
    "$ref $defs type properties required items prefixItems anyOf oneOf allOf enum const default nullable "
    "additionalProperties patternProperties description examples format minimum a b".split()
)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
WORDS = st.sampled_from(["#/$defs/a", "#/properties/b", "#", "object", "array", "string", "a", "#/a/0"])
JSON = st.recursive(
    LEAVES | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=30,
)


@settings(max_examples=400, deadline=2000)
@given(st.dictionaries(KEYS, JSON, max_size=6), st.text(max_size=10))
def test_any_json_at_all_gets_a_signature_in_one_line(schema: dict[str, Any], name: str) -> None:
    definition = {"description": schema.get("description"), "inputSchema": schema}
    written = line(ToolRef("t", "s", name), definition)
    assert len(written.splitlines()) == 1
    assert full(ToolRef("t", "s", name), definition)


def test_deep_nesting_is_no_problem() -> None:
    schema: dict[str, Any] = {"type": "string"}
    value: Any = 1
    for _ in range(900):
        schema = {"anyOf": [schema], "items": schema, "properties": {"a": schema}, "default": value}
        value = [value]
    assert signature("f", schema)
    assert full(READ, {"inputSchema": schema})
