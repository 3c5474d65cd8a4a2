"""A table that has the asked row under the asked column is relevant, whatever its words look like.

In: a question and ranked passages. Out: the same passages, some with a higher relevance. Rankers read
sentences; a statement's rows say little to them, while its label, head and document answer by exact
match. The probabilities are measured, not chosen: of the best matching cell of an aspect, and of any
other cell that matches as well, the share whose value a human cites as evidence (FinanceBench's shared
half, all chunks of the named filing: 77 of 82, and 20 of 23;
docs/measurements/financebench_answers.md). Knows nothing about indexes or models.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from citewell.core.records import Passage
from citewell.questions.aspects import split_aspects
from citewell.questions.cells import CellAnswer, find_item
from citewell.questions.line_items import ITEMS
from citewell.questions.parsing import operands, read_question

BEST, ALSO = 0.94, 0.87
SURE = 0.95
MAKER = "exact cell match/1"


def with_exact_cells(question: str, passages: Sequence[Passage], threshold: float) -> list[Passage]:
    """``passages`` in their order; relevance is raised to BEST or ALSO where a cell matches."""
    raised: dict[tuple[str, str], float] = {}
    with_rows = [passage for passage in passages if passage.chunk.rows]
    for aspect in split_aspects(question) if with_rows else ():
        wanted = read_question(aspect)
        for name in operands(wanted) if wanted.by_cell else ():
            for period in wanted.periods:
                sure = [a for a in find_item(wanted, ITEMS[name], period, with_rows) if a.score >= SURE]
                for at, answer in enumerate(sure):
                    key = _key(answer)
                    raised[key] = max(raised.get(key, 0.0), ALSO if at else BEST)
    return [_raised(passage, raised, threshold) for passage in passages]


def _raised(passage: Passage, raised: dict[tuple[str, str], float], threshold: float) -> Passage:
    exact = raised.get((passage.chunk.document_id, passage.chunk.chunk_id), 0.0)
    if exact <= (passage.relevance or 0.0):
        return passage
    return msgspec.structs.replace(passage, relevance=exact, relevant=exact >= threshold)


def _key(answer: CellAnswer) -> tuple[str, str]:
    return answer.passage.chunk.document_id, answer.passage.chunk.chunk_id
