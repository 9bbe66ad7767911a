"""Logging in to a remote server: a browser for the person, and a door on this machine for what comes back."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from hmac import compare_digest
from urllib.parse import parse_qs, urlsplit

import httpx2
import msgspec
from mcp.shared.auth import AuthorizationCodeResult

from ...config import RemoteConfig
from ...errors import ConnectFailed
from .credentials import Credentials
from .failures import Refused
from .oauth import Conversation, client_of, configured_client
from .server import RemoteServer
from .tokens import TokenStore

PATIENCE = 300.0
"""Seconds that a person may take."""

PATH = "/callback"
_PAGE = (
    b"<!doctype html><meta charset=utf-8><title>MCP Workbench</title>"
    b"<p style='font:1.2em system-ui;margin:4em'>%b You can close this window."
)


class NotAsked(Refused):
    def __init__(self) -> None:
        super().__init__("the server lets us in without a login")


async def log_in(config: RemoteConfig, show: Callable[[str], Awaitable[None]], port: int = 0) -> None:
    """Have a person log in, and keep what that brings; `show` is given the address to open.

    Raises NotAsked, Refused, another of `failures`, or ConnectFailed.
    """
    store = TokenStore(config, os.environ)
    challenge = await _challenge(config)
    known = client_of(await store.read())
    # Whoever asked for a port, or registered a client by hand, has told the server of that one.
    fixed = port != 0 or (config.auth is not None and config.auth.client_id is not None)
    if not port and known is not None and known.redirect_uris:
        port = known.redirect_uris[0].port or 0  # the one that the client registered with
    async with _door(port, fixed=fixed) as door:
        if known is not None and door.address not in [str(uri) for uri in known.redirect_uris or []]:
            known = None  # its port is taken; it registers anew
        client = configured_client(config, door.address) or known

        async def send_off(address: str) -> None:
            door.expect(address)
            await show(address)

        try:
            async with asyncio.timeout(PATIENCE):
                grant = await Conversation(config).log_in(
                    challenge, client, door.address, send_off, door.wait
                )
        except TimeoutError:
            raise Refused(f"nobody logged in within {PATIENCE:g} s") from None
    async with store.locked():
        await store.write(grant)


class _Stranger(Credentials):
    """Shows nothing, to see how the server answers somebody whom it does not know."""

    challenge: httpx2.Response | None = None
    """How it did."""

    def can_answer(self, response: httpx2.Response) -> bool:
        return response.status_code == 401

    async def renew(self, stale: str | None, challenge: httpx2.Response | None) -> str:
        self.challenge = challenge
        raise Refused("it wants to know who asks")


async def _challenge(config: RemoteConfig) -> httpx2.Response:
    """Raises NotAsked or ConnectFailed."""
    headers = {name: value for name, value in config.headers.items() if name.lower() != "authorization"}
    stranger = _Stranger()
    server = RemoteServer(
        msgspec.structs.replace(config, headers=headers), on_change=lambda: None, credentials=stranger
    )
    try:
        await server.connect()
    except ConnectFailed:
        if stranger.challenge is None:
            raise
        return stranger.challenge
    finally:
        await server.close()
    raise NotAsked


class _Door:
    """Where the browser is sent back to: a listener on this machine alone."""

    def __init__(self) -> None:
        self.address = ""
        self._state = ""
        self._answer: asyncio.Future[AuthorizationCodeResult] = asyncio.get_running_loop().create_future()

    def expect(self, address: str) -> None:
        """The person is sent to this address; nobody comes back from there who does not know its state."""
        self._state = _query(address).get("state", "")

    async def wait(self) -> AuthorizationCodeResult:
        return await self._answer

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(10):
                line = (await reader.readline()).decode("ascii", "replace")
                while (await reader.readline()).strip():
                    pass
                status, said = self._take(line)
                page = _PAGE % said.encode()
                writer.write(
                    b"HTTP/1.1 %d \r\ncontent-type: text/html\r\ncontent-length: %d\r\n"
                    b"connection: close\r\n\r\n%b" % (status, len(page), page)
                )
                await writer.drain()
        except (TimeoutError, OSError, ValueError):
            pass  # not the browser, or one that hung up
        finally:
            writer.close()

    def _take(self, line: str) -> tuple[int, str]:
        """What the browser's request says: a status and a sentence for the person."""
        target = line.split(" ")[1] if line.count(" ") >= 2 else ""
        if urlsplit(target).path != PATH or self._answer.done():
            return 404, "There is nothing here."
        query = _query(target)
        # Any page in any browser here can send its reader to this address.
        if not self._state or not compare_digest(query.get("state", "").encode(), self._state.encode()):
            return 400, "This is not the answer to the login that is under way, which still waits for it."
        if "code" not in query:
            reason = query.get("error_description") or query.get("error") or "no code was given"
            self._answer.set_exception(Refused(f"the login was refused: {reason}"))
            return 400, "The login was refused."
        self._answer.set_result(
            AuthorizationCodeResult(code=query["code"], state=query["state"], iss=query.get("iss"))
        )
        return 200, "You are logged in."


@asynccontextmanager
async def _door(port: int, *, fixed: bool) -> AsyncGenerator[_Door]:
    """An open door; at another port where this one is taken, unless it is `fixed`. Raises Refused."""
    door = _Door()
    try:
        server = await asyncio.start_server(door.serve, "127.0.0.1", port)
    except OSError as error:
        if fixed:
            reason = os.strerror(error.errno or 0).lower()
            raise Refused(
                f"the browser cannot come back to port {port}: {reason}; free it, or say --port with another "
                "one that the server knows"
            ) from None
        server = await asyncio.start_server(door.serve, "127.0.0.1", 0)
    async with server:
        door.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}{PATH}"
        yield door


def _query(address: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
