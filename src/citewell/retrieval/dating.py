"""Says when passages come from documents of one title with different dates, so that no reader mixes them.

In: passages. Out: notes in words. Values that disagree are found elsewhere (conflicts); this looks at
titles and dates alone.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from citewell.core.records import Passage

_DATED = re.compile(
    r"\d+|q[1-4]|fy|january|february|march|april|may|june|july|august|september|october|november|december"
)


def dating_notes(passages: Sequence[Passage]) -> list[str]:
    """One note for each group of documents that differ only in their date."""
    groups: dict[str, dict[str, str]] = defaultdict(dict)
    for passage in passages:
        chunk = passage.chunk
        stem = chunk.document_id.rsplit("/", 1)[-1].rsplit(".", 1)[0]
        name = chunk.title or stem.replace("_", " ")
        plain = " ".join(_DATED.sub(" ", name.lower()).split())
        if plain:
            groups[plain][chunk.document_id] = chunk.published_at
    notes = []
    for documents in groups.values():
        if len(documents) > 1:
            told = ", ".join(
                f"{document_id} ({date or 'no date'})"
                for document_id, date in sorted(documents.items(), key=lambda item: (item[1], item[0]))
            )
            notes.append(f"several versions of one document were found: {told}")
    return sorted(notes)
