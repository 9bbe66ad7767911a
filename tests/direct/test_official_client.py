"""The official SDK's client, of a toolbox that is served directly."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import httpx2
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import PromptReference

from tests.http.conftest import Serve, serve
from tests.support.launch import configuration, environment, toolbox, write_config

__all__ = ["serve"]

SERVER = {"command": sys.executable, "args": [str(Path(__file__).parent / "servers/conformant.py")]}
CONFIG = configuration(dev=toolbox(it=SERVER))
PATIENCE = 60.0
MODES = pytest.mark.parametrize("mode", ["legacy", "auto"])


async def use(client: Client) -> None:
    assert client.server_info is not None
    assert client.server_info.name == "conformant"
    listed = await client.list_tools()
    assert "test_simple_text" in [tool.name for tool in listed.tools]
    result = await client.call_tool("test_simple_text", {})
    assert result.content[0].model_dump()["text"] == "This is a simple text response for testing."
    read = await client.read_resource("test://static-text")
    assert read.contents[0].model_dump()["text"] == "This is the content of the static text resource."
    resources = await client.list_resources()
    assert "test://watched-resource" in [str(each.uri) for each in resources.resources]
    prompt = await client.get_prompt("test_prompt_with_arguments", {"arg1": "a", "arg2": "b"})
    assert "arg1='a', arg2='b'" in prompt.messages[0].content.model_dump()["text"]
    ref = PromptReference(type="ref/prompt", name="test_prompt_with_arguments")
    completed = await client.complete(ref, {"name": "arg1", "value": "v"})
    assert completed.completion.values == ["v-test_prompt_with_arguments"]


@MODES
def test_it_uses_everything_over_http(serve: Serve, mode: str) -> None:
    served = serve(CONFIG)
    url = served.url.replace("/mcp", "/toolboxes/dev/mcp")

    async def run() -> None:
        async with (
            httpx2.AsyncClient(headers=served.headers, timeout=30) as http,
            Client(streamable_http_client(url, http_client=http), mode=mode) as client,
        ):
            await use(client)

    asyncio.run(asyncio.wait_for(run(), PATIENCE))


@MODES
def test_it_uses_everything_on_stdio(tmp_path: Path, mode: str) -> None:
    env = {**environment(tmp_path), "WORKBENCH_CONFIG": str(write_config(tmp_path, CONFIG))}
    command = ["-m", "mcp_workbench", "serve", "--toolbox", "dev"]
    parameters = StdioServerParameters(command=sys.executable, args=command, env=env, cwd=tmp_path)

    async def run() -> None:
        async with Client(stdio_client(parameters), mode=mode) as client:
            await use(client)

    asyncio.run(asyncio.wait_for(run(), PATIENCE))
