"""A server that we built with the SDK: both eras, every form of result, and what happens during a call."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ToolsListChanged

from .conftest import workbench_config, workbench_parameters
from .oracle import ERAS, LEGACY, MODERN, PATIENCE, Json, Oracle, Server, Through, Tools

REFUSED = "Error executing tool '{}' in server 'crafted' (toolbox 'crafted'): {}"


def test_the_definitions_are_listed_as_the_sdk_wrote_them(oracle: Oracle, crafted: Server) -> None:
    tools = {tool["name"]: tool for tool in oracle.everywhere(crafted, lambda tools: tools.listed())}
    assert tools["add"]["_meta"] == {"example.com/owner": {"team": "sums", "levels": [1, 2.5, None]}}
    assert tools["add"]["icons"]
    assert tools["add"]["annotations"] == {"readOnlyHint": True, "openWorldHint": False}
    assert not tools["nothing"].get("description")


@pytest.mark.parametrize(
    ("tool", "arguments", "structured"),
    [
        ("add", {"a": 2**70, "b": 1}, {"result": 2**70 + 1}),
        ("words", {"text": "one two"}, {"result": ["one", "two"]}),
        ("nothing", None, {"result": None}),
        ("middle", {"a": {"x": 0, "y": 0}, "b": {"x": 4, "y": 5}}, {"x": 2, "y": 2.5}),
        ("failed", None, {"code": 7}),
        ("media", None, None),
    ],
)
def test_structured_output_of_every_kind_comes_out_equal(
    tool: str, arguments: Json | None, structured: Any, oracle: Oracle, crafted: Server
) -> None:
    result = oracle.everywhere(crafted, lambda tools: tools.call(tool, arguments))
    assert result.get("structuredContent") == structured


def test_structured_content_that_is_no_object_is_wrapped_for_an_older_client_alone(
    oracle: Oracle, crafted: Server
) -> None:
    direct = oracle.run(oracle.direct(crafted).call, "bare_array")
    assert direct["structuredContent"] == [1, 2, {"three": 3}]
    assert oracle.run(oracle.through(crafted, MODERN).call, "bare_array") == direct
    wrapped = {**direct, "structuredContent": {"result": direct["structuredContent"]}}
    assert oracle.run(oracle.through(crafted, LEGACY).call, "bare_array") == wrapped


def test_meta_of_names_that_nobody_knows_comes_out_equal(oracle: Oracle, crafted: Server) -> None:
    result = oracle.everywhere(crafted, lambda tools: tools.call("labelled"))
    assert result["_meta"]["example.com/trace"] == {"id": "00-ab", "hops": [1, 2]}
    [link] = result["content"]
    assert link["_meta"] == {"example.com/rank": 1}
    assert link["annotations"] == {"audience": ["user"], "priority": 0.25}


def test_meta_of_a_request_reaches_the_tool(oracle: Oracle, crafted: Server) -> None:
    meta = {"example.com/tenant": {"id": 7}, "traceparent": "00-0af7651916cd43dd8448eb211c80319c-01"}
    result = oracle.everywhere(crafted, lambda tools: tools.call("asked_with", meta=dict(meta)))
    assert result["structuredContent"] == meta


def test_a_tool_that_raises_is_an_error_result_of_its_own_words(oracle: Oracle, crafted: Server) -> None:
    result = oracle.everywhere(crafted, lambda tools: tools.call("raises"))
    assert result["isError"] is True
    assert "no paper left" in result["content"][0]["text"]


@pytest.mark.parametrize("era", ERAS)
def test_an_error_of_the_protocol_becomes_an_error_result_with_the_message_of_the_server(
    era: str, oracle: Oracle, crafted: Server
) -> None:
    with pytest.raises(MCPError, match="closed on Sundays"):
        oracle.run(oracle.direct(crafted).call, "refuses")
    result = oracle.run(oracle.through(crafted, era).call, "refuses")
    text = {"type": "text", "text": REFUSED.format("refuses", "closed on Sundays")}
    assert result == {"content": [text], "isError": True}


@pytest.mark.parametrize("era", ERAS)
def test_a_server_that_finds_the_parameters_invalid_is_quoted_with_the_signature_of_the_tool(
    era: str, oracle: Oracle, crafted: Server
) -> None:
    result = oracle.run(oracle.through(crafted, era).call, "picky", {"colour": "seven"})
    assert result["isError"] is True
    refusal, signature = result["content"]
    assert refusal["text"] == REFUSED.format("picky", "seven is no colour")
    assert "picky" in signature["text"]
    assert "colour" in signature["text"]


def test_an_error_that_sends_the_user_to_a_page_reaches_the_client_that_knows_it(
    oracle: Oracle, crafted: Server
) -> None:
    with pytest.raises(MCPError) as direct:
        oracle.run(oracle.direct(crafted).call, "sends_away")
    assert direct.value.code == -32042
    with pytest.raises(MCPError) as through:
        oracle.run(oracle.through(crafted, LEGACY).call, "sends_away")
    assert through.value.error == direct.value.error
    result = oracle.run(oracle.through(crafted, MODERN).call, "sends_away")
    assert result["content"][0]["text"] == REFUSED.format("sends_away", "Sign in first")


@pytest.mark.parametrize("era", ERAS)
def test_a_server_that_dies_mid_call_is_quoted_and_started_again_by_the_next_call(
    era: str, fresh_oracle: Oracle, crafted: Server
) -> None:
    tools = fresh_oracle.through(crafted, era)
    result = fresh_oracle.run(tools.call, "dies")
    assert result["isError"] is True
    assert result["content"][0]["text"].startswith(REFUSED.format("dies", ""))
    assert "out of ink" in result["content"][0]["text"]
    again = fresh_oracle.run(tools.call, "add", {"a": 1, "b": 2})
    assert again["structuredContent"] == {"result": 3}


def test_arguments_that_do_not_fit_are_refused_in_the_words_of_the_server(
    oracle: Oracle, crafted: Server
) -> None:
    result = oracle.everywhere(crafted, lambda tools: tools.call("add", {"a": "one", "b": []}))
    assert result["isError"] is True


@pytest.mark.parametrize("era", ERAS)
def test_a_tool_of_a_toolbox_that_is_called_by_its_own_name_is_explained(
    era: str, oracle: Oracle, crafted: Server
) -> None:
    client = oracle.through(crafted, era).client
    result = oracle.run(client.call_tool, "labelled")
    assert result.is_error
    assert '{"toolbox": "crafted", "server": "crafted", "name": "labelled"}' in str(result.content)


def test_progress_with_fractions_and_messages_reaches_the_client(
    oracle: Oracle, crafted: Server, tmp_path: Path
) -> None:
    async def body(tools: Tools) -> list[Any]:
        told: list[Any] = []

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            told.append([progress, total, message])

        await tools.call("wait", {"seconds": 0.2, "ended": str(tmp_path / "ended")}, on_progress=hear)
        return told

    told = oracle.everywhere(crafted, body)
    assert told == [[tenth / 10, 1, f"{tenth} of 10"] for tenth in range(1, 11)]


def test_a_call_that_the_client_cancels_ends_at_the_server(
    oracle: Oracle, crafted: Server, tmp_path: Path
) -> None:
    ended = tmp_path / "ended"

    async def body(tools: Tools) -> list[str]:
        ended.unlink(missing_ok=True)
        running = asyncio.Event()

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            running.set()

        arguments = {"seconds": 8, "ended": str(ended)}
        call = asyncio.create_task(tools.call("wait", arguments, on_progress=hear))
        await asyncio.wait_for(running.wait(), PATIENCE)
        call.cancel()
        for _ in range(100):
            if ended.exists():
                break
            await asyncio.sleep(0.05)
        after = await tools.call("add", {"a": 1, "b": 1})
        return [ended.read_text(), after["content"][0]["text"]]

    assert oracle.everywhere(crafted, body) == ["cancelled", "2"]


async def _blue(_: object, question: types.ElicitRequestParams) -> types.ElicitResult:
    assert question.message == "What is your favourite colour?"
    return types.ElicitResult(action="accept", content={"colour": "blue"})


def test_a_question_to_the_user_and_its_answer_pass_between_a_modern_client_and_server(
    fresh_oracle: Oracle, crafted: Server, tmp_path: Path
) -> None:
    direct = fresh_oracle.connect(StdioServerParameters(**crafted.entry), MODERN, elicitation_callback=_blue)
    config = workbench_config(tmp_path, crafted)
    through = fresh_oracle.connect(workbench_parameters(config), MODERN, elicitation_callback=_blue)
    tool = {"toolbox": "crafted", "server": "crafted", "name": "paint"}

    async def both() -> list[types.CallToolResult]:
        await through.call_tool("open_toolbox", {"toolbox": "crafted"})
        return [
            await direct.call_tool("paint", {"thing": "door"}),
            await through.call_tool("use_tool", {"tool": tool, "arguments": {"thing": "door"}}),
        ]

    expected, result = fresh_oracle.run(both)
    assert not expected.is_error
    assert "the door is blue now" in str(expected.content)
    assert result == expected


def test_a_client_that_cannot_ask_its_user_is_told_so_in_the_terms_of_the_protocol(
    oracle: Oracle, crafted: Server
) -> None:
    refusals: list[MCPError] = []
    for tools in (oracle.direct(crafted), oracle.through(crafted, MODERN)):
        with pytest.raises(MCPError) as refusal:
            oracle.run(tools.call, "paint", {"thing": "door"})
        refusals.append(refusal.value)
    direct, through = refusals
    assert direct.code == -32021
    assert through.error == direct.error


def test_a_tool_that_a_server_learns_is_announced_listed_and_callable(
    fresh_oracle: Oracle, crafted: Server
) -> None:
    async def body(tools: Tools) -> list[Any]:
        async with tools.client.listen(tools_list_changed=True) as events:
            await tools.call("learn", {"name": "dance"})
            event = await asyncio.wait_for(anext(events), PATIENCE)
            assert event == ToolsListChanged()
        names = [tool["name"] for tool in await tools.listed()]
        return [names, (await tools.call("dance"))["content"]]

    direct = fresh_oracle.run(body, fresh_oracle.direct(crafted))
    assert direct[0][-1] == "dance"
    assert fresh_oracle.run(body, fresh_oracle.through(crafted, MODERN)) == direct


def test_an_older_client_is_told_of_what_a_server_learns_without_asking(
    fresh_oracle: Oracle, crafted: Server, tmp_path: Path
) -> None:
    told: asyncio.Queue[object] = asyncio.Queue()

    async def hear(message: object) -> None:
        told.put_nowait(message)

    config = workbench_config(tmp_path, crafted)
    client = fresh_oracle.connect(workbench_parameters(config), LEGACY, message_handler=hear)
    tools = Through(client, "crafted", "crafted")

    async def body() -> list[str]:
        await tools.open()
        await tools.call("learn", {"name": "dance"})
        while not isinstance(await asyncio.wait_for(told.get(), PATIENCE), types.ToolListChangedNotification):
            pass
        return [tool["name"] for tool in await tools.listed()]

    assert fresh_oracle.run(body)[-1] == "dance"


@pytest.mark.parametrize("mode", ["auto", *ERAS])
def test_the_sdk_connects_in_every_mode_and_is_told_of_the_toolboxes(
    mode: str, fresh_oracle: Oracle, tmp_path: Path, crafted: Server
) -> None:
    config = workbench_config(tmp_path, crafted)
    client = fresh_oracle.connect(workbench_parameters(config), mode)

    async def names() -> list[str]:
        return [tool.name for tool in (await client.list_tools()).tools]

    assert client.protocol_version == ("2025-11-25" if mode == LEGACY else MODERN)
    assert fresh_oracle.run(names) == ["open_toolbox", "use_tool", "find_tools"]
    if mode != MODERN:  # which asks no server for its instructions
        assert client.instructions is not None
        assert "- **crafted** (1 server): Only crafted" in client.instructions
