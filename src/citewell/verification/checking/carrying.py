"""What a quote can carry by itself: the sentence or row it stands in, with the sentence that it leans on.

In: located quotes and the library. Out: evidence texts that are far shorter than their passages, so that a
claim which its passage supports elsewhere is told from one that its quote supports. Knows no model.
"""

from __future__ import annotations

from collections.abc import Sequence

from citewell.core.records import Passage
from citewell.core.sentences import sentence_spans
from citewell.verification.checking.citations import Cited, Library
from citewell.verification.evidence import EvidenceText, unsaid


def quoted_evidence(cited: Sequence[Cited], library: Library) -> tuple[EvidenceText, ...]:
    """One text a passage, in the order cited; nothing for what is broken or has no place."""
    spans: dict[str, list[tuple[int, int]]] = {}
    passages: dict[str, Passage] = {}
    for one in cited:
        if one.passage is not None and not one.broken and one.spans:
            name = one.passage.chunk.chunk_id
            passages[name] = one.passage
            spans.setdefault(name, []).extend(one.spans)
    return tuple(_evidence(passages[name], spans[name], library) for name in passages)


def _evidence(passage: Passage, spans: Sequence[tuple[int, int]], library: Library) -> EvidenceText:
    document = library.document(passage)
    pieces = dict.fromkeys(piece for span in spans for piece in _around(document.text, *span))
    whole = library.evidence(passage)
    held = {
        index
        for index, row in enumerate(passage.chunk.rows)
        if any(row.start < end and start < row.end for start, end in spans)
    }
    rows = (
        tuple(line for index, line in enumerate(whole.lines) if index in held) if passage.chunk.rows else ()
    )
    return EvidenceText(
        text=unsaid("\n".join(document.text[start:end] for start, end in sorted(pieces))),
        context=whole.context,
        lines=rows,
        language=whole.language,
        source=whole.source,
    )


def _around(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The sentences of a paragraph, or the row, that a span touches, and the one sentence before them."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    line = text[first : len(text) if last < 0 else last]
    found = [(first + a, first + b) for a, b in sentence_spans(line)]
    touched = [index for index, (a, b) in enumerate(found) if a < end and start < b]
    if not touched:
        return [(first, first + len(line))]
    return found[max(0, touched[0] - 1) : touched[-1] + 1]
