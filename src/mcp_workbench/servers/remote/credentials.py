"""What is shown at the door of a remote server: nothing, or an access token that is renewed in time.

How tokens are obtained is for `oauth`; where they are kept, for `tokens`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import httpx2


class Credentials(Protocol):
    @property
    def secrets(self) -> frozenset[str]:
        """What must not be shown to anybody."""
        ...

    async def token(self) -> str | None:
        """The access token, if there is one. Raises LoginNeeded where it cannot be had."""
        ...

    def is_challenge(self, response: httpx2.Response) -> bool:
        """Whether the server wants other credentials, and we can do something about it."""
        ...

    async def renew(self, stale: str | None, challenge: httpx2.Response) -> str:
        """A token instead of the one that was refused. Raises LoginNeeded."""
        ...

    def refused(self) -> None:
        """The new token was refused as well. Raises LoginNeeded."""
        ...


class Fixed:
    """The headers of the entry are all there is."""

    secrets: frozenset[str] = frozenset()

    async def token(self) -> str | None:
        return None

    def is_challenge(self, response: httpx2.Response) -> bool:
        return False

    async def renew(self, stale: str | None, challenge: httpx2.Response) -> str:
        raise NotImplementedError

    def refused(self) -> None:
        return
