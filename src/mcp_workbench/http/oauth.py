"""OAuth: tokens that a company's identity provider has signed, and where a client learns of it (RFC 9728)."""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from typing import Any, cast
from urllib.parse import urlsplit

import jwt
import msgspec

from ..config.structs import OAuthConfig
from .callers import Caller
from .request import PATH, TOOLBOXES, Refused, Request

METADATA = "/.well-known/oauth-protected-resource"

_DIRECT = re.compile(f"{TOOLBOXES}[^/]+{PATH}")

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures with a public key alone: with a shared secret, whoever can read the keys could sign."""

LEEWAY = 30.0
"""Seconds by which two clocks may differ."""

REMEMBERED = 60.0
"""Seconds for which a token that was found good is not checked again."""

MOST_REMEMBERED = 1000
KEYS_FRESH = 600.0
KEYS_PAUSE = 10.0
"""Seconds between two requests for the keys, however many tokens name a key that we do not have."""

TIMEOUT = 10.0


class OAuth:
    """Accepts what `issuer` has signed for `audience`."""

    def __init__(self, config: OAuthConfig) -> None:
        self._config = config
        self.grant = msgspec.json.encode(config)
        plain = config.issuer.rstrip("/")
        self._issuers = (plain, plain + "/")  # providers end with a slash, and people leave it out
        self._keys: dict[str | None, Any] = {}
        self._fetched = float("-inf")
        self._fetching = asyncio.Lock()
        self._problem: Exception | None = None
        self._good: dict[tuple[bytes, str], tuple[float, Caller]] = {}
        self._public = None
        """The address that we are known by, without our own path; None where the audience is no address."""
        if config.audience.startswith(("https://", "http://")):
            self._public = config.audience.rstrip("/").removesuffix(PATH)

    async def identify(self, token: str, path: str) -> Caller | None:
        """Who the token names; None where it is not good for this path.

        Raises Refused where its keys cannot be had.
        """
        place = path if _DIRECT.fullmatch(path) else PATH
        digest = hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
        now = time.monotonic()
        until, caller = self._good.get((digest, place), (0.0, None))
        if now < until:
            return caller
        try:
            header = jwt.get_unverified_header(token)
            if header.get("alg") not in ALGORITHMS:
                return None
            key = await self._key(header.get("kid"))
            if key is None:
                return None
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=[header["alg"]],
                audience=self._audiences(place),
                issuer=self._issuers,
                leeway=LEEWAY,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
            # Digits in a string would do for the library, and are no number here.
            lasting = min(REMEMBERED, claims["exp"] + LEEWAY - time.time())
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError):
            return None
        caller = Caller(str(claims["sub"]), issuer=self._config.issuer, grant=self.grant)
        self._remember((digest, place), now + lasting, caller)
        return caller

    def described_at(self, path: str) -> str | None:
        """The path of ours whose metadata is there: at the root, or with a resource's own path behind."""
        if not path.startswith(METADATA):
            return None
        place = path.removeprefix(METADATA).removeprefix(urlsplit(self._public or "").path)
        if place in ("", "/", PATH):
            return PATH
        return place if _DIRECT.fullmatch(place) else None

    def metadata(self, request: Request, place: str) -> bytes:
        return msgspec.json.encode(
            {
                "resource": self._resource(request, place),
                "authorization_servers": [self._config.issuer],
                "bearer_methods_supported": ["header"],
            }
        )

    def metadata_address(self, request: Request) -> str:
        """Where the metadata of what was asked for is."""
        place = request.path if _DIRECT.fullmatch(request.path) else PATH
        resource = urlsplit(self._resource(request, place))
        return f"{resource.scheme}://{resource.netloc}{METADATA}{resource.path.rstrip('/')}"

    def _resource(self, request: Request, place: str) -> str:
        """Our address as the provider knows it, where its tokens are made for one; else as clients do."""
        if self._public is None:
            return f"http://{request.header(b'host') or 'localhost'}{place}"
        return self._config.audience if place == PATH else self._public + place

    def _audiences(self, place: str) -> list[str]:
        """Whom a token may be made for: us, or the one toolbox alone that it is shown for."""
        alone = [self._public + place] if self._public is not None and place != PATH else []
        return [self._config.audience, *alone]

    def _remember(self, key: tuple[bytes, str], until: float, caller: Caller) -> None:
        if len(self._good) >= MOST_REMEMBERED:
            self._good.clear()
        self._good[key] = (until, caller)

    async def _key(self, id: str | None) -> Any:
        """The public key of that id; the only one where the token names none."""
        age = time.monotonic() - self._fetched
        if age > KEYS_FRESH or (self._find(id) is None and age > KEYS_PAUSE):
            async with self._fetching:
                if time.monotonic() - self._fetched > KEYS_PAUSE:
                    await self._fetch()
        if not self._keys and self._problem is not None:
            raise Refused(503, f"the identity provider's keys cannot be had: {self._problem}")
        return self._find(id)

    def _find(self, id: str | None) -> Any:
        if id is None and len(self._keys) == 1:
            return next(iter(self._keys.values()))
        return self._keys.get(id)

    async def _fetch(self) -> None:
        try:
            found = await asyncio.to_thread(self._ask)
        except (OSError, ValueError, KeyError) as error:
            self._problem = error  # the keys that we have may still do
            return
        finally:
            self._fetched = time.monotonic()
        keys: dict[str | None, Any] = {}
        for entry in found:
            try:
                keys[entry.get("kid")] = jwt.PyJWK(entry)
            except (jwt.PyJWTError, AttributeError, TypeError, ValueError):
                continue  # a kind of key that we do not know harms nobody
        self._keys, self._problem = keys, None

    def _ask(self) -> list[Any]:
        address = self._config.jwks or self._discover()
        keys = _fetched(address)["keys"]
        if not isinstance(keys, list):
            raise ValueError(f"{address} has no list of keys")
        return cast("list[Any]", keys)

    def _discover(self) -> str:
        """Where the issuer says that its keys are: RFC 8414 first, then OpenID Connect."""
        issuer = urlsplit(self._config.issuer)
        base, path = f"{issuer.scheme}://{issuer.netloc}", issuer.path.rstrip("/")
        problem: Exception | None = None
        for address in (
            f"{base}/.well-known/oauth-authorization-server{path}",
            f"{base}{path}/.well-known/openid-configuration",
        ):
            try:
                said = _fetched(address)
                if said.get("issuer") in self._issuers:
                    return str(said["jwks_uri"])
            except (OSError, ValueError, KeyError) as error:
                problem = error
        raise ValueError(f"{self._config.issuer} does not say where its keys are ({problem})")


def _fetched(address: str) -> dict[str, Any]:
    """The JSON object at an address. Raises OSError or ValueError."""
    from http.client import HTTPException
    from urllib.request import urlopen

    if not address.startswith(("https://", "http://")):  # it would open files too
        raise ValueError(f"{address} is no web address")
    try:
        with urlopen(address, timeout=TIMEOUT) as response:
            return msgspec.json.decode(response.read(1 << 20), type=dict[str, Any])
    except HTTPException as error:
        raise OSError(f"{address} does not speak HTTP ({error})") from None
