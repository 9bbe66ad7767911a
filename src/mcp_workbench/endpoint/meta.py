"""The meta-tools as a client sees them: toolboxes are announced, opened and used through a few tools."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Raw

from .. import metatools
from ..checks import check_use
from ..errors import CallFailed, RpcError, ToolError
from ..names import Scope
from ..progress import PROGRESS, Notify
from ..protocol import revisions
from ..protocol.about import About
from ..wire.lines import Piece
from ..wire.messages import EMPTY_OBJECT, INVALID_PARAMS, encode
from .base import Endpoint, unknown_method
from .question import Question

_TOOLS = {"tools": Raw(b'{"listChanged":true}')}
_SHARED = {**_TOOLS, "prompts": Raw(EMPTY_OBJECT), "resources": Raw(EMPTY_OBJECT)}
"""Of a shared endpoint: what we can offer is declared from the start, whichever process answers."""

# What a shared endpoint has none of yet, and the member that its empty list is.
_LISTS = {
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}
_NO_RESOURCE = -32002


class MetaEndpoint(Endpoint):
    def at_once(self, question: Question) -> bytes | None:
        modern = question.client.modern
        match question.method:
            case "tools/call":
                return None
            case "tools/list":
                tools = Raw(metatools.definitions(self.workbench, question.client.scope))
                return self._listed(question, "tools", tools)
            case "server/discover":
                return self._discovered(question, self._about(question.client.scope))
            case "initialize" if not modern:
                about = self._about(question.client.scope)
                if self._shared:
                    about.capabilities["logging"] = Raw(EMPTY_OBJECT)
                return self._initialized(question, about)
            case "ping" if not modern:
                return EMPTY_OBJECT
            case "logging/setLevel" if self._shared and not modern:
                return EMPTY_OBJECT
            case method if self._shared and method in _LISTS:
                return self._listed(question, _LISTS[method], [])
            case "prompts/get" if self._shared:
                raise RpcError(INVALID_PARAMS, f"Unknown prompt: {question.params.name}")
            case "resources/read" if self._shared:
                data = encode({"uri": question.params.uri})
                raise RpcError(INVALID_PARAMS if modern else _NO_RESOURCE, "Resource not found", data)
            case _:
                raise unknown_method(question)

    async def _answer(self, question: Question, notify: Notify) -> tuple[Piece, ...]:
        """The one place where errors become results."""
        name = question.params.name
        if name is None:
            raise RpcError(INVALID_PARAMS, "Invalid params: name is required")
        try:
            if name == metatools.USE:
                ref, arguments = check_use(question.params.arguments)
                result = await self._run(question, ref, arguments, notify)
            elif name == metatools.OPEN:
                result = await metatools.open_toolbox(
                    self.workbench,
                    question.params.arguments,
                    question.client.scope,
                    _opening_progress(question, notify),
                )
            else:
                raise metatools.unknown_tool(self.workbench, name, question.client.scope)
        except CallFailed as failure:
            if failure.rpc is not None and _belongs_to_client(failure.rpc, question):
                raise failure.rpc from None
            hint = None
            if failure.rpc is not None and failure.rpc.code == INVALID_PARAMS:
                hint = metatools.full_signature(self.workbench, failure.ref)
            result = metatools.error_result(str(failure), *filter(None, [hint]))
        except ToolError as error:
            result = metatools.error_result(str(error))
        return result.pieces(question.client.modern)

    def _changed(self) -> None:
        self._tools_changed()

    def _about(self, scope: Scope) -> About:
        return About(
            capabilities=dict(_SHARED if self._shared else _TOOLS),
            instructions=metatools.instructions(self.workbench, scope),
        )


def _belongs_to_client(error: RpcError, question: Question) -> bool:
    """Whether the client's own protocol must see a server's error as it is."""
    if question.params.input_responses or question.params.request_state:
        return True
    if question.client.modern:
        return error.code == revisions.MISSING_CAPABILITY
    return error.code == revisions.URL_ELICITATION and question.client.version == revisions.LEGACY[-1]


def _opening_progress(question: Question, notify: Notify) -> Callable[[float, int, str], None] | None:
    token = question.progress_token
    if not token:
        return None

    def tell(progress: float, total: int, message: str) -> None:
        said = {"progressToken": Raw(token), "progress": progress, "total": total, "message": message}
        notify(PROGRESS, encode(said))

    return tell
