"""Ranks tools for a question in words (BM25 over weighted fields, with related words); knows no model.

What a document's words weigh is `document`'s affair, which words are related that of `expansions`.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import log
from typing import Any, NamedTuple

from ..names import ToolRef
from .document import document
from .expansions import neighbours
from .words import terms

Key = tuple[str, str]
Found = tuple[ToolRef, float]
Allowed = Callable[[ToolRef], bool]

_K1 = 1.2
"""How soon more of the same word adds nothing."""
_B = 0.5
"""How much a long definition is discounted."""
_RELATED = 0.5
"""What a match of a related word is worth, times its nearness."""
_NAMED = 0.2
"""What a tool gains whose whole name is in the question."""
_TERMS = 200
"""Of a question; what comes after them is not read."""


class _Entry(NamedTuple):
    ref: ToolRef
    weights: dict[str, float]
    name: tuple[str, ...]


class _Way(NamedTuple):
    """One word that can stand for a word of the question: what each tool gets for it, at most `most`."""

    factor: float
    gains: Mapping[int, float]
    most: float


class Index:
    """In memory. Changing one server's tools costs what those tools cost, whatever else there is."""

    def __init__(self) -> None:
        self._entries: dict[int, _Entry] = {}
        self._lengths: dict[int, float] = {}
        self._postings: dict[str, dict[int, float]] = {}
        self._members: dict[Key, list[int]] = {}
        self._next = 0
        self._total = 0.0
        self._gains: dict[str, tuple[dict[int, float], float]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def put(self, key: Key, tools: Sequence[tuple[ToolRef, Mapping[str, Any]]]) -> None:
        """Replaces the tools of one (toolbox, server)."""
        self.remove(key)
        for ref, definition in tools:
            weights, length, name = document(ref, definition)
            number = self._next
            self._next += 1
            self._entries[number] = _Entry(ref, weights, name)
            self._lengths[number] = length
            self._total += length
            self._members.setdefault(key, []).append(number)
            for term, weight in weights.items():
                self._postings.setdefault(term, {})[number] = weight

    def remove(self, key: Key) -> None:
        self._gains.clear()
        for number in self._members.pop(key, ()):
            self._total -= self._lengths.pop(number)
            for term in self._entries.pop(number).weights:
                posting = self._postings[term]
                del posting[number]
                if not posting:
                    del self._postings[term]

    def find(self, query: str, limit: int, allowed: Allowed | None = None) -> list[Found]:
        """The best first, at most `limit`, none that is not allowed; equals in the order they were put."""
        if limit < 1:
            return []
        scores = self.scores(query, limit, allowed)
        # Taking a few off a heap costs less than sorting all, and asks `allowed` as seldom as can be.
        heap = [(-score, number) for number, score in scores.items()]
        heapq.heapify(heap)
        found: list[Found] = []
        while heap and len(found) < limit:
            score, number = heapq.heappop(heap)
            ref = self._entries[number].ref
            if allowed is None or allowed(ref):
                found.append((ref, -score))
        return found

    def scores(self, query: str, limit: int, allowed: Allowed | None = None) -> dict[int, float]:
        """Scores by document number; those that cannot be among the best `limit` may be left out."""
        counts = Counter(terms(query)[:_TERMS])
        groups = [ways for term, count in counts.items() if (ways := self._ways(term, count))]
        # The words that can add most come first: after a few of them, no tool without any can still win.
        groups.sort(key=_most, reverse=True)
        scores: dict[int, float] = {}
        rest = sum(map(_most, groups))
        look_at = rest / 2
        closed = False
        for ways in groups:
            if not closed and rest < look_at:
                least = self._least(scores, limit, allowed)
                if least > rest * (1 + _NAMED):
                    scores = _above(scores, least / (1 + _NAMED) - rest)
                    closed = True
                look_at = rest * 0.8
            _add(scores, ways, closed)
            rest -= _most(ways)
        likely = _above(scores, self._least(scores, limit, allowed) / (1 + _NAMED))
        return self._named(likely, counts)

    def _ways(self, term: str, count: int) -> list[_Way]:
        # Asking twice for a word makes it more important, but not twice as much.
        factor = 2 * count / (1 + count)
        ways = [self._way(term, factor)] if term in self._postings else []
        for other, nearness in neighbours(term):
            if other in self._postings:
                ways.append(self._way(other, factor * _RELATED * nearness))
        return ways

    def _way(self, term: str, factor: float) -> _Way:
        gains, most = self._gains.get(term) or self._weigh(term)
        return _Way(factor, gains, factor * most)

    def _weigh(self, term: str) -> tuple[dict[int, float], float]:
        """What each tool with this word gains by it. Kept until the tools change."""
        posting = self._postings[term]
        rarity = self._rarity(term)
        base = _K1 * (1 - _B)
        slope = _K1 * _B * len(self._entries) / self._total
        lengths = self._lengths
        gains = {
            number: rarity * weight / (weight + base + slope * lengths[number])
            for number, weight in posting.items()
        }
        self._gains[term] = gains, max(gains.values())
        return self._gains[term]

    def _rarity(self, term: str) -> float:
        having = len(self._postings[term])
        return log(1 + (len(self._entries) - having + 0.5) / (having + 0.5))

    def _least(self, scores: dict[int, float], limit: int, allowed: Allowed | None) -> float:
        """What the last of the best has so far; 0 where too few are known to be allowed."""
        if allowed is None:
            best = heapq.nlargest(limit, scores.values())
        else:
            numbers = heapq.nlargest(4 * limit, scores, key=scores.__getitem__)
            best = [scores[number] for number in numbers if allowed(self._entries[number].ref)][:limit]
        return best[-1] if len(best) == limit else 0.0

    def _named(self, scores: dict[int, float], counts: Iterable[str]) -> dict[int, float]:
        """A tool gains by the part of its name, weighed by rarity, that the question has."""
        asked: dict[str, float] = {}
        for term in counts:
            for other, nearness in neighbours(term):
                if other in self._postings:
                    asked[other] = max(asked.get(other, 0.0), _RELATED * nearness)
        asked.update(dict.fromkeys(counts, 1.0))
        rarities: dict[str, float] = {}
        for number, score in scores.items():
            whole = part = 0.0
            for term in self._entries[number].name:
                rarity = rarities.get(term)
                if rarity is None:
                    rarity = rarities[term] = self._rarity(term)
                whole += rarity
                part += rarity * asked.get(term, 0.0)
            if part:
                scores[number] = score * (1 + _NAMED * part / whole)
        return scores


def _most(ways: Sequence[_Way]) -> float:
    return max(way.most for way in ways)


def _above(scores: dict[int, float], least: float) -> dict[int, float]:
    return {number: score for number, score in scores.items() if score >= least}


def _add(scores: dict[int, float], ways: Sequence[_Way], closed: bool) -> None:
    """To each tool the best of the ways, not all of them: they are one word of the question.

    Once `closed`, to those alone that have a score.
    """
    best: dict[int, float] = {}
    for factor, gains, _ in ways:
        some = {number: gains[number] for number in scores.keys() & gains.keys()} if closed else gains
        if not best:
            best = {number: factor * gain for number, gain in some.items()}
            continue
        for number, gain in some.items():
            gain *= factor
            if number not in best or gain > best[number]:
                best[number] = gain
    for number, gain in best.items():
        scores[number] = scores.get(number, 0.0) + gain
