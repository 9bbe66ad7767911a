"""How we introduce ourselves to a client of either era. It takes the configuration alone, and no event loop:
`greeting` does it before the rest of us is imported.
"""

from __future__ import annotations

from msgspec import Raw

from .. import __version__
from ..config import Config
from ..errors import RpcError
from ..names import Scope
from ..protocol import revisions, tasks
from ..protocol.about import About
from ..wire.messages import EMPTY_OBJECT, INVALID_PARAMS, encode
from .question import Question

FRESH_MS = 60_000
"""How long a modern client may take our lists for current without asking again."""

SERVER_INFO = Raw(encode({"name": "mcp-workbench", "title": "MCP Workbench", "version": __version__}))

_CAPABILITIES = {
    "tools": Raw(b'{"listChanged":true}'),
    "resources": Raw(b'{"subscribe":true,"listChanged":true}'),
    "prompts": Raw(b'{"listChanged":true}'),
    "completions": Raw(EMPTY_OBJECT),
    "logging": Raw(EMPTY_OBJECT),
}
"""What servers may turn out to offer is declared from the start: nothing is connected yet."""


def introduction(config: Config, scope: Scope, *, modern: bool = False) -> About:
    """Of the meta-tools, to a client of that era that may know of these toolboxes."""
    capabilities = {**_CAPABILITIES, "extensions": tasks.DECLARATION} if modern else dict(_CAPABILITIES)
    return About(capabilities, instructions=instructions(config, scope))


def instructions(config: Config, scope: Scope) -> str:
    """What a client tells its model about us, at the start."""
    toolboxes = [each for each in config.toolboxes.values() if scope is None or each.name in scope]
    parts = ["## Available Toolboxes\n"]
    for toolbox in toolboxes:
        count = len(toolbox.servers)
        parts.append(
            f"- **{toolbox.name}** ({count} server{'' if count == 1 else 's'}): {toolbox.description}\n"
            "  - Use `open_toolbox` with toolbox name to access\n"
        )
    if toolboxes:
        parts.append(
            "To open a toolbox and see available tools:\n"
            "1. Call `open_toolbox` with the desired toolbox name\n"
            "2. Inspect the returned tools array for available operations\n"
            "3. Call `use_tool` with the tool's `toolbox`, `server` and `name`"
        )
    elif scope is not None:
        parts.append("No toolboxes are open to you.")
    else:
        where = config.path or "workbench-config.json"
        parts.append(
            f"No toolboxes are configured. Add one under `toolboxes` in {where}: "
            '{"toolboxes": {"dev": {"description": "…", "mcpServers": {…}}}}'
        )
    if config.untrusted is not None and scope is None:
        parts.append(
            f"\n\nNot used, because it runs commands and nobody has trusted it: {config.untrusted} "
            f"(to use it, run: mcp-workbench trust {config.untrusted})"
        )
    return "\n".join(parts)


def initialized(question: Question, about: About, info: Raw = SERVER_INFO) -> bytes:
    """The result of `initialize`. Raises RpcError."""
    if question.params.protocol_version is None:
        raise RpcError(INVALID_PARAMS, "Invalid params: protocolVersion is required")
    result = {
        "protocolVersion": revisions.agreed(question.params.protocol_version),
        "capabilities": about.capabilities,
        "serverInfo": info,
    }
    if about.instructions is not None:
        result["instructions"] = about.instructions
    return encode(result)


def discovered(question: Question, about: About, info: Raw = SERVER_INFO, *, private: bool = False) -> bytes:
    """The result of `server/discover`. Raises RpcError."""
    if not question.client.modern:
        raise RpcError(INVALID_PARAMS, f"Invalid params: _meta needs {revisions.VERSION}")
    result = {
        "resultType": "complete",
        "supportedVersions": revisions.MODERN,
        "capabilities": about.capabilities,
    }
    if about.instructions is not None:
        result["instructions"] = about.instructions
    return encode({**result, **modern_members(info, private=private)})


def modern_members(info: Raw, *, private: bool) -> dict[str, object]:
    """What the lists and the introduction of the modern era have in common.

    `private` says that another client may be told something else.
    """
    return {
        "ttlMs": FRESH_MS,
        "cacheScope": "private" if private else "public",
        "_meta": {revisions.SERVER_INFO: info},
    }
