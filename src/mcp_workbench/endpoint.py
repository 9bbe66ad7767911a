"""What a client can ask, and who answers. How questions arrive and answers leave is the transport's."""

from __future__ import annotations

import json
from collections.abc import Callable

import msgspec
from msgspec import Raw

from . import __version__, metatools
from .checks import check_find, check_use
from .errors import CallFailed, RpcError, ToolError
from .finder import Finder
from .names import Scope
from .progress import PROGRESS, Notify, ProgressRelay
from .protocol import revisions
from .protocol.results import Result
from .servers.call import Call
from .wire.lines import Piece
from .wire.messages import EMPTY_OBJECT, INVALID_PARAMS, METHOD_NOT_FOUND, NULL, encode, members
from .workbench import Workbench

FRESH_MS = 60_000
"""How long a modern client may take our lists for current without asking again."""

SERVER_INFO = {"name": "mcp-workbench", "title": "MCP Workbench", "version": __version__}
CAPABILITIES = {"tools": {"listChanged": True}}
SHARED_CAPABILITIES = {**CAPABILITIES, "prompts": {}, "resources": {}}

HEADER_MISMATCH = -32020

# What a shared endpoint has none of yet, and the member that its empty list is.
_LISTS = {
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}
_NO_RESOURCE = -32002


class Client(msgspec.Struct, frozen=True):
    """Who asks: known from `initialize` for the connection, or from each modern request by itself."""

    name: str
    version: str
    principal: str | None = None
    scope: Scope = None

    @property
    def modern(self) -> bool:
        return revisions.is_modern(self.version)


class _Info(msgspec.Struct):
    name: str = "unknown"


class _Meta(msgspec.Struct):
    version: Raw = msgspec.field(name=revisions.VERSION, default=Raw())
    capabilities: Raw = msgspec.field(name=revisions.CLIENT_CAPABILITIES, default=Raw())
    info: _Info = msgspec.field(name=revisions.CLIENT_INFO, default_factory=_Info)
    progress_token: Raw = msgspec.field(name="progressToken", default=Raw())


class _Filter(msgspec.Struct):
    tools: bool = msgspec.field(name="toolsListChanged", default=False)


class _Params(msgspec.Struct):
    """The parameters of every method that we have, all optional."""

    meta: Raw = msgspec.field(name="_meta", default=Raw())
    name: str | None = None
    uri: str | None = None
    arguments: Raw = Raw(EMPTY_OBJECT)
    cursor: str | None = None
    input_responses: Raw = msgspec.field(name="inputResponses", default=Raw())
    request_state: Raw = msgspec.field(name="requestState", default=Raw())
    protocol_version: str | None = msgspec.field(name="protocolVersion", default=None)
    client_info: _Info = msgspec.field(name="clientInfo", default_factory=_Info)
    notifications: _Filter = msgspec.field(default_factory=_Filter)


_decode_params = msgspec.json.Decoder(_Params).decode
_decode_meta = msgspec.json.Decoder(_Meta).decode


class Question:
    """A request, read: its method, its parameters and who asks."""

    __slots__ = ("_declared", "client", "method", "params", "progress_token")

    def __init__(self, method: str, params: Raw, client: Client, declared: str | None = None) -> None:
        """`client` is the connection's, and stands unless the request speaks for itself. Raises RpcError.

        `declared` is the revision that a modern request came with, outside of itself; it must name the same.
        """
        self.method = method
        self.client = client
        self._declared = declared
        self.progress_token = b""
        try:
            self.params = _decode_params(params) if params else _Params()
            self._read_meta()
        except msgspec.ValidationError as error:
            raise RpcError(INVALID_PARAMS, f"Invalid params: {error}") from None
        except (msgspec.DecodeError, RecursionError):
            self._read_patiently(params)

    def _read_meta(self) -> None:
        declared = self._declared
        if not self.params.meta and declared is None:
            return
        meta = _decode_meta(self.params.meta or EMPTY_OBJECT)
        self.progress_token = bytes(meta.progress_token)
        if declared is None and (not meta.version or self.method == "initialize"):
            return
        if not meta.version:
            raise RpcError(INVALID_PARAMS, f"Invalid params: _meta needs {revisions.VERSION}")
        try:
            version = msgspec.json.decode(meta.version, type=str)
        except msgspec.ValidationError:
            raise RpcError(INVALID_PARAMS, f"Invalid params: {revisions.VERSION} must be a string") from None
        if not bytes(meta.capabilities).startswith(b"{"):
            raise RpcError(
                INVALID_PARAMS, f"Invalid params: _meta needs {revisions.CLIENT_CAPABILITIES}, an object"
            )
        if declared not in (None, version):
            said = f"the request came as {declared}, and its {revisions.VERSION} is {version}"
            raise RpcError(HEADER_MISMATCH, f"Header mismatch: {said}")
        if not revisions.is_modern(version):
            data = {"supported": revisions.MODERN, "requested": version}
            raise RpcError(revisions.UNSUPPORTED_VERSION, "Unsupported protocol version", encode(data))
        self.client = msgspec.structs.replace(self.client, name=meta.info.name, version=version)

    def _read_patiently(self, params: Raw) -> None:
        """Lone surrogates somewhere: the fast decoder refuses them, our reader of lines did not."""
        found = members(bytes(params))
        arguments = found.pop("arguments", EMPTY_OBJECT)
        name = found.pop("name", NULL)
        try:
            self.params = _decode_params(encode({key: Raw(value) for key, value in found.items()}))
            self._read_meta()
        except msgspec.DecodeError as error:
            raise RpcError(INVALID_PARAMS, f"Invalid params: {error}") from None
        self.params.arguments = Raw(arguments)
        self.params.name = json.loads(name)


class Endpoint:
    """The workbench, as any client of either era sees it."""

    def __init__(self, workbench: Workbench, *, shared: bool = False) -> None:
        """`shared` by many clients: what we can offer is declared from the start, whichever process answers,
        and where clients may see different toolboxes they are told not to share what they hear.
        """
        self.workbench = workbench
        self._finder = Finder(workbench)
        self._shared = shared
        self._capabilities: dict[str, object] = dict(SHARED_CAPABILITIES if shared else CAPABILITIES)

    def answer(self, question: Question) -> bytes:
        """The result of everything but `tools/call` and `subscriptions/listen`. Raises RpcError."""
        modern = question.client.modern
        match question.method:
            case "tools/list":
                return self._list(question)
            case "server/discover":
                return self._discover(question)
            case "initialize" if not modern:
                return self._initialize(question)
            case "ping" if not modern:
                return EMPTY_OBJECT
            case "logging/setLevel" if self._shared and not modern:
                return EMPTY_OBJECT
            case method if self._shared and method in _LISTS:
                return self._empty_list(question)
            case "prompts/get" if self._shared:
                raise RpcError(INVALID_PARAMS, f"Unknown prompt: {question.params.name}")
            case "resources/read" if self._shared:
                data = encode({"uri": question.params.uri})
                raise RpcError(INVALID_PARAMS if modern else _NO_RESOURCE, "Resource not found", data)
            case _:
                raise RpcError(METHOD_NOT_FOUND, "Method not found", encode({"method": question.method}))

    async def call(self, question: Question, notify: Notify) -> tuple[Piece, ...]:
        """The result of `tools/call`, in pieces. Raises RpcError.

        The one place where errors become results.
        """
        name = question.params.name
        if name is None:
            raise RpcError(INVALID_PARAMS, "Invalid params: name is required")
        try:
            if name == metatools.USE:
                result = await self._use(question, notify)
            elif name == metatools.OPEN:
                result = await metatools.open_toolbox(
                    self.workbench,
                    question.params.arguments,
                    question.client.scope,
                    _opening_progress(question, notify),
                )
                self._finder.remember_soon()
            elif name == metatools.FIND and self.workbench.config.search:
                result = await self._find(question)
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

    def client_of(self, question: Question) -> Client:
        """Who a client is from its `initialize` on."""
        requested = question.params.protocol_version
        version = requested if requested in revisions.LEGACY else revisions.LEGACY[-1]
        return msgspec.structs.replace(
            question.client, name=question.params.client_info.name, version=version
        )

    async def _use(self, question: Question, notify: Notify) -> Result:
        params = question.params
        ref, arguments = check_use(params.arguments)
        client = question.client
        call = Call(
            ref=ref,
            arguments=arguments,
            caller=client.name,
            meta=params.meta,
            principal=client.principal,
            scope=client.scope,
        )
        if params.input_responses:
            call.extra += (b',"inputResponses":', params.input_responses)
        if params.request_state:
            call.extra += (b',"requestState":', params.request_state)
        if not question.progress_token:
            return await self.workbench.call(call)
        relay = ProgressRelay(question.progress_token, notify)
        call.on_progress = relay.tell
        try:
            return await self.workbench.call(call)
        finally:
            relay.flush()

    async def _find(self, question: Question) -> Result:
        scope = question.client.scope
        asked = check_find(question.params.arguments, self.workbench.seen(scope))
        text = await self._finder.find(
            asked.queries, toolbox=asked.toolbox, limit=asked.limit, detail=asked.detail, scope=scope
        )
        return metatools.text_result(text)

    def _initialize(self, question: Question) -> bytes:
        if question.params.protocol_version is None:
            raise RpcError(INVALID_PARAMS, "Invalid params: protocolVersion is required")
        capabilities = dict(self._capabilities)
        if self._shared:
            capabilities["logging"] = {}
        return encode(
            {
                "protocolVersion": self.client_of(question).version,
                "capabilities": capabilities,
                "serverInfo": SERVER_INFO,
                "instructions": metatools.instructions(self.workbench, question.client.scope),
            }
        )

    def _discover(self, question: Question) -> bytes:
        if not question.client.modern:
            raise RpcError(INVALID_PARAMS, f"Invalid params: _meta needs {revisions.VERSION}")
        return encode(
            {
                "resultType": "complete",
                "supportedVersions": revisions.MODERN,
                "capabilities": self._capabilities,
                "instructions": metatools.instructions(self.workbench, question.client.scope),
                **self._modern_members(),
            }
        )

    def _list(self, question: Question) -> bytes:
        if question.params.cursor is not None:
            raise RpcError(INVALID_PARAMS, "Invalid params: unknown cursor")
        tools = Raw(metatools.definitions(self.workbench, question.client.scope))
        if question.client.modern:
            return encode({"resultType": "complete", "tools": tools, **self._modern_members()})
        return encode({"tools": tools})

    def _empty_list(self, question: Question) -> bytes:
        if question.params.cursor is not None:
            raise RpcError(INVALID_PARAMS, "Invalid params: unknown cursor")
        nothing: dict[str, object] = {_LISTS[question.method]: []}
        if question.client.modern:
            return encode({"resultType": "complete", **nothing, **self._modern_members()})
        return encode(nothing)

    def _modern_members(self) -> dict[str, object]:
        tokens = self.workbench.config.http.tokens.values() if self._shared else ()
        private = any(token.toolboxes is not None for token in tokens)
        return {
            "ttlMs": FRESH_MS,
            "cacheScope": "private" if private else "public",
            "_meta": {revisions.SERVER_INFO: SERVER_INFO},
        }


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
