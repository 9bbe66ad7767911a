"""Door: one address at which MCP is spoken, in both eras, with one endpoint behind it."""

from __future__ import annotations

from collections.abc import Callable

from ..endpoint.base import Endpoint
from ..protocol import revisions
from ..wire import messages
from ..wire.messages import INVALID_REQUEST, PARSE_ERROR, Message
from .callers import Caller
from .legacy import Legacy
from .modern import Modern
from .request import JSON, Refused, Request

_MODERN_MARK = f'"{revisions.VERSION}"'.encode()


class Door:
    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._modern = Modern(endpoint)
        self._legacy = Legacy(endpoint)

    @property
    def sessions(self) -> int:
        return len(self._legacy.sessions)

    async def enter(self, request: Request, caller: Caller) -> None:
        """Answer a request. Raises Refused."""
        version = request.header(b"mcp-protocol-version")
        if request.method == "POST":
            await self._post(request, caller, version)
        elif version in revisions.MODERN or request.method not in ("GET", "DELETE"):
            raise Refused(405, "MCP is spoken by POST", headers=[(b"allow", b"GET, POST, DELETE")])
        elif version is not None and version not in revisions.LEGACY:
            raise Refused(400, "unsupported protocol version", code=revisions.UNSUPPORTED_VERSION)
        elif request.method == "GET":
            await self._legacy.get(request, caller)
        else:
            await self._legacy.delete(request, caller)

    def sweep(self) -> None:
        """Forget what nobody uses any more; to be called every few seconds."""
        self._legacy.sessions.sweep()

    def dismiss(self, admits: Callable[[Caller], bool]) -> None:
        """End the sessions and subscriptions of callers that are let in no longer."""
        self._modern.dismiss(admits)
        self._legacy.sessions.dismiss(admits)

    def close(self) -> None:
        """End every stream that would not end by itself; calls under way may finish."""
        self._endpoint.close()
        self._modern.close()
        self._legacy.sessions.close()

    async def _post(self, request: Request, caller: Caller, version: str | None) -> None:
        if request.headers.get(b"content-type", b"").partition(b";")[0].strip().lower() != JSON:
            raise Refused(415, "a message is application/json")
        if not request.accepts(JSON):
            raise Refused(406, "answers are application/json or text/event-stream")
        body = await request.body(self._endpoint.workbench.config.http.max_body)
        legacy = version in revisions.LEGACY if version is not None else _MODERN_MARK not in body
        try:
            message = messages.read(body)
        except messages.NotAMessage as problem:
            if legacy and (items := messages.read_batch(body)) is not None:
                await self._legacy.post_batch(request, items, caller)
                return
            raise Refused(400, f"Invalid request: {problem}", code=INVALID_REQUEST) from None
        except messages.NotJson as problem:
            raise Refused(400, f"Parse error: {problem}", code=PARSE_ERROR) from None
        except (messages.TooDeep, RecursionError):
            raise Refused(400, "Invalid request: nested too deeply to be read") from None
        if legacy or _begins(message, version):
            await self._legacy.post(request, message, caller)
        else:
            await self._modern.post(request, message, caller, version)


def _begins(message: Message, version: str | None) -> bool:
    """A client that names no revision outside of `initialize` begins a session with it."""
    return version is None and message.method == "initialize"
