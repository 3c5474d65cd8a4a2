"""HyDE: only the vector of a hypothetical answer is used, beside the question's."""

from __future__ import annotations

from typing import Any

import numpy as np

from citewell.models.fake import HashEmbedder
from citewell.retrieval.hypothesis import Beside


class Snapshot:
    views = ("chunk",)

    def __init__(self) -> None:
        self.embedder = HashEmbedder()
        self.searched: list[str] = []

    def version(self) -> str:
        return "ix.1"

    def embed(self, query: str) -> Any:
        return self.embedder.embed([query])[0]

    def search(self, view: str, query: str, vector: Any, limit: int, where: Any) -> list[Any]:
        self.searched.append(query)
        return []


class Index:
    def __init__(self) -> None:
        self.inner = Snapshot()

    def snapshot(self, groups: Any = None) -> Any:
        return self.inner


def test_the_vector_lies_between_question_and_hypothesis() -> None:
    index = Index()
    snapshot = Beside(index, "It opened in 1932.").snapshot()
    both = snapshot.embed("When did the bridge open?")
    question, answer = (index.inner.embed(t) for t in ("When did the bridge open?", "It opened in 1932."))
    assert both.shape == question.shape
    assert both.dtype == np.float32
    assert abs(float(np.linalg.norm(both)) - 1) < 1e-5
    assert float(both @ question) > float(question @ answer)
    assert float(both @ answer) > float(question @ answer)


def test_words_are_searched_by_the_question_alone() -> None:
    index = Index()
    Beside(index, "It opened in 1932.").snapshot().search("bm25", "When?", None, 5, {})
    assert index.inner.searched == ["When?"]
