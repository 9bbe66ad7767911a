"""A connection to a server, in whichever era the server lives: the opening words, the lists, the calls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Literal, Protocol, TypeVar

import msgspec
from msgspec import Raw

from .. import __version__
from ..errors import RpcError
from ..wire.lines import Piece
from ..wire.messages import EMPTY_OBJECT, INVALID_PARAMS, METHOD_NOT_FOUND, encode, patiently
from ..wire.peer import Limit
from . import revisions, tasks
from .about import About
from .audience import NOTHING, Audience, modern_capabilities

Era = Literal["legacy", "modern"]
T = TypeVar("T")

PROBE_PATIENCE = 3.0
"""Seconds that a server may take over the modern greeting before it is offered the legacy one as well."""

MOST_PAGES = 10_000

_CLIENT = {"name": "mcp-workbench", "version": __version__}


class _DiscoveredMeta(msgspec.Struct):
    info: Raw = msgspec.field(name=revisions.SERVER_INFO, default=Raw())


class _Discovered(msgspec.Struct):
    versions: list[str] = msgspec.field(name="supportedVersions")
    capabilities: dict[str, Raw] = {}
    instructions: str | None = None
    meta: _DiscoveredMeta = msgspec.field(name="_meta", default_factory=_DiscoveredMeta)

    @property
    def about(self) -> About:
        return About(self.capabilities, self.meta.info, self.instructions)


class _Initialized(msgspec.Struct):
    version: str = msgspec.field(name="protocolVersion")
    capabilities: dict[str, Raw] = {}
    info: Raw = msgspec.field(name="serverInfo", default=Raw())
    instructions: str | None = None

    @property
    def about(self) -> About:
        return About(self.capabilities, self.info, self.instructions)


class _Unsupported(msgspec.Struct):
    supported: list[str] = []


class _Page(msgspec.Struct):
    tools: list[Raw] | None
    """None where a server has no other way to write an empty list."""
    next_cursor: str | None = msgspec.field(name="nextCursor", default=None)
    meta: Raw = msgspec.field(name="_meta", default=Raw())


# Read patiently: an emoji that was cut in two, in a description, is no reason to do without a server. It
# stays mended, since whoever reads a listing is as likely to refuse it as we are.
_decode_page = msgspec.json.Decoder(_Page).decode
_decode_discovered = msgspec.json.Decoder(_Discovered).decode
_decode_initialized = msgspec.json.Decoder(_Initialized).decode
_decode_meta = msgspec.json.Decoder(dict[str, Raw]).decode


class IncompatibleServer(Exception):
    """It speaks MCP, but no revision that we speak."""


class Speaker(Protocol):
    """Who carries our words: a `wire.peer.Peer`, or whatever else can send requests and match the replies."""

    def next_id(self) -> bytes: ...

    def request(
        self,
        method: bytes,
        *params: Piece,
        id: bytes | None = None,
        on_progress: Callable[[Raw], None] | None = None,
        limit: Limit | None = None,
        cancel: bool = True,
    ) -> Coroutine[Any, Any, Raw]: ...

    @property
    def send(self) -> Callable[[Sequence[Piece]], None]: ...


class Asked(msgspec.Struct, eq=False):
    """A request on its way that is no call of a tool: its method, and its parameters as they were written."""

    method: str
    params: dict[str, Raw] = {}
    on_progress: Callable[[Raw], None] | None = None
    audience: Audience | None = None
    patient: bool = False
    """Whether its answer may take as long as whoever asks is willing to wait."""

    @property
    def meta(self) -> Raw:
        """The client's `_meta`."""
        return self.params.get("_meta", Raw())

    def waits_for(self, more: int) -> None:
        """As of a call; there is no limit on the silence of this one."""


class Session:
    """Made by `open_session`; knows how to say things to its server."""

    def __init__(self, peer: Speaker, version: str, about: About) -> None:
        self.peer = peer
        self.version = version
        self.about = about
        self.modern = revisions.is_modern(version)
        self._own_meta = _modern_meta(version) if self.modern else {}
        self._plain_meta = encode(self._own_meta)
        self._knows_tasks = self.modern and about.extension(tasks.EXTENSION) is not None

    async def list_tools(self) -> tuple[list[Raw], Raw]:
        """Every page of `tools/list`, and the `_meta` of the last one."""
        tools: list[Raw] = []
        cursor: str | None = None
        seen: set[str] = set()
        for _ in range(MOST_PAGES):
            params: dict[str, object] = {"_meta": self._own_meta} if self.modern else {}
            if cursor is not None:
                params["cursor"] = cursor
            try:
                page = patiently(_decode_page, await self.peer.request(b'"tools/list"', encode(params)))
            except RpcError as error:
                if error.code == METHOD_NOT_FOUND and not tools:  # a server of prompts or resources alone
                    return [], Raw()
                raise
            except msgspec.DecodeError as error:
                raise RpcError(INVALID_PARAMS, f"its list of tools is unreadable: {error}") from None
            tools += page.tools or ()
            cursor = page.next_cursor
            if not cursor:
                return tools, page.meta
            if cursor in seen:
                raise RpcError(INVALID_PARAMS, "its list of tools does not end (the same page comes again)")
            seen.add(cursor)
        raise RpcError(INVALID_PARAMS, f"its list of tools has more than {MOST_PAGES:,} pages")

    def call(
        self,
        head: bytes,
        arguments: Raw | bytes,
        meta: Raw,
        *,
        id: bytes = b"",
        extra: tuple[Piece, ...] = (),
        on_progress: Callable[[Raw], None] | None = None,
        limit: Limit | None = None,
        audience: Audience | None = None,
    ) -> Coroutine[Any, Any, Raw]:
        """`tools/call`, where `head` is `{"name":…,"arguments":` of the tool. The raw result.

        `meta` is the client's; `extra` goes in beside the arguments; `id` is one of the peer's next ones.
        """
        id = id or self.peer.next_id()
        tail = self.call_tail(meta, id if on_progress is not None else b"", audience)
        return self.peer.request(
            b'"tools/call"', head, arguments, *extra, tail, id=id, on_progress=on_progress, limit=limit
        )

    def call_tail(self, meta: Raw, token: bytes, audience: Audience | None) -> bytes:
        """What follows the arguments in a `tools/call`; `token` asks for progress under it."""
        said = meta or token or (self.modern and audience is not None)
        own = self._call_meta(meta, token, audience) if said else self._plain_meta
        return b',"_meta":%b}' % own if len(own) > 2 else b"}"

    async def ask(self, asked: Asked, *, id: bytes = b"", limit: Limit | None = None) -> Raw:
        """The raw result of any other request."""
        id = id or self.peer.next_id()
        members = {key: value for key, value in asked.params.items() if key != "_meta"}
        own = self._call_meta(asked.meta, id if asked.on_progress is not None else b"", asked.audience)
        if len(own) > 2:
            members["_meta"] = Raw(own)
        return await self.peer.request(
            encode(asked.method), encode(members), id=id, on_progress=asked.on_progress, limit=limit
        )

    async def listen(self, wishes: dict[str, object]) -> None:
        """Ask a modern server to tell of changes; returns when it no longer will."""
        meta = self._own_meta
        if "taskIds" in wishes:
            meta = {**meta, revisions.CLIENT_CAPABILITIES: {"extensions": tasks.DECLARATION}}
        params = {"_meta": meta, "notifications": wishes}
        await self.peer.request(b'"subscriptions/listen"', encode(params))

    def _call_meta(self, meta: Raw, token: bytes, audience: Audience | None) -> bytes:
        """The client's `_meta`, less what is between it and us, with what is between us and the server."""
        try:
            members = _decode_meta(meta) if meta else {}
        except (msgspec.DecodeError, RecursionError):
            members = {}
        capabilities = members.get(revisions.CLIENT_CAPABILITIES)
        level = members.get(revisions.LOG_LEVEL)
        for key in _HOP_KEYS:
            members.pop(key, None)
        for key, value in self._own_meta.items():
            members[key] = Raw(encode(value))
        if self.modern:
            if audience is not None and not audience.modern:  # whoever it is, we ask and tell them
                capabilities = Raw(modern_capabilities(audience.declared))
                level = Raw(encode(audience.level)) if audience.level is not None else None
            # A modern server asks through its results, which reach this very client.
            if capabilities is not None:
                known = capabilities if self._knows_tasks else tasks.without_extension(capabilities)
                members[revisions.CLIENT_CAPABILITIES] = known
            if level is not None:
                members[revisions.LOG_LEVEL] = level
        if token:
            members["progressToken"] = Raw(token)
        return encode(members)


_HOP_KEYS = (
    "progressToken",
    revisions.VERSION,
    revisions.CLIENT_INFO,
    revisions.CLIENT_CAPABILITIES,
    revisions.LOG_LEVEL,
)


def _modern_meta(version: str) -> dict[str, object]:
    return {
        revisions.VERSION: version,
        revisions.CLIENT_INFO: _CLIENT,
        revisions.CLIENT_CAPABILITIES: {},
    }


async def open_session(peer: Speaker, era: Era | None = None, declared: bytes = NOTHING) -> Session:
    """Greet the server as it likes to be greeted; `era` says how, where that is known from before.

    A legacy server is told what was `declared` by whomever the connection is for.
    Raises RpcError, PeerClosed or IncompatibleServer. Sets no time limit of its own.
    """
    if era == "legacy":
        return await _initialize(peer, declared)
    probe = _in_background(_discover(peer, revisions.MODERN[-1]))
    try:
        await asyncio.wait({probe}, timeout=None if era == "modern" else PROBE_PATIENCE)
        if probe.done():
            session = probe.result()
            return session or await _initialize_or_discover(peer, declared)
        return await _whichever_answers(peer, probe, declared)
    finally:
        probe.cancel()


def _in_background(work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    task = asyncio.create_task(work)
    # Where the other one answered first, nobody asks for this one's failure.
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    return task


async def _whichever_answers(peer: Speaker, probe: asyncio.Task[Session | None], declared: bytes) -> Session:
    """Silence so far: a slow start, or a legacy server that ignores what it does not know. Ask both ways."""
    handshake = _in_background(_initialize(peer, declared))
    try:
        await asyncio.wait({probe, handshake}, return_when=asyncio.FIRST_COMPLETED)
        if probe.done() and (session := probe.result()) is not None:
            return session
        try:
            return await handshake
        except RpcError:
            # A modern server refuses `initialize` once it has taken the probe, whose answer is on its way.
            session = await probe
            if session is None:
                raise
            return session
    finally:
        handshake.cancel()


async def _initialize_or_discover(peer: Speaker, declared: bytes) -> Session:
    try:
        return await _initialize(peer, declared)
    except RpcError as error:
        if error.code == revisions.UNSUPPORTED_VERSION:
            session = await _discover(peer, _common(error) or revisions.MODERN[-1])
            if session is not None:
                return session
        raise


async def _discover(peer: Speaker, version: str) -> Session | None:
    """A modern session, or None where the server is a legacy one."""
    params = encode({"_meta": _modern_meta(version)})
    try:
        # Not cancelled at the other end: a legacy server has no idea what that would be about.
        found = patiently(_decode_discovered, await peer.request(b'"server/discover"', params, cancel=False))
    except RpcError as error:
        if error.code == revisions.UNSUPPORTED_VERSION:
            common = _common(error)
            if common is not None and common != version:
                return await _discover(peer, common)
            if not _speaks_legacy(error):
                raise IncompatibleServer(
                    f"it speaks none of our protocol revisions: {error.message}"
                ) from None
        return None
    except msgspec.DecodeError:
        return None
    common = [version for version in revisions.MODERN if version in found.versions]
    return Session(peer, common[-1], found.about) if common else None


def _supported(error: RpcError) -> list[str]:
    try:
        return msgspec.json.decode(error.data or b"{}", type=_Unsupported).supported
    except msgspec.DecodeError:
        return []


def _common(error: RpcError) -> str | None:
    common = [version for version in revisions.MODERN if version in _supported(error)]
    return common[-1] if common else None


def _speaks_legacy(error: RpcError) -> bool:
    supported = _supported(error)
    return not supported or any(version in revisions.LEGACY for version in supported)


async def _initialize(peer: Speaker, declared: bytes) -> Session:
    capabilities = Raw(declared or EMPTY_OBJECT)
    params = encode(
        {"protocolVersion": revisions.LEGACY[-1], "capabilities": capabilities, "clientInfo": _CLIENT}
    )
    try:
        raw = await peer.request(b'"initialize"', params, cancel=False)
        found = patiently(_decode_initialized, raw)
    except msgspec.DecodeError as error:
        raise IncompatibleServer(f"its answer to initialize is unreadable: {error}") from None
    if found.version not in revisions.LEGACY:
        raise IncompatibleServer(f"it answered initialize with protocol revision {found.version!r}")
    peer.send((b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n',))
    return Session(peer, found.version, found.about)
