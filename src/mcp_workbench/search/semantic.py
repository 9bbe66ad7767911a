"""The index of the optional extra `semantic`: words and meaning together. The model itself is in `minilm`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..names import ToolRef
from .catalogue import Catalogue, digest
from .clauses import clauses
from .index import Allowed, Found, Index, Key
from .minilm import WIDTH, MiniLM
from .words import parts

if TYPE_CHECKING:
    from .minilm import Floats

_MEANING = 0.5
"""Of the score; the rest is words."""
_LIKELY = 8
_BATCH = 256


class _Unread(NamedTuple):
    hash: str
    text: str


class SemanticIndex(Index):
    """Tools whose meaning was not read yet are found by words alone; `prepare` reads them."""

    def __init__(self, model: MiniLM, catalogue: Catalogue | None = None) -> None:
        super().__init__()
        self._model = model
        self._catalogue = catalogue
        self._unread: dict[int, _Unread] = {}
        self._vectors: Floats = np.zeros((0, WIDTH), dtype=np.float32)
        """By number; a row of zeros where nothing was read."""

    def put(self, key: Key, tools: Sequence[tuple[ToolRef, Mapping[str, Any]]]) -> None:
        super().put(key, tools)
        numbers = self._members[key]
        if len(self._entries) > len(self._vectors):
            grown = np.zeros((2 * len(self._entries), WIDTH), dtype=np.float32)
            grown[: len(self._vectors)] = self._vectors
            self._vectors = grown
        for number, (ref, definition) in zip(numbers, tools, strict=True):
            self._unread[number] = _Unread(digest(definition), _text(ref, definition))

    def remove(self, key: Key) -> None:
        for number in self._members.get(key, ()):
            self._unread.pop(number, None)
            self._vectors[number] = 0
        super().remove(key)

    def prepare(self) -> None:
        """Takes seconds for hundreds of new tools: call it in a thread. The catalogue remembers them."""
        waiting = dict(self._unread)
        known = self._catalogue.vectors([each.hash for each in waiting.values()]) if self._catalogue else {}
        new: list[tuple[int, _Unread]] = []
        for number, unread in waiting.items():
            if unread.hash in known:
                self._read(number, unread, np.frombuffer(known[unread.hash], dtype=np.float32))
            else:
                new.append((number, unread))
        for start in range(0, len(new), _BATCH):
            batch = new[start : start + _BATCH]
            vectors = self._model.embed([unread.text for _, unread in batch])
            if self._catalogue is not None:
                rows = zip(batch, vectors, strict=True)
                self._catalogue.put_vectors({unread.hash: row.tobytes() for (_, unread), row in rows})
            for (number, unread), row in zip(batch, vectors, strict=True):
                self._read(number, unread, row)

    def find(self, query: str, limit: int, allowed: Allowed | None = None) -> list[Found]:
        vectors = self._vectors[: len(self._entries)]
        words = np.zeros(len(vectors), dtype=np.float32)
        for number, score in self.likely(query, _LIKELY * limit, allowed).items():
            words[number] = score
        words = _to_one(words)
        both = _MEANING * self._meaning(query, vectors) + (1 - _MEANING) * words
        scores: list[float] = np.where(vectors.any(axis=1), both, words).tolist()
        return [(self.ref(number), scores[number]) for number in self.best(scores, limit, allowed)]

    def _meaning(self, query: str, vectors: Floats) -> Floats:
        """How near the whole question is, and where it has parts, how near the part is that is nearest."""
        said = [clause for clause in clauses(query) if len(clause.split()) > 2]
        asked = self._model.embed([query, *said] if len(said) > 1 else [query])
        whole, *steps = (_to_one(np.maximum(vectors @ vector, 0)) for vector in asked)
        return (whole + np.max(steps, axis=0)) / 2 if steps else whole

    def _read(self, number: int, unread: _Unread, vector: Floats) -> None:
        # The tool may have been replaced while it was read.
        if self._unread.get(number) is unread:
            del self._unread[number]
            self._vectors[number] = vector


def _text(ref: ToolRef, definition: Mapping[str, Any]) -> str:
    said = definition.get("description")
    return f"{' '.join(parts(ref.name))}: {said if isinstance(said, str) else ''}"


def _to_one(scores: Floats) -> Floats:
    most = scores.max(initial=0.0)
    return scores / most if most > 0 else scores
