"""The two meta-tools: how they are announced, and every error that is not one of their arguments' shape."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.client import Client, invocation, text
from tests.support.launch import Launcher, child, configuration, toolbox

INSTRUCTIONS = """\
## Available Toolboxes

- **development** (2 servers): Development environment tools
  - Use `open_toolbox` with toolbox name to access

- **production** (1 server): Production environment tools
  - Use `open_toolbox` with toolbox name to access

To open a toolbox and see available tools:
1. Call `open_toolbox` with the desired toolbox name
2. Inspect the returned tools array for available operations
3. Call `use_tool` with the tool's `toolbox`, `server` and `name`"""

AVAILABLE = "Available toolboxes: development, production"


@pytest.fixture(scope="module")
def client(shared_workbench: Launcher) -> Client:
    """`development` is open, `production` is not."""
    development = toolbox(
        description="Development environment tools",
        filesystem=child("echo", "read_file", toolFilters=["*", "!flood"]),
        modern=child("modern"),
    )
    production = toolbox(description="Production environment tools", only=child("echo"))
    client = shared_workbench(configuration(development=development, production=production))
    client.initialize()
    client.open("development")
    return client


def error(client: Client, tool: str, arguments: object) -> str:
    """The text of the error result that these arguments get."""
    result = client.call(tool, arguments)
    assert result["isError"] is True
    assert set(result) == {"content", "isError"}
    return text(result)


# How they are announced


def test_the_instructions_of_a_legacy_client_name_the_toolboxes_in_order(client: Client) -> None:
    assert client.initialize()["instructions"] == INSTRUCTIONS


def test_the_instructions_of_a_modern_client_are_the_same(client: Client) -> None:
    assert client.request("server/discover", modern=True)["result"]["instructions"] == INSTRUCTIONS


def test_without_toolboxes_the_instructions_say_so_and_how_to_add_one(workbench: Launcher) -> None:
    client = workbench(configuration())
    said = client.initialize()["instructions"]
    assert "No toolboxes are configured" in said
    assert '"toolboxes"' in said
    assert "mcpServers" in said
    refused = text(client.call("open_toolbox", {"toolbox": "dev"}))
    assert refused.startswith("Error: Toolbox 'dev' not found.")


def tools(client: Client) -> dict[str, Any]:
    return {tool["name"]: tool for tool in client.request("tools/list")["result"]["tools"]}


def test_there_are_two_tools_and_their_annotations_are_honest(client: Client) -> None:
    listed = tools(client)
    assert list(listed) == ["open_toolbox", "use_tool", "find_tools"]
    used, opened = listed["use_tool"]["annotations"], listed["open_toolbox"]["annotations"]
    assert (used["readOnlyHint"], used["destructiveHint"], used["openWorldHint"]) == (False, True, True)
    assert (opened["destructiveHint"], opened["idempotentHint"], opened["openWorldHint"]) == (
        False,
        True,
        True,
    )


def test_the_description_of_open_toolbox_ends_with_the_toolboxes(client: Client) -> None:
    last = tools(client)["open_toolbox"]["description"].splitlines()[-2:]
    assert "development" in last[0]
    assert last[0].endswith("Development environment tools")
    assert "production" in last[1]
    assert last[1].endswith("Production environment tools")


def test_the_input_schemas_are_as_strict_as_the_checks(client: Client) -> None:
    opened, used = tools(client)["open_toolbox"]["inputSchema"], tools(client)["use_tool"]["inputSchema"]
    assert opened["additionalProperties"] is False
    assert opened["required"] == ["toolbox"]
    assert opened["properties"]["detail"]["enum"] == ["json", "signature"]
    assert used["additionalProperties"] is False
    assert used["required"] == ["tool"]
    assert used["properties"]["tool"]["additionalProperties"] is False
    assert sorted(used["properties"]["tool"]["required"]) == ["name", "server", "toolbox"]


def test_open_toolbox_declares_its_output_and_use_tool_cannot(client: Client) -> None:
    assert tools(client)["open_toolbox"]["outputSchema"]["type"] == "object"
    assert "outputSchema" not in tools(client)["use_tool"]


def test_no_announcement_uses_a_retired_name(client: Client) -> None:
    said = str(tools(client)) + INSTRUCTIONS
    for retired in ("toolbox_name", "tool_name", "source server"):
        assert retired not in said


# A call of a tool that we do not have


def test_a_tool_of_an_open_toolbox_called_directly_is_told_its_exact_identifier(client: Client) -> None:
    assert error(client, "read_file", {}) == (
        "Unknown tool 'read_file'. Tools of a toolbox are called through use_tool: "
        '{"tool": {"toolbox": "development", "server": "filesystem", "name": "read_file"}, "arguments": {…}}'
    )


def test_a_tool_that_nobody_has_is_told_how_tools_are_called(client: Client) -> None:
    said = error(client, "nothing", {})
    assert said.startswith(
        "Unknown tool 'nothing'. Tools of a toolbox are called through use_tool: {\"tool\": "
    )
    assert '"name": "nothing"}, "arguments": {…}}' in said


# What cannot be opened or called


def test_when_all_servers_fail_the_error_has_every_reason_in_order(workbench: Launcher) -> None:
    client = workbench(
        configuration(
            dev=toolbox(a=child("starting", "exits", "no database"), b={"command": "/nowhere/at/all"}),
            ok=toolbox(),
        )
    )
    result = client.call("open_toolbox", {"toolbox": "dev"})
    assert result["isError"] is True
    first, second = text(result).split("; Failed to connect to server 'b' in toolbox 'dev': ")
    assert first.startswith("Error opening toolbox 'dev': Failed to connect to server 'a' in toolbox 'dev': ")
    assert "no database" in first
    assert "/nowhere/at/all" in second
    assert text(client.use("dev/a/hello")) == (
        "Error executing tool: Toolbox 'dev' is not open. Call open_toolbox first."
    )


CALL_ERRORS = [
    ("production/only/echo", "Toolbox 'production' is not open. Call open_toolbox first."),
    ("production/nobody/nothing", "Toolbox 'production' is not open. Call open_toolbox first."),
    ("nowhere/nobody/nothing", f"Toolbox 'nowhere' not found. {AVAILABLE}"),
    ("Development/filesystem/echo", f"Toolbox 'Development' not found. {AVAILABLE}"),
    ("development/database/nothing", "Server 'database' not found in toolbox 'development'"),
    ("development/Filesystem/echo", "Server 'Filesystem' not found in toolbox 'development'"),
    ("development/only/echo", "Server 'only' not found in toolbox 'development'"),
    (
        "development/filesystem/delete_all",
        "Tool 'delete_all' not found in server 'filesystem' (toolbox 'development')",
    ),
    ("development/filesystem/Echo", "Tool 'Echo' not found in server 'filesystem' (toolbox 'development')"),
    ("development/filesystem/flood", "Tool 'flood' not found in server 'filesystem' (toolbox 'development')"),
    ("development/modern/echo", "Tool 'echo' not found in server 'modern' (toolbox 'development')"),
]


@pytest.mark.parametrize(("ref", "said"), CALL_ERRORS)
def test_what_cannot_be_called_is_told_in_the_order_toolbox_server_tool(
    client: Client, ref: str, said: str
) -> None:
    assert error(client, "use_tool", invocation(ref)) == f"Error executing tool: {said}"


# What the downstream server says

FAILED = "Error executing tool 'fail' in server 'filesystem' (toolbox 'development'): "


def test_a_downstream_error_is_a_result_that_holds_its_message(client: Client) -> None:
    said = error(client, "use_tool", invocation("development/filesystem/fail", {"message": "disk on fire"}))
    assert said.startswith(FAILED)
    assert "disk on fire" in said


def test_a_downstream_refusal_of_the_arguments_is_a_result_that_holds_its_message(client: Client) -> None:
    arguments = {"code": -32602, "message": "path is missing"}
    result = client.use("development/filesystem/fail", arguments)
    assert result["isError"] is True
    assert result["content"][0]["text"].startswith(FAILED)
    assert "path is missing" in result["content"][0]["text"]


def test_a_downstream_result_with_is_error_is_the_result_itself(client: Client) -> None:
    downstream = '{"isError": true, "content": [], "_meta": {"a": 1}, "unknown": null}'
    assert client.use("development/filesystem/raw", {"json": downstream}) == {
        "isError": True,
        "content": [],
        "_meta": {"a": 1},
        "unknown": None,
    }


def test_arguments_left_out_are_an_empty_object(client: Client) -> None:
    assert text(client.use("development/filesystem/echo")) == "{}"


def test_arguments_reach_the_server_as_they_are(client: Client) -> None:
    arguments = {"z": [1, None, {"é": "\u2028"}], "a": 12345678901234567890, "tool": "x", "": 1.5}
    assert json.loads(text(client.use("development/filesystem/echo", arguments))) == arguments


URL_NEEDED = {"code": -32042, "message": "Open a page first", "data": {"elicitations": [{"url": "x"}]}}
CAPABILITY_NEEDED = {"code": -32021, "message": "Needs sampling", "data": {"requiredCapabilities": {"a": {}}}}


def test_url_elicitation_reaches_the_revision_that_knows_it_untouched(workbench: Launcher) -> None:
    client = workbench(configuration(development=toolbox(filesystem=child("echo"))))
    client.open("development")
    call = {"name": "use_tool", "arguments": invocation("development/filesystem/fail", URL_NEEDED)}
    client.initialize("2025-11-25")
    assert client.request("tools/call", call)["error"] == URL_NEEDED
    client.initialize("2025-06-18")
    assert text(client.request("tools/call", call)["result"]).startswith(FAILED)
    response = client.request("tools/call", call, modern=True)
    assert response["result"]["isError"] is True
    assert "Open a page first" in text(response["result"])


def test_a_missing_capability_reaches_a_modern_client_untouched(client: Client) -> None:
    call = {"name": "use_tool", "arguments": invocation("development/modern/fail", CAPABILITY_NEEDED)}
    assert client.request("tools/call", call, modern=True)["error"] == CAPABILITY_NEEDED
    assert client.request("tools/call", call)["result"]["isError"] is True


@pytest.mark.parametrize("retry", [{"inputResponses": {}}, {"requestState": "s"}])
def test_any_error_that_answers_a_retry_is_the_error_itself(client: Client, retry: dict[str, Any]) -> None:
    wrong = {"code": -32000, "message": "state unknown", "data": [1]}
    call = {"name": "use_tool", "arguments": invocation("development/modern/fail", wrong), **retry}
    assert client.request("tools/call", call, modern=True)["error"] == wrong


def test_no_error_text_uses_a_retired_name_for_anything_else(client: Client) -> None:
    said = [error(client, "use_tool", invocation(ref)) for ref, _ in CALL_ERRORS]
    said += [error(client, "open_toolbox", {"toolbox": value}) for value in ("", "x", 1)]
    said += [error(client, "use_tool", {"tool": tool}) for tool in ({}, 1, {"name": ""})]
    for retired in ("toolbox_name", "tool_name", "source server"):
        assert not [each for each in said if retired in each]
