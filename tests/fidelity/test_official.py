"""The official SDK's client, and servers that others wrote: not our reading against our reading."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.http.served import Served
from tests.real import node
from tests.support.client import PATIENCE, invocation
from tests.support.launch import configuration, environment, toolbox, write_config

from .client import Asker, OverHttp

pytestmark = [pytest.mark.node, pytest.mark.filterwarnings("ignore:The logging capability is deprecated")]

CONFORMANT = str(Path(__file__).parent.parent / "direct" / "servers" / "conformant.py")
EVERYTHING = ("@modelcontextprotocol/server-everything", "dist", "index.js")
LIMIT = 60.0


class Fleet(NamedTuple):
    """The servers, in a workbench that serves them over HTTP."""

    served: Served
    entries: dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def fleet(node_program: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    everything = [node_program, node.package(*EVERYTHING)]
    conformant = [sys.executable, CONFORMANT]
    ports = free_ports(3)
    with contextlib.ExitStack() as stack:
        env = {**environment(tmp_path_factory.mktemp("servers")), "PORT": str(ports[0])}
        for command in (
            [*everything, "streamableHttp"],
            [*conformant, str(ports[1])],
            [*conformant, str(ports[2]), "legacy"],
        ):
            stack.enter_context(running(command, env))
        for port in ports:
            wait_until_open(port)
        entries: dict[str, dict[str, Any]] = {
            "everything-child": {"command": everything[0], "args": [everything[1], "stdio"]},
            "everything-remote": {"url": f"http://localhost:{ports[0]}/mcp"},
            "sdk-modern-child": {"command": conformant[0], "args": conformant[1:]},
            "sdk-modern-remote": {"url": f"http://localhost:{ports[1]}/mcp"},
            "sdk-legacy-remote": {"url": f"http://localhost:{ports[2]}/mcp"},
        }
        config = configuration(**{name: toolbox(it=entry) for name, entry in entries.items()})
        yield Fleet(stack.enter_context(Served(tmp_path_factory.mktemp("fleet"), config)), entries)


@contextlib.contextmanager
def running(command: list[str], env: dict[str, str]) -> Iterator[None]:
    process = subprocess.Popen(
        command,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE)


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        probes = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [probe.getsockname()[1] for probe in probes]


def wait_until_open(port: int) -> None:
    until = time.monotonic() + LIMIT
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("localhost", port), 1.0):
            return
        assert time.monotonic() < until
        time.sleep(0.05)


class Person:
    """Who sits before the client, and what was put to them."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.logged: list[types.LoggingMessageNotificationParams] = []

    async def elicit(self, context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        self.asked.append(params.message)
        if isinstance(params, types.ElicitRequestURLParams):
            return types.ElicitResult(action="accept")
        fields = params.requested_schema["properties"]
        known: dict[str, Any] = {"name": "Ada", "response": "certainly", "color": "blue", "ok": True}
        return types.ElicitResult(
            action="accept", content={key: known[key] for key in fields if key in known}
        )

    async def sample(
        self, context: Any, params: types.CreateMessageRequestParams
    ) -> types.CreateMessageResult:
        self.asked.append("sample")
        content = types.TextContent(type="text", text="from the model")
        return types.CreateMessageResult(role="assistant", content=content, model="small")

    async def roots(self, context: Any) -> types.ListRootsResult:
        self.asked.append("roots")
        root = types.Root.model_validate({"uri": "file:///home/ada", "name": "home"})
        return types.ListRootsResult(roots=[root])

    async def log(self, params: types.LoggingMessageNotificationParams) -> None:
        self.logged.append(params)


class Talk(NamedTuple):
    """A client that is connected, and how it calls the tools of its server."""

    client: Client
    person: Person
    way: str
    server: str

    async def call(self, tool: str, arguments: dict[str, Any] | None = None, **options: Any) -> str:
        """The text of the result."""
        given = arguments or {}
        if self.way == "use_tool":
            tool, given = "use_tool", invocation(f"{self.server}/it/{tool}", given)
        result = await self.client.call_tool(tool, given, **options)
        said = "\n".join(each.text for each in result.content if isinstance(each, types.TextContent))
        assert not result.is_error, said
        return said


@contextlib.asynccontextmanager
async def talk(
    fleet: Fleet, folder: Path, mode: str, server: str, way: str, transport: str
) -> AsyncIterator[Talk]:
    person = Person()
    async with contextlib.AsyncExitStack() as stack:
        carrier = await reach(stack, fleet, folder, server, way, transport)
        client = Client(
            carrier,
            mode=mode,
            elicitation_callback=person.elicit,
            sampling_callback=person.sample,
            list_roots_callback=person.roots,
            logging_callback=person.log,
            log_level="info" if mode != "legacy" else None,
        )
        await stack.enter_async_context(client)
        if way == "use_tool":
            opened = await client.call_tool("open_toolbox", {"toolbox": server})
            assert not opened.is_error
        yield Talk(client, person, way, server)


async def reach(
    stack: contextlib.AsyncExitStack, fleet: Fleet, folder: Path, server: str, way: str, transport: str
) -> Any:
    entry = fleet.entries[server]
    if transport == "stdio":
        if way == "alone":
            return stdio_client(StdioServerParameters(command=entry["command"], args=entry["args"]))
        config = write_config(folder, configuration(**{server: toolbox(it=entry)}))
        args = ["serve", "--toolbox", server] if way == "toolbox" else []
        env = {**environment(folder), "WORKBENCH_CONFIG": str(config)}
        return stdio_client(
            StdioServerParameters(
                command=sys.executable, args=["-m", "mcp_workbench", *args], env=env, cwd=folder
            )
        )
    http = await stack.enter_async_context(httpx2.AsyncClient(headers=fleet.served.headers, timeout=30))
    path = f"/toolboxes/{server}/mcp" if way == "toolbox" else "/mcp"
    url = entry["url"] if way == "alone" else fleet.served.url.replace("/mcp", path)
    return streamable_http_client(url, http_client=http)


async def use_everything(talk: Talk) -> None:
    """npm's server-everything, which asks by requests."""
    call, person = talk.call, talk.person
    assert "Echo: hello" in await call("echo", {"message": "hello"})
    told: asyncio.Queue[float] = asyncio.Queue()

    async def progress(done: float, total: float | None, message: str | None) -> None:
        await told.put(done)

    slow = {"duration": 0.3, "steps": 3}
    await call("trigger-long-running-operation", slow, progress_callback=progress)
    # The client tells of progress in tasks of their own, which may end after the call.
    assert [await told.get() for _ in range(3)] == [1, 2, 3]
    for _ in range(2):
        assert "Name: Ada" in await call("trigger-elicitation-request")
    assert person.asked.count("Please provide inputs for the following fields:") == 2
    assert "from the model" in await call("trigger-sampling-request", {"prompt": "Say something"})
    assert "file:///home/ada" in await call("get-roots-list")
    url = {"url": "https://example.com/sign-in", "message": "Sign in there"}
    assert "User completed" in await call("trigger-url-elicitation", url)
    assert person.asked[-1] == "Sign in there"


async def use_legacy_sdk(talk: Talk) -> None:
    """The SDK's server, which asks by requests up to 2025-11-25."""
    call, person = talk.call, talk.person
    for _ in range(2):
        assert '"response":"certainly"' in (await call("test_elicitation", {"message": "Is it?"})).replace(
            " ", ""
        )
    assert person.asked == ["Is it?", "Is it?"]
    assert "from the model" in await call("test_sampling", {"prompt": "Say something"})
    await use_both(talk)


async def use_modern_sdk(talk: Talk) -> None:
    """The SDK's server, which asks by results from 2026-07-28 on."""
    call, person = talk.call, talk.person
    assert await call("test_input_required_result_elicitation") == "Hello, Ada!"
    assert await call("test_input_required_result_sampling") == "Model said: from the model"
    assert await call("test_input_required_result_list_roots") == "Client exposed 1 root(s)."
    assert await call("test_input_required_result_multiple_inputs") == "All inputs received."
    assert await call("test_input_required_result_multi_round") == "Ada likes blue."
    assert await call("test_input_required_result_request_state") == "state-ok: confirmation received"
    assert "sample" in person.asked
    assert "roots" in person.asked
    await use_both(talk)


async def use_both(talk: Talk) -> None:
    if talk.client.protocol_version == "2025-11-25":
        await talk.client.set_logging_level("info")
    assert await talk.call("test_tool_with_logging") == "Tool with logging executed successfully"
    assert [each.data for each in talk.person.logged] == [
        "Tool execution started",
        "Tool processing data",
        "Tool execution completed",
    ]


USES: dict[str, Callable[[Talk], Awaitable[None]]] = {
    "everything-child": use_everything,
    "everything-remote": use_everything,
    "sdk-modern-child": use_modern_sdk,
    "sdk-modern-remote": use_modern_sdk,
    "sdk-legacy-remote": use_legacy_sdk,
}

ALONE = [
    ("legacy", "everything-child", "alone", "stdio"),
    ("legacy", "everything-remote", "alone", "http"),
    ("auto", "sdk-modern-child", "alone", "stdio"),
    ("auto", "sdk-modern-remote", "alone", "http"),
    ("legacy", "sdk-legacy-remote", "alone", "http"),
]
"""What the eras can do by themselves."""

ROWS = [
    (mode, server, way, transport)
    for mode in ("legacy", "auto")
    for server in USES
    for way in ("use_tool", "toolbox")
    for transport in ("stdio", "http")
    if transport == "http" or server.endswith("child")
]


@pytest.mark.parametrize("row", ALONE + ROWS, ids="-".join)
def test_the_official_client_is_asked_and_told_everything(
    fleet: Fleet, tmp_path: Path, row: tuple[str, str, str, str]
) -> None:
    mode, server, way, transport = row

    # The SDK's server speaks both eras, and is spoken with as its client would without us.
    use = use_legacy_sdk if mode == "legacy" and server.startswith("sdk-") else USES[server]

    async def run() -> None:
        async with talk(fleet, tmp_path, mode, server, way, transport) as talking:
            await use(talking)

    asyncio.run(asyncio.wait_for(run(), LIMIT))


# What the official client does not do


@pytest.mark.parametrize("way", ["alone", "toolbox"])
def test_a_real_server_runs_a_task_of_its_era_and_asks_on_the_way(fleet: Fleet, way: str) -> None:
    server = "everything-remote"
    if way == "alone":
        wire = OverHttp(fleet.entries[server]["url"])
    else:
        wire = OverHttp(fleet.served.url.replace("/mcp", f"/toolboxes/{server}/mcp"), fleet.served.headers)
    clarified = {"action": "accept", "content": {"interpretation": "technical"}}
    asker = Asker(wire, modern=False, answers={"elicitation/create": lambda params: clarified})
    try:
        arguments = {"topic": "python", "ambiguous": True}
        params = {"name": "simulate-research-query", "arguments": arguments, "task": {"ttl": 60_000}}
        task = asker.result("tools/call", params)["task"]
        for _ in range(100):
            if asker.result("tasks/get", {"taskId": task["taskId"]})["status"] == "input_required":
                break
            time.sleep(0.1)
        result = asker.result("tasks/result", {"taskId": task["taskId"]})
        assert "python (technical)" in result["content"][0]["text"]
        assert result["_meta"]["io.modelcontextprotocol/related-task"] == {"taskId": task["taskId"]}
    finally:
        asker.close()


@pytest.mark.parametrize("modern", [False, True])
@pytest.mark.parametrize("server", ["everything-child", "everything-remote"])
def test_a_client_is_offered_what_a_server_offers_to_its_like_whoever_came_first(
    fleet: Fleet, tmp_path: Path, server: str, modern: bool
) -> None:
    def offered(capabilities: dict[str, Any] | None) -> set[str]:
        asker = Asker(OverHttp(served.url, served.headers), modern=modern, capabilities=capabilities)
        params = {"name": "open_toolbox", "arguments": {"toolbox": "it"}}
        tools = asker.result("tools/call", params)["structuredContent"]["tools"]
        asker.close()
        return {tool["name"] for tool in tools}

    # One listing for all: a client that can do less may be offered more than it would be directly.
    with Served(tmp_path, configuration(it=toolbox(it=fleet.entries[server]))) as served:
        asking = {"trigger-elicitation-request", "trigger-sampling-request", "get-roots-list"}
        plain = offered({})
        assert not asking & plain
        assert offered(None) >= asking | plain
