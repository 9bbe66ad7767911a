"""Ranks tools for a question in words (BM25 over weighted fields, with related words); knows no model.

What a document's words weigh is `document`'s affair, which words are related that of `expansions`.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from math import log
from typing import Any, NamedTuple

from ..names import ToolRef
from .clauses import steps
from .document import Document, document
from .expansions import neighbours
from .words import terms

Key = tuple[str, str]
Found = tuple[ToolRef, float]
Allowed = Callable[[ToolRef], bool]
Ways = list[tuple[str, float]]
"""The words of the tools that can stand for a word of a question, itself first, and what they are worth."""

_K1 = 1.2
"""How soon more of the same word adds nothing."""
_B = 0.5
"""How much a long definition is discounted."""
_ORDINARY = 30.0
"""The length of an ordinary definition; their average would change with every tool, and ranks no better."""
_RELATED = 0.5
"""What a match of a related word is worth, times its nearness."""
_RELATIVES = 60
"""Related words that a question has, in all: a long one says enough in its own words."""
_COMMON = 100
"""A related word that more tools have, and more than 2 in 100, says too little for what it costs."""
_NAMED = 0.2
"""What a tool gains whose whole name is in the question."""
LIKELY = 6
"""Steps and names are looked at in so many times more tools than are wanted."""
_VISITS = 20_000
"""Tools that are visited, word by word, for one question; then words are looked up in few."""
_FEW = 400
_CACHED = 1_000_000
"""Gains that are kept, of some 70 bytes each."""
_WORDS = 20_000
_NOTHING = 1e-9
_TERMS = 200
"""Of a question; what comes after them is not read."""


class _Entry(NamedTuple):
    ref: ToolRef
    terms: tuple[str, ...]
    name: tuple[str, ...]


class Index:
    """In memory. Changing one server's tools costs what those tools cost, whatever else there is."""

    def __init__(self) -> None:
        self._entries: list[_Entry | None] = []
        self._free: list[int] = []
        self._members: dict[Key, list[int]] = {}
        self._postings: dict[str, dict[int, float]] = {}
        self._known: dict[str, Ways] = {}
        self._rare: dict[str, float] = {}
        self._cache: dict[tuple[str, int], dict[int, float]] = {}
        self._cached = 0

    def __len__(self) -> int:
        return len(self._entries) - len(self._free)

    def put(self, key: Key, tools: Sequence[tuple[ToolRef, Mapping[str, Any]]]) -> None:
        """Replaces the tools of one (toolbox, server)."""
        self.remove(key)
        self._members[key] = [self._add(ref, document(ref, definition)) for ref, definition in tools]

    def remove(self, key: Key) -> None:
        self._clear()
        for number in self._members.pop(key, ()):
            entry = self._entries[number]
            assert entry is not None
            self._entries[number] = None
            self._free.append(number)
            for term in entry.terms:
                posting = self._postings[term]
                del posting[number]
                if not posting:
                    del self._postings[term]

    def find(self, query: str, limit: int, allowed: Allowed | None = None) -> list[Found]:
        """The best first, at most `limit`, and none that is not allowed."""
        found = self.likely(query, LIKELY * limit, allowed)
        return [(self.ref(number), found[number]) for number in _best(found, limit)]

    def likely(self, query: str, count: int, allowed: Allowed | None) -> dict[int, float]:
        """Scores by number, of those that were the best before names and steps were looked at."""
        counts = Counter(terms(query)[:_TERMS])
        related = _RELATIVES // max(1, len(counts))
        ways = {term: self._ways(term, related) for term in counts}
        best = self._matching(counts, ways, count, allowed)
        return self._named(self._by_steps(best, query, ways), ways)

    def ref(self, number: int) -> ToolRef:
        entry = self._entries[number]
        assert entry is not None
        return entry.ref

    def best(self, scores: list[float], count: int, allowed: Allowed | None) -> list[int]:
        """The numbers of the best that are allowed. Few are asked about: most would be asked in vain."""
        wanted = count
        while scores and count > 0:
            least = max(heapq.nlargest(wanted, scores)[-1], _NOTHING)
            numbers = [number for number, score in enumerate(scores) if score >= least]
            numbers.sort(key=scores.__getitem__, reverse=True)
            found = list(islice((n for n in numbers if allowed is None or allowed(self.ref(n))), count))
            if len(found) == count or least == _NOTHING or wanted >= len(scores):
                return found
            wanted *= 4
        return []

    def _matching(
        self, counts: Mapping[str, int], ways: Mapping[str, Ways], count: int, allowed: Allowed | None
    ) -> dict[int, float]:
        """The best by these words, and what they score.

        Among very many tools the commonest words cost most and tell least, so they are looked up in those
        tools alone that are the best by the other words.
        """
        scores = [0.0] * len(self._entries)
        left = _VISITS
        rest: list[str] = []
        for cost, term in sorted((self._cost(ways[term]), term) for term in counts):
            left -= cost
            if left < 0 and left + cost < _VISITS:
                rest.append(term)
                continue
            factor = _repeated(counts[term])
            for number, gain in self._gains(term, ways[term]).items():
                scores[number] += factor * gain
        wanted = max(count, _FEW) if rest else count
        best = {number: scores[number] for number in self.best(scores, wanted, allowed)}
        for term in rest:
            factor = _repeated(counts[term])
            for number, gain in self._gains(term, ways[term], best).items():
                best[number] += factor * gain
        return {number: best[number] for number in _best(best, count)} if rest else best

    def _cost(self, ways: Ways) -> int:
        return sum([len(self._postings[word]) for word, _ in ways])

    def _add(self, ref: ToolRef, words: Document) -> int:
        entry = _Entry(ref, tuple(words.weights), words.name)
        if self._free:
            number = self._free.pop()
            self._entries[number] = entry
        else:
            number = len(self._entries)
            self._entries.append(entry)
        bound = _K1 * (1 - _B + _B * words.length / _ORDINARY)
        for term, weight in words.weights.items():
            self._postings.setdefault(term, {})[number] = weight / (weight + bound)
        return number

    def _gains(self, term: str, ways: Ways, among: Mapping[int, float] | None = None) -> dict[int, float]:
        """What tools gain by a word. Kept until the tools change, or until there is too much of it."""
        key = (term, len(ways))  # a word's ways are always the first of the same list
        found = self._cache.get(key)
        if found is not None:
            return (
                found if among is None else {number: found[number] for number in among.keys() & found.keys()}
            )
        found = self._weigh(ways, among)
        if among is None:
            if self._cached > _CACHED or len(self._cache) > _WORDS:
                self._clear()
            self._cache[key] = found
            self._cached += len(found)
        return found

    def _clear(self) -> None:
        self._known.clear()
        self._rare.clear()
        self._cache.clear()
        self._cached = 0

    def _weigh(self, ways: Ways, among: Mapping[int, float] | None) -> dict[int, float]:
        """For each tool the better of the word itself and a related one: they count as one word."""
        best: dict[int, float] = {}
        for word, worth in ways:
            worth *= self._rarity(word)
            posting = self._postings[word]
            if among is not None:
                posting = {number: posting[number] for number in among.keys() & posting.keys()}
            if not best:
                best = {number: worth * part for number, part in posting.items()}
                continue
            for number, part in posting.items():
                gain = worth * part
                if number not in best or gain > best[number]:
                    best[number] = gain
        return best

    def _ways(self, term: str, related: int) -> Ways:
        ways = self._known.get(term)
        if ways is None:
            ways = [(term, 1.0)] if term in self._postings else []
            most = max(_COMMON, len(self) // 50)
            for word, nearness in neighbours(term):
                if 0 < len(self._postings.get(word, ())) <= most:
                    ways.append((word, _RELATED * nearness))
            self._known[term] = ways
        return ways[: related + 1 if term in self._postings else related]

    def _rarity(self, term: str) -> float:
        rarity = self._rare.get(term)
        if rarity is None:
            having = len(self._postings[term])
            rarity = self._rare[term] = log(1 + (len(self) - having + 0.5) / (having + 0.5))
        return rarity

    def _by_steps(self, scores: dict[int, float], query: str, ways: Mapping[str, Ways]) -> dict[int, float]:
        """A question of several steps needs a tool for each: a tool is as good as it is for its best step."""
        asked = steps(query)
        if not asked or not scores:
            return scores
        best = dict.fromkeys(scores, 0.0)
        for step in map(Counter, map(terms, asked)):
            gained = dict.fromkeys(scores, 0.0)
            for term, count in step.items():
                factor = _repeated(count)
                for number, gain in self._gains(term, ways.get(term, []), scores).items():
                    gained[number] += factor * gain
            most = max(gained.values()) or 1.0
            for number, gain in gained.items():
                if gain > most * best[number]:
                    best[number] = gain / most
        most = max(scores.values())
        return {number: (score / most + best[number]) / 2 for number, score in scores.items()}

    def _named(self, scores: dict[int, float], ways: Mapping[str, Ways]) -> dict[int, float]:
        """A tool gains by the part of its name, weighed by rarity, that the question has."""
        asked: dict[str, float] = {}
        for each in ways.values():
            for word, worth in each:
                asked[word] = max(asked.get(word, 0.0), worth * self._rarity(word))
        named = dict(scores)
        for number, score in scores.items():
            entry = self._entries[number]
            assert entry is not None
            if part := sum([asked[term] for term in entry.name if term in asked]):
                named[number] = score * (1 + _NAMED * part / sum(map(self._rarity, entry.name)))
        return named


def _best(scores: Mapping[int, float], count: int) -> list[int]:
    return heapq.nlargest(count, scores, scores.__getitem__)


def _repeated(count: int) -> float:
    """Asking twice for a word makes it more important, but not twice as much."""
    return 2 * count / (1 + count)
