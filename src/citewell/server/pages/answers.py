"""A record of an answer as the page shows it: text with its claims in place, each with sources and checks.

In: an AuditRecord, and the knowledge base as its reader may see it. Out: values for ``_answer.html``. What is
in no claim was checked by nobody, and is shown apart from claims. Knows nothing about requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from citewell.core.errors import CitewellError, EvidenceError
from citewell.core.records import (
    AuditRecord,
    Citation,
    Claim,
    Decision,
    Document,
    Maker,
    Measure,
    Record,
    Verdict,
)
from citewell.knowledge.home import KnowledgeBase
from citewell.knowledge.revisiting.rechecking import Today
from citewell.server.pages.marking import Block, Span, excerpts, section_at
from citewell.server.pages.rendering import address
from citewell.server.pages.words import PROOFS, Bar, State, bars, state_of, state_of_verdict

NOT_MEASURED = Measure(value=None, n=0)


class Part(Record, frozen=True, kw_only=True):
    """A stretch of the shown text; ``number`` is 0 where no claim stands."""

    text: str
    number: int = 0
    state: State | None = None
    href: str = ""


class ClaimSource(Record, frozen=True, kw_only=True):
    """The citations of one claim in one place. ``state`` is said where it is not the claim's own."""

    name: str
    href: str
    page: int | None
    quotes: tuple[str, ...]
    state: State | None = None
    today: str = ""


class ShownClaim(Record, frozen=True, kw_only=True):
    number: int
    text: str
    state: State
    extra: str
    shown: bool
    in_text: bool
    reason: str
    sources: tuple[ClaimSource, ...]
    facts: tuple[tuple[str, str], ...]


class Source(Record, frozen=True, kw_only=True):
    """One cited document version with the lines that were cited; ``lost`` says why there are none."""

    title: str
    href: str
    version: str
    section: tuple[str, ...] = ()
    page: int | None = None
    published: str = ""
    published_from: str = ""
    today: str = ""
    blocks: tuple[Block, ...] = ()
    lost: str = ""


class Side(Record, frozen=True, kw_only=True):
    name: str
    href: str
    quote: str
    page: int | None
    date: str
    version: str


class Disagreement(Record, frozen=True, kw_only=True):
    about: str
    sides: tuple[Side, ...]


class Near(Record, frozen=True, kw_only=True):
    """A place that came nearest to a question that was not answered."""

    name: str
    href: str
    page: int | None
    quote: str


class ShownAnswer(Record, frozen=True, kw_only=True):
    request_id: str
    session_id: str
    timestamp: str
    question: str
    asked_as: str
    decision: str
    error: str
    stale: str
    parts: tuple[Part, ...]
    missing: tuple[str, ...]
    conflicts: tuple[Disagreement, ...]
    claims: tuple[ShownClaim, ...]
    sources: tuple[Source, ...]
    nearest: tuple[Near, ...]
    looked_at: int
    overall: float | None
    bars: tuple[Bar, ...]
    gap: Measure
    reasons: tuple[str, ...]


def shown(record: AuditRecord, kb: KnowledgeBase, *, stale: str = "") -> ShownAnswer:
    """``kb`` is the reader's, who may see the record and so each of its documents."""
    numbered = list(enumerate(record.claims, 1))
    cited = [citation for claim in record.claims for citation in claim.citations if citation.start >= 0]
    today = dict(zip(map(_place, cited), kb.audit.resolve(cited), strict=True))
    placed = _placed(record.shown_response, numbered)
    report = record.confidence_report
    return ShownAnswer(
        request_id=record.request_id,
        session_id=record.session_id,
        timestamp=record.timestamp,
        question=record.user_query,
        asked_as=_asked_as(record),
        decision=record.response_decision or "ERROR",
        error=record.error,
        stale=stale,
        parts=_parts(record.shown_response, placed),
        missing=record.missing,
        conflicts=tuple(
            Disagreement(
                about=conflict.about,
                sides=tuple(
                    Side(
                        name=side.document_id,
                        href=view_of(side),
                        quote=side.quote,
                        page=side.page,
                        date=conflict.dates[place] if place < len(conflict.dates) else "",
                        version=side.document_version,
                    )
                    for place, side in enumerate(conflict.sides)
                ),
            )
            for conflict in record.conflicts
        ),
        claims=tuple(_claim(number, claim, today, placed) for number, claim in numbered),
        sources=tuple(_sources(numbered, kb, today)),
        nearest=tuple(_nearest(record, kb)),
        looked_at=len(record.retrieval_results),
        overall=report.overall if report else None,
        bars=bars(report) if report else (),
        gap=report.hallucination_gap if report else NOT_MEASURED,
        reasons=report.reasons if report else (),
    )


def _nearest(record: AuditRecord, kb: KnowledgeBase) -> Iterable[Near]:
    if record.response_decision == Decision.ABSTAIN.value:
        for place in kb.answer_of(record).nearest:
            yield Near(name=place.document_id, href=view_of(place), page=place.page, quote=place.quote)


def view_of(citation: Citation) -> str:
    """The address of the document at the place of a citation; "" for one that is in no source."""
    if citation.start < 0:
        return ""
    return place_of(citation.document_id, citation.document_version, citation.start, citation.end)


def place_of(document_id: str, version: str, start: int, end: int) -> str:
    query = address("/documents/view", id=document_id, version=version, start=start, end=end)
    return f"{query}#here"


def _asked_as(record: AuditRecord) -> str:
    searched = str(record.parameters.get("searched_as", ""))
    return searched if searched != record.user_query else ""


def _placed(text: str, claims: Sequence[tuple[int, Claim]]) -> list[tuple[int, Claim]]:
    """The claims that stand in the shown text, in their order, none over another."""
    found: list[tuple[int, Claim]] = []
    for number, claim in sorted(claims, key=lambda pair: (pair[1].answer_start, -pair[1].answer_end)):
        begins = found[-1][1].answer_end if found else 0
        inside = begins <= claim.answer_start < claim.answer_end <= len(text)
        if claim.shown and inside and text[claim.answer_start : claim.answer_end].strip():
            found.append((number, claim))
    return found


def _parts(text: str, placed: Sequence[tuple[int, Claim]]) -> tuple[Part, ...]:
    parts, at = [], 0
    for number, claim in placed:
        if claim.answer_start > at:
            parts.append(Part(text=text[at : claim.answer_start]))
        located = [citation for citation in claim.citations if citation.start >= 0]
        parts.append(
            Part(
                text=text[claim.answer_start : claim.answer_end],
                number=number,
                state=state_of(claim),
                href=_whole(located),
            )
        )
        at = claim.answer_end
    if at < len(text):
        parts.append(Part(text=text[at:]))
    return tuple(parts)


def _claim(
    number: int,
    claim: Claim,
    today: dict[tuple[str, str, int, int], Today],
    placed: Sequence[tuple[int, Claim]],
) -> ShownClaim:
    failure = claim.verdict.failure
    return ShownClaim(
        number=number,
        text=claim.text,
        state=state_of(claim),
        extra=f" ({failure.value})" if failure else "",
        shown=claim.shown,
        in_text=any(number == one for one, _ in placed),
        reason=claim.verdict.reason,
        sources=tuple(_claim_sources(claim, today)),
        facts=tuple(_facts(claim)),
    )


def _claim_sources(claim: Claim, today: dict[tuple[str, str, int, int], Today]) -> Iterable[ClaimSource]:
    grouped: dict[tuple[str, str, int | None, bool], list[Citation]] = {}
    for one in claim.citations:
        grouped.setdefault((one.document_id, one.document_version, one.page, one.start < 0), []).append(one)
    own = state_of_verdict(claim.verdict).name
    for (document_id, _, page, _), citations in grouped.items():
        found = [state_of_verdict(one.verdict) for one in citations if one.verdict]
        other = next((state for state in found if state.name != own), None)
        outcomes = {today[_place(one)].resolution.value for one in citations if one.start >= 0}
        yield ClaimSource(
            name=document_id,
            href=_whole([one for one in citations if one.start >= 0]),
            page=page,
            quotes=tuple(dict.fromkeys(one.quote for one in citations)),
            state=other,
            today=worst(outcomes),
        )


def _whole(citations: Sequence[Citation]) -> str:
    """The address that shows all of a claim's spans in its first document at once."""
    if not citations:
        return ""
    first = citations[0]
    same = [one for one in citations if one.document_version == first.document_version]
    spans = " ".join(f"{one.start}-{one.end}" for one in same[1:])
    query = address(
        "/documents/view",
        id=first.document_id,
        version=first.document_version,
        start=first.start,
        end=first.end,
        also=spans,
    )
    return f"{query}#here"


def _facts(claim: Claim) -> Iterable[tuple[str, str]]:
    verdict = claim.verdict
    yield "Claim", claim.kind.value
    if claim.reasoning:
        yield "Its reasoning", claim.reasoning
    yield from _verdict_facts(verdict)
    if claim.answers is not None:
        yield "Relevance to the question", f"{claim.answers:.2f}"
    for place, citation in enumerate(claim.citations, 1):
        if citation.verdict is not None:
            words = state_of_verdict(citation.verdict).words
            proof = (
                f", support {citation.verdict.support:.2f}" if citation.verdict.support is not None else ""
            )
            yield (
                f"Citation {place}",
                f"{words}{proof}; {citation.mode}; {citation.verdict.reason}".rstrip("; "),
            )


def _verdict_facts(verdict: Verdict) -> Iterable[tuple[str, str]]:
    if verdict.proof is not None:
        yield "Proof", PROOFS[verdict.proof]
    for name, value in (
        ("Support (threshold 0.5)", verdict.support),
        ("Entailment", verdict.entailment),
        ("Contradiction", verdict.contradiction),
    ):
        if value is not None:
            yield name, f"{value:.2f}"
    yield "Checked by", maker_words(verdict.maker)


def maker_words(maker: Maker) -> str:
    """Who made a number, with the hash and the threshold that it is known by."""
    parts = [maker.name]
    if maker.hash:
        parts.append(maker.hash[:19])
    if maker.threshold is not None:
        parts.append(f"threshold {maker.threshold:.2f}")
    if maker.card:
        parts.append(f"card {maker.card[:19]}")
    return ", ".join(parts)


def _sources(
    numbered: Sequence[tuple[int, Claim]],
    kb: KnowledgeBase,
    today: dict[tuple[str, str, int, int], Today],
) -> Iterable[Source]:
    grouped: dict[tuple[str, str], list[tuple[int, Citation]]] = {}
    for number, claim in numbered:
        for one in claim.citations:
            if one.start >= 0:
                grouped.setdefault((one.document_id, one.document_version), []).append((number, one))
    for (document_id, version), cited in grouped.items():
        first = cited[0][1]
        href = _whole([one for _, one in cited])
        outcomes = {today[_place(one)].resolution.value for _, one in cited}
        try:
            document = kb.document(document_id, version)
        except EvidenceError as error:
            yield Source(title=document_id, href=href, version=version, lost=str(error), today="GONE")
            continue
        yield Source(
            title=title_of(document),
            href=href,
            version=version,
            section=first.section_path or section_at(document, first.start),
            page=first.page,
            published=document.published_at.value if document.published_at else "",
            published_from=document.published_at.origin if document.published_at else "",
            today=worst(outcomes),
            blocks=tuple(excerpts(document, spans_of(cited))),
        )


def title_of(document: Document) -> str:
    return document.title.value if document.title and document.title.value else document.document_id


def spans_of(cited: Iterable[tuple[int, Citation]]) -> list[Span]:
    """One span a place, with the numbers of all the claims that rest on it."""
    found: dict[tuple[int, int], list[int]] = {}
    for number, one in cited:
        numbers = found.setdefault((one.start, one.end), [])
        if number not in numbers:
            numbers.append(number)
    return [Span(start=start, end=end, claims=tuple(numbers)) for (start, end), numbers in found.items()]


def _place(citation: Citation) -> tuple[str, str, int, int]:
    return citation.document_id, citation.document_version, citation.start, citation.end


def worst(outcomes: Iterable[str]) -> str:
    """The name of the resolution that a reader must know first; "" of none."""
    found = set(outcomes)
    return next((name for name in ("GONE", "CHANGED", "MOVED", "SAME") if name in found), "")


def words_of(error: CitewellError) -> tuple[str, str]:
    """What went wrong and what to do."""
    return str(error.args[0]), error.hint
