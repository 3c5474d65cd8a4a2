"""HyDE: a hypothetical answer's vector beside the question's (Gao et al. 2022).

In: an index and the hypothetical words. Out: the same index, whose dense searches use the mean of both
vectors; words are still searched by the question alone. The hypothesis is embedded and forgotten. Knows
nothing about who wrote it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from citewell.core.ports import Hit, IndexSnapshot, Listed, Vectors
from citewell.core.records import Chunk


class Readable(Protocol):
    def snapshot(self, groups: Sequence[str] | None = None) -> IndexSnapshot: ...


class Beside:
    """An index to be read with ``hypothesis`` in mind."""

    def __init__(self, index: Readable, hypothesis: str) -> None:
        self._index, self._hypothesis = index, hypothesis

    def snapshot(self, groups: Sequence[str] | None = None) -> IndexSnapshot:
        return _Snapshot(self._index.snapshot(groups), self._hypothesis)


class _Snapshot:
    def __init__(self, inner: IndexSnapshot, hypothesis: str) -> None:
        self._inner, self._hypothesis = inner, hypothesis
        self.views = inner.views

    def version(self) -> str:
        return self._inner.version()

    def embed(self, query: str) -> Vectors:
        """The unit vector between both, shaped as the inner snapshot gives one."""
        both = self._inner.embed(query) + self._inner.embed(self._hypothesis)
        mean: Vectors = (both / np.linalg.norm(both, axis=-1, keepdims=True)).astype(np.float32)
        return mean

    def documents(self, where: Mapping[str, Any]) -> tuple[Listed, ...]:
        return self._inner.documents(where)

    def between(self, document_id: str, start: int, end: int) -> list[Chunk]:
        return self._inner.between(document_id, start, end)

    def search(
        self, view: str, query: str, vector: Vectors | None, limit: int, where: Mapping[str, Any]
    ) -> list[Hit]:
        return self._inner.search(view, query, vector, limit, where)
