"""App: the workbench as an ASGI application, from the gate to whoever answers. Sockets are `serving`'s."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

from ..endpoint import Endpoint
from ..protocol import revisions
from ..wire import messages
from ..wire.messages import INVALID_REQUEST, PARSE_ERROR, Message
from .callers import Caller, Callers
from .gate import Gate, preflight
from .legacy import Legacy
from .listening import Address
from .metrics import KIND, MeteredWorkbench, Metrics
from .modern import Modern
from .request import JSON, AsgiMessage, Gone, Receive, Refused, Request, Send

PATH = "/mcp"
TEXT = b"text/plain; charset=utf-8"

_MODERN_MARK = f'"{revisions.VERSION}"'.encode()


class App:
    def __init__(
        self,
        workbench: MeteredWorkbench,
        address: Address | None,
        environ: Mapping[str, str],
        *,
        anyone: bool,
    ) -> None:
        """`address` is where we listen; `anyone` may come in where nobody is configured.

        Raises OSError where our own token cannot be kept.
        """
        endpoint = Endpoint(workbench, shared=True)
        self._workbench = workbench
        self._anyone = anyone
        self._environ = environ
        self._address = address
        self._modern = Modern(endpoint)
        self._legacy = Legacy(endpoint)
        self._metrics = Metrics(workbench)
        self._configure()
        self._stop_listening = workbench.on_change(self._changed)
        self.closing = False

    @property
    def needs_own_token(self) -> bool:
        return self._callers.own

    async def __call__(self, scope: AsgiMessage, receive: Receive, send: Send) -> None:
        request = Request(scope, receive, send)
        with contextlib.suppress(Gone):
            try:
                request.check()
                await self._route(request)
            except Refused as refusal:
                await request.refuse(refusal)
            finally:
                request.close()
                self._metrics.received += request.received
                self._metrics.sent += request.sent

    def sweep(self) -> None:
        """Forget what nobody uses any more; to be called every few seconds."""
        self._legacy.sessions.sweep()

    def close(self) -> None:
        """End every stream that would not end by itself; calls under way may finish."""
        self.closing = True
        self._stop_listening()
        self._modern.close()
        self._legacy.sessions.close()

    async def _route(self, request: Request) -> None:
        if request.path in ("/healthz", "/readyz"):
            ready = request.path == "/healthz" or not self.closing
            await request.answer(200 if ready else 503, b"ok\n" if ready else b"closing\n", TEXT)
            return
        self._gate.check(request)
        oauth = self._callers.oauth
        if request.method == "OPTIONS":
            await request.answer(204, headers=preflight())
        elif request.path == PATH:
            await self._mcp(request, await self._callers.identify(request))
        elif request.path == "/metrics":
            caller = await self._callers.identify(request)
            text = self._metrics.text(caller.scope, len(self._legacy.sessions))
            await request.answer(200, text, KIND)
        elif oauth is not None and oauth.is_described_at(request.path):
            await request.answer(200, oauth.metadata(request))
        else:
            raise Refused(404, f"nothing is here; MCP is at {PATH}")

    async def _mcp(self, request: Request, caller: Caller) -> None:
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

    async def _post(self, request: Request, caller: Caller, version: str | None) -> None:
        if request.headers.get(b"content-type", b"").partition(b";")[0].strip().lower() != JSON:
            raise Refused(415, "a message is application/json")
        if not request.accepts(JSON):
            raise Refused(406, "answers are application/json or text/event-stream")
        body = await request.body(self._workbench.config.http.max_body)
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

    def _changed(self) -> None:
        if self._workbench.config.http != self._http:
            with contextlib.suppress(OSError):  # whoever may come in until now still may
                self._configure()
        self._modern.tools_changed()
        self._legacy.sessions.tools_changed()

    def _configure(self) -> None:
        http = self._workbench.config.http
        self._callers = Callers(http, self._environ, anyone=self._anyone)
        self._gate = Gate(http, self._address)
        self._http = http


def _begins(message: Message, version: str | None) -> bool:
    """A client that names no revision outside of `initialize` begins a session with it."""
    return version is None and message.method == "initialize"
