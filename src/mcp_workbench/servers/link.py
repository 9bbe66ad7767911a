"""One life of a server's process, and the conversation with it. When it begins and ends is the server's."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from time import monotonic

from ..errors import RpcError
from ..protocol.session import Session
from ..wire.messages import EMPTY_OBJECT
from ..wire.peer import Peer, PeerClosed
from .processes import Process
from .stderr import Stderr
from .traffic import Traffic

LAST_WORDS_TIME = 0.5
"""Seconds to wait for a dead process's status and the rest of its stderr."""

SIGN_OF_LIFE_TIME = 1.0
"""Seconds that a server may take to show that it is alive, when it let a call time out."""


class Link:
    def __init__(self, process: Process, peer: Peer, stderr: Stderr, traffic: Traffic) -> None:
        self.process = process
        self.peer = peer
        self.stderr = stderr
        self.traffic = traffic
        self.session: Session | None = None
        self.cause = ""
        """Why we ended it, where we did."""
        self.doubt: asyncio.Task[None] | None = None
        """While it is being found out whether it is still alive."""
        self.busy = False
        """Whether it died over a call; known when the first of those under way has failed."""

    def begin(self, session: Session) -> None:
        """The server has been greeted, and can be used."""
        self.session = session
        self.traffic.modern = session.modern

    @property
    def usable(self) -> bool:
        return self.session is not None and not self.peer.closed and self.doubt is None

    async def epitaph(self) -> str:
        """How it ended, for an error message."""
        if self.cause:
            return f"the server was ended because {self.cause}"
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_WORDS_TIME):
                await asyncio.shield(self.process.exited)
                await asyncio.shield(self.stderr.ended)
        if not self.process.exited.done():
            return "the server closed its output"
        status = self.process.exited.result()
        if status >= 0:
            return f"the server exited with status {status}"
        try:
            return f"the server was ended by {signal.Signals(-status).name}"
        except ValueError:
            return f"the server was ended by signal {-status}"

    async def is_alive(self) -> bool:
        """Whether it says anything when it is asked to."""
        asked = monotonic()
        try:
            async with asyncio.timeout(SIGN_OF_LIFE_TIME):
                await self.peer.request(b'"ping"', EMPTY_OBJECT, cancel=False)
        except RpcError:
            return True  # an answer all the same
        except (PeerClosed, TimeoutError):
            return self.peer.heard > asked
        return True
