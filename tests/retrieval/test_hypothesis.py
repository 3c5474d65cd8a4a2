"""HyDE: only the vector of a hypothetical answer is used, along with the question's."""

from __future__ import annotations

from typing import Any

import numpy as np

from citewell.core.config import Retrieval
from citewell.models.fake import HashEmbedder
from citewell.retrieval import Filters, Retriever
from citewell.retrieval.wording import word

QUESTION, HYPOTHESIS = "When did the bridge open?", "It opened in 1932."


class Snapshot:
    views = ("chunk",)

    def __init__(self) -> None:
        self.embedder = HashEmbedder()
        self.searched: list[tuple[str, Any]] = []

    def embed(self, query: str) -> Any:
        return self.embedder.embed([query])[0]

    def documents(self, where: Any) -> tuple[()]:
        return ()

    def search(self, view: str, query: str, vector: Any, limit: int, where: Any) -> list[Any]:
        self.searched.append((query, vector))
        return []


def searched(hypothesis: str) -> tuple[Snapshot, Any, list[str]]:
    """Returns (the snapshot, the vector searched with, the words searched for)."""
    snapshot = Snapshot()
    retriever = Retriever(snapshot, None, Retrieval())  # type: ignore[arg-type]
    retriever.pool(word(QUESTION), snapshot, Filters(), 5, hypothesis)  # type: ignore[arg-type]
    vector = next(vector for _, vector in snapshot.searched if vector is not None)
    return snapshot, vector, [query for query, _ in snapshot.searched if query]


def test_the_vector_lies_between_question_and_hypothesis() -> None:
    snapshot, both, _ = searched(HYPOTHESIS)
    question, answer = (snapshot.embed(text) for text in (QUESTION, HYPOTHESIS))
    assert both.shape == question.shape
    assert both.dtype == np.float32
    assert abs(float(np.linalg.norm(both)) - 1) < 1e-5
    assert float(both @ question) > float(question @ answer)
    assert float(both @ answer) > float(question @ answer)


def test_words_are_searched_by_the_question_alone() -> None:
    assert searched(HYPOTHESIS)[2] == searched("")[2]
