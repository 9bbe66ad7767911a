"""MCP Workbench: one MCP server in front of all your MCP servers. Cheap to import.

The names a tool file imports from here live in `mcp_workbench.worker` and are loaded when first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .worker.chain import ToolCallError, ToolResult, call_tool, call_tool_handler, list_tools
    from .worker.content import Audio, Image, Link
    from .worker.context import Context
    from .worker.forms import tool

__version__ = "0.1.0"

__all__ = [
    "Audio",
    "Context",
    "Image",
    "Link",
    "ToolCallError",
    "ToolResult",
    "__version__",
    "call_tool",
    "call_tool_handler",
    "list_tools",
    "tool",
]

_HOMES = {
    "Audio": "content",
    "Context": "context",
    "Image": "content",
    "Link": "content",
    "ToolCallError": "chain",
    "ToolResult": "chain",
    "call_tool": "chain",
    "call_tool_handler": "chain",
    "list_tools": "chain",
    "tool": "forms",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.worker.{home}"), name)
