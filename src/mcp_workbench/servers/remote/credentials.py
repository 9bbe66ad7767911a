"""What is shown at the door of a remote server: nothing, or an access token that is renewed in time.

How tokens are obtained is for `oauth`; where they are kept, for `tokens`.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import os
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import httpx2

from ...config import RemoteConfig
from .failures import LoginNeeded, Refused
from .tokens import Grant, TokenStore

if TYPE_CHECKING:
    from .oauth import Conversation


class Credentials:
    """None of our own: the headers of the entry are all there is."""

    @property
    def secrets(self) -> frozenset[str]:
        """What must not be shown to anybody."""
        return frozenset()

    async def token(self) -> str | None:
        """The access token to show, if there is one. Raises one of `failures`."""
        return None

    def can_answer(self, response: httpx2.Response) -> bool:
        """Whether the server wants other credentials, and we may have them."""
        return False

    async def renew(self, stale: str | None, challenge: httpx2.Response | None) -> str:
        """A token in place of the one that was refused. Raises one of `failures`."""
        raise Refused("it wants credentials, and its entry has none")

    def give_up(self) -> None:
        """The new token was refused as well. Raises one of `failures`."""
        raise Refused("it refused its credentials")


class Renewable(Credentials, ABC):
    """Tokens that are renewed by one task at a time; the others wait for what it gets."""

    def __init__(self, config: RemoteConfig) -> None:
        self._config = config
        self._grant: Grant | None = None
        self._renewing = asyncio.Lock()

    @property
    def secrets(self) -> frozenset[str]:
        token = self._grant.access_token if self._grant is not None else None
        secret = self._config.auth.client_secret if self._config.auth is not None else None
        return frozenset(each for each in (token, secret) if each)

    async def token(self) -> str | None:
        return self._grant.access_token if self._grant is not None else None

    def can_answer(self, response: httpx2.Response) -> bool:
        return response.status_code == 401

    async def renew(self, stale: str | None, challenge: httpx2.Response | None) -> str:
        async with self._renewing:
            if self._grant is None or self._grant.access_token == stale:
                self._grant = await self._obtain(stale, challenge)
            return self._grant.access_token

    @abstractmethod
    async def _obtain(self, stale: str | None, challenge: httpx2.Response | None) -> Grant: ...

    async def _conversation(self) -> Conversation:
        # In a thread: the SDK takes its time to import, and others have calls to make.
        oauth = await asyncio.to_thread(importlib.import_module, f"{__package__}.oauth")
        return oauth.Conversation(self._config)


class Login(Renewable):
    """A person logged in once; what that brought is refreshed from then on."""

    def __init__(self, config: RemoteConfig, store: TokenStore) -> None:
        super().__init__(config)
        self._store = store
        self._looked = False
        self._ended = ""
        """The last access token that could not be refreshed."""

    async def token(self) -> str | None:
        if not self._looked:  # later logins are noticed when the server asks for one
            self._grant = await self._store.read()
            self._looked = True
        if self._grant is not None and self._grant.expired:
            return await self.renew(self._grant.access_token, None)
        return await super().token()

    def can_answer(self, response: httpx2.Response) -> bool:
        return super().can_answer(response) or _wants_more(response)

    def give_up(self) -> None:
        raise LoginNeeded(self._config, "it refused a fresh token")

    async def _obtain(self, stale: str | None, challenge: httpx2.Response | None) -> Grant:
        async with self._store.locked():
            found = await self._store.read()
            if found is None:
                raise LoginNeeded(self._config)
            if found.access_token != stale and not found.expired:
                return found  # another process was faster, or somebody logged in again
            if challenge is not None and _wants_more(challenge):
                raise LoginNeeded(self._config, "it asks for more rights than the login gave")
            fresh = None
            if found.access_token != self._ended:  # what was refused once need not be tried again
                fresh = await (await self._conversation()).refresh(found)
            if fresh is None:
                self._ended = found.access_token
                raise LoginNeeded(self._config, "its login has ended")
            with contextlib.suppress(Refused):  # good for as long as we run, even if it cannot be kept
                await self._store.write(fresh)
            return fresh


class OwnName(Renewable):
    """Logs in as the configured client itself, whenever that is asked for; no person is needed."""

    def give_up(self) -> None:
        raise Refused("it refused the token that its own authorization server gave to the configured client")

    async def _obtain(self, stale: str | None, challenge: httpx2.Response | None) -> Grant:
        assert challenge is not None
        return await (await self._conversation()).with_credentials(challenge)


def _wants_more(response: httpx2.Response) -> bool:
    return response.status_code == 403 and "insufficient_scope" in response.headers.get(
        "www-authenticate", ""
    )


def credentials_for(config: RemoteConfig) -> Credentials:
    if config.auth is not None and config.auth.type == "client_credentials":
        return OwnName(config)
    if config.auth is None and any(name.lower() == "authorization" for name in config.headers):
        return Credentials()
    # A server that asks for OAuth needs no word about it in the configuration.
    return Login(config, TokenStore(config, os.environ))
