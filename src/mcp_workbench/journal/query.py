"""Query: which calls are asked for, and the SQL that finds them in the index."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

_MOST = (1 << 63) - 1


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """What a call must be like; what is left out does not matter. In milliseconds, and seconds since 1970."""

    tool: Callable[[str], bool] | None = None
    """Says of a tool's name whether it is meant."""
    server: str | None = None
    toolbox: str | None = None
    caller: str | None = None
    """The whole name, or its beginning up to the `_` before the suffix."""
    failed: bool | None = None
    min_cost: float | None = None
    max_cost: float | None = None
    since: float | None = None
    until: float | None = None

    def conditions(self, names: dict[str, int]) -> tuple[str, list[object]]:
        """A `where` clause over the index's calls, and its values."""
        clauses: list[str] = []
        values: list[object] = []
        for clause, value in self._conditions(names):
            clauses.append(clause)
            values.extend(value)
        return " and ".join(clauses) or "true", values

    def _conditions(self, names: dict[str, int]) -> Iterator[tuple[str, tuple[object, ...]]]:
        if self.tool:
            meant = [number for name, number in names.items() if self.tool(name)]
            # With several tools the calls are found by time (`+` keeps SQLite off the index by tool), since
            # sorting all calls of all these tools would take longer.
            column = "tool" if len(meant) == 1 else "+tool"
            yield f"{column} in ({', '.join(map(str, meant))})", ()
        if self.server is not None:
            yield "server = ?", (names.get(self.server),)
        if self.toolbox is not None:
            yield "toolbox = ?", (names.get(self.toolbox),)
        if self.caller is not None:
            yield (
                "(caller = ? or substr(caller, 1, ?) = ?)",
                (
                    self.caller,
                    len(self.caller) + 1,
                    f"{self.caller}_",
                ),
            )
        if self.failed is not None:
            yield f"failed = {int(self.failed)}", ()
        if self.min_cost is not None:
            yield "cost >= ?", (self.min_cost,)
        if self.max_cost is not None:
            yield "cost <= ?", (self.max_cost,)
        if self.since is not None:
            yield "ts >= ?", (whole(self.since * 1000),)
        if self.until is not None:
            yield "ts < ?", (whole(self.until * 1000),)


def whole(number: float) -> int:
    """The number without its fraction, or the nearest to it that SQLite knows."""
    return int(min(max(number, -_MOST), _MOST))
