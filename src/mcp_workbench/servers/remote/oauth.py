"""OAuth as the official SDK does it, driven by hand: its requests are sent one by one, each where it may go.

The SDK's provider is made to sit in an HTTP client, where it lets one request through at a time, forgets
between runs where tokens are refreshed, and asks a person wherever a token is refused. So it is asked for
the flows alone; when they are needed is for `credentials`.
"""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import AsyncGenerator, Awaitable, Callable

import httpx2
import msgspec
from mcp.client.auth import OAuthClientProvider, OAuthFlowError, OAuthRegistrationError, OAuthTokenError
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.auth.utils import extract_field_from_www_auth
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from msgspec import Raw
from pydantic import AnyUrl, BaseModel, ValidationError

from ...config import RemoteConfig
from .addresses import is_inside, is_link_local
from .failures import NotRefreshed, Refused, ServerTrouble
from .tokens import Grant

# What it logs about a flow may quote a token, and stderr is the client's to show.
logging.getLogger("mcp").addHandler(logging.NullHandler())

NO_REDIRECT = "http://127.0.0.1/callback"
PATIENCE = 30.0
"""Seconds that one request of a flow may take."""

_FINAL = frozenset(
    """invalid_grant invalid_client unauthorized_client unsupported_grant_type invalid_scope invalid_target
    bad_refresh_token""".split()
)
"""Errors after which a refresh token is good for nothing: those of RFC 6749 and 8707, and GitHub's."""


class Conversation:
    """With the authorization server of one remote server. Raises Refused, or ServerTrouble."""

    def __init__(self, config: RemoteConfig) -> None:
        self._config = config
        self._home = httpx2.URL(config.url)

    async def log_in(
        self,
        challenge: httpx2.Response,
        client: OAuthClientInformationFull | None,
        redirect: str,
        show: Callable[[str], Awaitable[None]],
        wait: Callable[[], Awaitable[AuthorizationCodeResult]],
    ) -> Grant:
        """Have a person agree: `show` is given the address to open, and `wait` gets what comes back."""
        provider = OAuthClientProvider(self._config.url, _metadata(redirect), _Memory(client), show, wait)
        await self._drive(provider, self._rephrased(challenge))
        return _grant(provider)

    async def with_credentials(self, challenge: httpx2.Response) -> Grant:
        """Log in as the configured client itself."""
        auth = self._config.auth
        assert auth is not None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that the entry does not name the issuer
            provider = ClientCredentialsOAuthProvider(
                self._config.url,
                _Memory(None),
                auth.client_id or "",
                auth.client_secret or "",
                scope=" ".join(auth.scopes) or None,
            )
        await self._drive(provider, self._rephrased(challenge))
        return _grant(provider)

    async def refresh(self, grant: Grant) -> Grant | None:
        """None where the refresh token is good for nothing any more, or there is none.

        Raises NotRefreshed, too, where it may be good again later.
        """
        client = OAuthClientInformationFull.model_validate_json(bytes(grant.client))
        tokens = OAuthToken.model_validate_json(bytes(grant.tokens))
        provider = OAuthClientProvider(self._config.url, _metadata(NO_REDIRECT), _Memory(client, tokens))
        context = provider.context
        if bytes(grant.metadata) != b"null":
            context.oauth_metadata = OAuthMetadata.model_validate_json(bytes(grant.metadata))
        if bytes(grant.resource) != b"null":
            context.protected_resource_metadata = ProtectedResourceMetadata.model_validate_json(
                bytes(grant.resource)
            )
        context.token_expiry_time = 1.0  # whatever its age: it was refused
        answer = await self._drive(provider, None)
        if context.current_tokens is None or context.current_tokens.access_token == grant.access_token:
            if answer is not None and not _is_final(answer):
                raise NotRefreshed(self._config, answer.status_code, answer.reason_phrase)
            return None
        return _grant(provider)

    async def _drive(
        self, provider: OAuthClientProvider, challenge: httpx2.Response | None
    ) -> httpx2.Response | None:
        """Go through the provider's flow around a request that is never sent; what was answered last.

        Without a `challenge` that ends where the request would be sent; with one, that is the answer to it.
        """
        request = httpx2.Request("POST", self._home)
        flow = provider.async_auth_flow(request)
        try:
            return await self._step_through(flow, request, challenge)
        except (OAuthFlowError, OAuthTokenError, OAuthRegistrationError) as error:
            raise Refused(f"authorization failed: {self._masked(str(error))}") from None
        except ValidationError as error:
            raise Refused(
                f"authorization failed: {error.title} is not what it should be "
                f"({error.error_count()} problems)"
            ) from None
        finally:
            await flow.aclose()

    async def _step_through(
        self,
        flow: AsyncGenerator[httpx2.Request, httpx2.Response],
        request: httpx2.Request,
        challenge: httpx2.Response | None,
    ) -> httpx2.Response | None:
        response = None
        outgoing = await anext(flow)
        while True:
            if outgoing is not request:
                response = await self._send(outgoing)
            elif challenge is not None:
                response, challenge = challenge, None
            else:
                return response
            outgoing = await flow.asend(response)

    async def _send(self, request: httpx2.Request) -> httpx2.Response:
        host = request.url.host
        where = f"{request.url.scheme}://{host}"
        # A company's own servers may well have private addresses, if the one that names them has one too.
        if host != self._home.host and (
            await is_link_local(host) or (await is_inside(host) and not await is_inside(self._home.host))
        ):
            raise Refused(f"authorization failed: it leads to a private address ({where})")
        try:
            async with httpx2.AsyncClient(timeout=PATIENCE) as client:
                response = await client.send(request, follow_redirects=False)
        except httpx2.HTTPError as error:
            raise Refused(f"authorization failed: {where} gave no answer ({type(error).__name__})") from None
        if response.status_code >= 500:
            raise ServerTrouble(response.status_code, response.reason_phrase, f"from {where}")
        return response

    def _rephrased(self, challenge: httpx2.Response) -> httpx2.Response:
        """The challenge as the flow should read it: with the scopes of the entry, where it names some."""
        resource = extract_field_from_www_auth(challenge, "resource_metadata")
        auth = self._config.auth
        configured = " ".join(auth.scopes) if auth is not None else ""
        scope = configured or extract_field_from_www_auth(challenge, "scope")
        fields = [("resource_metadata", resource), ("scope", scope)]
        header = "Bearer " + ", ".join(f'{name}="{value}"' for name, value in fields if value)
        return httpx2.Response(401, headers={"www-authenticate": header}, request=challenge.request)

    def _masked(self, text: str) -> str:
        secret = self._config.auth.client_secret if self._config.auth is not None else None
        return text.replace(secret, "***") if secret else text


class _Memory:
    """The SDK's storage for the time of one flow."""

    def __init__(self, client: OAuthClientInformationFull | None, tokens: OAuthToken | None = None) -> None:
        self._client = client
        self._tokens = tokens

    async def get_tokens(self) -> OAuthToken | None:
        return self._tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self._tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self._client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._client = client_info


def configured_client(config: RemoteConfig, redirect: str) -> OAuthClientInformationFull | None:
    """The client that the entry names, where it was registered by hand."""
    auth = config.auth
    if auth is None or auth.client_id is None:
        return None
    return OAuthClientInformationFull(
        client_id=auth.client_id,
        client_secret=auth.client_secret,
        redirect_uris=[AnyUrl(redirect)],
        token_endpoint_auth_method="client_secret_basic" if auth.client_secret else "none",
    )


def _metadata(redirect: str) -> OAuthClientMetadata:
    return OAuthClientMetadata(
        client_name="MCP Workbench",
        redirect_uris=[AnyUrl(redirect)],
        grant_types=["authorization_code", "refresh_token"],
        token_endpoint_auth_method="none",
    )


def _grant(provider: OAuthClientProvider) -> Grant:
    context = provider.context
    tokens = context.current_tokens
    if tokens is None:
        raise Refused("authorization failed: no token was given")
    return Grant(
        access_token=tokens.access_token,
        tokens=_json(tokens),
        client=_json(context.client_info),
        metadata=_json(context.oauth_metadata),
        resource=_json(context.protected_resource_metadata),
        expires_at=_end(tokens.expires_in) if tokens.expires_in is not None else None,
    )


class _TokenError(msgspec.Struct):
    error: str = ""


def _is_final(answer: httpx2.Response) -> bool:
    """Whether the refusal of a refresh is for good: a server that is busy or not well says other things."""
    try:
        return msgspec.json.decode(answer.content, type=_TokenError).error in _FINAL
    except (msgspec.DecodeError, RecursionError):
        return False


def _end(seconds: int) -> float:
    """A little before the end: a call takes its time to arrive."""
    return time.time() + seconds - min(10.0, seconds / 10)


def _json(model: BaseModel | None) -> Raw:
    return Raw(model.model_dump_json(exclude_none=True).encode() if model is not None else b"null")


def client_of(grant: Grant | None) -> OAuthClientInformationFull | None:
    """The client that registered itself at an earlier login."""
    if grant is None:
        return None
    try:
        return OAuthClientInformationFull.model_validate_json(bytes(grant.client))
    except (ValidationError, msgspec.DecodeError):
        return None
