"""A tool calls others: the requests that go to the workbench, and what comes back.

Calls of the own folder go through the workbench too: every call is one line of its log.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Mapping
from typing import TYPE_CHECKING, Any, cast

from .calls import Call
from .context import current_call
from .requests import LoopReply, Message, ThreadReply, running_loop

if TYPE_CHECKING:
    ToolName = str | Mapping[str, str]


class ToolCallError(RuntimeError):
    """A call that got no result: no such tool, a closed toolbox, a dead server, a chain too deep."""


class ToolResult(dict[str, Any]):
    """The called tool's result, as it came, with shortcuts."""

    @property
    def is_error(self) -> bool:
        return bool(self.get("isError"))

    @property
    def text(self) -> str:
        """The text of all text blocks, in lines."""
        blocks: list[dict[str, Any]] = self.get("content") or []
        return "\n".join(block["text"] for block in blocks if block.get("type") == "text")

    @property
    def data(self) -> Any:
        """The structured content without its wrapping, else the text read as JSON; None where it is none."""
        structured = self.get("structuredContent")
        if isinstance(structured, dict):
            fields = cast("dict[str, Any]", structured)
            return fields["result"] if fields.keys() == {"result"} else fields
        if structured is not None:
            return structured
        try:
            return json.loads(self.text)
        except ValueError:
            return None


def call_tool(
    tool: ToolName,
    arguments: Mapping[str, Any] | None = None,
    *,
    caller: str | None = None,
    tid: str | None = None,
) -> Coroutine[Any, Any, ToolResult]:
    """Call a tool by name (own folder first, then own toolbox) or by `{"toolbox", "server", "name"}`.

    A result with `isError` is returned like any other; ToolCallError means that there is no result.
    """
    _must_run_on_loop("call_tool")
    call = _current("call_tool")
    return _called(call, _call_params(call, tool, arguments, caller, tid))


def call_tool_handler(
    request: Any, caller: str | None = None, tid: str | None = None
) -> Coroutine[Any, Any, ToolResult]:
    """`call_tool` in the older form: `{"params": {"name": …, "arguments": …}}`."""
    _must_run_on_loop("call_tool_handler")
    call = _current("call_tool_handler")
    tool, arguments = parts_of(request)
    return _called(call, _call_params(call, tool, arguments, caller, tid))


def list_tools() -> Coroutine[Any, Any, list[dict[str, Any]]]:
    """What can be called from here: `toolbox`, `server`, `name`, `description` and `inputSchema` of each."""
    _must_run_on_loop("list_tools")
    return _listed(_current("list_tools"))


async def _called(call: Call, params: dict[str, Any]) -> ToolResult:
    return ToolResult(await _ask(call, "workbench/call_tool", params))


async def _listed(call: Call) -> list[dict[str, Any]]:
    return (await _ask(call, "workbench/list_tools", {"outer": call.id}))["tools"]


async def _ask(call: Call, method: str, params: dict[str, Any]) -> dict[str, Any]:
    reply = LoopReply()
    number = call.requests.open(method, params, reply.settle)
    call.inner.add(number)
    try:
        return _unpack(await reply.wait())
    except asyncio.CancelledError:
        call.requests.cancel(number)
        raise
    finally:
        call.inner.discard(number)


def call_from_thread(
    name: str, tool: ToolName, arguments: Mapping[str, Any] | None, caller: str | None, tid: str | None
) -> ToolResult:
    """`name` is the function that the tool called, for the errors."""
    call = _current(name)
    params = _call_params(call, tool, arguments, caller, tid)
    return ToolResult(_ask_from_thread(call, name, "workbench/call_tool", params))


def list_from_thread() -> list[dict[str, Any]]:
    call = _current("list_tools")
    return _ask_from_thread(call, "list_tools", "workbench/list_tools", {"outer": call.id})["tools"]


def _ask_from_thread(call: Call, name: str, method: str, params: dict[str, Any]) -> dict[str, Any]:
    if running_loop() is not None:
        raise RuntimeError(
            f"mcp_workbench.sync.{name} would block the event loop here. "
            f"In an async function: from mcp_workbench import {name}, and await {name}(…)"
        )
    if call.cancelled:
        return _unpack(None)
    reply = ThreadReply()
    number = call.requests.open(method, params, reply.settle)
    call.inner.add(number)
    try:
        return _unpack(reply.wait())
    finally:
        call.inner.discard(number)


def parts_of(request: Any) -> tuple[ToolName, Mapping[str, Any] | None]:
    """The tool and its arguments in a request of the older form: a dict, or the `request` of `default`."""
    if isinstance(request, Mapping):
        params = cast("Mapping[str, Any]", request).get("params")
        if not isinstance(params, Mapping) or "name" not in params:
            raise TypeError('call_tool_handler takes {"params": {"name": …, "arguments": …}}')
        params = cast("Mapping[str, Any]", params)
        return params["name"], params.get("arguments")
    return request.params.name, request.params.arguments


def _call_params(
    call: Call, tool: Any, arguments: Any, caller: str | None, tid: str | None
) -> dict[str, Any]:
    if isinstance(tool, Mapping):
        tool = dict(cast("Mapping[str, Any]", tool))
    elif not isinstance(tool, str):
        raise TypeError(f"a tool is a name or {{toolbox, server, name}}, not {type(tool).__name__}")
    if not isinstance(arguments, (Mapping, type(None))):
        raise TypeError(f"arguments are a dict, not {type(arguments).__name__}")
    return {
        "tool": tool,
        "arguments": dict(cast("Mapping[str, Any]", arguments or {})),
        "caller": caller,
        "tid": tid,
        "outer": call.id,
    }


def _unpack(reply: Message | None) -> dict[str, Any]:
    if reply is None:
        raise ToolCallError("The call was cancelled")
    error = reply.get("error")
    if error is not None:
        raise ToolCallError(error.get("message") or "The workbench gave no reason")
    return reply["result"]


def _must_run_on_loop(name: str) -> None:
    if running_loop() is None:
        raise RuntimeError(
            f"mcp_workbench.{name} is async and this function is not. "
            f"In a plain function: from mcp_workbench.sync import {name}, without await"
        )


def _current(name: str) -> Call:
    call = current_call.get(None)
    if call is None:
        raise RuntimeError(f"{name} works inside a call of a tool, and this code runs outside of one")
    if call.ended:
        raise RuntimeError(
            f"{name} works inside a call of a tool, and the call of {call.tool.name!r} has ended"
        )
    return call
