"""One remote place: its pool of connections, what may be sent to it, and where it may send us.

Speaks HTTP and nothing of MCP. Everything that goes wrong leaves as one of `failures`, without secrets.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Mapping

import httpx2

from ... import __version__
from ...config.secrets import secrets_in
from .addresses import is_inside
from .credentials import Credentials
from .failures import BadRedirect, Cut, NotReached, Refused

MOST_REDIRECTS = 5

KEEP_ALIVE = 4.0
"""Seconds that an unused connection is kept. Many servers close theirs after 5, and a request that crosses
with that would be lost without anybody knowing whether it was run."""


class Site:
    """Made on first use; `close` ends its connections."""

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        credentials: Credentials,
        *,
        connections: int,
        connect_timeout: float,
    ) -> None:
        try:
            self.url = httpx2.URL(url)
        except httpx2.InvalidURL as error:
            raise Refused(f"its url cannot be used: {error}") from None
        self.here = self.url
        """Where it redirected us to, while that lasts."""
        self._headers = {name.lower(): value for name, value in headers.items()}
        self._credentials = credentials
        self._secrets = {part for name, value in headers.items() for part in secrets_in(name, value)}
        self._secrets |= secrets_in("url", url)
        self._client = httpx2.AsyncClient(
            headers={"user-agent": f"mcp-workbench/{__version__}"},
            # Calls and streams have limits of their own, which know what is waited for.
            timeout=httpx2.Timeout(None, connect=connect_timeout),
            limits=httpx2.Limits(
                max_connections=None, max_keepalive_connections=connections, keepalive_expiry=KEEP_ALIVE
            ),
        )

    def forget_redirects(self) -> None:
        self.here = self.url

    async def send(
        self, method: str, headers: Mapping[str, str], content: bytes | None = None, to: str | None = None
    ) -> httpx2.Response:
        """The response, its body still to be read; `to` is another address at the same place.

        Raises one of `failures`.
        """
        token = await self._credentials.token()
        response = await self._follow(method, headers, content, to, token)
        if not same_origin(response.request.url, self.url) or not self._credentials.can_answer(response):
            return response
        await response.aclose()
        token = await self._credentials.renew(token, response)
        response = await self._follow(method, headers, content, to, token)
        if self._credentials.can_answer(response):
            await response.aclose()
            self._credentials.give_up()
        return response

    def masked(self, text: str) -> str:
        """What a server said, without what only we and it should know."""
        for secret in sorted(self._secrets | self._credentials.secrets, key=len, reverse=True):
            text = text.replace(secret, "***")
        return text

    async def close(self) -> None:
        await self._client.aclose()

    async def _follow(
        self,
        method: str,
        headers: Mapping[str, str],
        content: bytes | None,
        to: str | None,
        token: str | None,
    ) -> httpx2.Response:
        url = self.here.join(to) if to is not None else self.here
        for _ in range(MOST_REDIRECTS + 1):
            if url.host != self.url.host and await is_inside(url.host):
                raise BadRedirect(origin(url), "it leads to a private address of another host")
            known = same_origin(url, self.url)
            own = self._own_headers(token) if known else {}
            sent = httpx2.Headers({**own, **headers}, encoding="utf-8")
            response = await self._send(
                self._client.build_request(method, url, headers=sent, content=content)
            )
            if not response.has_redirect_location:
                if to is None and not known:
                    self.here = url  # the session that begins there is continued there
                return response
            await response.aclose()
            try:
                target = url.join(response.headers["location"]).copy_with(userinfo=b"")
            except httpx2.InvalidURL as error:
                raise BadRedirect("nowhere", str(error)) from None
            _check_redirect(url, target, method, response.status_code)
            if not same_origin(url, target):
                headers = {name: value for name, value in headers.items() if name != "mcp-session-id"}
            url = target
        raise BadRedirect(origin(url), f"it is one of more than {MOST_REDIRECTS} in a row")

    def _own_headers(self, token: str | None) -> dict[str, str]:
        return self._headers if token is None else {**self._headers, "authorization": f"Bearer {token}"}

    async def _send(self, request: httpx2.Request) -> httpx2.Response:
        try:
            return await self._client.send(request, stream=True, follow_redirects=False)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError) as error:
            raise _not_reached(origin(request.url), error) from None
        except (httpx2.LocalProtocolError, httpx2.UnsupportedProtocol) as error:
            raise Refused(f"the request cannot be sent: {self.masked(str(error))}") from None
        except (httpx2.HTTPError, httpx2.StreamError):
            raise Cut from None


def origin(url: httpx2.URL) -> str:
    """What may be told of an address: paths, too, are known to hold secrets."""
    return str(url.copy_with(userinfo=b"", path="", query=None, fragment=None)).rstrip("/")


def same_origin(one: httpx2.URL, other: httpx2.URL) -> bool:
    return (one.scheme, one.host, one.port) == (other.scheme, other.host, other.port)


def _check_redirect(url: httpx2.URL, target: httpx2.URL, method: str, status: int) -> None:
    """Raises BadRedirect."""
    where = origin(target)
    if target.scheme not in {"http", "https"}:
        raise BadRedirect(where, "it leaves HTTP")
    if url.scheme == "https" and target.scheme == "http":
        raise BadRedirect(where, "it would give up encryption")
    if method != "GET" and status not in {307, 308}:
        raise BadRedirect(where, f"status {status} turns the request into another one")


def _not_reached(origin: str, error: BaseException) -> NotReached:
    if isinstance(error, httpx2.ConnectTimeout):
        return NotReached(origin, "no answer to the attempt to connect")
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, socket.gaierror):
            return NotReached(origin, "there is no such host", final=True)
        if isinstance(cause, ssl.SSLError):
            return NotReached(origin, f"TLS failed ({cause.reason or cause})", final=True)
        if isinstance(cause, ConnectionRefusedError):
            return NotReached(origin, "connection refused")
        error, cause = cause, cause.__cause__ or cause.__context__
    return NotReached(origin, str(error))
