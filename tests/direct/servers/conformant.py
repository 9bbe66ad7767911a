"""A server with everything that the official conformance suite asks for, under the names that it asks by.

On stdio, or over HTTP on the port that it is given; told `legacy` after that, as a server before 2026-07-28.
What asks the client back is in `questions`.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sys
from typing import Annotated, Any

import uvicorn
from mcp.server import ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer, RequestStateSecurity
from mcp.server.mcpserver.prompts.base import Prompt, UserMessage
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp.shared.exceptions import MCPError
from mcp.types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    AudioContent,
    Completion,
    EmbeddedResource,
    EmptyResult,
    ImageContent,
    SetLevelRequestParams,
    SubscribeRequestParams,
    TextContent,
    TextResourceContents,
    UnsubscribeRequestParams,
)
from pydantic import Field
from questions import add_questions, prompt, tool
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

IMAGE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
SOUND = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
WATCHED = "test://watched-resource"
PAUSE = 0.05

# The states of unfinished questions are signed with it.
KEY = b"a key that is as long as it has to be"

server = MCPServer(name="conformant", version="1", request_state_security=RequestStateSecurity(keys=[KEY]))
watchers: dict[str, int] = {}


def text_resource(uri: str, kind: str, text: str) -> EmbeddedResource:
    contents = TextResourceContents(uri=uri, mime_type=kind, text=text)
    return EmbeddedResource(type="resource", resource=contents)


def image() -> ImageContent:
    return ImageContent(type="image", data=IMAGE, mime_type="image/png")


# Tools


@tool(server)
def test_simple_text() -> str:
    return "This is a simple text response for testing."


@tool(server)
def test_image_content() -> list[ImageContent]:
    return [image()]


@tool(server)
def test_audio_content() -> list[AudioContent]:
    return [AudioContent(type="audio", data=SOUND, mime_type="audio/wav")]


@tool(server)
def test_embedded_resource() -> list[EmbeddedResource]:
    return [text_resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")]


@tool(server)
def test_multiple_content_types() -> list[TextContent | ImageContent | EmbeddedResource]:
    return [
        TextContent(type="text", text="Multiple content types test:"),
        image(),
        text_resource("test://mixed-content-resource", "application/json", '{"test": "data", "value": 123}'),
    ]


@tool(server)
async def test_tool_with_logging(ctx: Context) -> str:
    for message in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.info(message)
        await asyncio.sleep(PAUSE)
    return "Tool with logging executed successfully"


@tool(server)
async def test_tool_with_progress(ctx: Context) -> str:
    for step in (0, 50, 100):
        await ctx.report_progress(progress=step, total=100, message=f"Completed step {step} of 100")
        await asyncio.sleep(PAUSE)
    return "done"


@tool(server)
def test_error_handling() -> str:
    raise RuntimeError("This tool intentionally returns an error for testing")


@tool(server)
def test_x_mcp_header(
    region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})] = "<none>",  # noqa: PT028
) -> str:
    return f"region={region}"


@tool(server)
async def test_missing_capability(ctx: Context) -> str:
    declared = ctx.session.client_capabilities
    if declared is None or declared.sampling is None:
        raise MCPError(
            code=MISSING_REQUIRED_CLIENT_CAPABILITY,
            message="This tool requires the client 'sampling' capability",
            data={"requiredCapabilities": {"sampling": {}}},
        )
    return "The client can sample."


@tool(server)
def json_schema_2020_12_tool() -> str:
    return "never called"


@tool(server)
async def test_reconnection(ctx: Context) -> str:
    await ctx.info("Before disconnect")
    await ctx.close_sse_stream()
    await asyncio.sleep(4 * PAUSE)
    await ctx.info("After reconnect")
    return "Reconnection test completed"


def passing() -> str:
    """Comes and goes."""
    return "passing"


@tool(server)
async def test_trigger_tool_change(ctx: Context) -> str:
    server.add_tool(passing, name="passing")
    server.remove_tool("passing")
    await ctx.notify_tools_changed()
    return "tool list changed"


@tool(server)
async def test_trigger_prompt_change(ctx: Context) -> str:
    server.add_prompt(Prompt.from_function(passing, name="passing"))
    server.remove_prompt("passing")
    await ctx.notify_prompts_changed()
    return "prompt list changed"


@tool(server)
async def touch(ctx: Context) -> str:
    """Not of the suite: tells that the watched resource was updated, and who watched."""
    await ctx.notify_resource_updated(WATCHED)
    return json.dumps(watchers)


@tool(server)
def vanish() -> str:
    """Not of the suite."""
    os._exit(1)


# Resources


@server.resource("test://static-text")
def static_text() -> str:
    return "This is the content of the static text resource."


@server.resource("test://static-binary")
def static_binary() -> bytes:
    return base64.b64decode(IMAGE)


@server.resource("test://template/{id}/data")
def template(id: str) -> str:
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


@server.resource(WATCHED)
def watched() -> str:
    return "Watched resource content"


async def subscribe(ctx: ServerRequestContext, params: SubscribeRequestParams) -> EmptyResult:
    watchers[str(params.uri)] = watchers.get(str(params.uri), 0) + 1
    return EmptyResult()


async def unsubscribe(ctx: ServerRequestContext, params: UnsubscribeRequestParams) -> EmptyResult:
    watchers[str(params.uri)] = watchers.get(str(params.uri), 0) - 1
    return EmptyResult()


async def set_level(ctx: ServerRequestContext, params: SetLevelRequestParams) -> EmptyResult:
    return EmptyResult()


# Prompts


def said(*content: Any) -> list[UserMessage]:
    return [UserMessage(role="user", content=each) for each in content]


def text(words: str) -> TextContent:
    return TextContent(type="text", text=words)


@prompt(server)
def test_simple_prompt() -> list[UserMessage]:
    return said(text("This is a simple prompt for testing."))


@prompt(server)
def test_prompt_with_arguments(arg1: str, arg2: str) -> list[UserMessage]:
    return said(text(f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"))


@prompt(server)
def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:
    embedded = text_resource(resourceUri, "text/plain", "Embedded resource content for testing.")
    return said(embedded, text("Please process the embedded resource above."))


@prompt(server)
def test_prompt_with_image() -> list[UserMessage]:
    return said(image(), text("Please analyze the image above."))


@server.completion()
async def complete(ref: Any, argument: Any, context: Any) -> Completion:
    of = getattr(ref, "name", None) or ref.uri
    return Completion(values=[f"{argument.value}-{of}"], total=1, has_more=False)


class Events(EventStore):
    """What a client that lost its stream comes back for."""

    def __init__(self) -> None:
        self._all: list[tuple[str, Any]] = []

    async def store_event(self, stream_id: str, message: Any) -> str:
        self._all.append((stream_id, message))
        return str(len(self._all))

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        last = int(last_event_id)
        stream = self._all[last - 1][0]
        for number, (id, message) in enumerate(self._all[last:], last + 1):
            if id == stream and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream


def equip() -> None:
    """What the SDK has no public way for."""
    low = server._lowlevel_server
    low.add_request_handler("logging/setLevel", SetLevelRequestParams, set_level)
    low.add_request_handler("resources/subscribe", SubscribeRequestParams, subscribe)
    low.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, unsubscribe)
    server._tool_manager._tools["json_schema_2020_12_tool"].parameters = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    }


def unaware(app: ASGIApp) -> ASGIApp:
    """The same for clients up to 2025-11-25 alone; others are refused the way servers then did."""

    async def door(scope: Scope, receive: Receive, send: Send) -> None:
        refused = PlainTextResponse("Bad Request: Unsupported protocol version", 400)
        modern = dict(scope.get("headers", [])).get(b"mcp-protocol-version") == b"2026-07-28"
        await (refused if modern else app)(scope, receive, send)

    return door


if __name__ == "__main__":
    equip()
    add_questions(server)
    if len(sys.argv) > 1:
        app: ASGIApp = server.streamable_http_app(event_store=Events(), retry_interval=100)
        if "legacy" in sys.argv[2:]:
            app = unaware(app)
        # The SDK alone brings h11, which trims what headers say, as it must; httptools, where it is
        # installed as it is here, does not, and one check would fail.
        uvicorn.run(app, port=int(sys.argv[1]), log_level="warning", http="h11")
    else:
        server.run(transport="stdio")
