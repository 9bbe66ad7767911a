"""Subscription: somebody who hears of changes, what of, and the messages that tell it.

Who that is differs: a legacy client for as long as it is connected, a modern one for one standing request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Raw

from ..names import ResourceRef, Scope, TaskRef
from ..protocol import revisions
from ..wire import messages
from ..wire.messages import encode, members

if TYPE_CHECKING:
    from ..progress import Notify, ProgressRelay
    from ..wire.lines import Piece

MOST_TASKS = 1000
"""Tasks that a legacy client hears of without asking; the oldest give way."""

_ACKNOWLEDGED = b'"notifications/subscriptions/acknowledged"'
_UPDATED = b'"notifications/resources/updated"'
_CHANGED = {
    kind: f'"notifications/{kind}/list_changed"'.encode() for kind in ("tools", "prompts", "resources")
}


class Wishes(msgspec.Struct, omit_defaults=True):
    """What a client asks to hear of, as `subscriptions/listen` says it."""

    tools: bool = msgspec.field(name="toolsListChanged", default=False)
    prompts: bool = msgspec.field(name="promptsListChanged", default=False)
    resources: bool = msgspec.field(name="resourcesListChanged", default=False)
    uris: list[str] = msgspec.field(name="resourceSubscriptions", default=[])
    tasks: list[str] = msgspec.field(name="taskIds", default=[])


EVERYTHING = Wishes(tools=True, prompts=True, resources=True)
"""What a legacy client hears of without asking; of resources' contents only what it subscribes to."""


class Subscription:
    def __init__(self, tell: Notify, wishes: Wishes, *, id: bytes = b"", scope: Scope = None) -> None:
        """`id` is that of the standing request, which every message names; a legacy client has none."""
        self.wishes = wishes
        self.scope = scope
        self.watched: dict[ResourceRef, str] = {}
        """Resources whose updates it hears of, and what it calls them."""
        self.tasks: dict[TaskRef, str] = {}
        """Tasks of which it hears how they stand, and what it calls them."""
        self._progress: dict[TaskRef, ProgressRelay] = {}
        self._tell = tell
        self._id = id
        self._meta = {revisions.SUBSCRIPTION: Raw(id)} if id else {}

    def acknowledge(self) -> None:
        """Say what it will hear of: what it wished for, as far as that can be had."""
        self._tell(_ACKNOWLEDGED, encode({"_meta": self._meta, "notifications": self.wishes}))

    def list_changed(self, kind: str) -> None:
        """The tools, prompts or resources are no longer those that were listed."""
        if getattr(self.wishes, kind):
            self._tell(_CHANGED[kind], encode({"_meta": self._meta} if self._meta else {}))

    def updated(self, ref: ResourceRef, params: Raw) -> None:
        """A resource's content changed; `params` are the server's own."""
        uri = self._name_of(ref)
        if uri is not None:
            self._pass_on(_UPDATED, params, uri=uri)

    def follow(self, ref: TaskRef, progress_token: bytes) -> None:
        """Have it hear how a task stands, by the server's own id, and of its progress, by its own token."""
        self.tasks[ref] = ref.id
        if progress_token:
            from ..progress import ProgressRelay

            self._progress[ref] = ProgressRelay(progress_token, self._tell)
        if len(self.tasks) > MOST_TASKS:
            oldest = next(iter(self.tasks))
            del self.tasks[oldest]
            self._progress.pop(oldest, None)

    def stands(self, ref: TaskRef, method: str, params: Raw) -> None:
        """A server has said how a task stands; `params` are its own."""
        if ref in self.tasks:
            self._pass_on(encode(method), params, taskId=self.tasks[ref])

    def result(self) -> tuple[Piece, ...]:
        """The answer to the standing request, when nothing more will be told."""
        return messages.answer(self._id, encode({"resultType": "complete", "_meta": self._meta}))

    def progressed(self, ref: TaskRef, params: Raw) -> None:
        """A task has made progress; `params` are its server's own."""
        if ref in self._progress:
            self._progress[ref].tell(params)

    def _pass_on(self, method: bytes, params: Raw, **names: str) -> None:
        """Tell it what a server said, by the names that it knows."""
        said = members(bytes(params))
        meta = {key: Raw(value) for key, value in members(said.pop("_meta", b"{}")).items()}
        meta.pop(revisions.SUBSCRIPTION, None)
        meta |= self._meta
        told: dict[str, object] = {key: Raw(value) for key, value in said.items()}
        told |= names
        if meta:
            told["_meta"] = meta
        self._tell(method, encode(told))

    def _name_of(self, ref: ResourceRef) -> str | None:
        """What this client calls a resource that it watches, or that is part of one that it watches."""
        if ref in self.watched:
            return self.watched[ref]
        for whole, name in self.watched.items():
            if (whole.toolbox, whole.server) == (ref.toolbox, ref.server) and ref.uri.startswith(whole.uri):
                return ref.uri if name == whole.uri else ref.address
        return None
