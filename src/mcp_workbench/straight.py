"""The straight way: a `use_tool` for which there is nothing to wait for but the answer of a connected server.

One look into the client's line, one into the server's, and no task: a call costs half of what it does on the
way that fits everything. That one is taken by whatever does not fit here; until a call is on its way nothing
has been done that would have to be undone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Literal, Protocol

import msgspec
from msgspec import Raw

from .checks import UseArguments, is_object
from .endpoint.meta import MetaEndpoint
from .endpoint.question import Client, read_meta
from .errors import RpcError, ToolError
from .names import ToolRef
from .progress import ProgressRelay
from .protocol.audience import Audience
from .protocol.results import Head, Result, decode_head
from .protocol.tasks import understands
from .servers.base import Begun
from .servers.call import Call
from .wire.lines import Line, Piece
from .wire.messages import ID_STARTS, answer, check_utf8, failure
from .wire.peer import Peer, PeerClosed, Pending, TimedOut


class Connection(Protocol):
    """To the client, by whom what is under way can be cancelled."""

    client: Client
    peer: Peer

    @property
    def audience(self) -> Audience:
        """The client, if it is of the legacy era."""
        ...

    def began(self, id: bytes, running: _Run) -> bytes: ...

    def ended_with(self, key: bytes, line: tuple[Piece, ...]) -> None: ...

    def apology(self, error: Exception) -> RpcError: ...


class _Params(msgspec.Struct, forbid_unknown_fields=True):
    name: Literal["use_tool"]
    arguments: UseArguments
    meta: Raw = msgspec.field(name="_meta", default=Raw())


class _Request(msgspec.Struct):
    id: Raw
    method: Literal["tools/call"]
    params: _Params


_decode = msgspec.json.Decoder(_Request).decode


class StraightWay:
    """For the lines of one client."""

    def __init__(self, endpoint: MetaEndpoint, connection: Connection) -> None:
        self.endpoint = endpoint
        self.workbench = endpoint.workbench
        self.connection = connection

    def take(self, line: Line) -> bool:
        """Whether this line was a call that could go straight; it is then on its way."""
        try:
            if not line.isascii():
                check_utf8(line)
            request = _decode(line)
            params = request.params
            client, token = self.connection.client, b""
            if params.meta:
                client, token, level, capabilities = read_meta(params.meta, client)
                if client.modern and (client.declared or level is not None or understands(capabilities)):
                    return False  # it may be asked, told or given things, in ways that take more
        except (ValueError, RecursionError, RpcError):
            return False
        id = bytes(request.id)
        tool, arguments = params.arguments.tool, params.arguments.arguments
        if id[0] not in ID_STARTS or not is_object(arguments):
            return False
        call = Call(
            ref=ToolRef(tool.toolbox, tool.server, tool.name),
            arguments=arguments,
            caller=client.name,
            meta=params.meta,
            principal=client.principal,
            scope=client.scope,
            audience=None if client.modern else self.connection.audience,
        )
        run = _Run(self, id, client, call)
        if token:
            run.relay = ProgressRelay(token, self.connection.peer.notify)
            run.on_progress = run.relay.tell
        begun = self.workbench.begin(call, run)
        if begun is None:
            return False
        run.begun = begun
        run.key = self.connection.began(id, run)
        return True


class _Run(Pending):
    """One call that went straight, from then on to its answer."""

    __slots__ = ("_task", "_way", "begun", "call", "client", "id", "key", "relay")
    begun: Begun
    key: bytes
    """What the connection knows it by."""

    def __init__(self, way: StraightWay, id: bytes, client: Client, call: Call) -> None:
        super().__init__()
        self._way = way
        self._task: asyncio.Task[None] | None = None
        self.id = id
        self.client = client
        self.call = call
        self.relay: ProgressRelay | None = None

    def read(self, result: Piece) -> Head:
        return decode_head(result)

    def replied(self, result: Piece, read: Head | None) -> None:
        if read is None:
            try:
                read = decode_head(result)
            except (ValueError, RecursionError):
                self._go_on(self._read_patiently(result))
                return
        way, call = self._way, self.call
        server = self.begun.server
        if server.marks and b'"workbench/' in bytes(result):
            self._go_on(self._read_patiently(result))
            return
        if self.relay is not None:
            self.relay.flush()
        try:
            outcome = Result(result, server.modern, read)
            error = outcome.error_text if read.is_error else None
            way.workbench.log(call, error, (b'"result":', result))
            way.endpoint.used(call.ref, outcome, self.client)
            line = answer(self.id, *outcome.pieces(self.client.modern))
        except Exception as mistake:
            line = failure(self.id, way.connection.apology(mistake))
        way.connection.ended_with(self.key, line)
        server.end(self.begun)

    def failed(self, problem: RpcError | PeerClosed | TimedOut) -> None:
        # Even before `begun` is known, where the pipe breaks under the very first word.
        self._go_on(self._mended(problem))

    async def _mended(self, problem: RpcError | PeerClosed | TimedOut) -> Result:
        server = self.begun.server
        return Result(await server.mend(self.begun, problem), server.modern)

    async def _read_patiently(self, result: Piece) -> Result:
        server = self.begun.server
        return Result(server.unmarked(Raw(bytes(result)), self.call), server.modern)

    def cancel(self) -> None:
        """The client wants no answer any more, or we are about to end."""
        if self._task is not None:
            self._task.cancel()
            return
        self.begun.cancel()
        self.begun.server.end(self.begun)
        self._way.workbench.log(self.call, "cancelled", ())
        self._way.connection.ended_with(self.key, ())

    def _go_on(self, work: Coroutine[Any, Any, Result]) -> None:
        """On the way that fits everything, from where it got to."""
        self._task = asyncio.create_task(self._see_through(work))

    async def _see_through(self, work: Coroutine[Any, Any, Result]) -> None:
        way = self._way
        line: tuple[Piece, ...] = ()
        try:
            try:
                result = await way.workbench.see_through(self.call, work)
                way.endpoint.used(self.call.ref, result, self.client)
            except ToolError as error:
                result = way.endpoint.explained(error, self.client)
            line = answer(self.id, *result.pieces(self.client.modern))
        except RpcError as error:
            line = failure(self.id, error)
        except Exception as error:
            line = failure(self.id, way.connection.apology(error))
        finally:
            self.begun.server.end(self.begun)
            if self.relay is not None:
                self.relay.flush()
            way.connection.ended_with(self.key, line)
