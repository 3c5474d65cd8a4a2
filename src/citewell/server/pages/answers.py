"""A record of an answer as the page shows it: text with its claims in place, each with sources and checks.

In: an AuditRecord, and the knowledge base as its reader may see it. Out: values for ``_answer.html``. What is
in no claim was checked by nobody, and is shown apart from claims. Knows nothing about requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from citewell.core.errors import EvidenceError
from citewell.core.records import AuditRecord, Citation, Claim, Decision, Document
from citewell.knowledge.home import KnowledgeBase
from citewell.knowledge.revisiting.rechecking import Today
from citewell.server.pages.marking import Block, Span, excerpts, section_at
from citewell.server.pages.rendering import place_of
from citewell.server.pages.words import Bar, State, bars, state_of, state_of_verdict

Place = tuple[str, str, int, int]
"""Document id, version, start, end of a citation."""
Numbered = Sequence[tuple[int, Claim]]
"""Claims with their numbers, from 1."""


class Part(NamedTuple):
    """A stretch of the shown text; ``number`` is 0 where no claim stands."""

    text: str
    number: int = 0
    state: State | None = None
    href: str = ""


class ClaimSource(NamedTuple):
    """The citations of one claim in one place. ``state`` is said where it is not the claim's own; ``today``
    is what became of the place since."""

    name: str
    href: str
    page: int | None
    quotes: tuple[str, ...]
    state: State | None
    today: str


class ShownClaim(NamedTuple):
    number: int
    claim: Claim
    state: State
    in_text: bool
    sources: list[ClaimSource]


class Source(NamedTuple):
    """One cited document version with the lines that were cited; ``lost`` says why there are none."""

    title: str
    href: str
    first: Citation
    today: str
    document: Document | None = None
    section: tuple[str, ...] = ()
    blocks: Sequence[Block] = ()
    lost: str = ""


class ShownAnswer(NamedTuple):
    record: AuditRecord
    asked_as: str
    stale: str
    parts: list[Part]
    claims: list[ShownClaim]
    sources: list[Source]
    nearest: tuple[Citation, ...]
    bars: tuple[Bar, ...]


def shown(record: AuditRecord, kb: KnowledgeBase, *, stale: str = "") -> ShownAnswer:
    """``kb`` is the reader's, who may see the record and so each of its documents."""
    numbered = list(enumerate(record.claims, 1))
    cited = [one for claim in record.claims for one in _located(claim.citations)]
    today = dict(zip(map(_place, cited), kb.audit.resolve(cited), strict=True))
    placed = _placed(record.shown_response, numbered)
    searched_as = str(record.parameters.get("searched_as", ""))
    abstained = record.response_decision == Decision.ABSTAIN.value
    return ShownAnswer(
        record=record,
        asked_as=searched_as if searched_as != record.user_query else "",
        stale=stale,
        parts=list(_parts(record.shown_response, placed)),
        claims=[
            ShownClaim(
                number, claim, state_of(claim), (number, claim) in placed, list(_claim_sources(claim, today))
            )
            for number, claim in numbered
        ],
        sources=list(_sources(numbered, kb, today)),
        nearest=kb.answer_of(record).nearest if abstained else (),
        bars=bars(record.confidence_report),
    )


def _placed(text: str, claims: Numbered) -> list[tuple[int, Claim]]:
    """The claims that stand in the shown text, in their order, none over another."""
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
        href = _whole(_located(claim.citations))
        yield Part(text[start:end], number, state_of(claim), href)
        at = end
    if at < len(text):
        yield Part(text[at:])


def _claim_sources(claim: Claim, today: dict[Place, Today]) -> Iterable[ClaimSource]:
    grouped: dict[tuple[str, str, int | None, bool], list[Citation]] = {}
    for one in claim.citations:
        grouped.setdefault((one.document_id, one.document_version, one.page, one.start < 0), []).append(one)
    own = state_of_verdict(claim.verdict)
    for (document_id, _, page, _), citations in grouped.items():
        located = _located(citations)
        states = [state_of_verdict(one.verdict) for one in citations if one.verdict]
        yield ClaimSource(
            name=document_id,
            href=_whole(located),
            page=page,
            quotes=tuple(dict.fromkeys(one.quote for one in citations)),
            state=next((state for state in states if state != own), None),
            today=worst(today[_place(one)] for one in located),
        )


def _sources(numbered: Numbered, kb: KnowledgeBase, today: dict[Place, Today]) -> Iterable[Source]:
    grouped: dict[tuple[str, str], list[tuple[int, Citation]]] = {}
    for number, claim in numbered:
        for one in _located(claim.citations):
            grouped.setdefault((one.document_id, one.document_version), []).append((number, one))
    for (document_id, version), cited in grouped.items():
        first = cited[0][1]
        href = _whole([one for _, one in cited])
        try:
            document = kb.document(document_id, version)
        except EvidenceError as error:
            yield Source(title=document_id, href=href, first=first, today="GONE", lost=str(error))
            continue
        yield Source(
            title=title_of(document),
            href=href,
            first=first,
            today=worst(today[_place(one)] for _, one in cited),
            document=document,
            section=first.section_path or section_at(document, first.start),
            blocks=excerpts(document, _spans_of(cited)),
        )


def title_of(document: Document) -> str:
    return document.title.value if document.title and document.title.value else document.document_id


def worst(resolved: Iterable[Today]) -> str:
    """The name of the resolution that a reader must know first; "" of none."""
    found = {one.resolution.value for one in resolved}
    return next((name for name in ("GONE", "CHANGED", "MOVED", "SAME") if name in found), "")


def _spans_of(cited: Iterable[tuple[int, Citation]]) -> list[Span]:
    """One span a place, with the numbers of all the claims that rest on it."""
    found: dict[tuple[int, int], dict[int, None]] = {}
    for number, one in cited:
        found.setdefault((one.start, one.end), {})[number] = None
    return [Span(start=start, end=end, claims=tuple(numbers)) for (start, end), numbers in found.items()]


def _whole(citations: Sequence[Citation]) -> str:
    """The address that shows all of a claim's spans in its first document at once."""
    if not citations:
        return ""
    first = citations[0]
    same = [one for one in citations if one.document_version == first.document_version]
    also = " ".join(f"{one.start}-{one.end}" for one in same[1:])
    return place_of(first.document_id, first.document_version, first.start, first.end, also)


def _located(citations: Iterable[Citation]) -> list[Citation]:
    """Those that stand in a source."""
    return [one for one in citations if one.start >= 0]


def _place(citation: Citation) -> Place:
    return citation.document_id, citation.document_version, citation.start, citation.end
