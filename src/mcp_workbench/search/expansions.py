"""Words near to a word, from the table that is packaged with us (`scripts/build-expansions` makes it)."""

from __future__ import annotations

from functools import lru_cache


def neighbours(term: str) -> tuple[tuple[str, float], ...]:
    """Related stems and how near they are, from 0 to 1, the nearest first."""
    return _parsed(term) if term in _table() else ()


@lru_cache(maxsize=1 << 14)
def _parsed(term: str) -> tuple[tuple[str, float], ...]:
    pairs = (each.rpartition(":") for each in _table()[term].split())
    return tuple((stem, int(hundredths) / 100) for stem, _, hundredths in pairs)


@lru_cache(maxsize=1)
def _table() -> dict[str, str]:
    """Lines by their first word; few of them are ever asked for."""
    import gzip
    import pkgutil

    packed = pkgutil.get_data(__package__ or "", "expansions.txt.gz")
    lines = gzip.decompress(packed).decode().splitlines() if packed else []
    return {stem: rest for stem, _, rest in (line.partition(" ") for line in lines)}
