"""`call_tool`, `call_tool_handler` and `list_tools` for plain functions: the same names, without await."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .worker.chain import ToolCallError, ToolResult, call_from_thread, list_from_thread, parts_of

if TYPE_CHECKING:
    from .worker.chain import ToolName

__all__ = ["ToolCallError", "ToolResult", "call_tool", "call_tool_handler", "list_tools"]


def call_tool(
    tool: ToolName,
    arguments: Mapping[str, Any] | None = None,
    *,
    caller: str | None = None,
    tid: str | None = None,
) -> ToolResult:
    return call_from_thread("call_tool", tool, arguments, caller, tid)


def call_tool_handler(request: Any, caller: str | None = None, tid: str | None = None) -> ToolResult:
    return call_from_thread("call_tool_handler", *parts_of(request), caller, tid)


def list_tools() -> list[dict[str, Any]]:
    return list_from_thread()
