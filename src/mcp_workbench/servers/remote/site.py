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
from .failures import BadRedirect, Cut, NotReached

MOST_REDIRECTS = 5


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
        self.url = httpx2.URL(url)
        self._here = self.url
        """Where it redirected us to, while that lasts."""
        self._headers = dict(headers)
        self._credentials = credentials
        self._secrets = {part for name, value in headers.items() for part in secrets_in(name, value)}
        self._secrets |= secrets_in("url", url)
        self.client = httpx2.AsyncClient(
            headers={"user-agent": f"mcp-workbench/{__version__}"},
            # Calls and streams have limits of their own, which know what is waited for.
            timeout=httpx2.Timeout(None, connect=connect_timeout),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=connections),
        )

    @property
    def origin(self) -> str:
        """What may be told of the address: paths, too, are known to hold secrets."""
        return origin(self.url)

    def forget_redirects(self) -> None:
        self._here = self.url

    async def send(
        self, method: str, headers: Mapping[str, str], content: bytes | None = None, to: str | None = None
    ) -> httpx2.Response:
        """The response, its body still to be read; `to` is another address at the same place.

        Raises NotReached, Cut, BadRedirect or LoginNeeded.
        """
        token = await self._credentials.token()
        response = await self._follow(method, headers, content, to, token)
        if not self._credentials.is_challenge(response):
            return response
        await response.aclose()
        if not _same_origin(response.request.url, self.url):
            return response
        token = await self._credentials.renew(token, response)
        response = await self._follow(method, headers, content, to, token)
        if self._credentials.is_challenge(response):
            await response.aclose()
            self._credentials.refused()
        return response

    def masked(self, text: str) -> str:
        """What a server said, without what only we and it should know."""
        for secret in sorted(self._secrets | self._credentials.secrets, key=len, reverse=True):
            text = text.replace(secret, "***")
        return text

    async def close(self) -> None:
        await self.client.aclose()

    async def _follow(
        self,
        method: str,
        headers: Mapping[str, str],
        content: bytes | None,
        to: str | None,
        token: str | None,
    ) -> httpx2.Response:
        url = self._here.join(to) if to is not None else self._here
        for _ in range(MOST_REDIRECTS):
            known = _same_origin(url, self.url)
            own = {**self._headers, **({"authorization": f"Bearer {token}"} if token else {})} if known else {}
            response = await self._send(
                self.client.build_request(method, url, headers={**own, **headers}, content=content)
            )
            if not response.has_redirect_location:
                if to is None and not known:
                    self._here = url  # the session that begins there is continued there
                return response
            await response.aclose()
            target = url.join(response.headers["location"]).copy_with(userinfo=b"")
            await self._check_redirect(url, target, method, response.status_code)
            if not _same_origin(url, target):
                headers = {name: value for name, value in headers.items() if name != "mcp-session-id"}
            url = target
        raise BadRedirect(origin(url), f"it is one of more than {MOST_REDIRECTS} in a row")

    async def _check_redirect(self, url: httpx2.URL, target: httpx2.URL, method: str, status: int) -> None:
        where = origin(target)
        if target.scheme not in {"http", "https"}:
            raise BadRedirect(where, "it leaves HTTP")
        if url.scheme == "https" and target.scheme == "http":
            raise BadRedirect(where, "it would give up encryption")
        if method != "GET" and status not in {307, 308}:
            raise BadRedirect(where, f"status {status} turns the request into another one")
        if target.host != self.url.host and await is_inside(target.host):
            raise BadRedirect(where, "it leads to a private address of another host")

    async def _send(self, request: httpx2.Request) -> httpx2.Response:
        try:
            return await self.client.send(request, stream=True, follow_redirects=False)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError) as error:
            raise _not_reached(origin(request.url), error) from None
        except (httpx2.HTTPError, httpx2.StreamError):
            raise Cut from None
        except httpx2.InvalidURL as error:
            raise NotReached(self.origin, str(error), final=True) from None


def origin(url: httpx2.URL) -> str:
    return str(url.copy_with(userinfo=b"", path="", query=None, fragment=None)).rstrip("/")


def _same_origin(one: httpx2.URL, other: httpx2.URL) -> bool:
    return (one.scheme, one.host, one.port) == (other.scheme, other.host, other.port)


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
