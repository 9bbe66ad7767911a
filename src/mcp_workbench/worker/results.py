"""From what a tool returned, or raised, to an MCP result. Sends nothing."""

from __future__ import annotations

import json
import traceback
from typing import Any, cast

from .content import NoContent, block, is_content, jsonable
from .problems import text_of

TRACE = "workbench/trace"


def result_of(value: Any) -> dict[str, Any]:
    """The MCP result of a returned value. Raises NoContent, TypeError or ValueError for what has none."""
    if isinstance(value, str):
        return {"content": [{"type": "text", "text": value}]}
    if value is None:
        return {"content": []}
    if is_content(value):
        return {"content": [block(value)]}
    # The SDK's CallToolResult is a whole result too; a model of the author's own with that field is data.
    if hasattr(value, "model_dump") and type(value).__name__ == "CallToolResult":
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    if isinstance(value, dict) and "content" in value:
        return whole_result(cast("dict[str, Any]", value))
    if isinstance(value, (list, tuple)):
        items = cast("list[Any]", value)
        if any(map(is_content, items)) and all(isinstance(item, str) or is_content(item) for item in items):
            return {"content": [block(item) for item in items]}
    return data_result(value)


def whole_result(result: dict[str, Any]) -> dict[str, Any]:
    content = result["content"]
    if not isinstance(content, (list, tuple)):
        raise NoContent(
            "a dict with 'content' is a whole result, and its content is a list of content blocks, not "
            f"{type(content).__name__}; data goes under another key"
        )
    return {**result, "content": [block(item) for item in cast("list[Any]", content)]}


def data_result(value: Any) -> dict[str, Any]:
    """Data as JSON text and as structured content, which has to be an object."""
    text = json_text(value)
    if not _is_a(value, dict, list, tuple, int, float):
        value = jsonable(value)
    structured = value if _is_a(value, dict) else {"result": value}
    return {"content": [{"type": "text", "text": text}], "structuredContent": structured}


def _is_a(value: Any, *types: type) -> bool:
    return isinstance(value, types)


def json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, default=jsonable)


def error_result(text: str, trace: str | None = None) -> dict[str, Any]:
    result: dict[str, Any] = {"content": [{"type": "text", "text": text}], "isError": True}
    if trace is not None:
        result["_meta"] = {TRACE: trace}
    return result


def failure(error: BaseException) -> dict[str, Any]:
    """The result of a tool that raised: the message for the caller, the trace for the log."""
    return error_result(message_of(error), trace_of(error))


def unfit(tool: str, error: BaseException) -> dict[str, Any]:
    """The result of a tool that returned what cannot be turned into content."""
    reason = "it is nested too deeply" if isinstance(error, RecursionError) else text_of(error)
    return error_result(f"What tool {tool!r} returned cannot be turned into content: {reason}")


def message_of(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        code = error.code
        shown = "" if code is None else repr(code) if type(code) in (int, str) else text_of(error)
        return f"The tool called sys.exit({shown})"
    text = text_of(error)
    # A KeyError's own text is the bare key, which tells a reader nothing.
    if not text or isinstance(error, KeyError):
        return f"{type(error).__name__}: {text}" if text else type(error).__name__
    return text


def trace_of(error: BaseException) -> str:
    """The trace from the tool's own first frame on; ours above it say nothing to its author."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None and _is_ours(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    return "".join(traceback.format_exception(type(error), error, trace))


def _is_ours(filename: str) -> bool:
    return filename.startswith(_HERE)


_HERE = __file__.rpartition("results.py")[0]
