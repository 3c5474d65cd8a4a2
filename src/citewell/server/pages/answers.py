"""A record prepared for its page: two summary lines, the text with its claims in place, their sources and
checks, page images, and every passage read.

In: an AuditRecord, and the knowledge base as its reader may see it. Out: values for ``_answer.html``. Text
outside claims was not checked and is shown separately. Knows nothing about requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from citewell.core.errors import CitewellError, EvidenceError
from citewell.core.records import AuditRecord, Citation, Claim, Decision, Document
from citewell.core.vocabulary import State, display_state, is_fully_supported, ocr_of, state_of_verdict
from citewell.knowledge.feedback.signals import THUMBS, Feedback, Signal
from citewell.knowledge.home import KnowledgeBase
from citewell.knowledge.revisiting.rechecking import CurrentCitation
from citewell.server.pages.marking import Block, ClaimSpan, Paper, blocks, excerpts, papers_of, section_at
from citewell.server.pages.rendering import view_address

Today = dict[Citation, CurrentCitation]
"""What located citations resolve to in today's documents."""
Numbered = Sequence[tuple[int, Claim]]
"""(number, claim), numbered from 1."""


class Part(NamedTuple):
    """A stretch of the shown text; ``number`` is its claim's, or 0; ``cited``: with located citations."""

    text: str
    number: int = 0
    state: State | None = None
    cited: bool = False


class ClaimSource(NamedTuple):
    """One claim's citations of one page. ``state`` is set only if it differs from the claim's; ``today`` is
    the worst resolution against today's documents; ``ocr`` says that OCR read the words."""

    name: str
    href: str
    page: int | None
    ocr: str
    quotes: tuple[str, ...]
    state: State | None
    today: str


class ReaderFeedback(NamedTuple):
    """The reader's own feedback on a claim or the answer: the current thumb, and the reason."""

    thumb: str = ""
    reason: str = ""


class ShownClaim(NamedTuple):
    claim: Claim
    in_text: bool
    sources: list[ClaimSource]
    said: ReaderFeedback


class CitedSource(NamedTuple):
    """One cited document version with its cited lines and their page images; ``lost`` says why there are
    none."""

    title: str
    href: str
    first: Citation
    today: str
    document: Document | None = None
    section: tuple[str, ...] = ()
    blocks: Sequence[Block] = ()
    papers: Sequence[Paper] = ()
    lost: str = ""


class ReadPassage(NamedTuple):
    """A passage as ranked. ``blocks`` is empty if its text is no longer kept; ``nearest`` is, for an
    abstention, its place nearest to an answer."""

    title: str
    document_id: str
    href: str
    page: int | None
    relevance: float | None
    used: bool
    blocks: Sequence[Block]
    nearest: Citation | None
    document: Document | None


class Headline(NamedTuple):
    """A cited cell as the answer: its value, and ``about``, its row label, column head and units."""

    value: str
    about: str


class ShownAnswer(NamedTuple):
    record: AuditRecord
    asked_as: str
    earned: bool
    headlines: list[Headline]
    parts: list[Part]
    claims: list[ShownClaim]
    sources: list[CitedSource]
    changed: list[CitedSource]
    read: list[ReadPassage]
    threshold: float | None
    said: ReaderFeedback


def show_answer(record: AuditRecord, kb: KnowledgeBase, *, said: Sequence[Feedback] = ()) -> ShownAnswer:
    """``kb`` is the reader's, who may see the record and so each of its documents; ``said`` is their own
    feedback on it."""
    numbered = list(enumerate(record.claims, 1))
    cited = [one for claim in record.claims for one in _located(claim.citations)]
    today = dict(zip(cited, kb.audit.resolve(cited), strict=True))
    placed = _placed(record.shown_response, numbered)
    searched_as = str(record.parameters.get("searched_as", ""))
    sources = list(_sources(record, numbered, kb, today))
    changed = [source for source in sources if source.today in ("CHANGED", "GONE")]
    return ShownAnswer(
        record=record,
        asked_as=searched_as if searched_as != record.user_query else "",
        earned=is_fully_supported(record) and not changed,
        headlines=list(_headlines([claim for _, claim in placed], sources)) if len(placed) <= 2 else [],
        parts=list(_parts(record.shown_response, placed)),
        claims=[
            ShownClaim(
                claim,
                (number, claim) in placed,
                list(_claim_sources(record, number, claim, today)),
                _said(said, number),
            )
            for number, claim in numbered
        ],
        sources=sources,
        changed=changed,
        read=passages_read(record, kb),
        # The record has only the configuration's hash; under another one, the threshold is unknown.
        threshold=kb.config.retrieval.relevance_threshold if kb.config.hash == record.config_hash else None,
        said=_said(said, None),
    )


def passages_read(record: AuditRecord, kb: KnowledgeBase, *, sentences: bool = False) -> list[ReadPassage]:
    """The ranked passages, best first, as in their documents; with ``sentences``, one line for each."""
    try:
        answer = kb.answer_of(record)
        chunks = (passage.chunk for passage in answer.passages)
        known = {(chunk.document_id, chunk.chunk_id): chunk for chunk in chunks}
        nearest = {one.chunk_id: one for one in answer.nearest}
    except CitewellError:  # it ended in an error, so there is no answer
        known, nearest = {}, {}
    found = []
    for one in sorted(record.retrieval_results, key=lambda one: -(one.reranker_score or 0)):
        chunk = known.get((one.document_id, one.chunk_id))
        document, href, shown_blocks = None, "", []
        try:
            document = kb.document(one.document_id, one.document_version)
        except EvidenceError:
            chunk = None
        if chunk is not None and document is not None:
            start, end = chunk.start_offset, chunk.end_offset
            href = view_address(one.document_id, one.document_version, start, end, answer=record.request_id)
            shown_blocks = blocks(document, start, end, sentences=sentences)
        found.append(
            ReadPassage(
                title=title_of(document) if document else one.document_id,
                document_id=one.document_id,
                href=href,
                page=chunk.page if chunk else None,
                relevance=one.reranker_score,
                used=one.was_used_in_generation,
                blocks=shown_blocks,
                nearest=nearest.get(one.chunk_id),
                document=document,
            )
        )
    return found


def _said(said: Sequence[Feedback], claim: int | None) -> ReaderFeedback:
    about = [one for one in said if one.claim == claim and one.signal in THUMBS]
    if not about:
        return ReaderFeedback()
    reason = next((one.meta["reason"] for one in reversed(about) if one.meta.get("reason")), "")
    return ReaderFeedback("up" if about[-1].signal is Signal.THUMBS_UP else "down", reason)


def _headlines(claims: Sequence[Claim], sources: Sequence[CitedSource]) -> Iterable[Headline]:
    documents = {(s.first.document_id, s.first.document_version): s.document for s in sources if s.document}
    for one in dict.fromkeys(citation for claim in claims for citation in _located(claim.citations)):
        document = documents.get((one.document_id, one.document_version))
        for table in document.tables if document else ():
            if not table.start <= one.start < table.end:
                continue
            for row in table.rows:
                for cell in row.cells:
                    if document and cell.start <= one.start and one.end <= cell.end:
                        about = (row.label, cell.head, table.units)
                        value = document.text[cell.start : cell.end]
                        yield Headline(value, " · ".join(filter(None, about)))


def _placed(text: str, claims: Numbered) -> list[tuple[int, Claim]]:
    """The claims located in the shown text, in order, without overlaps."""
    found: list[tuple[int, Claim]] = []
    for number, claim in sorted(claims, key=lambda pair: (pair[1].answer_start, -pair[1].answer_end)):
        begins = found[-1][1].answer_end if found else 0
        inside = begins <= claim.answer_start < claim.answer_end <= len(text)
        if claim.shown and inside and text[claim.answer_start : claim.answer_end].strip():
            found.append((number, claim))
    return found


def _parts(text: str, placed: Numbered) -> Iterable[Part]:
    at = 0
    for number, claim in placed:
        start, end = claim.answer_start, claim.answer_end
        if start > at:
            yield Part(text[at:start])
        yield Part(text[start:end], number, display_state(claim), bool(_located(claim.citations)))
        at = end
    if at < len(text):
        yield Part(text[at:])


def _claim_sources(record: AuditRecord, number: int, claim: Claim, today: Today) -> Iterable[ClaimSource]:
    grouped: dict[tuple[str, str, int | None, bool], list[Citation]] = {}
    for one in claim.citations:
        grouped.setdefault((one.document_id, one.document_version, one.page, one.start < 0), []).append(one)
    own = state_of_verdict(claim.verdict)
    for (document_id, _, page, _), citations in grouped.items():
        located = _located(citations)
        states = [state_of_verdict(one.verdict) for one in citations if one.verdict]
        yield ClaimSource(
            name=document_id,
            href=_whole(located, record.request_id, number),
            page=page,
            ocr=ocr_of(citations),
            quotes=tuple(dict.fromkeys(one.quote for one in citations)),
            state=next((state for state in states if state != own), None),
            today=worst(today[one] for one in located),
        )


def _sources(
    record: AuditRecord, numbered: Numbered, kb: KnowledgeBase, today: Today
) -> Iterable[CitedSource]:
    grouped: dict[tuple[str, str], list[tuple[int, Citation]]] = {}
    for number, claim in numbered:
        for one in _located(claim.citations):
            grouped.setdefault((one.document_id, one.document_version), []).append((number, one))
    for (document_id, version), cited in grouped.items():
        number, first = cited[0]
        href = _whole([one for _, one in cited], record.request_id, number)
        try:
            document = kb.document(document_id, version)
        except EvidenceError as error:
            yield CitedSource(title=document_id, href=href, first=first, today="GONE", lost=str(error))
            continue
        spans = _spans_of(cited)
        yield CitedSource(
            title=title_of(document),
            href=href,
            first=first,
            today=worst(today[one] for _, one in cited),
            document=document,
            section=first.section_path or section_at(document, first.start),
            blocks=excerpts(document, spans),
            papers=papers_of(document, spans),
        )


def title_of(document: Document) -> str:
    return document.title.value if document.title and document.title.value else document.document_id


def worst(resolved: Iterable[CurrentCitation]) -> str:
    """The name of the worst resolution; "" for none."""
    found = {one.resolution.value for one in resolved}
    return next((name for name in ("GONE", "CHANGED", "MOVED", "SAME") if name in found), "")


def outdated(records: Iterable[AuditRecord], kb: KnowledgeBase) -> set[str]:
    """The request ids of the answers of which a shown citation is CHANGED or GONE today."""
    cited = {
        record.request_id: _located(one for claim in record.claims if claim.shown for one in claim.citations)
        for record in records
        if record.response_decision != Decision.ABSTAIN.value
    }
    whole = [one for citations in cited.values() for one in citations]
    today = dict(zip(whole, kb.audit.resolve(whole), strict=True))
    return {
        request_id
        for request_id, citations in cited.items()
        if worst(today[one] for one in citations) in ("GONE", "CHANGED")
    }


def _spans_of(cited: Iterable[tuple[int, Citation]]) -> list[ClaimSpan]:
    """One span per location, with the numbers of all claims that cite it."""
    found: dict[tuple[int, int], dict[int, None]] = {}
    for number, one in cited:
        found.setdefault((one.start, one.end), {})[number] = None
    return [ClaimSpan(start=start, end=end, claims=tuple(numbers)) for (start, end), numbers in found.items()]


def _whole(citations: Sequence[Citation], answer: str, claim: int) -> str:
    """The URL showing all of a claim's spans in its first document, with a link back."""
    if not citations:
        return ""
    first = citations[0]
    same = [one for one in citations if one.document_version == first.document_version]
    also = " ".join(f"{one.start}-{one.end}" for one in same[1:])
    place = (first.document_id, first.document_version, first.start, first.end)
    return view_address(*place, also, answer=answer, claim=claim)


def _located(citations: Iterable[Citation]) -> list[Citation]:
    """The citations located in a source."""
    return [one for one in citations if one.start >= 0]
