"""The index of the optional extra `semantic`: words and meaning together. The model itself is in `minilm`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from ..names import ToolRef
from .catalogue import Catalogue, digest
from .clauses import steps
from .index import LIKELY, Allowed, Found, Index, Key
from .minilm import WIDTH, MiniLM
from .words import parts

if TYPE_CHECKING:
    from .minilm import Floats

_MEANING = 0.6
"""Of the score; the rest is words."""
_FAR = 0.2
"""A tool that is no nearer to a question than this, and shares no word with it, is not found."""
_BATCH = 16
"""Texts that are read at a time: a fraction of a second."""


class Unread(NamedTuple):
    """A tool in the index whose meaning was not read yet."""

    number: int
    hash: str
    text: str


class SemanticIndex(Index):
    """Tools whose meaning was not read yet are found by their words.

    Reading takes a second for a hundred tools. So it is done in three steps: take some of what is `unread`,
    `read` it, which may be done in another thread while the index is used, and `learn` what was read.
    The catalogue remembers it.
    """

    def __init__(self, model: MiniLM, catalogue: Catalogue | None = None) -> None:
        super().__init__()
        self._model = model
        self._catalogue = catalogue
        self._unread: dict[int, Unread] = {}
        self._vectors: Floats = np.zeros((0, WIDTH), dtype=np.float32)
        """By number; a row of zeros where nothing was read."""
        self._has_vector = np.zeros(0, dtype=np.bool_)

    def put(self, key: Key, tools: Sequence[tuple[ToolRef, Mapping[str, Any]]]) -> None:
        super().put(key, tools)
        self._make_room()
        fresh = [
            Unread(number, digest(definition), _text(ref, definition))
            for number, (ref, definition) in zip(self._members[key], tools, strict=True)
        ]
        known = self._catalogue.vectors([each.hash for each in fresh]) if self._catalogue else {}
        for each in fresh:
            if each.hash in known:
                self._set(each.number, np.frombuffer(known[each.hash], dtype=np.float32))
            else:
                self._unread[each.number] = each

    def remove(self, key: Key) -> None:
        for number in self._members.get(key, ()):
            self._unread.pop(number, None)
            self._vectors[number] = 0
            self._has_vector[number] = False
        super().remove(key)

    def unread(self) -> list[Unread]:
        """Some of them, none when all are read."""
        return list(islice(self._unread.values(), _BATCH))

    def read(self, tools: Sequence[Unread]) -> Floats:
        return self._model.embed([each.text for each in tools])

    def learn(self, tools: Sequence[Unread], vectors: Floats) -> None:
        rows = list(zip(tools, vectors, strict=True))
        if self._catalogue is not None:
            self._catalogue.put_vectors({each.hash: row.tobytes() for each, row in rows})
        for each, row in rows:
            # The tool may have been replaced while it was read.
            if self._unread.get(each.number) is each:
                del self._unread[each.number]
                self._set(each.number, row)

    def read_all(self) -> None:
        while tools := self.unread():
            self.learn(tools, self.read(tools))

    def find(self, query: str, limit: int, allowed: Allowed | None = None) -> list[Found]:
        count = len(self._entries)
        has_vector = self._has_vector[:count]
        if not has_vector.any():
            return super().find(query, limit, allowed)
        words = np.zeros(count, dtype=np.float32)
        for number, score in self.likely(query, LIKELY * limit, allowed).items():
            words[number] = score
        words = _to_one(words)
        near = self._near(query)
        meaning = np.max([_to_one(each) for each in near], axis=0)
        scores = np.where(has_vector, _MEANING * meaning + (1 - _MEANING) * words, words)
        scores[(words == 0) & (near.max(axis=0) < _FAR)] = 0
        best: list[float] = scores.tolist()
        return [(self.ref(number), best[number]) for number in self.best(best, limit, allowed)]

    def _near(self, query: str) -> Floats:
        """How near each tool is to the question, from 0 to 1; a row for each step where it has several.

        One vector for all steps would lie between them, and be near to no tool.
        """
        asked = self._model.embed(steps(query) or [query])
        return np.maximum(asked @ self._vectors[: len(self._entries)].T, 0)

    def _make_room(self) -> None:
        room, needed = len(self._vectors), len(self._entries)
        if needed > room:
            self._vectors = np.concatenate(
                [self._vectors, np.zeros((2 * needed - room, WIDTH), dtype=np.float32)]
            )
            self._has_vector = np.concatenate([self._has_vector, np.zeros(2 * needed - room, dtype=np.bool_)])

    def _set(self, number: int, vector: Floats) -> None:
        self._vectors[number] = vector
        self._has_vector[number] = True


def _text(ref: ToolRef, definition: Mapping[str, Any]) -> str:
    """What a model reads of a tool: its name in words, its description, and what it takes."""
    said = definition.get("description")
    text = f"{' '.join(parts(ref.name))}: {said if isinstance(said, str) else ''}"
    schema = definition.get("inputSchema")
    members = cast("dict[str, Any]", schema).get("properties") if isinstance(schema, dict) else None
    if not isinstance(members, dict) or not members:
        return text
    return f"{text} ({', '.join(' '.join(parts(name)) for name in cast('dict[str, Any]', members))})"


def _to_one(scores: Floats) -> Floats:
    most = scores.max(initial=0.0)
    return scores / most if most > 0 else scores
