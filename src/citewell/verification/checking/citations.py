"""Quotes and labels of a draft -> citations that resolve in the evidence store, or state how they fail.

In: the writer's quotes and labels, the passages it was given, the store. Out: :class:`Citation` values with
exact offsets, page, section and boxes, and the sentence or row around a quote, as separate evidence. A quote
not found where it is cited is BROKEN with a named failure (fabricated, spliced, misattributed), never
altered to fit. Only a table row may be quoted with cells omitted ("Jane Doe, President" from "Jane Doe |
54 | President"): label and cells must each be whole and in order, and no omitted cell may reverse the
meaning of its neighbours. Independent of whether a quote supports a claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

import msgspec

from citewell.core.config import Verification
from citewell.core.errors import EvidenceError
from citewell.core.identity import hash_value
from citewell.core.ports import EvidenceStore
from citewell.core.records import (
    Chunk,
    Citation,
    Document,
    DraftClaim,
    Failure,
    Maker,
    Passage,
    Quote,
    Record,
    Row,
    Status,
    Verdict,
    read_by_ocr,
)
from citewell.core.sentences import line_span, sentence_spans, token_spans, trimmed
from citewell.questions.rows import label_span, text_of, whole
from citewell.verification.claims.markers import resolve_label
from citewell.verification.evidence import EvidenceText, blank_struck_out, passage_evidence
from citewell.verification.verbatim import TURNING, fold, locate

LEAST_PARTS = 2
# Folded text: white space becomes one space, a dash "-", an ellipsis three dots.
_BETWEEN = r"(?: ?(?:[,;:]|\.{3}) | ?\| ?| - (?!\W?\d)| )"
_AROUND = ' .,;:()[]"'
_ENDING = " ,;:|"
_MARKS = " \"'."


def row_spans(quote: str, passage: Passage) -> tuple[tuple[int, int], ...]:
    """Spans of the parts of ``quote`` in the first row of ``passage`` that contains them all; () if none."""
    wanted = fold(quote).text.strip(_MARKS)
    rows = (row for row in passage.chunk.rows if row.label and row.cells and whole(passage, row))
    return next((spans for row in rows if (spans := _parts(wanted, passage, row))), ())


def _parts(wanted: str, passage: Passage, row: Row) -> tuple[tuple[int, int], ...]:
    label = label_span(passage, row)
    at = _end_of(_said(passage, *label), wanted, 0, "")
    if at is None:
        return ()
    taken = [label]
    for cell in row.cells:
        said = _said(passage, cell.start, cell.end)
        end = _end_of(said, wanted, at, _BETWEEN)
        if end is not None:
            taken.append((cell.start, cell.end))
            at = end
        elif not _may_be_left_out(said):
            return ()
    return tuple(taken) if len(taken) >= LEAST_PARTS and not wanted[at:].strip(_ENDING) else ()


def _said(passage: Passage, start: int, end: int) -> str:
    return fold(text_of(passage, start, end)).text.strip()


def _end_of(said: str, wanted: str, at: int, before: str) -> int | None:
    """End of ``said`` if it occurs as a whole word at ``at``, preceded by ``before``; else None."""
    if not said or said not in wanted:
        return None
    found = re.compile(rf"{before}{re.escape(said)}(?![^\W_])").match(wanted, at)
    return found.end() if found else None


def _may_be_left_out(said: str) -> bool:
    """An empty cell, or words or a number that do not reverse the meaning of their neighbours."""
    return not said or (any(map(str.isalnum, said)) and said.lower().strip(_AROUND) not in TURNING)


NAME = "citewell-quotes/1"
MAKER = Maker(name=NAME, hash=hash_value({"exact code": NAME}))


class ResolvedCitation(Record, frozen=True, kw_only=True):
    """One quote or label of a claim: the passage it names (None if there is none) and its spans."""

    quote: Quote
    passage: Passage | None
    spans: tuple[tuple[int, int], ...] = ()
    broken: str = ""
    failure: Failure | None = None


class Library:
    """The passages of one check; each document is fetched once through the evidence store."""

    def __init__(self, passages: Sequence[Passage], evidence: EvidenceStore) -> None:
        self._evidence = evidence
        self._documents: dict[tuple[str, str], Document] = {}
        self.passages = tuple(passages)
        usable = tuple(p for p in passages if p.relevant and not p.set_aside)
        self.usable = usable or tuple(p for p in passages if not p.set_aside)

    def document(self, passage: Passage) -> Document:
        """Raises EvidenceError if the version is not stored; then nothing in it can be cited."""
        key = (passage.chunk.document_version, passage.chunk.document_id)
        if key not in self._documents:
            self._documents[key] = self._evidence.get(*key)
        return self._documents[key]

    def evidence(self, passage: Passage) -> EvidenceText:
        """The whole passage in the form the verifier reads."""
        document = self.document(passage)
        text = passage_evidence(passage, document.text)
        # A caller's short text has its language detected; only a stored document's language is trusted.
        language = document.language.value if document.language and not document.caller_supplied else ""
        return msgspec.structs.replace(text, language=language)

    def find(self, source: str) -> Passage | None:
        """By chunk id, then by document id (its first passage), then by label or number among the usable."""
        named = [p for p in self.passages if p.chunk.chunk_id == source]
        named += [p for p in self.passages if p.chunk.document_id == source]
        if named:
            return named[0]
        ids = [passage.chunk.document_id for passage in self.usable]
        name = resolve_label(source, ids)
        if name is None:
            return None
        number = [p for p in self.usable if p.chunk.document_id == name]
        digits = "".join(ch for ch in source if ch.isdigit())
        if digits and 1 <= int(digits) <= len(self.usable) and self.usable[int(digits) - 1] in number:
            return self.usable[int(digits) - 1]
        return number[0]

    def locate(self, quote: Quote) -> ResolvedCitation:
        """Locate ``quote``; a writer's offsets count only if the text there matches the quote."""
        passage = self.find(quote.source)
        if passage is None:
            return ResolvedCitation(
                quote=quote, passage=None, failure=Failure.FABRICATED,
                broken=f"there is no source \u201c{quote.source}\u201d",
            )  # fmt: skip
        try:
            document = self.document(passage)
        except EvidenceError as error:
            return ResolvedCitation(quote=quote, passage=passage, broken=str(error))
        if not quote.text.strip():
            return ResolvedCitation(quote=quote, passage=passage)
        start, end = quote.start, quote.end
        inside = start is not None and end is not None and 0 <= start < end <= len(document.text)
        if inside and _same(document.text[start:end], quote.text):
            return ResolvedCitation(quote=quote, passage=passage, spans=((start or 0, end or 0),))
        return self._search(quote, passage, document)

    def _search(self, quote: Quote, passage: Passage, document: Document) -> ResolvedCitation:
        chunk = passage.chunk
        texts = {p.chunk.chunk_id: p.chunk.content for p in (passage, *self.passages)}
        near = None if quote.start is None else quote.start - chunk.start_offset
        found = locate(quote.text, chunk.chunk_id, texts, near=near)
        if found.failure is None:
            offset = chunk.start_offset
            return ResolvedCitation(
                quote=quote, passage=passage, spans=tuple((offset + a, offset + b) for a, b in found.spans)
            )
        if cells := row_spans(quote.text, passage):
            return ResolvedCitation(quote=quote, passage=passage, spans=cells)
        # The document may contain the quote just outside the passage; it is still the quote's source.
        whole = locate(quote.text, "document", {"document": document.text})
        if whole.failure is None:
            return ResolvedCitation(
                quote=quote, passage=self._holding(whole.spans[0], passage), spans=whole.spans
            )
        reason = found.reason
        if found.failure is Failure.MISATTRIBUTED:
            names = {p.chunk.document_id for p in self.passages if p.chunk.chunk_id in found.found_in}
            reason = f"the quote is not in {chunk.document_id} but in {', '.join(sorted(names))}"
        return ResolvedCitation(quote=quote, passage=passage, broken=reason, failure=found.failure)

    def _holding(self, span: tuple[int, int], named: Passage) -> Passage:
        """The passage of the same document that contains ``span``; the named one if there is none."""
        home = named.chunk.document_version, named.chunk.document_id
        return next(
            (
                p
                for p in self.passages
                if (p.chunk.document_version, p.chunk.document_id) == home
                and p.chunk.start_offset <= span[0]
                and span[1] <= p.chunk.end_offset
            ),
            named,
        )

    def same_row(self, cited: Sequence[ResolvedCitation]) -> tuple[Passage, Row] | None:
        """The table row that contains every span of ``cited``, and its passage; its label may be above it."""
        passage = cited[0].passage if cited else None
        if passage is None or any(
            c.passage is None or c.passage.chunk.chunk_id != passage.chunk.chunk_id for c in cited
        ):
            return None
        spans = [span for c in cited for span in c.spans]
        for row in passage.chunk.rows:
            above = {label_span(passage, row)} if row.label_start >= 0 else set()
            own = [span for span in spans if span not in above]
            if own and all(row.start <= start and end <= row.end for start, end in own):
                return passage, row
        return None

    def citations(
        self,
        cited: ResolvedCitation,
        claim: DraftClaim,
        verdict: Verdict,
        settings: Verification,
        *,
        mode: str,
    ) -> list[Citation]:
        """One citation per span, long quotes in consecutive spans of at most ``max_span_tokens``; an empty
        span at the start of a passage that shares no word with the claim."""
        if cited.broken or cited.passage is None:
            return [self._broken(cited, claim, mode)]
        document = self.document(cited.passage)
        chunk = cited.passage.chunk
        return [
            Citation(
                chunk_id=chunk.chunk_id,
                document_id=chunk.document_id,
                document_version=chunk.document_version,
                start=start,
                end=end,
                quote=document.text[start:end],
                answer_start=claim.start,
                answer_end=claim.end,
                mode=mode,
                section_path=_section(document, chunk, start),
                page=_page(document, start) or chunk.page,
                boxes=document.boxes_in(start, end),
                verdict=verdict,
            )
            for span in cited.spans or ((chunk.start_offset, chunk.start_offset),)
            for start, end in split_span(document.text, *span, settings)
        ]

    def read_by_ocr(self, cited: Sequence[ResolvedCitation]) -> str:
        """What must be said of the words cited, of a passage without such words of all of it; "" where none
        was read by OCR."""
        return read_by_ocr(
            box.confidence
            for one in cited
            if one.passage is not None and not one.broken
            for start, end in one.spans or ((one.passage.chunk.start_offset, one.passage.chunk.end_offset),)
            for box in self.document(one.passage).boxes_in(start, end)
        )

    def _broken(self, cited: ResolvedCitation, claim: DraftClaim, mode: str) -> Citation:
        chunk = cited.passage.chunk if cited.passage else None
        verdict = Verdict(status=Status.BROKEN, reason=cited.broken, maker=MAKER, failure=cited.failure)
        return Citation(
            chunk_id=chunk.chunk_id if chunk else "",
            document_id=chunk.document_id if chunk else cited.quote.source,
            document_version=chunk.document_version if chunk else "",
            start=-1,
            end=-1,
            quote=cited.quote.text,
            answer_start=claim.start,
            answer_end=claim.end,
            mode=mode,
            verdict=verdict,
        )


def split_span(text: str, start: int, end: int, settings: Verification) -> list[tuple[int, int]]:
    """``[start, end)``, or its pieces: even spans of at most ``max_span_tokens``, cut at word boundaries."""
    tokens = token_spans(text[start:end])
    most = settings.max_span_tokens
    if start == end or len(tokens) <= most:
        return [(start, end)]
    count = -(-len(tokens) // (most - 2))
    size = -(-len(tokens) // count)
    cuts = [start]
    for number in range(1, count):
        place = start + tokens[min(number * size, len(tokens) - 1)][0]
        border = text.rfind(" ", cuts[-1] + 1, place + 1)
        cuts.append(border if border > cuts[-1] else place)
    cuts.append(end)
    spans = [trimmed(text, a, b) for a, b in pairwise(cuts)]
    return [span for span in spans if span[1] > span[0]]


def _same(text: str, quote: str) -> bool:
    return text == quote or fold(text).text.strip() == fold(quote).text.strip()


def _section(document: Document, chunk: Chunk, offset: int) -> tuple[str, ...]:
    """The innermost section that contains the quote; the chunk's if the document has none there."""
    holding = [section for section in document.sections if section.start <= offset < section.end]
    if holding:
        return max(holding, key=lambda section: section.start).path
    return chunk.section_path if chunk.start_offset <= offset < chunk.end_offset else ()


def _page(document: Document, offset: int) -> int | None:
    return next((page.number for page in document.pages if page.start <= offset < page.end), None)


def places_of(cited: Iterable[ResolvedCitation]) -> list[tuple[Passage, list[tuple[int, int]]]]:
    """Each passage once, in citation order, with all spans cited from it; broken citations are skipped."""
    places: dict[str, tuple[Passage, list[tuple[int, int]]]] = {}
    for one in cited:
        if one.passage is not None and not one.broken:
            places.setdefault(one.passage.chunk.chunk_id, (one.passage, []))[1].extend(one.spans)
    return list(places.values())


def quoted_evidence(cited: Sequence[ResolvedCitation], library: Library) -> tuple[EvidenceText, ...]:
    """One text per passage, in citation order; citations that are broken or have no span are skipped."""
    found = places_of(one for one in cited if one.spans)
    return tuple(_evidence(passage, spans, library) for passage, spans in found)


def _evidence(passage: Passage, spans: Sequence[tuple[int, int]], library: Library) -> EvidenceText:
    document = library.document(passage)
    pieces = dict.fromkeys(piece for span in spans for piece in _around(document.text, *span))
    whole = library.evidence(passage)
    rows = tuple(
        line
        for row, line in zip(passage.chunk.rows, whole.lines, strict=False)
        if any(row.start < end and start < row.end for start, end in spans)
    )
    text = blank_struck_out("\n".join(document.text[start:end] for start, end in sorted(pieces)))
    return msgspec.structs.replace(whole, text=text, lines=rows)


def _around(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The sentences of the line, or the row, that a span touches, plus the one sentence before."""
    first, last = line_span(text, start, end)
    line = text[first:last]
    found = [(first + a, first + b) for a, b in sentence_spans(line)]
    touched = [index for index, (a, b) in enumerate(found) if a < end and start < b]
    if not touched:
        return [(first, first + len(line))]
    return found[max(0, touched[0] - 1) : touched[-1] + 1]
