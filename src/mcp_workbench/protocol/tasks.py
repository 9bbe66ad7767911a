"""Tasks on the wire: the extension of 2026-07-28, and the experiment of 2025-11-25. No task is kept here."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from ..errors import RpcError
from ..wire.messages import EMPTY_OBJECT, encode, members
from . import revisions

EXTENSION = revisions.PREFIX + "tasks"
DECLARATION = Raw(encode({EXTENSION: {}}))
"""What `extensions` holds where the extension is understood."""

METHODS = frozenset(("tasks/get", "tasks/update", "tasks/cancel"))
OLDER_METHODS = frozenset(("tasks/get", "tasks/result", "tasks/list", "tasks/cancel"))
"""Those of the experiment."""

STATUS = "notifications/tasks"
OLDER_STATUS = "notifications/tasks/status"
PROGRESS = "notifications/progress"
"""Which the experiment lets go on after a call was answered with a task."""

_OVER = frozenset(("completed", "failed", "cancelled"))


class Task(msgspec.Struct):
    """What a server says of a task, as far as we need to know it."""

    id: str = msgspec.field(name="taskId")
    status: str = ""
    ttl_ms: float | None = msgspec.field(name="ttlMs", default=None)
    older_ttl_ms: float | None = msgspec.field(name="ttl", default=None)

    @property
    def over(self) -> bool:
        return self.status in _OVER

    @property
    def ttl(self) -> float | None:
        """Seconds from its beginning for which the server keeps it; None where that is for ever."""
        given = self.ttl_ms if self.ttl_ms is not None else self.older_ttl_ms
        return None if given is None else given / 1000


_decode_task = msgspec.json.Decoder(Task).decode
_decode_object = msgspec.json.Decoder(dict[str, Raw]).decode


def read_task(text: Raw | bytes) -> Task | None:
    """None where it is no task, or none that can be read."""
    found = members(bytes(text))
    try:
        return _decode_task(
            encode({key: Raw(found[key]) for key in Task.__struct_encode_fields__ if key in found})
        )
    except (msgspec.DecodeError, RecursionError):
        return None


def understands(capabilities: Raw | bytes) -> bool:
    """Whether whoever has these capabilities declares the extension."""
    return EXTENSION in _extensions(capabilities)


def without_extension(capabilities: Raw) -> Raw:
    """The capabilities of a client, for a server that knows nothing of the extension."""
    extensions = _extensions(capabilities)
    if EXTENSION not in extensions:
        return capabilities
    del extensions[EXTENSION]
    return Raw(encode({**_decode_object(capabilities), "extensions": extensions}))


def undeclared() -> RpcError:
    """The answer to a client that asks for tasks and does not declare that it understands them."""
    data = {"requiredCapabilities": {"extensions": DECLARATION}}
    return RpcError(revisions.MISSING_CAPABILITY, "Missing required client capability", encode(data))


def _extensions(capabilities: Raw | bytes) -> dict[str, Raw]:
    if EXTENSION.encode() not in bytes(capabilities):  # most have none, and this is asked for every call
        return {}
    try:
        return _decode_object(_decode_object(capabilities).get("extensions", EMPTY_OBJECT))
    except (msgspec.DecodeError, RecursionError):
        return {}
