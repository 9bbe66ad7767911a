"""log_tool: the call log for agents, filtered and in pages. Reading the log is `mcp_workbench.journal`'s."""

import json
import math
import os
from collections.abc import Callable
from typing import Any

import jsonschema_rs

from mcp_workbench.journal.log import Log
from mcp_workbench.journal.query import Query
from mcp_workbench.journal.times import NotATime, moment

schema: dict[str, Any] = {
    "name": "log_tool",
    "description": (
        "Looks into the log of tool calls, the newest first. Every call of every tool is there with its"
        " arguments, status, duration in milliseconds and error. Filters are optional and work together."
    ),
    "type": "object",
    "properties": {
        "page": {"type": "integer", "minimum": 1, "default": 1, "description": "Which page, from 1 on"},
        "pageSize": {
            "type": "integer",
            "minimum": 1,
            "maximum": 100,
            "default": 10,
            "description": "Calls on a page, 1 to 100",
        },
        "toolName": {
            "type": "string",
            "minLength": 1,
            "maxLength": 1000,
            "description": "Regular expression that is found in the tool's name, such as ^docker_",
        },
        "server": {"type": "string", "description": "Name of the server"},
        "toolbox": {"type": "string", "description": "Name of the toolbox"},
        "caller": {"type": "string", "description": "Who called: a client's name, or a tool's"},
        "status": {"type": "string", "enum": ["success", "error"], "description": "How the call ended"},
        "minDuration": {"type": "number", "minimum": 0, "description": "Shortest duration in milliseconds"},
        "maxDuration": {"type": "number", "minimum": 0, "description": "Longest duration in milliseconds"},
        "startTime": {
            "type": "string",
            "description": "Begin of the period: ISO 8601, '15m', '3d' (that long ago), 'today', 'yesterday'",
        },
        "endTime": {"type": "string", "description": "End of the period, in the same forms as startTime"},
    },
}

# Long values are cut once more here: a page of them would fill an agent's context.
_LONGEST = 2000
# Python makes no number of more digits (4300, unless it is told otherwise), since that takes long.
_DIGITS = 4000


def default(request: Any) -> dict[str, Any]:
    arguments: dict[str, Any] = request.params.arguments
    page: int = arguments.get("page", 1)
    size: int = arguments.get("pageSize", 10)
    query = _query(arguments)
    path = os.environ.get("MCP_WORKBENCH_LOG")
    if not path:
        raise RuntimeError("The place of the call log is not known: MCP_WORKBENCH_LOG is not set")
    with Log(path) as log:
        found = log.calls(query, limit=size, offset=(page - 1) * size)
        total = log.count(query)
    return {
        "page": page,
        "pageSize": size,
        "pages": -(-total // size),
        "total": total,
        "calls": [_shown(line) for _, line in found],
    }


def _query(arguments: dict[str, Any]) -> Query:
    query = Query(
        tool=_linear(arguments["toolName"]) if "toolName" in arguments else None,
        server=arguments.get("server"),
        toolbox=arguments.get("toolbox"),
        caller=arguments.get("caller"),
        failed=arguments["status"] == "error" if "status" in arguments else None,
        min_cost=arguments.get("minDuration"),
        max_cost=arguments.get("maxDuration"),
        since=_moment(arguments, "startTime", is_end=False),
        until=_moment(arguments, "endTime", is_end=True),
    )
    if query.min_cost is not None and query.max_cost is not None and query.min_cost > query.max_cost:
        raise ValueError(f"minDuration ({query.min_cost}) is more than maxDuration ({query.max_cost})")
    if query.since is not None and query.until is not None and query.since > query.until:
        raise ValueError(
            f"startTime ({arguments['startTime']}) is later than endTime ({arguments['endTime']})"
        )
    return query


def _moment(arguments: dict[str, Any], name: str, *, is_end: bool) -> float | None:
    if name not in arguments:
        return None
    try:
        return moment(arguments[name], is_end=is_end)
    except NotATime as problem:
        raise ValueError(f"{name}: {problem}") from None


def _linear(pattern: str) -> Callable[[str], bool]:
    """Tells of a name whether the pattern is found in it.

    Python's own engine can be made to search for years, with the whole process waiting; the one that checks
    arguments against schemas takes time in proportion to the name's length, whatever the pattern.
    """
    options = jsonschema_rs.RegexOptions(size_limit=1 << 20)
    try:
        return jsonschema_rs.validator_for({"pattern": pattern}, pattern_options=options).is_valid
    except ValueError:
        raise ValueError(
            f"toolName: '{pattern}' is not a regular expression that can be used here"
            " (no look-around, no back-references, not too large)"
        ) from None


def _shown(line: bytes) -> dict[str, Any]:
    call = json.loads(line, parse_int=_integer, parse_float=_float)
    arguments = json.dumps(call["args"], ensure_ascii=False)
    if len(arguments) > _LONGEST:
        call["args"] = _cut(arguments)
    for field in ("err", "trace"):
        if call.get(field):
            call[field] = _cut(call[field])
    return call


def _integer(text: str) -> int | str:
    return int(text) if len(text) <= _DIGITS else text


def _float(text: str) -> float | str:
    """A number that is too large (1e400) is told as a text: JSON has no infinity."""
    number = float(text)
    return number if math.isfinite(number) else text


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…[cut, {len(text)} characters]"
