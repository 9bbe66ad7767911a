"""Merged: the names of several servers as one list, where no two are alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple


class Origin(NamedTuple):
    server: str
    name: str
    """What the server itself calls it."""


class Merged:
    """A name that is unique is kept; all of a name that is not are called `<server>__<name>`."""

    def __init__(self, offered: Mapping[str, Iterable[str]]) -> None:
        """`offered` has the names of each server."""
        origins = [Origin(server, name) for server, names in offered.items() for name in names]
        count = Counter(origin.name for origin in origins)
        self.origins = {origin.name: origin for origin in origins if count[origin.name] == 1}
        """By the name that a client knows."""
        for origin in origins:
            if count[origin.name] > 1:
                joined = f"{origin.server}__{origin.name}"
                while joined in self.origins:  # somebody's own name is just like it
                    joined += "_"
                self.origins[joined] = origin
        self.names = {origin: name for name, origin in self.origins.items()}
        """What a client knows each one as."""
