"""A server that is a folder of tool files, run by our own worker in a process of its own.

The worker speaks MCP like any other server. What is between it and us alone stays here: which files failed,
the validation of plain tools' arguments, the traces of their failures, and the calls that tools make.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable
from typing import Any, Protocol, cast

import msgspec
from msgspec import Raw

from ..config import FolderConfig
from ..errors import RpcError, ToolError, ToolNotFound, ToolNotOffered, Unanswered
from ..names import ToolRef
from ..protocol.audience import Audience
from ..protocol.results import Result
from ..protocol.session import Session
from ..wire.messages import INTERNAL_ERROR, INVALID_PARAMS, encode
from ..wire.peer import Peer, PeerClosed, Request, TimedOut
from .base import Begun
from .call import Call
from .environment import child_environment
from .link import Link
from .listing import OURS, VERSION, Checked, Listing, decode_members, fault
from .processes import Processes
from .spawned import Program, SpawnedServer
from .tool import Tool

WORKER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "worker", "__main__.py")

# The keys of `_meta` that the worker and we share, and nobody else sees.
CALL = "workbench/call"
TRACE = "workbench/trace"

STALE = -32000
"""The worker's error for a call that was made for an older version of the tool; nothing was run."""

REFRESH_TIME = 1.0
"""Seconds that opening again may take over a folder whose files are being loaded."""

MOST_TRIES = 5
"""How often a file may change between our listing and our call, before that is an error."""


class Switchboard(Protocol):
    """Who connects the calls that tools make."""

    async def call_from(self, outer: Call, target: ToolRef | str, inner: InnerCall) -> Result: ...

    def callable_from(self, outer: Call) -> list[dict[str, object]]: ...


class _Target(msgspec.Struct):
    """A tool as a tool names it, perhaps with all that a list tells of it."""

    toolbox: str
    server: str
    name: str


class InnerCall(msgspec.Struct):
    """What a tool asks for with `call_tool`."""

    outer: Raw
    tool: str | _Target = ""
    arguments: Raw = Raw(b"{}")
    caller: str | None = None
    tid: str | None = None


_decode_inner = msgspec.json.Decoder(InnerCall).decode


class FolderServer(SpawnedServer):
    config: FolderConfig

    def __init__(
        self,
        config: FolderConfig,
        on_change: Callable[[], None],
        processes: Processes,
        switchboard: Switchboard,
        log_path: str,
    ) -> None:
        """`log_path` is told to its tools, when they start."""
        super().__init__(config, on_change, processes)
        self.marks = True
        self._era = "legacy"  # our own worker: no need to ask
        self._switchboard = switchboard
        self.log_path = log_path
        self._checked: dict[str, Checked] = {}
        self._said: set[str] = set()
        self._warned: set[str] = set()
        # By the worker too: there is one to a client that must not share it, and each pair counts for itself.
        self._under_way: dict[tuple[object, bytes], Call] = {}
        self._inner: dict[tuple[object, bytes], asyncio.Task[None]] = {}

    def _program(self) -> Program:
        config = self.config
        if not os.path.isdir(config.path):
            raise Unanswered(f"its folder of tool files does not exist: {config.path}")
        python = config.python or sys.executable
        env = child_environment(os.environ, False, {"MCP_WORKBENCH_LOG": self.log_path})
        return Program(
            _interpreter(python, env.get("PATH", os.defpath)), [python, WORKER, config.path], env, None
        )

    # Listing

    async def _list(self, session: Session) -> list[Raw]:
        listing = Listing(*await session.list_tools())
        where = f"Tool files of server '{self.config.name}' (toolbox '{self.config.toolbox}')"
        self.notes = [f"{where}: {line}" for line in listing.problems]
        self._checked = listing.checked
        self._say([*self.notes, *(f"warning: {where}: {line}" for line in listing.warnings)])
        return listing.public

    def _say(self, lines: list[str]) -> None:
        """What was not said of the last listing. Files may hold anything, and a terminal obeys."""
        for line in lines:
            if line not in self._said:
                safe = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in line)
                sys.stderr.write(f"mcp-workbench: {safe}\n")
        self._said = set(lines)

    async def _list_further(self, link: Link, *, announced: bool = False) -> None:
        """All workers of a folder have the same files: what the first one lists is what there is."""

    async def refresh(self, audience: Audience | None = None) -> None:
        """A file may have been saved this very moment; one that takes long to load is not waited for."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(REFRESH_TIME):
                await self._list_again()

    async def find(self, name: str) -> Tool | None:
        """A file may have been saved this very moment, before the worker could tell."""
        if name not in self.tools and self.connected:
            await self._list_again()
        return self.tools.get(name)

    async def _list_again(self) -> None:
        link = self._link
        if link is not None and link.session is not None:
            with contextlib.suppress(RpcError, PeerClosed):
                self.offer(await self._list(link.session))

    # Calling

    def straight(self, tool: Tool, call: Call) -> Link | None:
        checked = self._checked.get(tool.name)
        if checked is None or checked.result is not None:
            return None
        if checked.arguments is not None and checked.arguments.problems(call.arguments):
            return None
        return super().straight(tool, call)

    def send(self, begun: Begun) -> None:
        checked = self._checked.get(begun.tool.name)
        version = checked.version if checked is not None else Raw(b"null")  # which the worker refuses
        begun.meta = _call_meta(begun.call, version)
        super().send(begun)
        if begun.id:
            self._under_way[begun.link.peer, begun.id] = begun.call

    async def mend(self, begun: Begun, problem: RpcError | PeerClosed | TimedOut) -> Raw:
        if isinstance(problem, RpcError) and problem.code == STALE:
            await self._list_again()
            return await self._call(begun.tool, begun.call)
        return await super().mend(begun, problem)

    def end(self, begun: Begun) -> None:
        self._under_way.pop((begun.link.peer, begun.id), None)
        super().end(begun)

    def unmarked(self, raw: Raw, call: Call) -> Raw:
        return self._without_trace(raw, call) if b'"workbench/' in bytes(raw) else raw

    async def _exchange(self, session: Session, tool: Tool, call: Call) -> Raw:
        known = self._checked
        for _ in range(MOST_TRIES):
            checked = known.get(tool.name)
            if checked is None:
                raise ToolNotFound(call.ref)  # its file went away since
            if tool.name in self.withheld:  # or is another that must not be offered
                raise ToolNotOffered(call.ref, self.withheld[tool.name])
            if checked.arguments is not None and (problems := checked.arguments.problems(call.arguments)):
                return _invalid(tool.name, problems)
            try:
                raw = await self._try(session, tool, call, checked.version)
            except RpcError as error:
                if error.code != STALE:
                    raise
                known = await self._check_again(session)
                continue
            if checked.result is not None and (problems := checked.result.problems(raw)):
                self._warn_of_result(tool.name, problems)
            return raw
        raise RpcError(INTERNAL_ERROR, "the tool's file changes faster than it can be called")

    async def _check_again(self, session: Session) -> dict[str, Checked]:
        """What the worker of this session has now; of a further one it is of interest to its calls alone."""
        await self._list_again()  # what may be offered is decided by the first one's listing
        if self._link is None or session is self._link.session:
            return self._checked
        listing = Listing(*await session.list_tools())
        offered = self.would_offer(listing.public)
        return {name: checked for name, checked in listing.checked.items() if name in offered}

    async def _try(self, session: Session, tool: Tool, call: Call, version: Raw) -> Raw:
        id = session.peer.next_id()
        key = (session.peer, id)
        self._under_way[key] = call
        limit = self._limit
        if limit.idle is not None:
            limit = self._bear_with(session, call, id)
            call.on_progress = _keeping_alive(cast("Peer", session.peer), id, call.on_progress)
        try:
            raw = await session.call(
                tool.call_head,
                call.arguments,
                _call_meta(call, version),
                id=id,
                on_progress=call.on_progress,
                limit=limit,
            )
        finally:
            del self._under_way[key]
        return self.unmarked(raw, call)

    def _warn_of_result(self, name: str, problems: list[str]) -> None:
        """Once for each way in which a tool does not keep what its outputSchema says."""
        tool = f"tool '{name}' in server '{self.config.name}'"
        warning = f"{tool} does not keep its outputSchema: {'; '.join(problems)}"
        if warning not in self._warned:
            self._warned.add(warning)
            sys.stderr.write(f"mcp-workbench: warning: {warning}\n")

    def _without_trace(self, raw: Raw, call: Call) -> Raw:
        result = decode_members(raw)
        try:
            meta = decode_members(result.get("_meta", b"{}"))
        except msgspec.DecodeError:
            return raw  # the tool's own, and nothing of ours
        if TRACE in meta:
            with contextlib.suppress(msgspec.DecodeError):
                call.trace = msgspec.json.decode(meta[TRACE], type=str)
        theirs = {key: value for key, value in meta.items() if not key.startswith(OURS)}
        if len(theirs) == len(meta):
            return raw
        if theirs:
            result["_meta"] = Raw(encode(theirs))
        else:
            del result["_meta"]
        return Raw(encode(result))

    # What tools ask of us

    def on_request(self, peer: Peer, request: Request) -> None:
        if request.method == "workbench/check_schemas":
            request.answer(encode({"fault": fault(request.params)}))
            return
        if request.method not in ("workbench/call_tool", "workbench/list_tools"):
            super().on_request(peer, request)
            return
        try:
            inner = _decode_inner(request.params)
        except msgspec.DecodeError as error:
            request.fail(RpcError(INVALID_PARAMS, f"call_tool: {error}"))
            return
        outer = self._under_way.get((peer, bytes(inner.outer)))
        if outer is None:
            request.fail(RpcError(INVALID_PARAMS, "the call that this belongs to has ended"))
        elif request.method == "workbench/list_tools":
            request.answer(encode({"tools": self._switchboard.callable_from(outer)}))
        else:
            key = (peer, bytes(request.id))
            self._inner[key] = self._chores.begin(self._connect_inner(request, outer, inner))
            self._inner[key].add_done_callback(lambda _: self._inner.pop(key, None))

    def on_notification(self, peer: Peer, method: str, params: Raw) -> None:
        if method == "notifications/cancelled":
            cancelled: dict[str, Any] = msgspec.json.decode(params)
            task = self._inner.get((peer, encode(cancelled.get("requestId"))))
            if task is not None:
                task.cancel()
        else:
            super().on_notification(peer, method, params)

    async def _connect_inner(self, request: Request, outer: Call, inner: InnerCall) -> None:
        tool = inner.tool
        target = tool if isinstance(tool, str) else ToolRef(tool.toolbox, tool.server, tool.name)
        try:
            result = await self._switchboard.call_from(outer, target, inner)
        except ToolError as error:
            request.fail(RpcError(INTERNAL_ERROR, str(error)))
        else:
            request.answer(*result.pieces(modern=False))


def _keeping_alive(peer: Peer, id: bytes, tell: Callable[[Raw], None] | None) -> Callable[[Raw], None]:
    """Progress of the calls that a tool makes counts as its own."""

    def progressed(params: Raw) -> None:
        peer.keep_alive(id)
        if tell is not None:
            tell(params)

    return progressed


def _invalid(name: str, problems: list[str]) -> Raw:
    text = f"Invalid arguments for tool '{name}': {'; '.join(problems)}"
    return Raw(encode({"content": [{"type": "text", "text": text}], "isError": True}))


def _call_meta(call: Call, version: Raw) -> Raw:
    """The client's `_meta` with the chain that the tool is part of."""
    chain: dict[str, object] = {
        "id": call.id,
        "root": call.root.id,
        "caller": call.caller,
        "toolbox": call.ref.toolbox,
        "server": call.ref.server,
    }
    if call.parent is not None:
        chain["parent"] = call.parent.id
    if call.principal is not None:
        chain["principal"] = call.principal
    members: dict[str, object] = {**decode_members(call.meta)} if call.meta else {}
    members[CALL] = chain
    members[VERSION] = version
    return Raw(encode(members))


def _interpreter(python: str, search: str) -> str:
    if os.path.dirname(python):
        if os.access(python, os.X_OK):
            return python
        raise Unanswered(f"its Python interpreter cannot be run: {python}")
    import shutil

    found = shutil.which(python, path=search)
    if found is None:
        raise Unanswered(f"its Python interpreter '{python}' is in none of the folders of PATH ({search})")
    return found
