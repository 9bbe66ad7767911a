"""App: the workbench as an ASGI application, from the gate to whoever answers. Sockets are `serving`'s."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

from ..endpoint.direct import DirectEndpoint
from ..endpoint.meta import MetaEndpoint
from .callers import Caller, Callers
from .door import Door
from .gate import Gate, preflight
from .listening import Address
from .metrics import KIND, MeteredWorkbench, Metrics
from .request import PATH, TOOLBOXES, AsgiMessage, Gone, Receive, Refused, Request, Send

TEXT = b"text/plain; charset=utf-8"


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
        self._workbench = workbench
        self._anyone = anyone
        self._environ = environ
        self._address = address
        self._main = Door(MetaEndpoint(workbench, shared=True))
        self._doors: dict[str, Door] = {}
        """Those to single toolboxes, by name, made when first asked for."""
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
        for door in self._all_doors():
            door.sweep()
            # Again: somebody may have been let in before the configuration changed, and be heard only now.
            door.dismiss(self._callers.admits)

    def close(self) -> None:
        """End every stream that would not end by itself; calls under way may finish."""
        self.closing = True
        self._stop_listening()
        for door in self._all_doors():
            door.close()

    async def _route(self, request: Request) -> None:
        if request.path in ("/healthz", "/readyz"):
            ready = request.path == "/healthz" or not self.closing
            await request.answer(200 if ready else 503, b"ok\n" if ready else b"closing\n", TEXT)
            return
        self._gate.check(request)
        oauth = self._callers.oauth
        if request.method == "OPTIONS":
            await request.answer(204, headers=preflight(request))
        elif request.path == PATH:
            await self._main.enter(request, await self._callers.identify(request))
        elif request.path.startswith(TOOLBOXES) and request.path.endswith(PATH):
            caller = await self._callers.identify(request)
            await self._direct(request, caller).enter(request, caller)
        elif request.path == "/metrics":
            caller = await self._callers.identify(request)
            text = self._metrics.text(caller.scope, sum(door.sessions for door in self._all_doors()))
            await request.answer(200, text, KIND)
        elif oauth is not None and (place := oauth.described_at(request.path)) is not None:
            await request.answer(200, oauth.metadata(request, place))
        else:
            raise Refused(404, f"nothing is here; MCP is at {PATH} and {TOOLBOXES}NAME{PATH}")

    def _direct(self, request: Request, caller: Caller) -> Door:
        """The door to one toolbox. Raises Refused where the caller knows of none such."""
        name = request.path[len(TOOLBOXES) : -len(PATH)]
        if name not in self._workbench.seen(caller.scope):
            raise Refused(404, f"there is no toolbox '{name}' here")
        if name not in self._doors:
            self._doors[name] = Door(DirectEndpoint(self._workbench, name, shared=True))
        return self._doors[name]

    def _all_doors(self) -> list[Door]:
        return [self._main, *self._doors.values()]

    def _changed(self) -> None:
        if self._workbench.config.http != self._http:
            with contextlib.suppress(OSError):  # whoever may come in until now still may
                self._configure()
            for door in self._all_doors():
                door.dismiss(self._callers.admits)
        for name in self._doors.keys() - self._workbench.toolboxes.keys():
            self._doors.pop(name).close()

    def _configure(self) -> None:
        http = self._workbench.config.http
        self._callers = Callers(http, self._environ, anyone=self._anyone)
        self._gate = Gate(http, self._address)
        self._http = http
