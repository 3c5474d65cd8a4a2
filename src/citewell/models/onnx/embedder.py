"""Texts to unit vectors with the embedded sentence encoder.

In: texts of any length. Out: float32, shape (texts, 384), rows of length 1, bit-identical whatever else is
embedded in the same call. A text longer than the model's window is embedded in the fewest windows of equal
length, whose vectors are averaged by token count: nothing is left out. Independent of chunks and indexes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from citewell.core.errors import UsageError
from citewell.core.ports import Vectors
from citewell.core.weights import WEIGHTS
from citewell.models.onnx.session import Session, Tokens


class OnnxEmbedder:
    """The default embedder; needs no hub, no key and no torch."""

    def __init__(self, folder: Path = WEIGHTS / "embedder") -> None:
        self._session = Session(folder)
        self.maker = self._session.maker
        self.dimension: int = self._session.card["dimension"]
        self._max_tokens: int = self._session.card["max_tokens"]
        self._first, self._last = self._session.tokenizer.encode("").ids

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Raises UsageError for a text without tokens, which has no direction."""
        windows = [self._windows(text, row) for row, text in enumerate(texts)]
        outputs = iter(self._session.run([window for group in windows for window in group]))
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, group in enumerate(windows):
            parts = [next(outputs)[0] * np.float32(len(window.ids) - 2) for window in group]
            total = np.sum(parts, axis=0, dtype=np.float32)
            vectors[row] = total / np.linalg.norm(total)
        return vectors

    def _windows(self, text: str, row: int) -> list[Tokens]:
        ids = self._session.tokenizer.encode(text, add_special_tokens=False).ids
        if not ids:
            raise UsageError(f"text {row} of the call has no words to embed: {text[:40]!r}")
        room = self._max_tokens - 2
        size = math.ceil(len(ids) / math.ceil(len(ids) / room))
        return [self._framed(ids[start : start + size]) for start in range(0, len(ids), size)]

    def _framed(self, ids: list[int]) -> Tokens:
        framed = [self._first, *ids, self._last]
        return Tokens(framed, [0] * len(framed))
