"""The sentence model all-MiniLM-L6-v2 in numpy: texts in, unit vectors out. Ranking is left to others.

Weights are read from a folder (safetensors); nothing is downloaded and torch is not needed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

WIDTH = 384
_HEADS = 12
_LAYERS = 6
_TOKENS = 256
"""The model was trained on no longer texts; the rest of one is not read."""
_BATCH = 64
_EPSILON = np.float32(1e-12)


class MiniLM:
    """Raises OSError or ImportError where weights or `tokenizers` are missing."""

    def __init__(self, model: str) -> None:
        from tokenizers import Tokenizer

        self._weights = dict(_tensors(os.path.join(model, "model.safetensors")))
        self._tokenizer = Tokenizer.from_file(os.path.join(model, "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(_TOKENS)  # pyright: ignore[reportUnknownMemberType]

    def embed(self, texts: Sequence[str]) -> Floats:
        """One row of length 1 for each text."""
        tokens = [each.ids for each in self._tokenizer.encode_batch(list(texts))]
        # Texts of like length together: padding is work for nothing.
        order = sorted(range(len(tokens)), key=lambda n: len(tokens[n]))
        vectors = np.empty((len(tokens), WIDTH), dtype=np.float32)
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            vectors[batch] = self._forward([tokens[n] for n in batch])
        return vectors

    def _forward(self, batch: Sequence[Sequence[int]]) -> Floats:
        longest = max(map(len, batch))
        ids = np.zeros((len(batch), longest), dtype=np.int64)
        mask = np.zeros((len(batch), longest), dtype=np.float32)
        for row, tokens in enumerate(batch):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        state = self._embeddings(ids)
        unseen = ((1 - mask) * np.float32(-1e9))[:, None, None, :]
        for layer in range(_LAYERS):
            state = self._layer(f"encoder.layer.{layer}", state, unseen)
        pooled = (state * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        return pooled / np.linalg.norm(pooled, axis=1, keepdims=True)

    def _embeddings(self, ids: NDArray[np.int64]) -> Floats:
        words = self._weights["embeddings.word_embeddings.weight"][ids]
        places = self._weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
        kind = self._weights["embeddings.token_type_embeddings.weight"][0]
        return self._normal("embeddings.LayerNorm", words + places + kind)

    def _layer(self, name: str, state: Floats, unseen: Floats) -> Floats:
        attended = self._attention(f"{name}.attention.self", state, unseen)
        attended = self._linear(f"{name}.attention.output.dense", attended)
        state = self._normal(f"{name}.attention.output.LayerNorm", attended + state)
        inner = _gelu(self._linear(f"{name}.intermediate.dense", state))
        return self._normal(f"{name}.output.LayerNorm", self._linear(f"{name}.output.dense", inner) + state)

    def _attention(self, name: str, state: Floats, unseen: Floats) -> Floats:
        count, length, _ = state.shape
        query, key, value = (
            self._linear(f"{name}.{part}", state).reshape(count, length, _HEADS, -1).transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 1, 3, 2) / np.float32((WIDTH // _HEADS) ** 0.5) + unseen
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = scores / scores.sum(axis=-1, keepdims=True)
        return (weights @ value).transpose(0, 2, 1, 3).reshape(count, length, WIDTH)

    def _linear(self, name: str, state: Floats) -> Floats:
        weight, bias = self._weights[f"{name}.weight"], self._weights[f"{name}.bias"]
        flat = state.reshape(-1, state.shape[-1]) @ weight.T  # one product, not one for each text
        return (flat + bias).reshape(*state.shape[:-1], -1)

    def _normal(self, name: str, state: Floats) -> Floats:
        centred = state - state.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + _EPSILON)
        return centred / spread * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]


def _gelu(x: Floats) -> Floats:
    """By the error function, in the approximation 7.1.26 of Abramowitz and Stegun (off by 1.5e-7)."""
    z = np.abs(x) * np.float32(0.7071067811865476)
    t = 1 / (1 + np.float32(0.3275911) * z)
    series = np.float32(1.061405429)
    for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series = series * t + np.float32(factor)
    erf = np.sign(x) * (1 - series * t * np.exp(-z * z))
    return (0.5 * x * (1 + erf)).astype(np.float32, copy=False)


def _tensors(path: str) -> Iterator[tuple[str, Floats]]:
    """A safetensors file: the length of a JSON header, the header, and the tensors one after the other."""
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
    data = np.memmap(path, dtype=np.uint8, mode="r", offset=8 + size)
    for name, tensor in header.items():
        if name != "__metadata__" and tensor["dtype"] == "F32":
            start, end = tensor["data_offsets"]
            # The header's length leaves the data unaligned, and unaligned numbers multiply 20 times slower.
            yield (
                name,
                np.require(data[start:end].view(np.float32).reshape(tensor["shape"]), requirements="A"),
            )
