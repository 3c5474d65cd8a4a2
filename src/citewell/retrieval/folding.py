"""The first passages that are new: what says the same is folded, and no document takes every place.

In: ranked passages. Out: those that are kept, and what was left out. Knows nothing about the ranking.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from citewell.core.records import Passage

_WORD = re.compile(r"[-\u2212(]?\d+|\w+|[%$€£¥<>≤≥]")


def fold(
    passages: Sequence[Passage], *, near_duplicate: float, per_document: int, limit: int
) -> tuple[list[Passage], list[str], tuple[str, ...]]:
    """The first ``limit`` that are new, best first; what was left out, in words; the documents that both
    name. One other word can be another fact, as the days in two editions of a policy: such passages both
    stay. A passage whose words, case and marks aside, stand as they are in a
    better one is folded into it where they are at least ``near_duplicate``, in (0, 1], of the better one's,
    whichever documents they stand in. A document with ``per_document`` passages gives up its place, but only
    to a relevant passage of another document."""
    kept: list[Passage] = []
    wordings: list[str] = []
    counts: Counter[str] = Counter()
    folded: list[str] = []
    crowded: Counter[str] = Counter()
    named: dict[str, None] = {}
    for at, passage in enumerate(passages):
        if len(kept) == limit:
            break
        document_id = passage.chunk.document_id
        named[document_id] = None
        own = _wording(passage.chunk.content)
        within = (k for k, other in enumerate(wordings) if own in other)
        twin = next((k for k in within if len(own) >= near_duplicate * len(wordings[k])), None)
        if twin is not None:
            folded.append(f"{_place(passage)} says the same as {_place(kept[twin])} and was merged with it")
        elif counts[document_id] >= per_document and limit - len(kept) <= sum(
            other.relevant and counts[other.chunk.document_id] < per_document for other in passages[at + 1 :]
        ):
            crowded[document_id] += 1
        else:
            kept.append(passage)
            wordings.append(own)
            counts[document_id] += 1
    notes = folded + [
        f"{count} more passages of {document_id} left out (at most {per_document} per document)"
        for document_id, count in sorted(crowded.items())
    ]
    return kept, notes, tuple(named)


def _wording(text: str) -> str:
    """Its words, a space around each."""
    return f" {' '.join(_WORD.findall(text.lower()))} "


def _place(passage: Passage) -> str:
    page = f" p. {passage.chunk.page}" if passage.chunk.page else ""
    return f"{passage.chunk.document_id}{page}"
