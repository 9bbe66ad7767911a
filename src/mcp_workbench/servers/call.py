"""A call on its way: what is called, for whom, and inside which other call."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from msgspec import Raw

from ..names import Scope, ToolRef
from ..protocol.audience import Audience
from ..wire.lines import Piece


class Call(msgspec.Struct, kw_only=True, eq=False):
    ref: ToolRef
    arguments: Raw | bytes
    caller: str
    """The client's name, or `<tool>_<suffix>` of the tool that calls."""
    parent: Call | None = None
    """The call that makes this one. It holds its place and its time already, so this one needs none."""
    id: str = ""
    """Given when it begins; its line in the log has it."""
    began: str = ""
    """When it did, as the log writes it."""
    clock: int = 0
    """The same in nanoseconds, by the clock that its duration is measured with."""
    tid: str | None = None
    principal: str | None = None
    scope: Scope = None
    listed: bool = True
    """Whether the server must have listed the tool; else it is asked for any name that the filters allow."""
    meta: Raw = Raw()
    """The client's `_meta`."""
    extra: tuple[Piece, ...] = ()
    """Parameters beside the arguments: the answers of a retry."""
    again: bool = False
    """Whether it is made again by us, with the answers of a client that cannot do that itself."""
    on_progress: Callable[[Raw], None] | None = None
    audience: Audience | None = None
    """Whom the server may ask and tell things, where there is somebody."""
    on_wait: Callable[[bool], None] | None = None
    """Who hears whether its server waits for somebody's answer, where there is a limit on its silence."""
    questions: int = 0
    """So many that it waits for, its inner calls' among them."""
    token: bytes = b""
    """What its server calls its progress by, which may go on after the answer where that is a task."""
    note: tuple[str, str, object] | None = None
    """What the log will tell of it beside its outcome, where that was made while it was under way."""
    trace: str | None = None
    """Where a tool of ours failed; for the log alone."""

    @property
    def root(self) -> Call:
        call = self
        while call.parent is not None:
            call = call.parent
        return call

    def waits_for(self, more: int) -> None:
        """Its server waits for so many answers more, or less, and with it the calls that it is a part of."""
        for call in self.chain:
            call.questions += more
            if call.on_wait is not None:
                call.on_wait(call.questions > 0)

    @property
    def chain(self) -> list[Call]:
        """From the first call to this one."""
        above = self.parent.chain if self.parent is not None else []
        return [*above, self]
