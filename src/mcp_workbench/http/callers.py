"""Callers: who may use the workbench over HTTP, by the token that they show, and what each may see."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from collections.abc import Mapping

import msgspec

from ..config.folders import private, state_folder
from ..config.structs import HttpConfig
from ..endpoint.question import Client
from ..names import Scope
from .request import Refused, Request

OWN_TOKEN = "http-token"
"""The name of the token that is made when none is configured, and of its file in the state folder."""


class Caller(msgspec.Struct, frozen=True):
    """`name` is None where nobody had to say who they are."""

    name: str | None = None
    scope: Scope = None
    issuer: str | None = None
    """Who vouches for the name; None where the configuration does."""
    grant: bytes = b""
    """What lets it in: the digest of its token, or the configuration of the provider. With another, it is
    another caller."""

    @property
    def principal(self) -> str | None:
        """Who it is among all callers: a provider may know somebody by the name of a configured token."""
        return self.name if self.issuer is None else f"{self.issuer}\n{self.name}"

    def as_client(self, version: str) -> Client:
        """One of whom no more is known yet than who it is."""
        return Client("unknown", version, self.principal, self.scope, logged=self.name)


ANYONE = Caller()


def token_file(environ: Mapping[str, str]) -> str:
    return os.path.join(state_folder(environ), OWN_TOKEN)


def own_token(environ: Mapping[str, str]) -> str:
    """The token in the state folder, made if there is none yet. Raises OSError."""
    path = token_file(environ)
    private(os.path.dirname(path))
    if token := _kept(path):
        return token
    fresh = f"{path}.{secrets.token_hex(8)}"
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "w") as file:
        file.write(secrets.token_urlsafe(32) + "\n")
    try:
        os.link(fresh, path)
    except FileExistsError:
        # Another process was faster, and its token stands; an empty one would let everybody in.
        if not _kept(path):
            os.replace(fresh, path)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(fresh)
    return _kept(path)


def _kept(path: str) -> str:
    try:
        with open(path, encoding="ascii") as file:
            return file.read().strip()
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError:
        raise OSError(f"{path} holds no token; delete it, and a new one is made") from None


class Callers:
    """Told apart by the digest of their token, so that comparing takes no longer for a better guess."""

    def __init__(self, http: HttpConfig, environ: Mapping[str, str], *, anyone: bool) -> None:
        """Where the configuration does not say who may come in, our own token is asked for, or `anyone` may.

        Raises OSError where that token cannot be kept.
        """
        self._known: dict[bytes, Caller] = {}
        for name, entry in http.tokens.items():
            self._add(name, entry.token, None if entry.toolboxes is None else frozenset(entry.toolboxes))
        self.oauth = None
        if http.oauth is not None:
            from .oauth import OAuth

            self.oauth = OAuth(http.oauth)
        configured = bool(self._known) or self.oauth is not None
        self._anyone = anyone and not configured
        self.own = not anyone and not configured
        """Whether the token in the state folder is the one to show."""
        if self.own:
            self._add(OWN_TOKEN, own_token(environ))

    def admits(self, caller: Caller) -> bool:
        """Whether one that was let in once still is, as it was then."""
        if self._anyone:
            return caller == ANYONE
        if caller.issuer is not None:
            return self.oauth is not None and caller.grant == self.oauth.grant
        return self._known.get(caller.grant) == caller

    async def identify(self, request: Request) -> Caller:
        """Raises Refused with status 401."""
        if self._anyone:
            return ANYONE
        scheme, _, token = (request.header(b"authorization") or "").partition(" ")
        token = token.strip()
        if scheme.lower() == "bearer" and token:
            caller = self._known.get(_digest(token))
            if caller is None and self.oauth is not None:
                caller = await self.oauth.identify(token, request.path)
            if caller is not None:
                return caller
        challenge = b"Bearer"
        if token:
            challenge += b' error="invalid_token"'
        if self.oauth is not None:
            challenge += b"," if token else b""
            challenge += b' resource_metadata="%b"' % self.oauth.metadata_address(request).encode()
        why = "the token is not known" if token else "a bearer token is needed"
        raise Refused(401, why, headers=[(b"www-authenticate", challenge)])

    def _add(self, name: str, token: str, scope: Scope = None) -> None:
        digest = _digest(token)
        self._known[digest] = Caller(name, scope, grant=digest)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
