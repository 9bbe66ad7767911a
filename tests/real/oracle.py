"""One server's tools as the official SDK sees them: directly, or through the workbench.

Both ways give raw JSON, since the SDK's models drop what they do not know; the SDK still holds every result
against the schema of the protocol revision. Which servers there are is for conftest.py.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

import mcp_types as types
from anyio.from_thread import BlockingPortal
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.dispatcher import ProgressFnT
from pydantic import TypeAdapter

Json = dict[str, Any]
T = TypeVar("T")

LEGACY, MODERN = "legacy", "2026-07-28"
ERAS = (LEGACY, MODERN)
PATIENCE = 30.0
"""Seconds for whatever is waited for."""

_RAW: TypeAdapter[Any] = TypeAdapter(Json)


class Tools(ABC):
    """The tools of one server."""

    def __init__(self, client: Client) -> None:
        self.client = client

    @abstractmethod
    async def listed(self) -> list[Json]:
        """Every definition, as its server wrote it."""

    @abstractmethod
    async def call(
        self,
        name: str,
        arguments: Json | None = None,
        *,
        on_progress: ProgressFnT | None = None,
        meta: Json | None = None,
    ) -> Json:
        """The result, less the `resultType` that only one era has."""

    async def _send(
        self, name: str, arguments: Json | None, on_progress: ProgressFnT | None, meta: Json | None
    ) -> Json:
        given = cast(types.RequestParamsMeta, meta)
        params = types.CallToolRequestParams(name=name, arguments=arguments, _meta=given)
        result = await self.client.session.send_request(
            types.CallToolRequest(params=params), _RAW, progress_callback=on_progress
        )
        return {key: value for key, value in result.items() if key != "resultType"}


class Direct(Tools):
    async def listed(self) -> list[Json]:
        tools: list[Json] = []
        cursor: str | None = None
        while True:
            params = types.PaginatedRequestParams(cursor=cursor)
            page = await self.client.session.send_request(types.ListToolsRequest(params=params), _RAW)
            tools += page["tools"]
            cursor = page.get("nextCursor")
            if cursor is None:
                return tools

    async def call(
        self,
        name: str,
        arguments: Json | None = None,
        *,
        on_progress: ProgressFnT | None = None,
        meta: Json | None = None,
    ) -> Json:
        return await self._send(name, arguments or {}, on_progress, meta)


class Through(Tools):
    """Through the workbench, in the toolbox and under the server name given."""

    def __init__(self, client: Client, toolbox: str, server: str) -> None:
        super().__init__(client)
        self.toolbox = toolbox
        self.server = server

    async def listed(self) -> list[Json]:
        listing = await self.open()
        assert "_errors" not in listing
        for tool in listing["tools"]:
            assert (tool.pop("toolbox"), tool.pop("server")) == (self.toolbox, self.server)
        return listing["tools"]

    async def open(self) -> Json:
        """What open_toolbox answers, after the SDK has held it against the declared output schema."""
        result = await self.client.call_tool("open_toolbox", {"toolbox": self.toolbox})
        [block] = result.content
        assert isinstance(block, types.TextContent)
        assert not result.is_error, block.text
        assert json.loads(block.text) == result.structured_content
        return json.loads(block.text)

    async def call(
        self,
        name: str,
        arguments: Json | None = None,
        *,
        on_progress: ProgressFnT | None = None,
        meta: Json | None = None,
    ) -> Json:
        tool = {"toolbox": self.toolbox, "server": self.server, "name": name}
        given = {"tool": tool} if arguments is None else {"tool": tool, "arguments": arguments}
        return await self._send("use_tool", given, on_progress, meta)


class Server:
    """A real server, as its entry in a configuration says it."""

    def __init__(self, name: str, command: str, *args: str, env: Json | None = None, modern: bool = False):
        self.name = name
        self.entry: Json = {"command": command, "args": list(args), "env": env or {}}
        self.modern = modern
        """Whether it speaks 2026-07-28, and so is spoken to in it by the workbench."""

    @property
    def era(self) -> str:
        return MODERN if self.modern else LEGACY


class Oracle:
    """Connections to servers, each opened on first use and kept; made by `oracle`."""

    def __init__(
        self, portal: BlockingPortal, stack: ExitStack, workbench: StdioServerParameters, folder: Path
    ) -> None:
        self._portal = portal
        self._stack = stack
        self._workbench = workbench
        self._stderr = stack.enter_context((folder / "stderr.txt").open("a+"))
        self._open: dict[object, Any] = {}

    def run(self, work: Callable[..., Awaitable[T]], *args: object) -> T:
        """The outcome of `work`, in the event loop that the connections live in."""
        return self._portal.start_task_soon(work, *args).result(PATIENCE)

    def direct(self, server: Server, era: str | None = None) -> Direct:
        era = era or server.era
        return self._once(
            (server.name, era), lambda: Direct(self.connect(StdioServerParameters(**server.entry), era))
        )

    def through(self, server: Server, era: str) -> Through:
        def opened() -> Through:
            tools = Through(self.workbench(era), server.name, server.name)
            self.run(tools.open)
            return tools

        return self._once((server.name, "through", era), opened)

    def workbench(self, era: str) -> Client:
        return self._once(era, lambda: self.connect(self._workbench, era))

    def everywhere(self, server: Server, body: Callable[[Tools], Awaitable[T]]) -> T:
        """What `body` sees on the direct way, once the ways through the workbench have shown the same."""
        seen = self.run(body, self.direct(server))
        for era in ERAS:
            assert as_text(self.run(body, self.through(server, era))) == as_text(seen), f"a {era} client"
        return seen

    def connect(self, parameters: StdioServerParameters, mode: str, **options: Any) -> Client:
        """A client that lives as long as this object."""
        client = Client(stdio_client(parameters, errlog=self._stderr), mode=mode, **options)
        return self._stack.enter_context(self._portal.wrap_async_context_manager(client))

    def _once(self, key: object, make: Callable[[], T]) -> T:
        if key not in self._open:
            self._open[key] = make()
        return self._open[key]


@contextmanager
def oracle(portal: BlockingPortal, workbench: StdioServerParameters, folder: Path) -> Generator[Oracle]:
    with ExitStack() as stack:
        yield Oracle(portal, stack, workbench, folder)


def as_text(value: object) -> str:
    """JSON to compare by: 1 is not true, and a difference is shown by its line."""
    return json.dumps(value, indent=1, sort_keys=True)
