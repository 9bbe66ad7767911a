"""The meta-tools as a client sees them: toolboxes are announced, opened and used through a few tools."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Raw

from .. import metatools
from ..checks import check_find, check_use
from ..errors import CallFailed, RpcError, ToolError
from ..finder import Finder
from ..names import Scope
from ..progress import PROGRESS, Notify
from ..protocol import revisions, tasks
from ..protocol.about import About
from ..protocol.results import Result
from ..servers.base import TOOLS_CHANGED, Server
from ..wire.lines import Piece
from ..wire.messages import EMPTY_OBJECT, INVALID_PARAMS, encode
from ..workbench import Workbench
from .base import Endpoint, unknown_method
from .introduction import introduction
from .question import Client, Question
from .relay import RELAYED


class MetaEndpoint(Endpoint):
    def __init__(self, workbench: Workbench, *, shared: bool = False) -> None:
        super().__init__(workbench, shared=shared, addressed=True)
        self._finder = Finder(workbench)
        self.used = self._offers.remember
        """Hears of every result that a client has seen."""
        self._known: dict[str, set[Server]] = {"resources": set(), "prompts": set()}
        """The servers that clients can have known of, by what they offer."""
        self._last_seen = self._look()

    def at_once(self, question: Question) -> bytes | None:
        modern = question.client.modern
        match question.method:
            case method if method == "tools/call" or method in RELAYED:
                return None
            case method if modern and method in tasks.METHODS:
                return None
            case "tools/list":
                tools = Raw(metatools.definitions(self.workbench, question.client.scope))
                return self._listed(question, "tools", tools)
            case "server/discover":
                about = introduction(self.workbench.config, question.client.scope, modern=True)
                return self._discovered(question, about)
            case "initialize" if not modern:
                return self._initialized(question, introduction(self.workbench.config, question.client.scope))
            case "ping" if not modern:
                return EMPTY_OBJECT
            case "logging/setLevel" if not modern:
                return self._set_level(question)
            case _:
                raise unknown_method(question)

    async def later(self, question: Question, notify: Notify) -> tuple[Piece, ...]:
        if question.method in RELAYED:
            return await self._relay(question, notify)
        if question.method in tasks.METHODS:
            return await self._tasks.answer(question, notify, None)
        return await self._call(question, notify)

    async def _call(self, question: Question, notify: Notify) -> tuple[Piece, ...]:
        name = question.params.name
        if name is None:
            raise RpcError(INVALID_PARAMS, "Invalid params: name is required")
        try:
            if name == metatools.USE:
                ref, arguments = check_use(question.params.arguments)
                result = await self._run(question, ref, arguments, notify)
                self.used(ref, result.raw, question.client.principal)
            elif name == metatools.OPEN:
                result = await metatools.open_toolbox(
                    self.workbench,
                    question.params.arguments,
                    question.client.scope,
                    _opening_progress(question, notify),
                    question.visitor(notify) if question.client.modern else question.audience,
                )
                self._look_for_more()
                self._finder.remember_soon()
            elif name == metatools.FIND and self.workbench.config.search:
                result = await self._find(question)
            else:
                raise metatools.unknown_tool(self.workbench, name, question.client.scope)
        except ToolError as error:
            retried = question.params.input_responses or question.params.request_state
            result = self.explained(error, question.client, retry=bool(retried))
        return result.pieces(question.client.modern)

    def explained(self, error: ToolError, client: Client, *, retry: bool = False) -> Result:
        """The one place where errors become results. Raises the RpcError that a client must see as it is."""
        hint = None
        if isinstance(error, CallFailed) and error.rpc is not None:
            if retry or _belongs_to_client(error.rpc, client):
                raise error.rpc from None
            if error.rpc.code == INVALID_PARAMS:
                hint = metatools.full_signature(self.workbench, error.ref)
        return metatools.error_result(str(error), *filter(None, [hint]))

    async def _find(self, question: Question) -> Result:
        scope = question.client.scope
        asked = check_find(question.params.arguments, self.workbench.seen(scope))
        text = await self._finder.find(
            asked.queries, toolbox=asked.toolbox, limit=asked.limit, detail=asked.detail, scope=scope
        )
        return metatools.text_result(text)

    async def _about(self, question: Question) -> About:
        return introduction(self.workbench.config, question.client.scope, modern=question.client.modern)

    def _servers(self, scope: Scope) -> list[Server]:
        return [
            server
            for toolbox in self.workbench.seen(scope).values()
            if toolbox.opened
            for server in toolbox.servers.values()
            if server.listed
        ]

    def _heard(self, server: Server, method: str, params: Raw) -> None:
        if method != TOOLS_CHANGED:  # its tools are no list of ours
            super()._heard(server, method, params)

    def _changed(self) -> None:
        before, self._last_seen = self._last_seen, self._look()
        names = before.keys() | self._last_seen.keys()
        self._list_changed("tools", {name for name in names if before.get(name) != self._last_seen.get(name)})
        self._look_for_more()

    def _look(self) -> dict[str, object]:
        """All that can change of what a client sees, by toolbox."""
        search = self.workbench.config.search
        return {
            name: (search, toolbox.config, [server.tools for server in toolbox.servers.values()])
            for name, toolbox in self.workbench.toolboxes.items()
        }

    def _look_for_more(self) -> None:
        """Servers come with resources and prompts when their toolbox is opened, and go when it changes."""
        for kind, known in self._known.items():
            offering = {server for server in self._servers(None) if server.about.can(kind)}
            if offering != known:
                self._known[kind] = offering
                self._list_changed(kind, {server.config.toolbox for server in offering ^ known})


def _belongs_to_client(error: RpcError, client: Client) -> bool:
    """Whether the client's own protocol must see a server's error as it is."""
    if client.modern:
        return error.code == revisions.MISSING_CAPABILITY
    return error.code == revisions.URL_ELICITATION and client.version == revisions.LEGACY[-1]


def _opening_progress(question: Question, notify: Notify) -> Callable[[float, int, str], None] | None:
    token = question.progress_token
    if not token:
        return None

    def tell(progress: float, total: int, message: str) -> None:
        said = {"progressToken": Raw(token), "progress": progress, "total": total, "message": message}
        notify(PROGRESS, encode(said))

    return tell
