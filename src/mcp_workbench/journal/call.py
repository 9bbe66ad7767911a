"""Call: what one line of the log says. Which lines are looked for is told elsewhere."""

from __future__ import annotations

import msgspec


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """A logged call, its fields named as in the line."""

    ts: str
    tool: str
    caller: str
    args: msgspec.Raw
    stat: str
    cost: float
    err: str | None = None
    trace: str | None = None
    tid: str | None = None
    id: str
    parent: str | None = None
    root: str
    toolbox: str
    server: str
    principal: str | None = None
    result: str | None = None

    @property
    def failed(self) -> bool:
        return self.stat == "error"


UNREADABLE = (msgspec.MsgspecError, ValueError, OverflowError, RecursionError)
"""What reading a line may raise where it is torn, damaged or not ours."""

_decode = msgspec.json.Decoder(Call).decode


def read(line: bytes) -> Call:
    """Raises one of UNREADABLE."""
    require_text(line)
    return _decode(line)


def require_text(line: bytes) -> None:
    """Raises UnicodeDecodeError for what is no UTF-8, since values that nobody looks into are not decoded."""
    if not line.isascii():
        line.decode()
