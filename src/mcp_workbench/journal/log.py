"""Log: the call log as a reader sees it, across rotated files. Writing is the Journal's."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Self

from .call import UNREADABLE, Call, read
from .index import PLACE, Index
from .query import Query, whole

_NEWEST_FIRST = "order by ts desc, place desc"


class Found(NamedTuple):
    """A call, and its line as it is in the file (one line of JSON without the newline)."""

    call: Call
    line: bytes


class ToolStats(NamedTuple):
    """Durations are in milliseconds."""

    toolbox: str
    server: str
    tool: str
    calls: int
    errors: int
    p50: float
    p95: float
    max: float


class Log:
    """Reads from what was in the log at the last `refresh`, which opening it does once."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._index = Index(path)
        self.refresh()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._index.close()

    def refresh(self) -> None:
        self._index.refresh()

    @property
    def skipped(self) -> int:
        """How many lines, torn or foreign, could not be read."""
        return self._index.skipped()

    def calls(self, query: Query, *, limit: int, offset: int = 0) -> list[Found]:
        """The newest first."""
        where, values = query.conditions(self._names())
        rows = self._index.rows(
            f"select place from calls where {where} {_NEWEST_FIRST} limit ? offset ?",
            (*values, whole(limit), whole(offset)),
        )
        return list(self._read(rows))

    def count(self, query: Query) -> int:
        where, values = query.conditions(self._names())
        return self._index.rows(f"select count(*) from calls where {where}", values)[0][0]

    def call(self, id: str) -> Found | None:
        return next(self._read(self._index.rows("select place from calls where id = ?", (id,))), None)

    def chain(self, id: str) -> list[Found]:
        """All calls of the chain that this call is part of, in the order in which they began."""
        rows = self._index.rows("select coalesce(root, id) from calls where id = ?", (id,))
        root = rows[0][0] if rows else id
        places = self._index.rows(
            "select place, ts, id from calls where id = ?"
            " union all select place, ts, id from calls where root = ? order by ts, id",
            (root, root),
        )
        return list(self._read(places))

    def stats(self, query: Query) -> list[ToolStats]:
        """Per tool, the one with the most calls first."""
        where, values = query.conditions(self._names())
        names = {number: name for name, number in self._names().items()}
        costs: dict[tuple[int, int, int], array[float]] = {}
        errors: dict[tuple[int, int, int], int] = {}
        for toolbox, server, tool, cost, failed in self._index.rows(
            f"select toolbox, server, tool, cost, failed from calls where {where}", values
        ):
            key = (toolbox, server, tool)
            if key not in costs:
                costs[key], errors[key] = array("d"), 0
            costs[key].append(cost)
            errors[key] += failed
        found: list[ToolStats] = []
        for key, unsorted in costs.items():
            durations = sorted(unsorted)
            toolbox, server, tool = (names[number] for number in key)
            p50, p95 = (durations[int(share * (len(durations) - 1) + 0.5)] for share in (0.50, 0.95))
            found.append(
                ToolStats(toolbox, server, tool, len(durations), errors[key], p50, p95, durations[-1])
            )
        return sorted(found, key=lambda each: -each.calls)

    def follow(self, query: Query) -> Iterator[list[Found]]:
        """What comes from now on: each step takes in what is new since the step before, the oldest first."""
        seen = self._index.progress()
        while True:
            self.refresh()
            progress = self._index.progress()
            where, values = query.conditions(self._names())
            new: list[Found] = []
            for number, done in sorted(progress.items()):
                new += self._read(
                    self._index.rows(
                        f"select place from calls where {where} and place >= ? and place < ? order by place",
                        (*values, (number << PLACE) + seen.get(number, 0), (number << PLACE) + done),
                    )
                )
            seen = progress
            yield new

    def _names(self) -> dict[str, int]:
        return dict(self._index.rows("select name, number from names"))

    def _read(self, places: Iterable[tuple[int, ...]]) -> Iterator[Found]:
        for place, *_ in places:
            line = self._index.line(place)
            try:
                yield Found(read(line), line)
            except UNREADABLE:
                continue  # the file was changed under our hands
