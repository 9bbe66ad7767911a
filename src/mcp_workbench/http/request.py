"""Request: one HTTP request and the ways to answer it. What it asks for is for others to understand."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from ..errors import RpcError
from ..wire import messages
from ..wire.lines import Piece
from ..wire.messages import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, NULL, PARSE_ERROR

AsgiMessage = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[AsgiMessage]]
Send = Callable[[AsgiMessage], Awaitable[None]]
Header = tuple[bytes, bytes]

PATH = "/mcp"
TOOLBOXES = "/toolboxes/"
"""MCP is at the first, and for single toolboxes between the two."""

JSON = b"application/json"
EVENTS = b"text/event-stream"

# With two of these, a proxy and we could each believe another one.
_ONCE = frozenset(
    (
        b"host",
        b"origin",
        b"authorization",
        b"content-type",
        b"mcp-protocol-version",
        b"mcp-method",
        b"mcp-name",
        b"mcp-session-id",
        b"last-event-id",
    )
)

STATUS = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    METHOD_NOT_FOUND: 404,
    -32020: 400,
    -32021: 400,
    -32022: 400,
}
"""The HTTP status of a JSON-RPC error on 2026-07-28; 200 for any other."""


class Refused(Exception):
    """The request is answered with an HTTP error and, in its body, why."""

    def __init__(
        self, status: int, why: str, *, code: int = INVALID_REQUEST, headers: Iterable[Header] = ()
    ) -> None:
        self.status = status
        self.error = RpcError(code, why)
        self.headers = tuple(headers)
        super().__init__(why)


class Gone(Exception):
    """The client has left before it had said everything."""


class Request:
    """Answered exactly once, by `answer` or as a stream by `begin` and `write`."""

    __slots__ = (
        "_given",
        "_gone",
        "_receive",
        "_send",
        "extra",
        "headers",
        "method",
        "path",
        "received",
        "sent",
        "unix",
    )

    def __init__(self, scope: AsgiMessage, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._gone: asyncio.Task[None] | None = None
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self._given: list[Header] = scope["headers"]
        self.headers = dict(self._given)
        self.extra: list[Header] = []
        """Headers that every answer to this request carries."""
        server: tuple[str, int | None] | None = scope.get("server")
        self.unix = server is None or server[1] is None
        """Whether it came through a Unix socket."""
        self.received = 0
        self.sent = 0

    def check(self) -> None:
        """Raises Refused where a header that must be unique is not."""
        if len(self.headers) != len(self._given):
            names = [name for name, _ in self._given if name in _ONCE or name.startswith(b"mcp-param-")]
            if len(names) != len(set(names)):
                raise Refused(400, "a header is given twice")

    def header(self, name: bytes) -> str | None:
        value = self.headers.get(name)
        return None if value is None else value.strip(b" \t").decode("latin-1")

    def accepts(self, kind: bytes) -> bool:
        """Whether the client wants to read answers of this kind; one that does not say reads any."""
        accept = self.headers.get(b"accept", b"*/*").lower()
        return kind in accept or b"*/*" in accept or kind.partition(b"/")[0] + b"/*" in accept

    async def body(self, limit: int) -> bytes:
        """Raises Refused for one over `limit` bytes, and Gone."""
        too_long = Refused(413, f"a request may have {limit} bytes (http.maxBody)")
        length = self.headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > limit:
            raise too_long
        chunks: list[bytes] = []
        while True:
            event = await self._receive()
            if event["type"] == "http.disconnect":
                raise Gone
            chunk: bytes = event["body"]
            self.received += len(chunk)
            if self.received > limit:
                raise too_long
            if not event["more_body"]:
                return chunk if not chunks else b"".join((*chunks, chunk))
            chunks.append(chunk)

    @property
    def gone(self) -> asyncio.Task[None]:
        """Done when the client has left or has been answered; only after `body`."""
        if self._gone is None:
            self._gone = asyncio.create_task(self._until_gone())
        return self._gone

    def close(self) -> None:
        if self._gone is not None:
            self._gone.cancel()

    async def answer(
        self, status: int, body: bytes = b"", kind: bytes = JSON, headers: Iterable[Header] = ()
    ) -> None:
        said = [*headers, *self.extra]
        if status != 204:
            said.append((b"content-length", b"%d" % len(body)))
        if body:
            said.append((b"content-type", kind))
        self.sent += len(body)
        await self._send({"type": "http.response.start", "status": status, "headers": said})
        await self._send({"type": "http.response.body", "body": body})

    async def refuse(self, refusal: Refused) -> None:
        await self.fail(refusal.error, status=refusal.status, headers=refusal.headers)

    async def fail(
        self, error: RpcError, id: Piece = NULL, *, status: int = 200, headers: Iterable[Header] = ()
    ) -> None:
        await self.answer(status, joined(messages.failure(id, error)), headers=headers)

    async def begin(self) -> None:
        """The head of an event stream."""
        said = [
            (b"content-type", EVENTS),
            (b"cache-control", b"no-cache, no-transform"),
            (b"x-accel-buffering", b"no"),
            *self.extra,
        ]
        await self._send({"type": "http.response.start", "status": 200, "headers": said})

    async def write(self, chunk: bytes, *, last: bool = False) -> None:
        self.sent += len(chunk)
        await self._send({"type": "http.response.body", "body": chunk, "more_body": not last})

    async def _until_gone(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass


def joined(line: tuple[Piece, ...]) -> bytes:
    """A message as a body: without the newline that ends it elsewhere."""
    return b"".join(line).rstrip(b"\n")
