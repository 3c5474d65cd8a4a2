"""Select distinct passages: duplicates are folded, and no document takes every place.

In: ranked passages. Out: those kept, and notes on what was left out. Independent of the ranking.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from citewell.core.records import Passage

_WORD = re.compile(r"[-\u2212(]?\d+|\w+|[%$€£¥<>≤≥]")


def fold_duplicates(
    passages: Sequence[Passage], *, near_duplicate: float, per_document: int, limit: int
) -> tuple[list[Passage], list[str], tuple[str, ...]]:
    """The first ``limit`` distinct passages, best first; notes on what was left out; the documents that both
    name. A passage whose words, ignoring case and punctuation, occur as one run in a better one is folded
    into it if it has at least ``near_duplicate``, in (0, 1], of the better one's length, in whichever
    documents. Passages that differ in one word may state different facts (days in two editions of a policy):
    both stay. A document with ``per_document`` passages gives up its place, but only to a relevant passage
    of a document with fewer."""
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
    """The words of ``text``, lower case, with a space around each."""
    return f" {' '.join(_WORD.findall(text.lower()))} "


def _place(passage: Passage) -> str:
    page = f" p. {passage.chunk.page}" if passage.chunk.page else ""
    return f"{passage.chunk.document_id}{page}"
