"""Offers: the resources, templates and prompts of several servers, listed together, and whose each one is.

What they contain is passed on as it is; only names that two servers share are told apart.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Sequence

import msgspec
from msgspec import Raw

from ..errors import ConnectFailed, RpcError, Unanswered
from ..names import ResourceRef, Scope, ToolRef
from ..protocol.session import MOST_PAGES, Asked
from ..servers.base import Server
from ..wire.messages import members
from .merged import Merged, Origin

MOST_NAMED = 10_000
"""URIs in results that are remembered; the oldest give way."""

TOOLBOX = "workbench/toolbox"
SERVER = "workbench/server"
URI = "workbench/uri"

_LISTS = {
    "resources": ("resources/list", "resources"),
    "resourceTemplates": ("resources/templates/list", "resources"),
    "prompts": ("prompts/list", "prompts"),
}
"""The methods that list each kind, and the capability that a server needs for it."""

RESOURCE = b'"resource'
"""Is in every result that names a resource."""
_RESOURCE = re.compile(RESOURCE)
_LINK = re.compile(rb'"uri"\s*:\s*("(?:[^"\\]|\\.)*")')
_EXPRESSION = re.compile(r"\{[^{}]*\}")

Servers = Callable[[Scope], Sequence[Server]]


class Ambiguous(Exception):
    """More than one server has a resource of this URI."""

    def __init__(self, refs: Sequence[ResourceRef]) -> None:
        super().__init__(f"several servers have it: {', '.join(ref.address for ref in refs)}")


class Entry(msgspec.Struct):
    """One thing in a server's list."""

    server: Server
    label: str
    """What tells its server from the others."""
    members: dict[str, bytes]

    def text(self, key: str) -> str:
        try:
            return msgspec.json.decode(self.members.get(key, b'""'), type=str)
        except msgspec.DecodeError:
            return ""


class Offers:
    def __init__(self, servers: Servers, *, addressed: bool) -> None:
        """`servers` are those that a caller can use now.

        With `addressed`, every resource is listed by its address; else only where two servers have its URI.
        """
        self._servers = servers
        self._addressed = addressed
        self._named: OrderedDict[tuple[str | None, str], ResourceRef] = OrderedDict()

    # Listing

    async def list(self, kind: str, scope: Scope) -> list[dict[str, object]]:
        """Everything of one kind: `resources`, `resourceTemplates` or `prompts`."""
        entries = await self._entries(kind, scope)
        if kind == "prompts":
            names = _merged(entries).names
            return [_shown(each, "name", names[_origin(each)]) for each in entries]
        key = _uri_key(kind)
        count = [each.text(key) for each in entries]
        return [
            _shown(each, key, self._shown_uri(each, key, clashes=count.count(each.text(key)) > 1))
            for each in entries
        ]

    def _shown_uri(self, entry: Entry, key: str, *, clashes: bool) -> str:
        uri = entry.text(key)
        return _ref(entry.server, uri).address if self._addressed or clashes else uri

    async def _entries(self, kind: str, scope: Scope) -> list[Entry]:
        method, capability = _LISTS[kind]
        servers = [server for server in self._servers(scope) if server.about.can(capability)]
        pages = await asyncio.gather(*(_all_pages(server, method, kind) for server in servers))
        labels = self._labels(scope)
        return [
            Entry(server, labels[server], members(bytes(item)))
            for server, items in zip(servers, pages, strict=True)
            for item in items
        ]

    def _labels(self, scope: Scope) -> dict[Server, str]:
        servers = self._servers(scope)
        count = Counter(server.config.name for server in servers)
        return {
            server: server.config.name
            if count[server.config.name] == 1
            else f"{server.config.toolbox}__{server.config.name}"
            for server in servers
        }

    # Finding

    async def prompt(self, name: str, scope: Scope) -> tuple[Server, str] | None:
        """Whose prompt it is that a client knows by this name, and its own name."""
        entries = await self._entries("prompts", scope)
        origin = _merged(entries).origins.get(name)
        return next(((each.server, each.text("name")) for each in entries if _origin(each) == origin), None)

    async def resource(self, uri: str, scope: Scope, principal: str | None) -> tuple[Server, str] | None:
        """Whose resource it is, and the server's own URI: for an address, or for a URI that a server named.

        Raises Ambiguous where several named it.
        """
        ref = ResourceRef.read(uri) or self._named.get((principal, uri))
        if ref is not None:
            server = self._server(ref, scope)
            return (server, ref.uri) if server is not None else None
        listed = [each.server for each in await self._entries("resources", scope) if each.text("uri") == uri]
        if not listed:
            templates = await self._entries("resourceTemplates", scope)
            listed = _unique(each.server for each in templates if _fits(each.text("uriTemplate"), uri))
        return _one(listed, uri)

    async def template(self, uri: str, scope: Scope) -> tuple[Server, str] | None:
        """Whose template it is, and the server's own form of it. Raises Ambiguous."""
        if (ref := ResourceRef.read(uri)) is not None:
            server = self._server(ref, scope)
            return (server, ref.uri) if server is not None else None
        found = [
            each.server
            for kind in ("resourceTemplates", "resources")
            for each in await self._entries(kind, scope)
            if each.text(_uri_key(kind)) == uri
        ]
        return _one(_unique(found), uri)

    def remember(self, source: ToolRef, result: Raw | bytes, principal: str | None) -> None:
        """Whoever reads a tool's result may ask for the resources in it by the server's own URIs."""
        text = memoryview(result)
        if _RESOURCE.search(text) is None:
            return
        for match in _LINK.finditer(text):
            try:
                uri: str = msgspec.json.decode(match[1])
            except msgspec.DecodeError:
                continue
            key = (principal, uri)
            self._named[key] = ResourceRef(source.toolbox, source.server, uri)
            self._named.move_to_end(key)
        while len(self._named) > MOST_NAMED:
            self._named.popitem(last=False)

    def _server(self, ref: ResourceRef, scope: Scope) -> Server | None:
        for server in self._servers(scope):
            if (server.config.toolbox, server.config.name) == (ref.toolbox, ref.server):
                return server
        return None


async def _all_pages(server: Server, method: str, kind: str) -> list[Raw]:
    """A server that cannot answer now has nothing to list; the others still have."""
    items: list[Raw] = []
    params: dict[str, Raw] = {}
    try:
        for _ in range(MOST_PAGES):
            page = members(bytes(await server.ask(Asked(method, params))))
            items += msgspec.json.decode(page.get(kind, b"[]"), type=list[Raw])
            cursor = page.get("nextCursor", b"null")
            if cursor in (b"null", params.get("cursor")):
                break
            params = {"cursor": Raw(cursor)}
    except (ConnectFailed, Unanswered, RpcError, msgspec.DecodeError):
        pass
    return items


def _merged(entries: Iterable[Entry]) -> Merged:
    offered: dict[str, list[str]] = {}
    for entry in entries:
        offered.setdefault(entry.label, []).append(entry.text("name"))
    return Merged(offered)


def _origin(entry: Entry) -> Origin:
    return Origin(entry.label, entry.text("name"))


def _shown(entry: Entry, key: str, value: str) -> dict[str, object]:
    config = entry.server.config
    meta: dict[str, object] = {k: Raw(v) for k, v in members(entry.members.get("_meta", b"{}")).items()}
    meta |= {TOOLBOX: config.toolbox, SERVER: config.name}
    if key != "name":
        meta[URI] = Raw(entry.members.get(key, b'""'))
    shown: dict[str, object] = {name: Raw(text) for name, text in entry.members.items()}
    return {**shown, key: value, "_meta": meta}


def _ref(server: Server, uri: str) -> ResourceRef:
    return ResourceRef(server.config.toolbox, server.config.name, uri)


def _uri_key(kind: str) -> str:
    return "uriTemplate" if kind == "resourceTemplates" else "uri"


def _fits(template: str, uri: str) -> bool:
    literals = [re.escape(part) for part in _EXPRESSION.split(template)]
    return len(literals) > 1 and re.fullmatch(".+".join(literals), uri, re.DOTALL) is not None


def _unique(servers: Iterable[Server]) -> list[Server]:
    return list(dict.fromkeys(servers))


def _one(servers: Sequence[Server], uri: str) -> tuple[Server, str] | None:
    if len(servers) > 1:
        raise Ambiguous([_ref(server, uri) for server in servers])
    return (servers[0], uri) if servers else None
