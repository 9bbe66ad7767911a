"""A server built with the official SDK, for what the ready-made ones do not show. Speaks both eras."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import mcp_types as types
from mcp.server.mcpserver import Audio, Context, Elicit, Icon, Image, MCPServer, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

server = MCPServer("crafted")


class Point(BaseModel):
    x: int
    y: float


class Colour(BaseModel):
    colour: str


@server.tool(
    title="Add two numbers",
    annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
    icons=[Icon(src="data:image/png;base64,AAAA", mime_type="image/png")],
    meta={"example.com/owner": {"team": "sums", "levels": [1, 2.5, None]}},
)
def add(a: int, b: int) -> int:
    """A plain function whose structured output is no object."""
    return a + b


@server.tool()
async def words(text: str) -> list[str]:
    """An async function whose structured output is an array."""
    return text.split()


@server.tool()
def nothing() -> None:
    return None


@server.tool()
def middle(a: Point, b: Point) -> Point:
    return Point(x=(a.x + b.x) // 2, y=(a.y + b.y) / 2)


@server.tool(structured_output=False)
def media() -> list[Any]:
    return ["both", Image(data=b"\x89PNG", format="png"), Audio(data=b"RIFF", format="wav")]


@server.tool()
def bare_array() -> types.CallToolResult:
    """What only 2026-07-28 allows: structured content that is no object."""
    return types.CallToolResult(
        content=[types.TextContent(text="[1, 2, 3]")], structured_content=[1, 2, {"three": 3}]
    )


@server.tool()
def labelled() -> types.CallToolResult:
    """`_meta` on the result and inside it, of names that nobody knows."""
    link = types.ResourceLink(
        name="notes",
        uri="memo://notes/1",
        size=12,
        annotations=types.Annotations(audience=["user"], priority=0.25),
        _meta={"example.com/rank": 1},
    )
    return types.CallToolResult(content=[link], _meta={"example.com/trace": {"id": "00-ab", "hops": [1, 2]}})


@server.tool()
def failed() -> types.CallToolResult:
    text = types.TextContent(text="the printer is on fire")
    return types.CallToolResult(content=[text], structured_content={"code": 7}, is_error=True)


@server.tool()
def raises() -> str:
    raise ToolError("no paper left")


@server.tool()
def refuses() -> str:
    raise MCPError(code=-32050, message="closed on Sundays", data={"opens": "Monday"})


@server.tool()
def picky(colour: str) -> str:
    raise MCPError(code=types.INVALID_PARAMS, message=f"{colour} is no colour")


@server.tool()
def sends_away() -> str:
    """Wants the user to visit a page first, as a server of 2025-11-25 says it."""
    page = {"mode": "url", "elicitationId": "e1", "url": "https://example.com/in", "message": "Sign in"}
    raise MCPError(code=-32042, message="Sign in first", data={"elicitations": [page]})


@server.tool()
def dies() -> str:
    print("out of ink", file=sys.stderr, flush=True)
    os._exit(3)


@server.tool()
async def asked_with(ctx: Context) -> dict[str, Any]:
    """The `_meta` that came with the request, of other names than the protocol's own."""
    meta: dict[str, Any] = dict(ctx.request_context.meta or {})
    return {
        key: value for key, value in meta.items() if key.startswith("example.com/") or key == "traceparent"
    }


@server.tool()
async def wait(seconds: float, ended: str, ctx: Context) -> str:
    """Tells of each tenth; writes to the file `ended` how it came to an end."""
    try:
        for tenth in range(1, 11):
            await asyncio.sleep(seconds / 10)
            await ctx.report_progress(tenth / 10, 1, f"{tenth} of 10")
    except asyncio.CancelledError:
        _note(ended, "cancelled")
        raise
    _note(ended, "finished")
    return "done"


def _note(path: str, text: str) -> None:
    Path(path).write_text(text)


async def _favourite() -> Elicit[Colour]:
    return Elicit("What is your favourite colour?", Colour)


@server.tool()
async def paint(thing: str, answer: Annotated[Colour, Resolve(_favourite)]) -> str:
    """Asks the user before it answers."""
    return f"the {thing} is {answer.colour} now"


@server.tool()
async def learn(name: str, ctx: Context) -> str:
    """Offers one more tool from now on, and says so."""
    server.add_tool(lambda: f"I am {name}", name=name, description="Learnt")
    await ctx.notify_tools_changed()
    await ctx.session.send_tool_list_changed()
    return f"learnt {name}"


if __name__ == "__main__":
    server.run()
