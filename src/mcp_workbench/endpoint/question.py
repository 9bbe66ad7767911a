"""A question: a request as it was read, with who asks. Answers are the endpoints'."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec import Raw

from ..errors import RpcError
from ..names import Scope
from ..protocol import revisions
from ..protocol.audience import LEVELS, NOTHING, Audience, declaration
from ..wire.messages import EMPTY_OBJECT, INVALID_PARAMS, NULL, encode, members, mended
from .subscription import Subscription, Wishes

if TYPE_CHECKING:  # neither is needed for a first answer
    from ..progress import Notify
    from ..servers.visitor import Visitor


class Client(msgspec.Struct, frozen=True):
    """Who asks: known from `initialize` for the connection, or from each modern request by itself."""

    name: str
    version: str
    principal: str | None = None
    """Who it is among all callers: what is its own is nobody else's."""
    scope: Scope = None
    declared: bytes = NOTHING
    """What it can be asked."""
    logged: str | None = None
    """Its principal as the log tells of it: by the name alone, whoever vouches for that."""

    modern: bool = False
    """Whether `version` is; set with it."""

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "modern", self.version in revisions.MODERN)


STRANGER = Client("unknown", revisions.LEGACY[-1])
"""One that has said nothing about itself yet."""


class _Info(msgspec.Struct):
    name: str = "unknown"


class _Meta(msgspec.Struct):
    version: Raw = msgspec.field(name=revisions.VERSION, default=Raw())
    capabilities: Raw = msgspec.field(name=revisions.CLIENT_CAPABILITIES, default=Raw())
    info: _Info = msgspec.field(name=revisions.CLIENT_INFO, default_factory=_Info)
    progress_token: Raw = msgspec.field(name="progressToken", default=Raw())
    level: Raw = msgspec.field(name=revisions.LOG_LEVEL, default=Raw())


class _Ref(msgspec.Struct):
    """What a completion is for: a prompt, or a template of resources."""

    name: str | None = None
    uri: str | None = None


METHODS = frozenset(
    (
        *("initialize", "ping", "server/discover", "subscriptions/listen", "logging/setLevel"),
        *("tools/list", "tools/call", "prompts/list", "prompts/get", "completion/complete"),
        *("resources/list", "resources/templates/list", "resources/read"),
        *("resources/subscribe", "resources/unsubscribe"),
        *("tasks/get", "tasks/update", "tasks/cancel", "tasks/result", "tasks/list"),
    )
)
"""Those that some endpoint of ours knows; whatever came with another, it is the method that is wrong."""


class _Params(msgspec.Struct):
    """The parameters of every method that we have, all optional."""

    meta: Raw = msgspec.field(name="_meta", default=Raw())
    name: str | None = None
    uri: str | None = None
    arguments: Raw = Raw(EMPTY_OBJECT)
    cursor: str | None = None
    task_id: str | None = msgspec.field(name="taskId", default=None)
    task: Raw = Raw()
    """What a legacy client wants of a call that is to be a task."""
    ref: _Ref = msgspec.field(default_factory=_Ref)
    input_responses: Raw = msgspec.field(name="inputResponses", default=Raw())
    request_state: Raw = msgspec.field(name="requestState", default=Raw())
    protocol_version: str | None = msgspec.field(name="protocolVersion", default=None)
    client_info: _Info = msgspec.field(name="clientInfo", default_factory=_Info)
    capabilities: Raw = Raw()
    level: Raw = Raw()
    notifications: Wishes = msgspec.field(default_factory=Wishes)


_decode_params = msgspec.json.Decoder(_Params).decode
_decode_meta = msgspec.json.Decoder(_Meta).decode


def read_level(raw: Raw) -> str:
    """The name of a log level. Raises RpcError."""
    try:
        level = msgspec.json.decode(raw, type=str)
    except (msgspec.DecodeError, RecursionError):
        level = ""
    if level not in LEVELS:
        raise RpcError(INVALID_PARAMS, f"Invalid params: the log levels are {', '.join(LEVELS)}")
    return level


class Question:
    """A request, read: its method, its parameters and who asks."""

    __slots__ = (
        "_declared",
        "audience",
        "capabilities",
        "client",
        "level",
        "method",
        "params",
        "progress_token",
        "raw",
        "subscription",
    )

    def __init__(
        self,
        method: str,
        params: Raw,
        client: Client,
        *,
        declared: str | None = None,
        subscription: Subscription | None = None,
        audience: Audience | None = None,
    ) -> None:
        """`client` is the connection's, and stands unless the request speaks for itself. Raises RpcError.

        `declared` is the revision that a modern request came with, outside of itself; it must name the same.
        `subscription` is that of a legacy client, which hears what it subscribes to; `audience` the same
        client as servers may ask it. A modern one has none before it is known who tells it things.
        """
        self.method = method
        self.raw = params
        self.subscription = subscription
        self.audience = audience
        self.client = client
        self.level: str | None = None
        """From which on a modern client wants to hear log messages about this request."""
        self._declared = declared
        self.progress_token = b""
        self.capabilities = Raw()
        """What a modern request declares that its client can do."""
        try:
            self.params = _decode_params(params) if params else _Params()
            self._read_meta()
        except msgspec.ValidationError as error:
            if method in METHODS:
                raise RpcError(INVALID_PARAMS, f"Invalid params: {error}") from None
            self.params = _Params()
        except (msgspec.DecodeError, RecursionError):
            self._read_patiently(params)

    def _read_meta(self) -> None:
        if self.params.meta or self._declared is not None:
            own = self.method != "initialize"
            said = read_meta(self.params.meta or EMPTY_OBJECT, self.client, own=own, declared=self._declared)
            self.client, self.progress_token, self.level, self.capabilities = said
            if self.client.modern:
                self.audience = None

    def visitor(self, notify: Notify) -> Visitor:
        """The audience of a modern client, which is told things through `notify`."""
        from ..servers.visitor import Visitor

        client, params = self.client, self.params
        return Visitor(
            client.declared,
            self.level,
            client.principal,
            notify,
            responses=params.input_responses,
            state=params.request_state,
        )

    @property
    def members(self) -> dict[str, Raw]:
        """The parameters as they were written."""
        return {key: Raw(value) for key, value in members(bytes(self.raw)).items()}

    def _read_patiently(self, params: Raw) -> None:
        """Lone surrogates somewhere: the fast decoder refuses them, our reader of lines did not.

        What is not for us to read stays as it is.
        """
        found = members(bytes(params))
        arguments = found.pop("arguments", EMPTY_OBJECT)
        name = found.pop("name", NULL)
        rest = b",".join(b"%b:%b" % (encode(key), mended(value)) for key, value in found.items())
        try:
            self.params = _decode_params(b"{%b}" % rest)
            self._read_meta()
        except (msgspec.DecodeError, RecursionError) as error:
            raise RpcError(INVALID_PARAMS, f"Invalid params: {error}") from None
        self.params.arguments = Raw(arguments)
        self.params.name = json.loads(name)


class Said(NamedTuple):
    """What the `_meta` of a request says."""

    client: Client
    """Who asks."""
    token: bytes = b""
    """That progress is wanted under."""
    level: str | None = None
    """From which on a modern client wants to hear log messages."""
    capabilities: Raw = Raw()
    """What a modern client can do."""


def read_meta(raw: Raw | bytes, client: Client, *, own: bool = True, declared: str | None = None) -> Said:
    """Read a request's `_meta`, as of one that comes from this client.

    It may speak for itself (`own`), and must where a revision was `declared`. Raises RpcError or DecodeError.
    """
    meta = _decode_meta(raw)
    token = bytes(meta.progress_token)
    if declared is None and not (meta.version and own):
        return Said(client, token)
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
        raise RpcError(revisions.HEADER_MISMATCH, f"Header mismatch: {said}")
    if not revisions.is_modern(version):
        data = {"supported": revisions.MODERN, "requested": version}
        raise RpcError(revisions.UNSUPPORTED_VERSION, "Unsupported protocol version", encode(data))
    level = read_level(meta.level) if meta.level else None
    can_be_asked = len(bytes(meta.capabilities)) > 2
    asking = declaration(meta.capabilities, modern=True) if can_be_asked else NOTHING
    client = msgspec.structs.replace(client, name=meta.info.name, version=version, declared=asking)
    return Said(client, token, level, meta.capabilities)
