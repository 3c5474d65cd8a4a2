"""One of each: near-duplicates folded, and no document filling all the room.

In: passages, best first. Out: those kept, what was left out, in words, and which documents both name. Exact
and deterministic: sets of word triples are compared, no hashes are drawn.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from citewell.records import Passage

_WORD = re.compile(r"\w+")
_RUN = 3


def fold(
    passages: Sequence[Passage], *, near_duplicate: float, per_document: int, limit: int
) -> tuple[list[Passage], list[str], tuple[str, ...]]:
    """The first ``limit`` that are new. ``near_duplicate`` is a Jaccard similarity of word triples in (0, 1];
    the better of two passages that reach it stays, whichever documents they stand in. A document with
    ``per_document`` passages gives up its place, but only to a relevant passage of another document."""
    kept: list[Passage] = []
    shingles: list[frozenset[tuple[str, ...]]] = []
    counts: Counter[str] = Counter()
    folded: list[str] = []
    crowded: Counter[str] = Counter()
    named: dict[str, None] = {}
    for at, passage in enumerate(passages):
        if len(kept) == limit:
            break
        document_id = passage.chunk.document_id
        named[document_id] = None
        own = _shingles(passage.chunk.content)
        twin = next((k for k, other in enumerate(shingles) if _jaccard(own, other) >= near_duplicate), None)
        if twin is not None:
            folded.append(f"{_place(passage)} says the same as {_place(kept[twin])}: folded")
        elif counts[document_id] >= per_document and limit - len(kept) <= sum(
            other.relevant and counts[other.chunk.document_id] < per_document for other in passages[at + 1 :]
        ):
            crowded[document_id] += 1
        else:
            kept.append(passage)
            shingles.append(own)
            counts[document_id] += 1
    notes = folded + [
        f"{count} more of {document_id} left out (at most {per_document} of one document)"
        for document_id, count in sorted(crowded.items())
    ]
    return kept, notes, tuple(named)


def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    words = _WORD.findall(text.lower())
    return frozenset(tuple(words[at : at + _RUN]) for at in range(max(1, len(words) - _RUN + 1)))


def _jaccard(a: frozenset[tuple[str, ...]], b: frozenset[tuple[str, ...]]) -> float:
    if not a or not b:
        return 0.0
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared)


def _place(passage: Passage) -> str:
    page = f" p. {passage.chunk.page}" if passage.chunk.page else ""
    return f"{passage.chunk.document_id}{page}"
