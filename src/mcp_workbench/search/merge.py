"""Several questions, one answer: which results of each are shown."""

from __future__ import annotations

from collections.abc import Sequence

from ..names import ToolRef


def merge(results: Sequence[Sequence[tuple[ToolRef, float]]], limit: int) -> list[list[ToolRef]]:
    """What is shown of each result: at most `limit` together, no tool twice.

    The results take turns, so that each has its best ones in; one that runs out leaves its turns to others.
    A tool that several found is shown where its turn came first.
    """
    shown: list[list[ToolRef]] = [[] for _ in results]
    waiting = [iter(result) for result in results]
    taken: set[ToolRef] = set()
    open_ones = list(range(len(results)))
    while open_ones and len(taken) < limit:
        for place in tuple(open_ones):
            ref = next((ref for ref, _ in waiting[place] if ref not in taken), None)
            if ref is None:
                open_ones.remove(place)
            elif len(taken) < limit:
                taken.add(ref)
                shown[place].append(ref)
    return shown
