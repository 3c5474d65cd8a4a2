"""Which passages are relevant: those that overlap a span which the case says the answer rests on.

In: a case, passages, and where document texts can be read. Out: yes or no for each passage, and how many
spans no passage overlaps. A span is its document and where its words stand there, not the words alone: the
same sentence in another document is not what was asked for. Knows nothing about ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from citewell.core.records import Case, Citation, Passage, Record
from citewell.verification.verbatim import find_all

Texts = Callable[[str, str], Sequence[tuple[int, str]]]
"""(document id, version or "" for the newest) -> what can be read of its canonical text, each stretch with
the offset it begins at; nothing when there is no such document."""


class Located(Record, frozen=True, kw_only=True):
    """``places``: for each span of the case, where it stands in each version that was looked at, as
    (document id, version, start, end)."""

    places: tuple[tuple[tuple[str, str, int, int], ...], ...] = ()
    problem: str = ""


def locate(case: Case, versions: Sequence[tuple[str, str]], texts: Texts, *, whole: bool = True) -> Located:
    """Every span of ``case`` in those of ``versions`` (document id, version) that are of its document.

    ``problem`` names a span that stands nowhere, not even in the newest version: then nothing can be told.
    Where ``texts`` are not the ``whole`` documents but what was retrieved, such a span was just not found.
    """
    places = []
    for span in case.spans:
        seen = [version for document, version in versions if document == span.document]
        found = [
            (span.document, version, start, end)
            for version in dict.fromkeys(seen)
            for start, end in _in(texts(span.document, version), span.quote)
        ]
        if not found and whole:
            newest = texts(span.document, "")
            if not newest:
                return Located(problem=f"there is no document {span.document!r}")
            if not _in(newest, span.quote):
                return Located(problem=f"{span.document} does not hold “{span.quote[:80]}”")
        places.append(tuple(found))
    return Located(places=tuple(places))


def hits(located: Located, passages: Sequence[Passage]) -> tuple[tuple[bool, ...], int]:
    """(for each passage, whether it overlaps a span; how many spans none overlaps)."""
    chunks = [passage.chunk for passage in passages]
    met = [
        {
            number
            for number, places in enumerate(located.places)
            for document, version, start, end in places
            if (chunk.document_id, chunk.document_version) == (document, version)
            and chunk.start_offset < end
            and start < chunk.end_offset
        }
        for chunk in chunks
    ]
    found = set().union(*met) if met else set()
    return tuple(bool(numbers) for numbers in met), len(located.places) - len(found)


def cites(located: Located, citations: Sequence[Citation]) -> bool:
    """Whether one of ``citations`` touches a span."""
    return any(
        (cited.document_id, cited.document_version) == (document, version)
        and cited.start < end
        and start < cited.end
        for cited in citations
        for places in located.places
        for document, version, start, end in places
    )


def _in(stretches: Sequence[tuple[int, str]], quote: str) -> list[tuple[int, int]]:
    """Everywhere ``quote`` stands, word for word; white space and typographic marks may differ."""
    found = []
    for offset, text in stretches:
        start = text.find(quote)
        hits = list(find_all(quote, text)) or ([(start, start + len(quote))] if start >= 0 else [])
        found += [(offset + first, offset + last) for first, last in hits]
    return found
