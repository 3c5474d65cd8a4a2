"""The section around a passage: the ranker reads it on a second try, what answers may stand over the border.

In: a chunk and a snapshot of the index. Out: text of its parent section, bounded, with the chunk in
it. Put together from neighbouring chunks, so it belongs to the same index version. For reading
only: quotes are resolved in the evidence store.
"""

from __future__ import annotations

from citewell.core.ports import IndexSnapshot
from citewell.core.records import Chunk

PARENT_CHARS = 2_500  # about twice a chunk, for a ranker reads each token


def parent_range(chunk: Chunk, limit: int = PARENT_CHARS) -> tuple[int, int]:
    """Offsets of what :func:`parent_text` gives: the section, cut evenly around the chunk to ``limit``."""
    room = max(0, limit - (chunk.end_offset - chunk.start_offset)) // 2
    start = min(chunk.start_offset, max(chunk.parent_start, chunk.start_offset - room))
    return start, max(chunk.end_offset, min(chunk.parent_end, chunk.end_offset + room))


def parent_text(chunk: Chunk, snapshot: IndexSnapshot, limit: int = PARENT_CHARS) -> str:
    """The chunks that begin in :func:`parent_range`, a line break between them."""
    start, end = parent_range(chunk, limit)
    around = [
        near
        for near in snapshot.between(chunk.document_id, start, end)
        if near.document_version == chunk.document_version
    ]
    return "\n".join(near.content for near in around)
