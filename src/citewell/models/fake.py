"""Stand-ins for models, for tests and examples: exact, instant, and honest about being fakes.

In and out as the ports say. Knows nothing about language.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np

from citewell.identity import hash_text
from citewell.ports import Vectors
from citewell.records import Maker

_WORD = re.compile(r"\w+")


class HashEmbedder:
    """Texts that share words are near: each word adds a direction made from its hash."""

    def __init__(self, dimension: int = 64) -> None:
        self.dimension = dimension
        self.maker = Maker(name="fake/hash-embedder", hash=hash_text(f"hash-embedder {dimension}"))

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, float32, shape (len(texts), dimension)."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in _WORD.findall(text.lower()) or [""]:
                vectors[row] += self._direction(word)
            vectors[row] /= np.linalg.norm(vectors[row])
        return vectors

    def _direction(self, word: str) -> Vectors:
        seed = int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "big")
        return np.random.default_rng(seed).standard_normal(self.dimension).astype(np.float32)
