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
from .endpoint.offers import RESOURCE
from .endpoint.question import Client, read_meta
from .errors import RpcError, ToolError
from .progress import ProgressRelay
from .protocol.audience import Audience
from .protocol.results import Head, Result, decode_head
from .protocol.tasks import understands
from .servers.base import Begun
from .servers.call import Call
from .wire.lines import Line, Piece, Pieces
from .wire.messages import COPIED, END, ID, RESULT, answer, check_utf8, failure
from .wire.peer import Peer, PeerClosed, TimedOut


class Connection(Protocol):
    """To the client, by whom what is under way can be cancelled."""

    client: Client
    peer: Peer

    @property
    def audience(self) -> Audience:
        """The client, if it is of the legacy era."""
        ...

    def began(self, id: bytes, running: _Run) -> bytes: ...

    def ended_with(self, key: bytes, line: Pieces) -> None: ...

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
        # Put together with nothing, not made by `bytes`, which asks for four other things first.
        id = b"" + request.id
        raw = params.arguments.arguments
        arguments: Raw | bytes = raw
        if len(raw) < COPIED:
            arguments = b"" + raw
            fits = arguments >= b"{"  # of all that a JSON value can begin with, the last
        else:
            fits = is_object(raw)
        if not fits or id >= b"[":  # behind all that a number or a string can begin with
            return False
        connection, modern = self.connection, client.modern
        call = Call(
            ref=params.arguments.tool,
            arguments=arguments,
            caller=client.name,
            meta=params.meta,
            principal=client.principal,
            scope=client.scope,
            audience=None if modern else connection.audience,
        )
        found = self.workbench.straight(call)
        if found is None:
            return False
        server, tool, link = found
        run = _Run(
            server=server,
            tool=tool,
            link=link,
            call=call,
            way=self,
            client=client,
            modern=modern,
            asked=id,
        )
        if token:
            run.relay = ProgressRelay(token, connection.peer.notify)
            call.on_progress = run.on_progress = run.relay.tell
        if not self.workbench.begin(run):
            return False
        run.key = connection.began(id, run)
        return True


class _Run(Begun, kw_only=True):
    """One call that went straight, from then on to its answer."""

    way: StraightWay
    client: Client
    modern: bool
    """Whether that is how the client speaks."""
    asked: bytes
    """The id of the client's request."""
    key: bytes = b""
    """What the connection knows it by."""
    relay: ProgressRelay | None = None
    task: asyncio.Task[tuple[Piece, ...]] | None = None
    """Set where it could not go straight to its end."""
    seen: bool = False
    """Whether that task has begun."""

    read = staticmethod(decode_head)

    def replied(self, result: Piece, read: Head | None) -> None:
        if read is None:
            try:
                read = decode_head(result)
            except (ValueError, RecursionError):
                self._go_on(self._read_patiently(result))
                return
        way, call, server = self.way, self.call, self.server
        # Not `in`, here and below: bytes try what they look for as a number first, which takes an exception.
        # And `partition` takes a third of `find`, where nothing is found.
        if server.marks and bytes(result).partition(b'"workbench/')[1]:
            self._go_on(self._read_patiently(result))
            return
        if self.relay is not None:
            self.relay.flush()
        try:
            line: Pieces
            outcome: Result | None = None
            if self.modern or read.is_error or read.structured or type(result) is not bytes:
                outcome = Result(result, server.modern, read)
            way.workbench.log(call, outcome and outcome.error_text, (b'"result":', result))
            if outcome is None:  # it is small and goes out as it came
                line = b"".join((ID, self.asked, RESULT, result, END))
            else:
                line = answer(self.asked, *outcome.pieces(self.modern))
        except Exception as mistake:
            line = failure(self.asked, way.connection.apology(mistake))
        way.connection.ended_with(self.key, line)
        server.end(self)
        if type(result) is not bytes or result.partition(RESOURCE)[1]:
            way.endpoint.used(call.ref, result, call.principal)

    def failed(self, problem: RpcError | PeerClosed | TimedOut) -> None:
        self._go_on(self._mended(problem))

    async def _mended(self, problem: RpcError | PeerClosed | TimedOut) -> Result:
        server = self.server
        return Result(await server.mend(self, problem), server.modern)

    async def _read_patiently(self, result: Piece) -> Result:
        server = self.server
        return Result(server.unmarked(Raw(bytes(result)), self.call), server.modern)

    def cancel(self) -> None:
        """The client wants no answer any more, or we are about to end."""
        if self.task is not None:
            self.task.cancel()
            return
        self.forgo()
        self.server.end(self)
        self.way.workbench.log(self.call, "cancelled", ())
        self.way.connection.ended_with(self.key, ())

    def _go_on(self, work: Coroutine[Any, Any, Result]) -> None:
        """On the way that fits everything, from where it got to."""
        self.task = asyncio.create_task(self._see_through(work))
        # Not at the end of that: a task that is cancelled before its first step does not even begin.
        self.task.add_done_callback(lambda task: self._over(task, work))

    async def _see_through(self, work: Coroutine[Any, Any, Result]) -> tuple[Piece, ...]:
        way = self.way
        self.seen = True
        try:
            try:
                result = await way.workbench.see_through(self.call, work)
                way.endpoint.used(self.call.ref, result.raw, self.call.principal)
            except ToolError as error:
                result = way.endpoint.explained(error, self.client)
            return answer(self.asked, *result.pieces(self.modern))
        except RpcError as error:
            return failure(self.asked, error)
        except Exception as error:
            return failure(self.asked, way.connection.apology(error))

    def _over(self, task: asyncio.Task[tuple[Piece, ...]], work: Coroutine[Any, Any, Result]) -> None:
        if not self.seen:
            work.close()
            self.way.workbench.log(self.call, "cancelled", ())
        self.server.end(self)
        if self.relay is not None:
            self.relay.flush()
        self.way.connection.ended_with(self.key, () if task.cancelled() else task.result())
