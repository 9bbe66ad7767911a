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


read = msgspec.json.Decoder(Call).decode
