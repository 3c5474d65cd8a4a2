"""A provider's native citations -> ours: its character pointers become offsets into document versions.

In: segments of a completion with pointers into the texts that were sent. Out: a draft's text and claims. A
pointer whose words are not at its offsets becomes a quote to search for, and fails if it is not found:
pointers are verified like any other citation. Independent of SDKs.
"""

from __future__ import annotations

from collections.abc import Sequence

from citewell.core.ports import Pointer, Segment
from citewell.core.records import Quote
from citewell.generation.marked import EvidenceRange, MarkedDraft, read_marked
from citewell.generation.sources import LabelledSources


def read_native(segments: Sequence[Segment], sources: LabelledSources) -> MarkedDraft:
    """Each segment's pointers support its words."""
    text, ranges = "", []
    for segment in segments:
        start = len(text)
        text += sources.named(segment.text)
        quotes = tuple(_quote(pointer, sources) for pointer in segment.pointers)
        words = text[start:]
        lead, tail = len(words) - len(words.lstrip()), len(words) - len(words.rstrip())
        if quotes and words.strip():
            ranges.append(EvidenceRange(start=start + lead, end=len(text) - tail, quotes=quotes))
    return read_marked(text, ranges, sources)


def _quote(pointer: Pointer, sources: LabelledSources) -> Quote:
    if not 0 <= pointer.source < len(sources.passages):
        return Quote(source=sources.resolve(f"document index {pointer.source} (from 0)"), text=pointer.text)
    lead = len(pointer.text) - len(pointer.text.lstrip())
    return sources.pointed(pointer.source, pointer.start + lead, pointer.text.strip())
