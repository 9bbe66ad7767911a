"""Which of a server's tools are offered. Where the filters hold is for others to say."""

import fnmatch
import re
from collections.abc import Iterable
from typing import Self

import msgspec


class Filters(msgspec.Struct, frozen=True):
    """Names and `*`/`?` patterns include, those behind a `!` exclude, and excluding wins.

    Exclusions alone take away from everything; no patterns at all offer nothing.
    """

    include: re.Pattern[str] | None = None
    exclude: re.Pattern[str] | None = None

    @classmethod
    def parse(cls, patterns: Iterable[str]) -> Self:
        patterns = list(patterns)
        excluded = [pattern[1:] for pattern in patterns if pattern.startswith("!")]
        included = [pattern for pattern in patterns if not pattern.startswith("!")]
        everything = "*" in included or (bool(excluded) and not included)
        return cls(
            include=None if everything else _any_of(included),
            exclude=_any_of(excluded) if excluded else None,
        )

    def allows(self, name: str) -> bool:
        if self.include is not None and self.include.match(name) is None:
            return False
        return self.exclude is None or self.exclude.match(name) is None


def _any_of(patterns: list[str]) -> re.Pattern[str]:
    # fnmatch turns each `*x` into an atomic group, so a match takes linear time whatever the pattern;
    # its `[…]` is not ours, so a bracket is escaped.
    expressions = [fnmatch.translate(pattern.replace("[", "[[]")) for pattern in patterns]
    return re.compile("|".join(expressions) if expressions else r"(?!)")
