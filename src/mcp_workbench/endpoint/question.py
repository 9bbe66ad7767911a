"""A question: a request as it was read, with who asks. Answers are the endpoints'."""

from __future__ import annotations

import json

import msgspec
from msgspec import Raw

from ..errors import RpcError
from ..names import Scope
from ..protocol import revisions
from ..wire.messages import EMPTY_OBJECT, INVALID_PARAMS, NULL, encode, members
from .subscription import Subscription, Wishes


class Client(msgspec.Struct, frozen=True):
    """Who asks: known from `initialize` for the connection, or from each modern request by itself."""

    name: str
    version: str
    principal: str | None = None
    scope: Scope = None

    @property
    def modern(self) -> bool:
        return self.version in revisions.MODERN


class _Info(msgspec.Struct):
    name: str = "unknown"


class _Meta(msgspec.Struct):
    version: Raw = msgspec.field(name=revisions.VERSION, default=Raw())
    capabilities: Raw = msgspec.field(name=revisions.CLIENT_CAPABILITIES, default=Raw())
    info: _Info = msgspec.field(name=revisions.CLIENT_INFO, default_factory=_Info)
    progress_token: Raw = msgspec.field(name="progressToken", default=Raw())


class _Ref(msgspec.Struct):
    """What a completion is for: a prompt, or a template of resources."""

    name: str | None = None
    uri: str | None = None


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
    notifications: Wishes = msgspec.field(default_factory=Wishes)


_decode_params = msgspec.json.Decoder(_Params).decode
_decode_meta = msgspec.json.Decoder(_Meta).decode


class Question:
    """A request, read: its method, its parameters and who asks."""

    __slots__ = (
        "_declared",
        "capabilities",
        "client",
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
    ) -> None:
        """`client` is the connection's, and stands unless the request speaks for itself. Raises RpcError.

        `declared` is the revision that a modern request came with, outside of itself; it must name the same.
        `subscription` is that of a legacy client, which hears what it subscribes to.
        """
        self.method = method
        self.raw = params
        self.subscription = subscription
        self.client = client
        self._declared = declared
        self.progress_token = b""
        self.capabilities = Raw()
        """What a modern request declares that its client can do."""
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
            raise RpcError(revisions.HEADER_MISMATCH, f"Header mismatch: {said}")
        if not revisions.is_modern(version):
            data = {"supported": revisions.MODERN, "requested": version}
            raise RpcError(revisions.UNSUPPORTED_VERSION, "Unsupported protocol version", encode(data))
        self.capabilities = meta.capabilities
        self.client = msgspec.structs.replace(self.client, name=meta.info.name, version=version)

    @property
    def members(self) -> dict[str, Raw]:
        """The parameters as they were written."""
        return {key: Raw(value) for key, value in members(bytes(self.raw)).items()}

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
