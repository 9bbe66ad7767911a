"""Tape: the recorded calls of one server, to be answered again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Raw

from ..errors import NotRecorded
from ..journal.masking import MASKED
from ..journal.recorded import Exchange, RecordedCall
from ..pins.definition import written
from ..pins.difference import difference, in_short
from ..wire.messages import decode
from .fit import fits

_LOOKED_AT = 1000
"""Characters of arguments that are compared to find the nearest, and shown."""


class Take(msgspec.Struct):
    """A call that was made once or several times with the same arguments."""

    args: Any
    exchanges: list[Exchange]
    played: int = 0

    def next(self) -> Exchange:
        """The first time the first, and so on; the last one again and again."""
        exchange = self.exchanges[min(self.played, len(self.exchanges) - 1)]
        self.played += 1
        return exchange


class Tape:
    def __init__(self, calls: Iterable[RecordedCall]) -> None:
        """The calls in the order in which they were recorded."""
        takes: dict[str, dict[str, Take]] = {}
        for each in calls:
            args = decode(each.exchange.args)
            known = takes.setdefault(each.call.tool, {})
            known.setdefault(written(args), Take(args, [])).exchanges.append(each.exchange)
        # What was masked fits nearly everything, so it is tried last.
        self._takes = {
            tool: sorted(known.values(), key=lambda take: MASKED in written(take.args))
            for tool, known in takes.items()
        }

    def play(self, tool: str, arguments: Raw | bytes) -> Exchange:
        """What came of this call when it was recorded. Raises NotRecorded."""
        given = decode(arguments)
        takes = self._takes.get(tool, [])
        for take in takes:
            if fits(take.args, given):
                return take.next()
        shown = written(given)[:_LOOKED_AT]
        nearest = _nearest(shown, takes)
        if nearest is None:
            raise NotRecorded(tool, shown, 0)
        told = in_short(difference(nearest.args, given))
        raise NotRecorded(tool, shown, len(takes), written(nearest.args)[:_LOOKED_AT], told)


def _nearest(given: str, takes: list[Take]) -> Take | None:
    from difflib import get_close_matches

    by_text = {written(take.args)[:_LOOKED_AT]: take for take in takes}
    found = get_close_matches(given, by_text, n=1, cutoff=0.0)
    return by_text[found[0]] if found else None
