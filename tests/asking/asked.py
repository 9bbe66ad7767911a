"""A client of either era that can be asked things, on top of the raw one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.support.client import Client, invocation, modern_params, text

EVERYTHING = {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {"listChanged": True}}
FORM = {"message": "who?", "requestedSchema": {"type": "object", "properties": {"a": {"type": "string"}}}}
ACCEPTED = {"action": "accept", "content": {"a": "yes"}}
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
LOG_LEVEL = "io.modelcontextprotocol/logLevel"


def greet(client: Client, capabilities: Mapping[str, Any] = EVERYTHING, version: str = "2025-11-25") -> Any:
    who = {"name": "raw", "version": "1"}
    params = {"protocolVersion": version, "capabilities": capabilities, "clientInfo": who}
    result = client.request("initialize", params)["result"]
    client.notify("notifications/initialized")
    return result


def start(client: Client, ref: str, arguments: Mapping[str, Any] | None = None) -> int:
    """Begin a `use_tool` of a legacy client."""
    return client.start_request("tools/call", {"name": "use_tool", "arguments": invocation(ref, arguments)})


def question(client: Client, method: str = "elicitation/create", since: int = 0) -> dict[str, Any]:
    """The next request of that method that the client is asked."""
    return client.wait_for(
        lambda each: isinstance(each, dict) and each.get("method") == method and "id" in each, since=since
    )


def reply(client: Client, asked: Mapping[str, Any], result: object = ACCEPTED) -> None:
    client.send({"jsonrpc": "2.0", "id": asked["id"], "result": result})


def heard(client: Client) -> list[str]:
    """The levels of the log messages so far."""
    return [each["params"]["level"] for each in client.notifications("notifications/message")]


def said(response: Mapping[str, Any]) -> Any:
    """The JSON that a tool answered with as text."""
    assert "result" in response, response
    return json.loads(text(response["result"]))


def modern(
    client: Client,
    ref: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    capabilities: Mapping[str, Any] = EVERYTHING,
    meta: Mapping[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """The response to a `use_tool` of a modern client."""
    return client.request("tools/call", modern_use(ref, arguments, capabilities, meta, **more))


def modern_use(
    ref: str,
    arguments: Mapping[str, Any] | None,
    capabilities: Mapping[str, Any] = EVERYTHING,
    meta: Mapping[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    params = {"name": "use_tool", "arguments": invocation(ref, arguments), **more}
    return modern_params(params, **{CAPABILITIES: capabilities, **(meta or {})})
