"""Toolboxes proposed for servers that were found: by what they are for, each server once."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from .discovery import FoundServer

FEW = 4
"""So many servers need no sorting: they go into one toolbox."""


class _Subject(NamedTuple):
    toolbox: str
    description: str
    words: frozenset[str]


_CODE = """
    git github gitlab bitbucket filesystem file files repo repository code codebase lsp serena ast
    docker kubernetes k8s terminal shell ssh sentry jenkins circleci terraform context7 docs
    deepwiki npm semgrep xcode
"""
_DATA = """
    postgres postgresql mysql mariadb sqlite sql database db mongo mongodb redis bigquery snowflake
    duckdb clickhouse supabase neon elasticsearch qdrant chroma pinecone weaviate neo4j airtable
    excel csv dbhub
"""
_WEB = """
    fetch web browser search brave tavily exa perplexity serper duckduckgo playwright puppeteer
    chrome selenium browserbase firecrawl scrape crawl http wikipedia arxiv youtube
"""
_OFFICE = """
    slack discord teams telegram gmail mail email outlook google drive gdrive calendar notion
    obsidian confluence jira atlassian linear asana trello todoist monday zendesk hubspot salesforce
    figma zapier stripe
"""
_MIND = "memory knowledge thinking sequential time clock calculator"

_SUBJECTS = (
    _Subject("code", "Source code, files and repositories", frozenset(_CODE.split())),
    _Subject("data", "Databases and data", frozenset(_DATA.split())),
    _Subject("web", "The web: search, pages, browsers", frozenset(_WEB.split())),
    _Subject("office", "Mail, chat, documents, calendars and tickets", frozenset(_OFFICE.split())),
    _Subject("mind", "Memory, time and reasoning", frozenset(_MIND.split())),
)
_REST = _Subject("more", "Tools", frozenset())


class Proposed(msgspec.Struct, kw_only=True):
    """A server on its way into a toolbox; `found` are the places that have it."""

    toolbox: str
    name: str
    entry: dict[str, Any]
    found: list[FoundServer]


class Proposal:
    """`servers` are to be added; what is there already, or cannot be taken over, is left out."""

    def __init__(
        self, found: Iterable[FoundServer], existing: Mapping[str, Any], toolbox: str | None = None
    ) -> None:
        """`existing` is the data of the configuration as it is; `toolbox` is one for everything."""
        there = [
            (name, shape(entry))
            for body in existing.get("toolboxes", {}).values()
            for name, entry in body.get("mcpServers", {}).items()
        ]
        shapes = {each for _, each in there}
        self.known: list[FoundServer] = []
        self.servers: list[Proposed] = []
        for server in found:
            if server.entry is None:
                continue
            if is_among(shapes, server):
                self.known.append(server)
            else:
                self._add(server, {name for name, _ in there})
        few = len(self.servers) <= FEW
        for each in self.servers:
            each.toolbox = toolbox or ("tools" if few else _subject(each).toolbox)
        order = [subject.toolbox for subject in (*_SUBJECTS, _REST)]
        self.servers.sort(key=lambda each: order.index(each.toolbox) if each.toolbox in order else 0)

    def descriptions(self) -> dict[str, str]:
        """The proposed toolboxes, and what is said of each: the names in it tell a model the most."""
        members: dict[str, list[Proposed]] = {}
        for each in self.servers:
            members.setdefault(each.toolbox, []).append(each)
        return {toolbox: _description(servers) for toolbox, servers in members.items()}

    def _add(self, server: FoundServer, taken: set[str]) -> None:
        assert server.entry is not None
        for each in self.servers:
            if each.entry == server.entry:
                each.found.append(server)
                return
        taken = taken | {each.name for each in self.servers}
        names = (
            server.name,
            f"{server.name}-{server.client}",
            *(f"{server.name}-{n}" for n in range(2, 100)),
        )
        name = next(each for each in names if each not in taken)
        self.servers.append(Proposed(toolbox="", name=name, entry=server.entry, found=[server]))


def shape(entry: object) -> bytes:
    """The entry with all its variables alike: a secret that was renewed makes no other server."""
    return re.sub(rb"\$\{\w+\}", b"${}", msgspec.json.encode(entry, order="sorted"))


def is_among(shapes: Collection[bytes], server: FoundServer) -> bool:
    """Whether a configuration with entries of these shapes has the server, its secrets copied or not."""
    return any(shape(form) in shapes for form in server.forms)


def _subject(server: Proposed) -> _Subject:
    """By the server's name; else by the program, package or address that it is."""
    args = [each for each in server.entry.get("args", ()) if isinstance(each, str)]
    for text in (server.name, *args, str(server.entry.get("url", "")), str(server.entry.get("command", ""))):
        words = set(re.findall(r"[a-z]+[0-9]*", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).lower()))
        for subject in _SUBJECTS:
            if words & subject.words:
                return subject
    return _REST


def _description(servers: list[Proposed]) -> str:
    in_use = [each for each in servers if not each.entry.get("disabled")]
    subjects = dict.fromkeys(map(_subject, servers))
    if len(subjects) > 1:
        subjects.pop(_REST, None)
    first, *others = (subject.description for subject in subjects)
    what = "; ".join([first, *(each[0].lower() + each[1:] for each in others)])
    return f"{what} ({', '.join(each.name for each in in_use) or 'none in use'})"
