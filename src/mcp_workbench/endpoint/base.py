"""An endpoint: what clients of either era can ask of us, and how they hear of changes.

What there is to ask for is for the subclasses: the meta-tools, or a toolbox as it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import msgspec
from msgspec import Raw

from .. import __version__
from ..errors import RpcError
from ..names import ToolRef
from ..progress import Notify, ProgressRelay
from ..protocol import revisions
from ..protocol.about import About
from ..protocol.results import Result
from ..servers.call import Call
from ..wire.lines import Piece
from ..wire.messages import INVALID_PARAMS, METHOD_NOT_FOUND, encode
from ..workbench import Workbench
from .question import Client, Question
from .subscription import Subscription

FRESH_MS = 60_000
"""How long a modern client may take our lists for current without asking again."""

SERVER_INFO = Raw(encode({"name": "mcp-workbench", "title": "MCP Workbench", "version": __version__}))


class Endpoint(ABC):
    def __init__(self, workbench: Workbench, *, shared: bool = False) -> None:
        """`shared` by many clients: where they may see different toolboxes, they are told not to share what
        they hear.
        """
        self.workbench = workbench
        self._shared = shared
        self._info = SERVER_INFO
        self._subscriptions: set[Subscription] = set()
        self._stop_listening = workbench.on_change(self._changed)

    @abstractmethod
    def at_once(self, question: Question) -> bytes | None:
        """The result of what needs no waiting; None for all the rest. Raises RpcError."""

    @abstractmethod
    async def _answer(self, question: Question, notify: Notify) -> tuple[Piece, ...]:
        """The result of what `at_once` has none of, in pieces. Raises RpcError."""

    @abstractmethod
    def _changed(self) -> None:
        """Something in the workbench is no longer as it was."""

    async def answer(self, question: Question, notify: Notify) -> tuple[Piece, ...]:
        """The result of anything but `subscriptions/listen`, in pieces. Raises RpcError.

        `notify` is for what the client is told on the way.
        """
        result = self.at_once(question)
        return (result,) if result is not None else await self._answer(question, notify)

    def client_of(self, question: Question) -> Client:
        """Who a client is from its `initialize` on."""
        requested = question.params.protocol_version
        version = requested if requested in revisions.LEGACY else revisions.LEGACY[-1]
        return msgspec.structs.replace(
            question.client, name=question.params.client_info.name, version=version
        )

    def subscribe(self, subscription: Subscription) -> None:
        self._subscriptions.add(subscription)

    def unsubscribe(self, subscription: Subscription) -> None:
        self._subscriptions.discard(subscription)

    def close(self) -> None:
        """Tell nobody anything any more."""
        self._stop_listening()

    async def _run(
        self, question: Question, ref: ToolRef, arguments: Raw | bytes, notify: Notify, *, listed: bool = True
    ) -> Result:
        """Call a tool for a client. Raises ToolError."""
        params, client = question.params, question.client
        call = Call(
            ref=ref,
            arguments=arguments,
            caller=client.name,
            meta=params.meta,
            principal=client.principal,
            scope=client.scope,
            listed=listed,
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

    def _tools_changed(self) -> None:
        for subscription in self._subscriptions:
            subscription.tools_changed()

    # Results

    def _initialized(self, question: Question, about: About) -> bytes:
        if question.params.protocol_version is None:
            raise RpcError(INVALID_PARAMS, "Invalid params: protocolVersion is required")
        result = {
            "protocolVersion": self.client_of(question).version,
            "capabilities": about.capabilities,
            "serverInfo": self._info,
        }
        if about.instructions is not None:
            result["instructions"] = about.instructions
        return encode(result)

    def _discovered(self, question: Question, about: About) -> bytes:
        if not question.client.modern:
            raise RpcError(INVALID_PARAMS, f"Invalid params: _meta needs {revisions.VERSION}")
        result = {
            "resultType": "complete",
            "supportedVersions": revisions.MODERN,
            "capabilities": about.capabilities,
        }
        if about.instructions is not None:
            result["instructions"] = about.instructions
        return encode({**result, **self._modern_members()})

    def _listed(self, question: Question, kind: str, entries: object) -> bytes:
        """The whole of a list, which has one page."""
        if question.params.cursor is not None:
            raise RpcError(INVALID_PARAMS, "Invalid params: unknown cursor")
        if question.client.modern:
            return encode({"resultType": "complete", kind: entries, **self._modern_members()})
        return encode({kind: entries})

    def _modern_members(self) -> dict[str, object]:
        tokens = self.workbench.config.http.tokens.values() if self._shared else ()
        private = any(token.toolboxes is not None for token in tokens)
        return {
            "ttlMs": FRESH_MS,
            "cacheScope": "private" if private else "public",
            "_meta": {revisions.SERVER_INFO: self._info},
        }


def unknown_method(question: Question) -> RpcError:
    return RpcError(METHOD_NOT_FOUND, "Method not found", encode({"method": question.method}))
