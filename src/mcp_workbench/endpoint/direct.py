"""A toolbox as a plain MCP server: what its servers offer, as they say it, without meta-tools."""

from __future__ import annotations

from msgspec import Raw

from ..errors import CallFailed, RpcError, ToolError, ToolNotFound
from ..metatools import error_result
from ..names import Scope, ToolRef
from ..progress import Notify
from ..protocol import tasks
from ..protocol.about import About
from ..servers.base import TOOLS_CHANGED, Server
from ..toolbox import Toolbox
from ..wire.lines import Piece
from ..wire.messages import EMPTY_OBJECT, INTERNAL_ERROR, INVALID_PARAMS, encode, with_member
from ..workbench import Workbench
from .base import Endpoint, unknown_method
from .introduction import SERVER_INFO
from .merged import Merged, Origin
from .question import Question
from .relay import RELAYED, pass_on

_DECLARED = ("tools", "resources", "prompts", "completions", "logging")
"""The capabilities of servers that reach our clients."""

_SEVERAL = {
    "tools": b'{"listChanged":true}',
    "resources": b'{"subscribe":true,"listChanged":true}',
    "prompts": b'{"listChanged":true}',
    "completions": EMPTY_OBJECT,
    "logging": EMPTY_OBJECT,
}
"""What is declared where one of several servers has such a thing."""


class DirectEndpoint(Endpoint):
    """With one server in the toolbox everything is as that server says it, and it is asked whatever we do
    not know of. With several their offers are merged.
    """

    streams_lists = True

    def __init__(self, workbench: Workbench, toolbox: str, *, shared: bool = False) -> None:
        super().__init__(workbench, shared=shared, addressed=False)
        self._name = toolbox
        self._merged = Merged({})
        self._merged_from: object = None
        self._told: object = None
        """The definitions of the tools that clients were last told of."""

    def at_once(self, question: Question) -> bytes | None:
        if question.method == "ping" and not question.client.modern:
            return EMPTY_OBJECT
        return None

    async def later(self, question: Question, notify: Notify) -> tuple[Piece, ...]:
        match question.method:
            case "tools/call":
                return await self._call(question, await self._opened(question), notify)
            case "tools/list":
                toolbox = await self._open(question)
                return (self._listed(question, "tools", self._definitions(toolbox)),)
            case "initialize" if not question.client.modern:
                return (self._initialized(question, await self._about(question)),)
            case "server/discover":
                return (self._discovered(question, await self._about(question)),)
            case method if method in RELAYED:
                return await self._relayed(question, notify)
            case "logging/setLevel" if not question.client.modern:
                if not any(server.about.can("logging") for server in self._servers(question.client.scope)):
                    raise unknown_method(question)
                return (self._set_level(question),)
            case method if method in tasks.METHODS | tasks.OLDER_METHODS:
                return await self._about_tasks(question, notify)
            case _:
                raise unknown_method(question)

    # The toolbox

    async def _open(self, question: Question) -> Toolbox:
        """Open, with whatever can be had of it now. Raises RpcError."""
        try:
            audience = question.visitor(_untold) if question.client.modern else question.audience
            toolbox = await self.workbench.open(self._name, question.client.scope, audience=audience)
        except ToolError as error:
            raise RpcError(INTERNAL_ERROR, str(error)) from None
        only = _only(toolbox)
        self._info = (only.about.info if only is not None else Raw()) or SERVER_INFO
        if self._told is None:
            self._told = self._definitions(toolbox)
        return toolbox

    async def _opened(self, question: Question) -> Toolbox:
        """Open, as it is. Raises RpcError."""
        toolbox = self.workbench.seen(question.client.scope).get(self._name)
        return toolbox if toolbox is not None and toolbox.opened else await self._open(question)

    async def _about(self, question: Question) -> About:
        toolbox = await self._open(question)
        if (only := _only(toolbox)) is not None:
            said = only.about
            declared = {key: said.capabilities[key] for key in _DECLARED if key in said.capabilities}
            if not (question.client.modern or only.modern) and "tasks" in said.capabilities:
                declared["tasks"] = said.capabilities["tasks"]
            if question.client.modern and (extension := said.extension(tasks.EXTENSION)) is not None:
                declared["extensions"] = Raw(encode({tasks.EXTENSION: extension}))
            return About(declared, instructions=said.instructions)
        servers = [server for server in toolbox.servers.values() if server.listed]
        parts = [
            f"## {server.config.name}\n\n{server.about.instructions}"
            for server in servers
            if server.about.instructions
        ]
        declared = {
            key: Raw(_SEVERAL[key]) for key in _DECLARED if any(server.about.can(key) for server in servers)
        }
        declared["tools"] = Raw(_SEVERAL["tools"])
        know_tasks = any(server.about.extension(tasks.EXTENSION) is not None for server in servers)
        if question.client.modern and know_tasks:
            declared["extensions"] = tasks.DECLARATION
        return About(declared, instructions="\n\n".join([*parts, *toolbox.failures]) or None)

    def _servers(self, scope: Scope) -> list[Server]:
        toolbox = self.workbench.seen(scope).get(self._name)
        return list(toolbox.servers.values()) if toolbox is not None else []

    def _server(self, toolbox: str, name: str, scope: Scope) -> Server | None:
        return super()._server(toolbox, name, scope) if toolbox == self._name else None

    def _sole(self, scope: Scope) -> Server | None:
        toolbox = self.workbench.seen(scope).get(self._name)
        return _only(toolbox) if toolbox is not None else None

    # Resources, prompts, completions

    async def _relayed(self, question: Question, notify: Notify) -> tuple[Piece, ...]:
        only = _only(await self._opened(question))
        if only is None or question.method in ("resources/subscribe", "resources/unsubscribe"):
            return await self._relay(question, notify)
        return await pass_on(self.workbench.eras, question, only, notify)

    async def _resource(self, question: Question, uri: str) -> tuple[Server, str]:
        only = _only(await self._opened(question))
        return (only, uri) if only is not None else await super()._resource(question, uri)

    # Tasks

    async def _about_tasks(self, question: Question, notify: Notify) -> tuple[Piece, ...]:
        """Clients know the tasks of their own era alone, and those of the experiment are one server's."""
        only = _only(await self._opened(question))
        modern = question.client.modern
        if question.method not in (tasks.METHODS if modern else tasks.OLDER_METHODS):
            raise unknown_method(question)
        if only.modern != modern if only is not None else not modern:
            raise unknown_method(question)
        return await self._tasks.answer(question, notify, only)

    # Tools

    def _definitions(self, toolbox: Toolbox) -> list[Raw]:
        names = self._names(toolbox).names
        return [
            _renamed(tool.definition, tool.name, names[Origin(server.config.name, tool.name)])
            for server in toolbox.servers.values()
            for tool in server.tools.values()
        ]

    def _names(self, toolbox: Toolbox) -> Merged:
        # A server replaces its tools as a whole, and what is the very same is not looked into.
        state = [(name, server.tools) for name, server in toolbox.servers.items()]
        if state != self._merged_from:
            self._merged = Merged({name: list(tools) for name, tools in state})
            self._merged_from = state
        return self._merged

    async def _call(self, question: Question, toolbox: Toolbox, notify: Notify) -> tuple[Piece, ...]:
        name = question.params.name
        if name is None:
            raise RpcError(INVALID_PARAMS, "Invalid params: name is required")
        only = _only(toolbox)
        origin = Origin(only.config.name, name) if only is not None else await self._origin(toolbox, name)
        try:
            ref = ToolRef(self._name, *origin)
            result = await self._run(question, ref, question.params.arguments, notify, listed=only is None)
            if only is None:
                self._offers.remember(ref, result.raw, question.client.principal)
        except CallFailed as failure:
            if failure.rpc is not None:
                raise failure.rpc from None
            # No server can say this, and a model should hear of it.
            result = error_result(str(failure))
        except ToolNotFound:
            raise _unknown_tool(name) from None
        except ToolError as error:
            result = error_result(str(error))
        return result.pieces(question.client.modern)

    async def definition(self, question: Question) -> Raw | None:
        origin = self._names(await self._opened(question)).origins.get(question.params.name or "")
        tool = self.workbench.tool(ToolRef(self._name, *origin)) if origin is not None else None
        return tool.definition if tool is not None else None

    async def _origin(self, toolbox: Toolbox, name: str) -> Origin:
        """Whose tool it is that a client knows by this name. Raises RpcError."""
        if name not in self._names(toolbox).origins:  # a tool may have said that there are more now
            await toolbox.settle()
        origin = self._names(toolbox).origins.get(name)
        if origin is None:
            raise _unknown_tool(name)
        return origin

    def _heard(self, server: Server, method: str, params: Raw) -> None:
        toolbox = self.workbench.toolboxes.get(self._name)
        if method == TOOLS_CHANGED and toolbox is not None and self._told is not None:
            self._told = self._definitions(toolbox)
        super()._heard(server, method, params)

    def _changed(self) -> None:
        toolbox = self.workbench.toolboxes.get(self._name)
        if toolbox is None or self._told is None:
            return
        definitions = self._definitions(toolbox)
        if definitions != self._told:
            self._told = definitions
            self._list_changed("tools", {self._name})


def _untold(method: bytes, params: bytes) -> None:
    """For whom a connection is opened that is told nothing by that alone."""


def _only(toolbox: Toolbox) -> Server | None:
    """The server of a toolbox that has no other."""
    servers = list(toolbox.servers.values())
    return servers[0] if len(servers) == 1 else None


def _renamed(definition: Raw, name: str, shown: str) -> Raw:
    if shown == name:
        return definition
    return Raw(with_member(bytes(definition), "name", encode(shown)))


def _unknown_tool(name: str) -> RpcError:
    return RpcError(INVALID_PARAMS, f"Unknown tool: {name}")
