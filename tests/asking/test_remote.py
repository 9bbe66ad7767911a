"""Questions and log messages of remote servers of the official SDK, of both eras and on every transport."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from mcp.server.mcpserver import Context, MCPServer
from mcp.types import (
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequiredResult,
    SamplingMessage,
    TextContent,
)
from pydantic import BaseModel

from tests.asking.asked import EVERYTHING, LOG_LEVEL, greet, heard, modern, question, reply, start
from tests.remote import sdk
from tests.support.client import Client, text
from tests.support.launch import Launcher, configuration, toolbox

SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


class Name(BaseModel):
    name: str


def build() -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("far")

    @server.tool()
    async def greet(ctx: Context[Any, Any], then: float = 0) -> str:
        """Asks for a name, and thinks about it"""
        result = await ctx.elicit("who?", Name)
        await anyio.sleep(then)
        return result.data.name if result.action == "accept" else result.action

    @server.tool()
    async def later(ctx: Context[Any, Any]) -> str:
        """Asks in its result"""
        answers: Any = ctx.input_responses or {}
        if "who" not in answers:
            params = ElicitRequestFormParams(message="who?", requested_schema=SCHEMA)
            return InputRequiredResult(  # pyright: ignore[reportReturnType]
                input_requests={"who": ElicitRequest(params=params)}, request_state="s"
            )
        await ctx.report_progress(1, 2)
        return answers["who"].content["name"]

    @server.tool()
    async def sample(related: bool, ctx: Context[Any, Any]) -> str:
        """Asks for words, on the stream of the call or on the standing one"""
        said = SamplingMessage(role="user", content=TextContent(type="text", text="?"))
        related_id = ctx.request_id if related else None
        result = await ctx.session.create_message(
            messages=[said], max_tokens=5, related_request_id=related_id
        )
        return getattr(result.content, "text", "?")

    @server.tool()
    async def log(ctx: Context[Any, Any]) -> str:
        """Writes messages"""
        for level in ("debug", "error"):
            await ctx.log(level, level)
        return "logged"

    return server


@pytest.fixture(scope="module", params=["legacy", "sse"])
def legacy(request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    with sdk.running(request.param, build=build) as (url, _):
        yield {"url": url, **({"transport": "sse"} if request.param == "sse" else {})}


@pytest.fixture(scope="module")
def new() -> Iterator[dict[str, str]]:
    with sdk.running("modern-alone", build=build) as (url, _):
        yield {"url": url}


@pytest.fixture(scope="module")
def both() -> Iterator[dict[str, str]]:
    with sdk.running("modern", build=build) as (url, _):
        yield {"url": url}


def opened(workbench: Launcher, entry: dict[str, Any]) -> Client:
    client = workbench(configuration(dev=toolbox(far=entry)))
    greet(client)
    client.open("dev")
    return client


NAMED = {"action": "accept", "content": {"name": "Ada"}}


def test_a_legacy_server_asks_a_legacy_client(workbench: Launcher, legacy: dict[str, str]) -> None:
    client = opened(workbench, legacy)
    for _ in range(3):
        since = len(client.messages)
        call = start(client, "dev/far/greet")
        reply(client, question(client, since=since), NAMED)
        assert text(client.response(call)["result"]) == "Ada"


def test_a_remote_server_is_not_blamed_for_its_silence_while_the_user_thinks(
    workbench: Launcher, legacy: dict[str, str]
) -> None:
    client = opened(workbench, {**legacy, "limits": {"timeout": 20, "idleTimeout": 0.4}})
    call = start(client, "dev/far/greet")
    asked = question(client)
    time.sleep(1)
    reply(client, asked, NAMED)
    assert text(client.response(call)["result"]) == "Ada"
    call = start(client, "dev/far/greet", {"then": 20})
    reply(client, question(client, since=client.messages.index(asked) + 1), NAMED)
    assert "no progress for 0.4 s" in text(client.response(call)["result"])


def test_a_legacy_server_asks_on_either_stream(workbench: Launcher, legacy: dict[str, str]) -> None:
    client = opened(workbench, legacy)
    for related in (True, False):
        since = len(client.messages)
        call = start(client, "dev/far/sample", {"related": related})
        asked = question(client, "sampling/createMessage", since)
        words = {"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m"}
        reply(client, asked, words)
        assert text(client.response(call)["result"]) == "hi"


def test_a_legacy_server_asks_a_modern_client(workbench: Launcher, legacy: dict[str, str]) -> None:
    client = workbench(configuration(dev=toolbox(far=legacy)))
    client.open("dev", modern=True)
    asked = modern(client, "dev/far/greet")["result"]
    assert asked["resultType"] == "input_required"
    retry = {"inputResponses": dict.fromkeys(asked["inputRequests"], NAMED)}
    response = modern(client, "dev/far/greet", requestState=asked["requestState"], **retry)
    assert text(response["result"]) == "Ada"


@pytest.mark.parametrize("limits", [{}, {"idleTimeout": 5}])
def test_a_modern_server_asks_a_legacy_client(
    workbench: Launcher, new: dict[str, str], limits: dict[str, float]
) -> None:
    client = opened(workbench, {**new, "limits": limits})
    call = start(client, "dev/far/later")
    reply(client, question(client), NAMED)
    assert text(client.response(call)["result"]) == "Ada"


def test_a_modern_server_asks_a_modern_client(workbench: Launcher, new: dict[str, str]) -> None:
    client = workbench(configuration(dev=toolbox(far=new)))
    client.open("dev", modern=True)
    asked = modern(client, "dev/far/later", capabilities=EVERYTHING)["result"]
    retry = {"inputResponses": {"who": NAMED}, "requestState": asked["requestState"]}
    assert text(modern(client, "dev/far/later", **retry)["result"]) == "Ada"


def test_a_server_of_both_eras_asks_each_client_as_it_would_without_us(
    workbench: Launcher, both: dict[str, str]
) -> None:
    client = opened(workbench, both)
    call = start(client, "dev/far/greet")
    reply(client, question(client), NAMED)
    assert text(client.response(call)["result"]) == "Ada"
    asked = modern(client, "dev/far/later")["result"]
    assert asked["resultType"] == "input_required"
    assert not asked["requestState"].startswith("workbench.")


def test_log_messages_of_a_legacy_server_reach_their_client(
    workbench: Launcher, legacy: dict[str, str]
) -> None:
    client = opened(workbench, legacy)
    client.request("logging/setLevel", {"level": "error"})
    assert text(client.use("dev/far/log")) == "logged"
    assert heard(client) == ["error"]


def test_log_messages_of_a_modern_server_reach_whoever_asked(
    workbench: Launcher, new: dict[str, str]
) -> None:
    client = opened(workbench, new)
    assert text(client.use("dev/far/log")) == "logged"
    assert heard(client) == []
    modern(client, "dev/far/log", meta={LOG_LEVEL: "debug"})
    assert heard(client) == ["debug", "error"]
