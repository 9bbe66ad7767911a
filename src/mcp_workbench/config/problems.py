"""One mistake in a configuration, as it is found. `errors` has the form in which it is told."""

from collections.abc import Iterable
from typing import NamedTuple

from .place import Place


class Problem(NamedTuple):
    place: Place
    wrong: str
    fix: str


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that was probably meant, whatever its case, hyphens and underscores."""
    import difflib  # slow to import, and a good configuration has no use for it

    plain = {each.lower(): each for each in known}
    close = difflib.get_close_matches(word.lower().replace("_", "").replace("-", ""), plain, n=1, cutoff=0.7)
    return plain[close[0]] if close else None
