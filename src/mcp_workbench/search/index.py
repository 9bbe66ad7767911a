"""Ranks tools for a question in words (BM25 over weighted fields, with related words); knows no model.

What a document's words weigh is `document`'s affair, which words are related that of `expansions`.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from math import log
from typing import Any, NamedTuple

from ..names import ToolRef
from .clauses import clauses
from .document import Document, document
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
_COMMON = 100
"""A related word that more tools have, and more than 4 in 100, says too little for what it costs."""
_NAMED = 0.2
"""What a tool gains whose whole name is in the question."""
_LIKELY = 8
"""Steps and names are looked at in so many times more tools than are wanted."""
_STEPS = 3
_STEP = 3
"""So many clauses, of so many words each, make a question of several steps."""
_VISITS = 8_000
"""Tools that are visited, word by word, for one question; then words are looked up in few."""
_FEW = 400
_CACHED = 1_000_000
"""Gains that are kept, of some 70 bytes each."""
_WORDS = 20_000
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
        self._lengths: list[float] = []
        self._free: list[int] = []
        self._members: dict[Key, list[int]] = {}
        self._postings: dict[str, dict[int, float]] = {}
        self._total = 0.0
        self._known: dict[str, list[tuple[str, float]]] = {}
        self._cache: dict[str, dict[int, float]] = {}
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
            self._total -= self._lengths[number]
            for term in entry.terms:
                posting = self._postings[term]
                del posting[number]
                if not posting:
                    del self._postings[term]

    def find(self, query: str, limit: int, allowed: Allowed | None = None) -> list[Found]:
        """The best first, at most `limit`, and none that is not allowed."""
        found = self.likely(query, _LIKELY * limit, allowed)
        return [
            (self.ref(number), found[number]) for number in heapq.nlargest(limit, found, found.__getitem__)
        ]

    def likely(self, query: str, count: int, allowed: Allowed | None) -> dict[int, float]:
        """Scores by number, of those that were the best before names and steps were looked at."""
        counts = Counter(terms(query)[:_TERMS])
        scores = self.scores(counts, allowed)
        best = {number: scores[number] for number in self.best(scores, count, allowed)}
        return self._named(self._by_steps(best, query), counts)

    def ref(self, number: int) -> ToolRef:
        entry = self._entries[number]
        assert entry is not None
        return entry.ref

    def scores(self, counts: Mapping[str, int], allowed: Allowed | None = None) -> list[float]:
        """What each tool, by number, has for these words.

        Among very many tools the commonest words cost most and tell least, so they are looked up in those
        tools alone that are the best by the other words.
        """
        scores = [0.0] * len(self._entries)
        left = _VISITS
        rest: list[str] = []
        for cost, term in sorted((self._cost(term), term) for term in counts):
            left -= cost
            if left < 0 and left + cost < _VISITS:
                rest.append(term)
                continue
            factor = _repeated(counts[term])
            for number, gain in self._gains(term).items():
                scores[number] += factor * gain
        if not rest:
            return scores
        few = dict.fromkeys(self.best(scores, _FEW, allowed), 0.0)
        complete = [0.0] * len(scores)
        for number in few:
            complete[number] = scores[number]
        for term in rest:
            for number, gain in self._gains(term, few).items():
                complete[number] += _repeated(counts[term]) * gain
        return complete

    def _cost(self, term: str) -> int:
        return sum(len(self._postings[word]) for word, _ in self._ways(term))

    def best(self, scores: list[float], count: int, allowed: Allowed | None) -> list[int]:
        """The numbers of the best that are allowed. Few are asked about: most would be asked in vain."""
        wanted = count
        while scores and count > 0:
            least = heapq.nlargest(wanted, scores)[-1]
            numbers = [number for number, score in enumerate(scores) if score >= least and score > 0]
            numbers.sort(key=scores.__getitem__, reverse=True)
            found = list(islice((n for n in numbers if allowed is None or allowed(self.ref(n))), count))
            if len(found) == count or least <= 0 or wanted >= len(scores):
                return found
            wanted *= 4
        return []

    def _add(self, ref: ToolRef, words: Document) -> int:
        entry = _Entry(ref, tuple(words.weights), words.name)
        if self._free:
            number = self._free.pop()
            self._entries[number] = entry
            self._lengths[number] = words.length
        else:
            number = len(self._entries)
            self._entries.append(entry)
            self._lengths.append(words.length)
        self._total += words.length
        for term, weight in words.weights.items():
            self._postings.setdefault(term, {})[number] = weight
        return number

    def _gains(self, term: str, among: Mapping[int, float] | None = None) -> dict[int, float]:
        """What tools gain by a word. Kept until the tools change, or until there is too much of it."""
        found = self._cache.get(term)
        if found is not None:
            return (
                found if among is None else {number: found[number] for number in among.keys() & found.keys()}
            )
        found = self._weigh(term, among)
        if among is None:
            if self._cached > _CACHED or len(self._cache) > _WORDS:
                self._clear()
            self._cache[term] = found
            self._cached += len(found)
        return found

    def _clear(self) -> None:
        self._known.clear()
        self._cache.clear()
        self._cached = 0

    def _weigh(self, term: str, among: Mapping[int, float] | None) -> dict[int, float]:
        """For each tool the better of the word itself and a related one: they count as one word."""
        best: dict[int, float] = {}
        base, slope, lengths = _K1 * (1 - _B), _K1 * _B * len(self) / max(self._total, 1.0), self._lengths
        for word, worth in self._ways(term):
            worth *= self._rarity(word)
            posting = self._postings[word]
            for number in posting if among is None else among.keys() & posting.keys():
                weight = posting[number]
                gain = worth * weight / (weight + base + slope * lengths[number])
                if number not in best or gain > best[number]:
                    best[number] = gain
        return best

    def _ways(self, term: str) -> list[tuple[str, float]]:
        """The words of the tools that can stand for a word of the question, and what they are worth."""
        ways = self._known.get(term)
        if ways is None:
            ways = [(term, 1.0)] if term in self._postings else []
            most = max(_COMMON, len(self) // 25)
            for word, nearness in neighbours(term):
                if 0 < len(self._postings.get(word, ())) <= most:
                    ways.append((word, _RELATED * nearness))
            self._known[term] = ways
        return ways

    def _rarity(self, term: str) -> float:
        having = len(self._postings[term])
        return log(1 + (len(self) - having + 0.5) / (having + 0.5))

    def _by_steps(self, scores: dict[int, float], query: str) -> dict[int, float]:
        """A question of several steps needs a tool for each: a tool is as good as it is for its best step."""
        steps = [Counter(words) for clause in clauses(query) if len(words := terms(clause)) >= _STEP]
        if len(steps) < _STEPS or not scores:
            return scores
        best = dict.fromkeys(scores, 0.0)
        for step in steps:
            gained = dict.fromkeys(scores, 0.0)
            for term, count in step.items():
                for number, gain in self._gains(term, scores).items():
                    gained[number] += _repeated(count) * gain
            most = max(gained.values()) or 1.0
            best = {number: max(best[number], gain / most) for number, gain in gained.items()}
        most = max(scores.values())
        return {number: (score / most + best[number]) / 2 for number, score in scores.items()}

    def _named(self, scores: dict[int, float], counts: Iterable[str]) -> dict[int, float]:
        """A tool gains by the part of its name, weighed by rarity, that the question has."""
        asked: dict[str, float] = {}
        for term in counts:
            for word, worth in self._ways(term):
                asked[word] = max(asked.get(word, 0.0), worth)
        named = dict(scores)
        for number, score in scores.items():
            entry = self._entries[number]
            assert entry is not None
            name = {term: self._rarity(term) for term in entry.name}
            if part := sum(rarity * asked.get(term, 0.0) for term, rarity in name.items()):
                named[number] = score * (1 + _NAMED * part / sum(name.values()))
        return named


def _repeated(count: int) -> float:
    """Asking twice for a word makes it more important, but not twice as much."""
    return 2 * count / (1 + count)
