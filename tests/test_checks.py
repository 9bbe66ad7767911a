"""Arguments that do not fit the meta-tools: every row about their shape, in every order that is promised."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.client import Client, text
from tests.support.launch import Launcher, configuration, toolbox

AVAILABLE = "Available toolboxes: development, production"


@pytest.fixture(scope="module")
def client(shared_workbench: Launcher) -> Client:
    client = shared_workbench(configuration(development=toolbox(), production=toolbox()))
    client.initialize()
    return client


def error(client: Client, tool: str, arguments: object) -> str:
    """The text of the error result that these arguments get."""
    result = client.call(tool, arguments)
    assert result["isError"] is True
    assert set(result) == {"content", "isError"}
    return text(result)


def answered(client: Client, tool: str, arguments: str) -> dict[str, Any]:
    """What comes of a call with arguments in these very words."""
    heard = len(client.messages)
    params = f'{{"name":"{tool}","arguments":{arguments}}}'
    line = f'{{"jsonrpc":"2.0","id":"asked","method":"tools/call","params":{params}}}\n'
    client.send_bytes(line.encode())
    return client.response("asked", since=heard)


# open_toolbox

OPEN_ERRORS: list[tuple[object, str]] = [
    ({"toolbox": "invalid"}, f"Error: Toolbox 'invalid' not found. {AVAILABLE}"),
    ({"toolbox": "Development"}, f"Error: Toolbox 'Development' not found. {AVAILABLE}"),
    ({"toolbox": " development"}, f"Error: Toolbox ' development' not found. {AVAILABLE}"),
    ({"toolbox": "invalid", "detail": "json"}, f"Error: Toolbox 'invalid' not found. {AVAILABLE}"),
    ({"toolbox": ""}, f"Invalid parameters: toolbox cannot be empty. {AVAILABLE}"),
    ({"toolbox": " \t\n"}, f"Invalid parameters: toolbox cannot be empty. {AVAILABLE}"),
    ({"toolbox": "\u00a0"}, f"Invalid parameters: toolbox cannot be empty. {AVAILABLE}"),
    ({}, f"Invalid parameters: toolbox is required. {AVAILABLE}"),
    ({"toolbox": None}, f"Invalid parameters: toolbox must be a string. {AVAILABLE}"),
    ({"toolbox": 5}, f"Invalid parameters: toolbox must be a string. {AVAILABLE}"),
    ({"toolbox": ["development"]}, f"Invalid parameters: toolbox must be a string. {AVAILABLE}"),
    ({"toolbox": {}}, f"Invalid parameters: toolbox must be a string. {AVAILABLE}"),
    ({"toolbox": False}, f"Invalid parameters: toolbox must be a string. {AVAILABLE}"),
    (
        {"toolbox": "development", "extra_field": 1},
        "Invalid parameters: Unrecognized key: 'extra_field'",
    ),
    ({"b": 1, "toolbox": "development", "a": 2}, "Invalid parameters: Unrecognized keys: 'b', 'a'"),
    (
        {"toolbox": "invalid", "extra_field": 1},
        "Invalid parameters: Unrecognized key: 'extra_field'",
    ),
    (
        {"toolbox": "", "extra": None},
        f"Invalid parameters: Unrecognized key: 'extra'; toolbox cannot be empty. {AVAILABLE}",
    ),
    (
        {"toolbox": 1, "a": 1, "b": 1},
        f"Invalid parameters: Unrecognized keys: 'a', 'b'; toolbox must be a string. {AVAILABLE}",
    ),
    (
        {"toolbox_name": "development"},
        "Invalid parameters: Unrecognized key: 'toolbox_name' (renamed to 'toolbox'); "
        f"toolbox is required. {AVAILABLE}",
    ),
    (
        {"toolbox": "development", "toolbox_name": "development"},
        "Invalid parameters: Unrecognized key: 'toolbox_name' (renamed to 'toolbox')",
    ),
    (
        {"a": 1, "toolbox_name": "x"},
        "Invalid parameters: Unrecognized keys: 'a', 'toolbox_name' (renamed to 'toolbox'); "
        f"toolbox is required. {AVAILABLE}",
    ),
]


@pytest.mark.parametrize(("arguments", "said"), OPEN_ERRORS, ids=str)
def test_arguments_that_do_not_fit_open_toolbox_get_their_row(
    client: Client, arguments: object, said: str
) -> None:
    assert error(client, "open_toolbox", arguments) == said


def test_open_toolbox_without_any_arguments_misses_its_toolbox(client: Client) -> None:
    response = client.request("tools/call", {"name": "open_toolbox"})
    assert text(response["result"]) == f"Invalid parameters: toolbox is required. {AVAILABLE}"


@pytest.mark.parametrize("detail", ["full", "", 1, None, [], {}, True])
def test_a_detail_that_does_not_exist_is_an_error_that_names_it(client: Client, detail: object) -> None:
    said = error(client, "open_toolbox", {"toolbox": "development", "detail": detail})
    assert said.startswith("Invalid parameters: detail")
    assert "signature" in said
    both = error(client, "open_toolbox", {"detail": detail})
    assert both.startswith("Invalid parameters: toolbox is required")
    assert "; detail" in both


@pytest.mark.parametrize("arguments", [None, [], "development", 5, True])
@pytest.mark.parametrize("tool", ["open_toolbox", "use_tool"])
def test_arguments_that_are_no_object_are_an_error_result(
    client: Client, tool: str, arguments: object
) -> None:
    begin = "Invalid parameters: " if tool == "open_toolbox" else "Invalid tool invocation parameters: "
    assert error(client, tool, arguments).startswith(begin)


LONE = "\ud800"


@pytest.mark.parametrize(
    ("tool", "arguments", "begin"),
    [
        ("open_toolbox", {"toolbox": LONE}, "Error: Toolbox '"),
        ("open_toolbox", {"toolbox": "development", LONE: 1}, "Invalid parameters: Unrecognized key: '"),
        (
            "use_tool",
            {"tool": {"toolbox": LONE, "server": "a", "name": "b"}},
            "Error executing tool: Toolbox '",
        ),
        ("use_tool", {LONE: 1}, "Invalid tool invocation parameters: Unrecognized key: '"),
        (LONE, {}, "Unknown tool '"),
    ],
)
def test_half_a_character_in_a_name_is_a_name_that_does_not_exist(
    client: Client, tool: str, arguments: object, begin: str
) -> None:
    assert error(client, tool, arguments).startswith(begin)


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("open_toolbox", '{"toolbox":"development","x":%s}', "Unrecognized key: 'x'"),
        ("use_tool", '{"arguments":%s}', "arguments: Expected an object"),
        ("find_tools", '{"queries":"x","limit":%s}', "limit must be an integer from 1 to 100"),
    ],
)
def test_a_number_of_any_length_is_a_number(client: Client, tool: str, arguments: str, said: str) -> None:
    result = answered(client, tool, arguments % ("1" * 5000))["result"]
    assert result["isError"] is True
    assert said in text(result)


@pytest.mark.parametrize("tool", ["open_toolbox", "use_tool", "find_tools"])
def test_what_is_too_deep_to_be_read_is_an_error_result_or_refused_under_its_id(
    client: Client, tool: str
) -> None:
    for depth in range(960, 1010, 5):
        nested = "[" * depth + "]" * depth
        answer = answered(client, tool, f'{{"x":{nested}}}')
        assert answer.get("result", {}).get("isError") or answer["error"]["code"] == -32600


# use_tool: shape

REF = {"toolbox": "development", "server": "filesystem", "name": "read_file"}
NO_TOOLBOX, NO_SERVER, NO_NAME = (
    "tool.toolbox: Toolbox name cannot be empty",
    "tool.server: Server name cannot be empty",
    "tool.name: Tool name cannot be empty",
)
HINT = "(use 'tool': {toolbox, server, name})"

USE_ERRORS: list[tuple[object, str]] = [
    ({}, "tool: Required"),
    ({"arguments": {}}, "tool: Required"),
    ({"arguments": 1}, "tool: Required; arguments: Expected an object"),
    *(({"tool": tool}, "tool: Expected an object") for tool in (None, "read_file", [], 1, True)),
    ({"tool": "x", "arguments": None}, "tool: Expected an object; arguments: Expected an object"),
    ({"tool": {}}, "tool.toolbox: Required; tool.server: Required; tool.name: Required"),
    ({"tool": {**REF, "toolbox": ""}}, NO_TOOLBOX),
    ({"tool": {**REF, "server": " "}}, NO_SERVER),
    ({"tool": {**REF, "name": "\t\u2003"}}, NO_NAME),
    ({"tool": {"toolbox": "", "server": "", "name": ""}}, f"{NO_TOOLBOX}; {NO_SERVER}; {NO_NAME}"),
    ({"tool": {"name": "", "server": "", "toolbox": ""}}, f"{NO_TOOLBOX}; {NO_SERVER}; {NO_NAME}"),
    *(({"tool": {**REF, part: 5}}, f"tool.{part}: Expected a string") for part in REF),
    *(({"tool": {**REF, part: None}}, f"tool.{part}: Expected a string") for part in REF),
    *(
        ({"tool": {key: value for key, value in REF.items() if key != part}}, f"tool.{part}: Required")
        for part in REF
    ),
    *(({"tool": REF, "arguments": value}, "arguments: Expected an object") for value in (None, [], "{}", 0)),
    ({"tool": REF, "extra": 1}, "Unrecognized key: 'extra'"),
    ({"tool": REF, "z": 1, "a": 1}, "Unrecognized keys: 'z', 'a'"),
    ({"tool": {**REF, "extra": 1}}, "tool: Unrecognized key: 'extra'"),
    ({"tool": {**REF, "z": 1, "a": 1}}, "tool: Unrecognized keys: 'z', 'a'"),
    (
        {"tool": {**REF, "inner": 1}, "outer": 1},
        "Unrecognized key: 'outer'; tool: Unrecognized key: 'inner'",
    ),
    (
        {"arguments": None, "tool": {"name": 1, "x": 0, "server": ""}, "y": 0},
        "Unrecognized key: 'y'; tool: Unrecognized key: 'x'; tool.toolbox: Required; "
        f"{NO_SERVER}; tool.name: Expected a string; arguments: Expected an object",
    ),
    (
        {"tool": {"toolbox": "development", "server": "filesystem", "tool": "read_file"}},
        "tool: Unrecognized key: 'tool' (renamed to 'name'); tool.name: Required",
    ),
    (
        {"toolbox_name": "development", "tool_name": "read_file", "arguments": {}},
        f"Unrecognized keys: 'toolbox_name' {HINT}, 'tool_name' {HINT}; tool: Required",
    ),
    ({"tool": REF, "tool_name": "read_file"}, f"Unrecognized key: 'tool_name' {HINT}"),
    ({"tool": REF, "toolbox_name": "x"}, f"Unrecognized key: 'toolbox_name' {HINT}"),
    # A hint belongs to its place.
    ({"tool": {**REF, "toolbox_name": "x"}}, "tool: Unrecognized key: 'toolbox_name'"),
    ({"tool": {**REF, "tool_name": "x"}}, "tool: Unrecognized key: 'tool_name'"),
    ({"tool": {"toolbox": "nowhere", "server": "", "name": "x"}}, NO_SERVER),
]


@pytest.mark.parametrize(("arguments", "problems"), USE_ERRORS, ids=str)
def test_arguments_that_do_not_fit_use_tool_have_all_their_problems_told(
    client: Client, arguments: object, problems: str
) -> None:
    assert error(client, "use_tool", arguments) == f"Invalid tool invocation parameters: {problems}"


def test_use_tool_without_any_arguments_misses_its_tool(client: Client) -> None:
    response = client.request("tools/call", {"name": "use_tool"})
    assert text(response["result"]) == "Invalid tool invocation parameters: tool: Required"
