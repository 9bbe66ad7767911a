"""Subscription: somebody who hears of changes, what of, and the messages that tell it.

Who that is differs: a legacy client for as long as it is connected, a modern one for one standing request.
"""

from __future__ import annotations

import msgspec
from msgspec import Raw

from ..names import Scope
from ..progress import Notify
from ..protocol import revisions
from ..wire import messages
from ..wire.lines import Piece
from ..wire.messages import encode

TOOLS_CHANGED = b'"notifications/tools/list_changed"'
_ACKNOWLEDGED = b'"notifications/subscriptions/acknowledged"'


class Wishes(msgspec.Struct, omit_defaults=True):
    """What a client asks to hear of, as `subscriptions/listen` says it."""

    tools: bool = msgspec.field(name="toolsListChanged", default=False)


EVERYTHING = Wishes(tools=True)


class Subscription:
    def __init__(self, tell: Notify, wishes: Wishes, *, id: bytes = b"", scope: Scope = None) -> None:
        """`id` is that of the standing request, which every message names; a legacy client has none."""
        self.wishes = wishes
        self.scope = scope
        self._tell = tell
        self._id = id
        self._meta = encode({revisions.SUBSCRIPTION: Raw(id)}) if id else b""

    def acknowledge(self) -> None:
        granted = encode(self.wishes)
        self._tell(_ACKNOWLEDGED, b'{"_meta":%b,"notifications":%b}' % (self._meta, granted))

    def tools_changed(self) -> None:
        if self.wishes.tools:
            self._tell(TOOLS_CHANGED, b'{"_meta":%b}' % self._meta if self._meta else b"{}")

    def result(self) -> tuple[Piece, ...]:
        """The answer to the standing request, when nothing more will be told."""
        return messages.answer(self._id, b'{"resultType":"complete","_meta":%b}' % self._meta)
