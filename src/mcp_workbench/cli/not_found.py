"""A name that somebody typed and nothing has: said with the name that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import WorkbenchError


class NotFound(WorkbenchError):
    """`what` is a toolbox, a server, a tool, a client; `where` says in which place it was looked for."""

    def __init__(self, what: str, name: str, known: Iterable[str], where: str = "") -> None:
        known = list(known)
        meant = nearest(name, known)
        if meant is not None:
            hint = f"Did you mean '{meant}'?"
        elif len(known) <= 20:
            hint = f"There is: {', '.join(known)}." if known else "There is none."
        else:
            hint = f"There are {len(known)}; the nearest name is none of them."
        super().__init__(f"{what.capitalize()} '{name}' not found{where}. {hint}")


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant, whatever its case."""
    import difflib

    by_lower = {each.lower(): each for each in known}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[close[0]] if close else None
