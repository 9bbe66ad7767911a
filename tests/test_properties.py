"""What holds for any input: results come out equal, bad arguments get errors, no bytes silence us."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from tests.support import json_text
from tests.support.client import Client
from tests.support.json_text import Pairs, exactly
from tests.support.launch import Launcher, child, configuration, toolbox

# One workbench serves all examples, which share nothing but its process.
examples = settings(
    max_examples=150,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(scope="module")
def client(shared_workbench: Launcher) -> Client:
    client = shared_workbench(configuration(dev=toolbox(old=child("echo"), new=child("modern"))))
    client.initialize()
    client.open("dev")
    return client


def members(line: bytes) -> dict[str, Any]:
    return dict(exactly(line))


# Results

RESULT_KEYS = json_text.keys_such_as("content", "isError", "structuredContent", "_meta", "resultType", "type")
results = json_text.objects(json_text.values, RESULT_KEYS)


def passed_on(client: Client, server: str, result: str, *, modern: bool) -> Pairs:
    """The members of what comes of a result."""
    heard = len(client.lines)
    client.use(f"dev/{server}/raw", {"json": result}, modern=modern)
    assert len(client.lines) == heard + 1
    return members(client.lines[heard])["result"]


@examples
@given(result=results)
def test_any_result_reaches_a_client_of_its_servers_era_untouched(client: Client, result: str) -> None:
    assert passed_on(client, "old", result, modern=False) == exactly(result)


@examples
@given(result=results, server=st.sampled_from(["old", "new"]))
def test_any_result_reaches_a_modern_client_with_a_result_type_and_nothing_else(
    client: Client, result: str, server: str
) -> None:
    came: list[Any] = list(passed_on(client, server, result, modern=True))
    if "resultType" not in dict(exactly(result)):
        came.remove(("resultType", "complete"))
    assert tuple(came) == exactly(result)


@examples
@given(result=json_text.objects(json_text.values, RESULT_KEYS, unique=True))
def test_any_modern_result_reaches_a_legacy_client_with_structured_content_that_is_an_object(
    client: Client, result: str
) -> None:
    expected = tuple(
        (key, Pairs([("result", value)]) if key == "structuredContent" and not _is_object(value) else value)
        for key, value in exactly(result)
    )
    assert passed_on(client, "new", result, modern=False) == expected


def _is_object(value: object) -> bool:
    return isinstance(value, Pairs)


@examples
@given(arguments=json_text.objects(json_text.values))
def test_any_arguments_reach_the_server_as_they_are(client: Client, arguments: str) -> None:
    # `seen` tells what Python's own reader made of them, so that is what they are compared by.
    call = f'{{"tool":{{"toolbox":"dev","server":"old","name":"seen"}},"arguments":{arguments}}}'
    seen = json.loads(_called(client, "use_tool", call)["result"]["content"][0]["text"])
    assert json.dumps(seen["arguments"]) == json.dumps(json.loads(arguments))


# Arguments of the meta-tools


def _called(client: Client, tool: str, arguments: str) -> Any:
    heard = len(client.messages)
    params = f'{{"name":"{tool}","arguments":{arguments}}}'
    line = f'{{"jsonrpc":"2.0","id":"call","method":"tools/call","params":{params}}}\n'
    client.send_bytes(line.encode())
    return client.response("call", since=heard, timeout=3)


def error_text(client: Client, tool: str, arguments: str) -> str | None:
    """The text of the error result, which is the only kind of error there may be."""
    response = _called(client, tool, arguments)
    assert "result" in response, response
    result = response["result"]
    if not result.get("isError"):
        return None
    (block,) = result["content"]
    assert set(result) == {"content", "isError"}
    assert block["type"] == "text"
    return block["text"]


def says(said: str | None, expected: str) -> bool:
    """Whether an error text is the expected one; what no UTF-8 can say may be said in any way."""
    if any("\ud800" <= character <= "\udfff" for character in expected):
        return said is not None and said.startswith(expected.split(":")[0])
    return said == expected


def unrecognized(keys: list[str], hints: dict[str, str]) -> str:
    named = ", ".join(f"'{key}'" + (f" ({hints[key]})" if key in hints else "") for key in keys)
    return f"Unrecognized key{'s'[: len(keys) > 1]}: {named}"


open_arguments = json_text.values | json_text.objects(
    json_text.values | st.sampled_from(['""', '"dev"', '"nowhere"', '" "', '"json"']),
    json_text.keys_such_as("toolbox", "toolbox", "detail", "toolbox_name"),
)


@examples
@given(text=open_arguments)
def test_any_arguments_of_open_toolbox_get_the_answer_of_the_contract(client: Client, text: str) -> None:
    said = error_text(client, "open_toolbox", text)
    given: Any = json.loads(text)
    if not isinstance(given, dict):
        assert said is not None
        assert said.startswith("Invalid parameters: ")
        return
    problems: list[str] = []
    if unknown := [key for key in given if key not in ("toolbox", "detail")]:
        problems.append(unrecognized(unknown, {"toolbox_name": "renamed to 'toolbox'"}))
    name = given.get("toolbox")
    if "toolbox" not in given:
        problems.append("toolbox is required. Available toolboxes: dev")
    elif not isinstance(name, str):
        problems.append("toolbox must be a string. Available toolboxes: dev")
    elif not name.strip():
        problems.append("toolbox cannot be empty. Available toolboxes: dev")
    if "detail" in given and given["detail"] not in ("json", "signature"):
        assert said is not None
        assert said.startswith("Invalid parameters: ")
        assert "detail" in said  # in words that are free
    elif problems:
        assert says(said, f"Invalid parameters: {'; '.join(problems)}")
    elif name == "dev":
        assert said is None
    else:
        assert says(said, f"Error: Toolbox '{name}' not found. Available toolboxes: dev")


tools = json_text.values | json_text.objects(
    json_text.values | st.sampled_from(['""', '"dev"', '"old"', '"echo"', '" "', "5"]),
    json_text.keys_such_as("toolbox", "server", "name", "tool"),
)
use_arguments = json_text.values | json_text.objects(
    tools, json_text.keys_such_as("tool", "tool", "arguments", "toolbox_name", "tool_name")
)


@examples
@given(text=use_arguments)
def test_any_arguments_of_use_tool_get_the_answer_of_the_contract(client: Client, text: str) -> None:
    said = error_text(client, "use_tool", text)
    given: Any = json.loads(text)
    if not isinstance(given, dict):
        assert said is not None
        assert said.startswith("Invalid tool invocation parameters: ")
    elif problems := shape_problems(given):
        assert says(said, f"Invalid tool invocation parameters: {'; '.join(problems)}")
    else:
        assert said is None or said.startswith("Error executing tool")


RENAMED = "renamed to 'name'"


def shape_problems(given: dict[str, Any]) -> list[str]:
    hint = "use 'tool': {toolbox, server, name}"
    nouns = {"toolbox": "Toolbox", "server": "Server", "name": "Tool"}
    problems: list[str] = []
    tool = given.get("tool")
    if unknown := [key for key in given if key not in ("tool", "arguments")]:
        problems.append(unrecognized(unknown, {"toolbox_name": hint, "tool_name": hint}))
    if isinstance(tool, dict) and (unknown := [key for key in tool if key not in nouns]):
        problems.append(f"tool: {unrecognized(unknown, {'tool': RENAMED})}")
    if "tool" not in given:
        problems.append("tool: Required")
    elif not isinstance(tool, dict):
        problems.append("tool: Expected an object")
    else:
        for part, noun in nouns.items():
            if part not in tool:
                problems.append(f"tool.{part}: Required")
            elif not isinstance(tool[part], str):
                problems.append(f"tool.{part}: Expected a string")
            elif not tool[part].strip():
                problems.append(f"tool.{part}: {noun} name cannot be empty")
    if "arguments" in given and not isinstance(given["arguments"], dict):
        problems.append("arguments: Expected an object")
    return problems


# Bytes

REQUEST = (
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"use_tool","arguments":{"tool":{"toolbox":'
    b'"dev","server":"old","name":"echo"},"arguments":{"a":[1,{}]}},"_meta":{"progressToken":"t"}}}'
)


@st.composite
def broken_requests(draw: st.DrawFn) -> bytes:
    """A good request with a few bytes taken out or put in."""
    line = bytearray(REQUEST)
    for _ in range(draw(st.integers(1, 4))):
        position = draw(st.integers(0, len(line)))
        line[position : position + draw(st.integers(0, 3))] = draw(st.binary(max_size=3))
    return bytes(line)


@st.composite
def odd_requests(draw: st.DrawFn) -> bytes:
    """Members that a request has, with any values at all."""
    methods = st.sampled_from(['"ping"', '"tools/call"', '"initialize"', '"subscriptions/listen"'])
    keys = json_text.keys_such_as("jsonrpc", "id", "method", "params", "result", "error")
    return draw(json_text.objects(json_text.values | methods, keys)).encode()


@examples
@given(lines=st.lists(st.binary(max_size=60) | broken_requests() | odd_requests(), min_size=1, max_size=5))
def test_no_bytes_silence_the_workbench(client: Client, lines: list[bytes]) -> None:
    heard, warned = len(client.messages), len(client.stderr)
    client.send_bytes(b"\n".join(lines) + b"\n")
    client.send({"jsonrpc": "2.0", "id": "still there?", "method": "ping"})
    assert client.response("still there?", since=heard, timeout=3)["result"] == {}
    assert "Traceback" not in client.stderr[warned:]
