"""Chunks ranked by their table rows: which hold the line items that a question asks for.

In: what is wanted and chunks. Out: keys of the chunks with a fitting row and column, best first.
Statements say little in sentences, so neither vectors nor word counts find them well; their row
labels, column heads and titles do. Knows nothing about indexes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from citewell.core.records import Chunk, Passage
from citewell.questions.cells import find_item
from citewell.questions.line_items import ITEMS
from citewell.questions.parsing import ParsedQuestion, operands
from citewell.retrieval.fusion import Key

# A sum of products of matches: equal up to the last bits of a float is equal.
_DIGITS = 9


def rank_tables(wanted: ParsedQuestion, chunks: Iterable[Chunk]) -> list[Key]:
    """Keys by the sum over the asked items of their best cell's match; ties by key. Empty when no
    line item is asked for, or no chunk has one under a fitting column."""
    names = operands(wanted)
    if not names:
        return []
    passages = [Passage(chunk=chunk) for chunk in chunks if chunk.rows]
    scores: dict[Key, list[float]] = {}
    for name in names:
        best: dict[Key, float] = {}
        for period in wanted.periods or (None,):
            for answer in find_item(wanted, ITEMS[name], period, passages):
                chunk = answer.passage.chunk
                key = (chunk.document_id, chunk.chunk_id)
                best[key] = max(best.get(key, 0.0), answer.score)
        for key, score in best.items():
            scores.setdefault(key, []).append(score)
    sums = {key: round(math.fsum(parts), _DIGITS) for key, parts in scores.items()}
    return sorted(sums, key=lambda key: (-sums[key], key))
