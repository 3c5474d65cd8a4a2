"""The section around a passage, so that an exception or a heading near it is not lost.

In: a chunk and a snapshot of the index. Out: text of its parent section, bounded, with the chunk in
it. Put together from neighbouring chunks, so it belongs to the same index version. For reading
only: quotes are resolved in the evidence store.
"""

from __future__ import annotations

from citewell.ports import IndexSnapshot
from citewell.records import Chunk

PARENT_CHARS = 6_000


def parent_text(chunk: Chunk, snapshot: IndexSnapshot, limit: int = PARENT_CHARS) -> str:
    """At most ``limit`` characters of the section, more before and after the chunk where there is room."""
    if chunk.parent_end <= chunk.parent_start:
        return chunk.content
    room = max(0, limit - len(chunk.content)) // 2
    start = max(chunk.parent_start, chunk.start_offset - room)
    end = min(chunk.parent_end, chunk.end_offset + room)
    around = [
        near
        for near in snapshot.between(chunk.document_id, start, end)
        if near.document_version == chunk.document_version and near.end_offset <= end + room
    ]
    return "\n".join(near.content for near in around) or chunk.content
