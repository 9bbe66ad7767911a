"""Where the tokens of a login are kept: the system's keyring where there is one, else a private file."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import hashlib
import importlib
import os
import time
from collections.abc import AsyncGenerator, Mapping
from typing import Any

import msgspec
from msgspec import Raw

from ...config import RemoteConfig
from ...config.folders import private, state_folder
from .failures import Refused

SERVICE = "mcp-workbench"
LOCK_PAUSE = 0.05


class Grant(msgspec.Struct):
    """What one login brought. The documents are those of the official SDK, as JSON."""

    access_token: str
    tokens: Raw
    client: Raw
    metadata: Raw = Raw(b"null")
    resource: Raw = Raw(b"null")
    expires_at: float | None = None

    @property
    def expired(self) -> bool:
        return self.expires_at is not None and time.time() > self.expires_at


class TokenStore:
    """The tokens of one server of the configuration; they are never used for another address."""

    def __init__(self, config: RemoteConfig, environ: Mapping[str, str]) -> None:
        place = f"{config.toolbox}\n{config.name}\n{config.url}"
        self._key = hashlib.sha256(place.encode()).hexdigest()[:32]
        self._folder = os.path.join(state_folder(environ), "oauth")
        self._file = os.path.join(self._folder, f"{self._key}.json")

    async def read(self) -> Grant | None:
        text = await asyncio.to_thread(self._read)
        try:
            return msgspec.json.decode(text, type=Grant) if text else None
        except msgspec.DecodeError:
            return None

    async def write(self, grant: Grant) -> None:
        """Raises Refused."""
        try:
            await asyncio.to_thread(self._write, msgspec.json.encode(grant))
        except OSError as error:
            raise Refused(f"its tokens cannot be kept: {error}") from None

    @contextlib.asynccontextmanager
    async def locked(self) -> AsyncGenerator[None]:
        """One at a time, among all processes of this user: a refresh token may be good for one use only.

        Raises Refused.
        """
        try:
            private(os.path.dirname(self._folder))
            path = os.path.join(private(self._folder), f"{self._key}.lock")
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
        except OSError as error:
            raise Refused(f"its tokens cannot be kept: {error}") from None
        try:
            await _take(descriptor)
            yield
        finally:
            os.close(descriptor)

    def _read(self) -> bytes:
        ring = _keyring()
        if ring is not None:
            with contextlib.suppress(
                Exception
            ):  # a locked or missing keyring; each kind has errors of its own
                if found := ring.get_password(SERVICE, self._key):
                    return found.encode()
        try:
            with open(self._file, "rb") as file:
                return file.read()
        except OSError:
            return b""

    def _write(self, text: bytes) -> None:
        ring = _keyring()
        if ring is not None:
            with contextlib.suppress(Exception):
                ring.set_password(SERVICE, self._key, text.decode())
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(self._file)
                return
        private(os.path.dirname(self._folder))
        private(self._folder)
        fresh = f"{self._file}.{os.getpid()}"
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "wb") as file:
            file.write(text)
        os.replace(fresh, self._file)


async def _take(lock: int) -> None:
    # Not in a thread, which would go on to take it after the wait was given up.
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            await asyncio.sleep(LOCK_PAUSE)


def _keyring() -> Any:
    try:
        return importlib.import_module("keyring")
    except ImportError:
        return None
