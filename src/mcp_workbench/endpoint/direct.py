"""A toolbox as a plain MCP server: what its servers offer, as they say it, without meta-tools."""

from __future__ import annotations

from msgspec import Raw

from ..errors import CallFailed, RpcError, ToolboxUnknown, ToolError, ToolNotFound
from ..metatools import error_result
from ..names import ToolRef
from ..progress import Notify
from ..protocol.about import About
from ..servers.base import Server
from ..toolbox import Toolbox
from ..wire.lines import Piece
from ..wire.messages import EMPTY_OBJECT, INTERNAL_ERROR, INVALID_PARAMS, encode, with_member
from ..workbench import Workbench
from .base import SERVER_INFO, Endpoint, unknown_method
from .merged import Merged, Origin
from .question import Question

_RELAYED = ("tools",)
"""The capabilities of servers that reach our clients."""


class DirectEndpoint(Endpoint):
    """With one server in the toolbox everything is as that server says it, and it is asked whatever we do
    not know of. With several their offers are merged.
    """

    def __init__(self, workbench: Workbench, toolbox: str, *, shared: bool = False) -> None:
        super().__init__(workbench, shared=shared)
        self._name = toolbox
        self._merged = Merged({})
        self._merged_from: object = None
        self._told: object = None
        """The definitions of the tools that clients were last told of."""

    def at_once(self, question: Question) -> bytes | None:
        if question.method == "ping" and not question.client.modern:
            return EMPTY_OBJECT
        return None

    async def _answer(self, question: Question, notify: Notify) -> tuple[Piece, ...]:
        match question.method:
            case "tools/call":
                await self._opened(question)
                return await self._call(question, notify)
            case "tools/list":
                toolbox = await self._open(question)
                return (self._listed(question, "tools", self._definitions(toolbox)),)
            case "initialize" if not question.client.modern:
                return (self._initialized(question, self._about(await self._open(question))),)
            case "server/discover":
                return (self._discovered(question, self._about(await self._open(question))),)
            case _:
                raise unknown_method(question)

    # The toolbox

    async def _open(self, question: Question) -> Toolbox:
        """Open, with whatever can be had of it now. Raises RpcError."""
        try:
            toolbox = await self.workbench.open(self._name, question.client.scope)
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

    def _about(self, toolbox: Toolbox) -> About:
        servers = [server for server in toolbox.servers.values() if server.listed]
        if (only := _only(toolbox)) is not None:
            said = only.about
            relayed = {key: said.capabilities[key] for key in _RELAYED if key in said.capabilities}
            return About(relayed, instructions=said.instructions)
        parts = [
            f"## {server.config.name}\n\n{server.about.instructions}"
            for server in servers
            if server.about.instructions
        ]
        instructions = "\n\n".join([*parts, *toolbox.failures]) or None
        return About({"tools": Raw(b'{"listChanged":true}')}, instructions=instructions)

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

    async def _call(self, question: Question, notify: Notify) -> tuple[Piece, ...]:
        name = question.params.name
        if name is None:
            raise RpcError(INVALID_PARAMS, "Invalid params: name is required")
        toolbox = self.workbench.seen(question.client.scope).get(self._name)
        if toolbox is None:
            raise RpcError(INTERNAL_ERROR, str(ToolboxUnknown(self._name, ())))
        only = _only(toolbox)
        origin = Origin(only.config.name, name) if only is not None else self._origin(toolbox, name)
        try:
            ref = ToolRef(self._name, *origin)
            result = await self._run(question, ref, question.params.arguments, notify, listed=only is None)
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

    def _origin(self, toolbox: Toolbox, name: str) -> Origin:
        """Whose tool it is that a client knows by this name. Raises RpcError."""
        origin = self._names(toolbox).origins.get(name)
        if origin is None:
            raise _unknown_tool(name)
        return origin

    def _changed(self) -> None:
        toolbox = self.workbench.toolboxes.get(self._name)
        if toolbox is None or self._told is None:
            return
        definitions = self._definitions(toolbox)
        if definitions != self._told:
            self._told = definitions
            self._tools_changed()


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
