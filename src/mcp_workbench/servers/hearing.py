"""Hearing: what a server is asked to tell of by itself, for as long as it is connected.

A legacy server tells of changes as it likes, and of resources that were subscribed to; a modern one of what
one standing request names. Either way, what is watched is asked for again on every new connection.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable

import msgspec
from msgspec import Raw

from ..chores import Chores
from ..errors import RpcError, Unanswered
from ..protocol import tasks
from ..protocol.session import Asked, Session
from ..wire.messages import INVALID_PARAMS, encode
from ..wire.peer import PROGRESS, PeerClosed

PAUSE = 1.0
LONGEST_PAUSE = 60.0
"""Seconds between two standing requests to a server that ends them."""

ANSWER_TIME = 5.0
"""Seconds that a server may take to say that it has begun, or ended, to watch a resource."""

HEARD = frozenset(
    (
        "notifications/resources/updated",
        "notifications/resources/list_changed",
        "notifications/prompts/list_changed",
        tasks.STATUS,
        tasks.OLDER_STATUS,
        PROGRESS,  # of a task
    )
)
_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
_KINDS = {
    "tools": "toolsListChanged",
    "prompts": "promptsListChanged",
    "resources": "resourcesListChanged",
}


class _Granted(msgspec.Struct):
    """What a server says it will tell of, as far as that is up to it."""

    tasks: list[str] = msgspec.field(name="taskIds", default=[])


class _Acknowledged(msgspec.Struct):
    notifications: _Granted = msgspec.field(default_factory=_Granted)


_decode_acknowledged = msgspec.json.Decoder(_Acknowledged).decode


class Hearing:
    def __init__(self, on_heard: Callable[[str, Raw], None], on_gap: Callable[[], None]) -> None:
        """`on_heard` hears of resources and prompts; `on_gap`, that something may have gone unheard."""
        self._on_heard = on_heard
        self._on_gap = on_gap
        self._watched: Counter[str] = Counter()
        self._followed: Counter[str] = Counter()
        self._granted: list[str] = []
        """Tasks that the server has agreed to tell of."""
        self._session: Session | None = None
        self._further: set[Session] = set()
        """Of other connections to the server, each with a client's own state behind it."""
        self._standing: asyncio.Task[None] | None = None
        self._tellings = Chores()
        self._acknowledged = asyncio.Event()
        self._late = False
        """Whether the server may have changed after it was listed, and before it would have told."""

    @property
    def watching(self) -> bool:
        """Whether anybody wants to hear of a resource or a task."""
        return bool(+self._watched or +self._followed)

    async def begin(self, session: Session) -> None:
        """On a new connection, before anything is listed: what changes from then on is heard of."""
        self._session = session
        self._acknowledged.clear()
        if session.modern:
            self._stand(session)
            await asyncio.sleep(0)  # and the standing request has been sent
        elif self._watched:
            self._standing = asyncio.create_task(self._subscribe_again(session))

    def listed(self) -> None:
        """What there is was listed; by now the server should have said that it will tell of changes."""
        self._late = self._standing is not None and not self._acknowledged.is_set()

    def join(self, session: Session) -> None:
        """One more connection, with a legacy server: what is watched may change there as well."""
        self._further.add(session)
        if self._watched:
            self._tell_further([session], list(self._watched), "resources/subscribe")

    def leave(self, session: Session) -> None:
        """It is gone."""
        self._further.discard(session)

    def inherit(self, other: Hearing) -> None:
        """Go on watching what the server was watched for under its former configuration."""
        self._watched.update(other._watched)
        self._followed.update(other._followed)

    def end(self) -> None:
        """The connection is gone."""
        self._session = None
        if self._standing is not None:
            self._standing.cancel()

    def hear(self, method: str, params: Raw) -> None:
        if method in HEARD:
            self._on_heard(method, params)
        elif method == _ACKNOWLEDGED:
            with contextlib.suppress(msgspec.DecodeError):
                self._granted = _decode_acknowledged(params).notifications.tasks
            self._acknowledged.set()
            if self._late:
                self._late = False
                self._on_gap()

    async def watch(self, uri: str) -> None:
        """Be told when this resource is updated; to be undone as often. Raises RpcError, or Unanswered."""
        self._watched[uri] += 1
        if self._watched[uri] == 1:
            try:
                await self._tell(uri, "resources/subscribe")
            except BaseException:
                self._watched[uri] -= 1
                raise

    async def unwatch(self, uri: str) -> None:
        if uri not in self._watched:
            return
        self._watched[uri] -= 1
        if self._watched[uri] <= 0:
            del self._watched[uri]
            with contextlib.suppress(RpcError, Unanswered):
                await self._tell(uri, "resources/unsubscribe")

    async def follow(self, task: str) -> None:
        """Be told how a task stands; to be undone as often.

        Raises RpcError where the server does not agree to that, or Unanswered.
        """
        self._followed[task] += 1
        try:
            if self._followed[task] == 1:
                await self._tell(task, "subscriptions/listen")
            if task not in self._granted:
                raise RpcError(INVALID_PARAMS, "the server does not tell of this task")
        except BaseException:
            self.unfollow(task)
            raise

    def unfollow(self, task: str) -> None:
        if task not in self._followed:
            return
        self._followed[task] -= 1
        if self._followed[task] <= 0:
            del self._followed[task]
            if self._session is not None and self._session.modern:
                self._stand(self._session)

    async def _tell(self, uri: str, method: str) -> None:
        self._tell_further(list(self._further), [uri], method)
        session = self._session
        if session is None:
            return  # it is told when it is connected
        try:
            async with asyncio.timeout(ANSWER_TIME):
                if session.modern:
                    self._acknowledged.clear()
                    self._stand(session)
                    if self._standing is not None:
                        await self._acknowledged.wait()
                else:
                    await session.ask(Asked(method, {"uri": Raw(encode(uri))}))
        except TimeoutError:
            raise Unanswered(f"no answer to {method} within {ANSWER_TIME:g} s") from None
        except PeerClosed:
            raise Unanswered("the server went away") from None

    def _tell_further(self, sessions: list[Session], uris: list[str], method: str) -> None:
        async def tell() -> None:
            for session in sessions:
                for uri in uris:
                    with contextlib.suppress(RpcError, Unanswered, PeerClosed):
                        await session.ask(Asked(method, {"uri": Raw(encode(uri))}))

        if sessions:
            self._tellings.begin(tell())

    async def _subscribe_again(self, session: Session) -> None:
        for uri in list(self._watched):
            with contextlib.suppress(RpcError, Unanswered, PeerClosed):
                await session.ask(Asked("resources/subscribe", {"uri": Raw(encode(uri))}))

    def _stand(self, session: Session) -> None:
        """Make the standing request, in place of the one that stands."""
        before = self._standing
        wishes: dict[str, object] = {
            wish: True for kind, wish in _KINDS.items() if session.about.can(kind, "listChanged")
        }
        if self._watched:
            wishes["resourceSubscriptions"] = list(self._watched)
        if self._followed:
            wishes["taskIds"] = list(self._followed)
        self._standing = asyncio.create_task(self._listen(session, wishes)) if wishes else None
        if before is not None:
            before.cancel()

    async def _listen(self, session: Session, wishes: dict[str, object]) -> None:
        pause = PAUSE
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            try:
                await session.listen(wishes)
            except (RpcError, PeerClosed):
                return  # it does not do that after all, or is no more
            except Unanswered:
                pass
            if loop.time() - began > LONGEST_PAUSE:
                pause = PAUSE
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)
            self._on_gap()
