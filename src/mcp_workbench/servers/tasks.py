"""Tasks: those that a server works on, whose each is, and whether it is waited for. Clients ask."""

from __future__ import annotations

import asyncio
from collections import OrderedDict

import msgspec

from ..protocol.tasks import Task

MOST = 10_000
"""Tasks of one server that are remembered; the longest unused give way."""


class _Known(msgspec.Struct):
    owner: str | None
    began: float
    until: float | None
    """When its server may forget it; None for never."""
    over: bool
    token: bytes


class Tasks:
    def __init__(self) -> None:
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._by_token: dict[bytes, str] = {}

    def begin(self, task: Task, owner: str | None, token: bytes = b"") -> None:
        """A server has made it for this principal, and calls its progress by this token."""
        now = asyncio.get_running_loop().time()
        self._known[task.id] = _Known(owner, now, _end(now, task), task.over, token)
        self._known.move_to_end(task.id)
        if token:
            self._by_token[token] = task.id
        if len(self._known) > MOST:
            _, forgotten = self._known.popitem(last=False)
            self._by_token.pop(forgotten.token, None)

    def progressing(self, token: bytes) -> str | None:
        """The task whose progress has this token."""
        return self._by_token.get(token)

    def hear(self, task: Task) -> None:
        """The server has said how it stands."""
        if (known := self._known.get(task.id)) is not None:
            known.until = _end(known.began, task)
            known.over = known.over or task.over
            self._known.move_to_end(task.id)

    def end(self, id: str) -> None:
        """Nobody waits for it any more."""
        if (known := self._known.get(id)) is not None:
            known.over = True

    def forget(self) -> None:
        """The process that worked on them is gone."""
        self._known.clear()
        self._by_token.clear()

    def belongs(self, id: str, owner: str | None) -> bool:
        """False where it is known to be somebody else's; of an older one only its server knows."""
        known = self._known.get(id)
        return known is None or known.owner == owner

    @property
    def unfinished(self) -> bool:
        """Whether there is one that its server may be expected to finish."""
        now = asyncio.get_running_loop().time()
        return any(
            not known.over and (known.until is None or now < known.until) for known in self._known.values()
        )


def _end(began: float, task: Task) -> float | None:
    return None if task.ttl is None else began + task.ttl
