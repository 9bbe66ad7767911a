"""Serving over HTTP, from the sockets to a clean end. What is answered is the App's."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import signal
import socket
from collections.abc import Callable, Generator, Mapping

import msgspec
import uvicorn

from ..config import Config
from ..errors import WorkbenchError
from ..life import Life
from .app import App
from .callers import token_file
from .connections import Connection, end_overdue
from .listening import Address, open_unix
from .metrics import MeteredWorkbench
from .request import PATH

FINISH = 10
"""Seconds that calls under way may still take once we were asked to end."""

SWEEP = 2.0
DESCRIPTORS = 8192
KEEP_ALIVE = 75
"""Seconds for an unused connection: longer than proxies keep theirs, or they would use a closed one."""


class NotSecure(WorkbenchError):
    """What was asked for would let in whom it should not."""


class Contradiction(NotSecure):
    def __init__(self) -> None:
        super().__init__("--no-token contradicts the configuration, which has http.tokens or http.oauth")


class OpenToEveryone(NotSecure):
    def __init__(self, address: Address) -> None:
        super().__init__(
            f"--no-token would let everyone in who reaches {address}; it is for this machine alone"
        )


class Serving(msgspec.Struct, frozen=True, kw_only=True):
    """Where to serve, and whether whoever comes must show a token."""

    address: Address | None
    unix: str | None = None
    no_token: bool = False

    def check(self, config: Config) -> None:
        """Raises NotSecure."""
        if not self.no_token:
            return
        if config.http.tokens or config.http.oauth is not None:
            raise Contradiction
        if self.address is not None and not self.address.loopback:
            raise OpenToEveryone(self.address)

    def open(self, stack: contextlib.AsyncExitStack) -> list[socket.socket]:
        """Listen; `stack` undoes it. Raises CannotListen."""
        sockets: list[socket.socket] = []
        if self.address is not None:
            sockets.append(stack.enter_context(self.address.open()))
        if self.unix is not None:
            sockets.append(stack.enter_context(open_unix(self.unix)))
            stack.callback(_unlink, self.unix)
        return sockets


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield  # ours are in place already, and end us with status 0


async def serve(
    config: Config,
    serving: Serving,
    *,
    asked_for: bool,
    warn: Callable[[str], None],
    started: Callable[[list[str], str | None], None],
    environ: Mapping[str, str] = os.environ,
) -> None:
    """Serve until a signal says so; then leave nothing behind. Raises NotSecure, CannotListen and OSError.

    `started` hears the addresses that are served now, and which file holds the token that they want.
    """
    serving.check(config)
    _allow_many_connections()
    async with contextlib.AsyncExitStack() as stack:
        sockets = serving.open(stack)
        workbench = MeteredWorkbench(config)
        stack.push_async_callback(workbench.close)
        app = App(workbench, serving.address, environ, anyone=serving.no_token)
        life = Life(workbench, asked_for=asked_for, transport="http", warn=warn)
        stack.callback(life.end)
        server = _Server(
            uvicorn.Config(
                app,
                http=Connection,
                ws="none",
                lifespan="off",
                log_config=None,
                log_level="error",
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_keep_alive=KEEP_ALIVE,
                timeout_graceful_shutdown=FINISH,
            )
        )
        _on_signals(server, app, life)
        workbench.prepare()
        sweeping = asyncio.create_task(_sweep(server, app))
        stack.callback(sweeping.cancel)
        started(_addresses(serving, sockets), token_file(environ) if app.needs_own_token else None)
        await server.serve(sockets)


def _allow_many_connections() -> None:
    """A thousand sessions with a stream each are more descriptors than most systems give at first."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(DESCRIPTORS, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _unlink(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


def _addresses(serving: Serving, sockets: list[socket.socket]) -> list[str]:
    addresses: list[str] = []
    if serving.address is not None:
        port: int = sockets[0].getsockname()[1]
        addresses.append(f"http://{serving.address.bracketed}:{port}{PATH}")
    if serving.unix is not None:
        addresses.append(f"unix:{serving.unix}")
    return addresses


async def _sweep(server: uvicorn.Server, app: App) -> None:
    while True:
        await asyncio.sleep(SWEEP)
        end_overdue(server.server_state.connections)
        app.sweep()


def _on_signals(server: uvicorn.Server, app: App, life: Life) -> None:
    """SIGTERM and SIGINT ask for the end, a second time with no more patience; SIGHUP for a reload."""
    loop = asyncio.get_running_loop()

    def leave() -> None:
        if server.should_exit:
            server.force_exit = True
            for task in list(server.server_state.tasks):
                task.cancel()
        server.should_exit = True
        app.close()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, leave)
    loop.add_signal_handler(signal.SIGHUP, life.reload)
