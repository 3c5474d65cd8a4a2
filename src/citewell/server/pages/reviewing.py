"""``/review``: answers that failed or were flagged, in groups; each becomes a case with its right words, or
is dismissed with a reason. ``/spot-check``: claims judged by people who do not see the verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Form
from starlette.responses import RedirectResponse, Response

from citewell.core.access import Role
from citewell.core.errors import CitewellError, EvidenceError, UsageError
from citewell.core.records import AuditRecord, CaseSpan, Passage, Record
from citewell.evaluation import sampling
from citewell.knowledge.feedback.queue import Group
from citewell.server.pages.answers import shown, title_of, words_of
from citewell.server.pages.here import Here, Inside, Posting, Reading
from citewell.server.pages.marking import Block, Span, blocks
from citewell.server.pages.rendering import REVIEWING, address, page
from citewell.server.problems import looking_up

router = APIRouter(include_in_schema=False, route_class=Inside)

BY = {"cause": "What happened", "topic": "Topic", "document": "Document"}
STATES = ("open", "accepted", "dismissed", "all")
JUDGEMENTS = {
    "supported": "The source says it",
    "partly": "The source says part of it",
    "not": "The source does not say it",
    "cannot tell": "I cannot tell",
}


class Pattern(Record, frozen=True, kw_only=True):
    """``n`` answers that share ``name``; ``stages`` counts which of them failed where."""

    name: str
    n: int
    stages: dict[str, int]


@router.get("/review")
def review(
    reading: Reading,
    by: str = "cause",
    state: str = "open",
    cause: str = "",
    topic: str = "",
    document: str = "",
    cursor: str = "",
) -> Response:
    reading.need(*REVIEWING)
    narrowed = {"cause": cause, "topic": topic, "document": document}
    groups = (
        _causes(reading.kb.review.groups(by=by, state=state))
        if by == "cause"
        else [
            Pattern(name=one.name, n=one.n, stages=one.stages)
            for one in reading.kb.review.groups(by=by, state=state)
        ]
    )
    found = reading.kb.review.queue(state=state, cursor=cursor, cause=cause, topic=topic, document=document)
    return page(
        reading.request,
        "review.html",
        caller=reading.caller,
        by=by,
        ways={name: (words, address("/review", by=name, state=state)) for name, words in BY.items()},
        state=state,
        states={name: address("/review", by=by, state=name) for name in STATES},
        groups=[(one, address("/review", by=by, state=state, **{by: one.name})) for one in groups],
        narrowed=next((value for value in narrowed.values() if value), ""),
        whole=address("/review", by=by, state=state),
        found=found,
        following=address("/review", by=by, state=state, **narrowed, cursor=found.next) if found.next else "",
        may_check=reading.caller.has(Role.AUDITOR),
    )


def _causes(groups: Sequence[Group]) -> list[Pattern]:
    """One pattern a cause: the queue has a group for each stage it failed at."""
    stages: dict[str, Counter[str]] = {}
    for one in groups:
        stages.setdefault(one.name.rpartition(", ")[0], Counter()).update(one.stages)
    found = [Pattern(name=name, n=counts.total(), stages=dict(counts)) for name, counts in stages.items()]
    return sorted(found, key=lambda one: (-one.n, one.name))


class Offered(Record, frozen=True, kw_only=True):
    """A passage to take words from."""

    title: str
    document_id: str
    href: str
    used: bool
    relevance: float | None
    blocks: tuple[Block, ...]


@router.get("/review/{request_id}")
def one(reading: Reading, request_id: str) -> Response:
    reading.need(*REVIEWING)
    return _one(reading, request_id)


@router.post("/review/{request_id}/accept")
def accept(
    posting: Posting,
    request_id: str,
    expected: Annotated[str, Form()] = "",
    document: Annotated[Sequence[str], Form()] = (),
    quote: Annotated[Sequence[str], Form()] = (),
    abstain: Annotated[str, Form()] = "",
    question: Annotated[str, Form()] = "",
    tags: Annotated[str, Form()] = "",
) -> Response:
    """A canary case: the question, what is right, and the words that say so."""
    posting.need(*REVIEWING)
    pairs = zip(document, quote, strict=False)
    spans = [CaseSpan(document=a.strip(), quote=b.strip()) for a, b in pairs if b.strip()]
    try:
        posting.kb.review.accept(
            request_id,
            reviewer=posting.caller.user,
            question=question.strip(),
            expected=expected.strip(),
            spans=[] if abstain.strip() else spans,
            abstain=abstain.strip(),
            tags=tags.split(),
        )
    except (UsageError, EvidenceError) as error:
        return _one(posting, request_id, words_of(error), (*spans,), expected)
    return RedirectResponse(f"/review/{request_id}", status_code=303)


@router.post("/review/{request_id}/dismiss")
def dismiss(posting: Posting, request_id: str, reason: Annotated[str, Form()] = "") -> Response:
    posting.need(*REVIEWING)
    try:
        posting.kb.review.dismiss(request_id, reviewer=posting.caller.user, reason=reason)
    except UsageError as error:
        return _one(posting, request_id, words_of(error))
    return RedirectResponse("/review", status_code=303)


def _one(
    reading: Here,
    request_id: str,
    problem: tuple[str, str] | None = None,
    spans: tuple[CaseSpan, ...] = (),
    expected: str = "",
) -> Response:
    with looking_up():
        found = reading.kb.review.show(request_id)
    answer = shown(found.record, reading.kb)
    cited = tuple(
        CaseSpan(document=citation.document_id, quote=citation.quote)
        for claim in found.record.claims
        for citation in claim.citations
        if citation.start >= 0
    )
    offered, lacking = _offered(reading, found.record)
    return page(
        reading.request,
        "case.html",
        status=400 if problem else 200,
        caller=reading.caller,
        item=found.item,
        record=found.record,
        case=found.case,
        answer=answer,
        offered=offered,
        lacking=lacking,
        may_read=reading.kb.seeing.record(found.record),
        spans=spans or (found.case.spans if found.case else tuple(dict.fromkeys(cited))),
        expected=expected or (found.case.expected if found.case else ""),
        problem=problem,
    )


def _offered(reading: Here, record: AuditRecord) -> tuple[list[Offered], str]:
    """What was retrieved, used or rejected, as its document prints it; or why there is nothing of it."""
    if not record.retrieval_results:
        return [], "Nothing was retrieved."
    try:
        passages = reading.kb.answer_of(record).passages
    except CitewellError as error:
        return [], f"{words_of(error)[0]}."
    offered = [found for passage in passages if (found := _passage(reading, passage)) is not None]
    return offered, "" if offered else "The index version behind this answer is no longer kept."


def _passage(reading: Here, passage: Passage) -> Offered | None:
    chunk = passage.chunk
    try:
        document = reading.kb.document(chunk.document_id, chunk.document_version)
    except EvidenceError:
        return None
    href = address(
        "/documents/view",
        id=chunk.document_id,
        version=chunk.document_version,
        start=chunk.start_offset,
        end=chunk.end_offset,
    )
    nothing: list[Span] = []
    return Offered(
        title=title_of(document),
        document_id=chunk.document_id,
        href=f"{href}#here",
        used=passage.used,
        relevance=passage.relevance,
        blocks=tuple(blocks(document, chunk.start_offset, chunk.end_offset, nothing)),
    )


# --- spot checks ---------------------------------------------------------------------------------------


@router.get("/spot-check")
def spot_checks(reading: Reading) -> Response:
    reading.need(Role.AUDITOR)
    drawn = sampling.samples(reading.kb)
    return page(
        reading.request,
        "spotcheck.html",
        caller=reading.caller,
        drawn=drawn,
        sample=None,
        item=None,
        agreement=sampling.agreement(reading.kb) if drawn else None,
        judgements=JUDGEMENTS,
        done=0,
    )


@router.post("/spot-check")
def draw(
    posting: Posting,
    since: Annotated[str, Form()] = "30d",
    n: Annotated[int, Form()] = 50,
) -> Response:
    posting.need(Role.AUDITOR)
    sample = sampling.draw(posting.kb, since=since, n=n)
    return RedirectResponse(f"/spot-check/{sample.sample_id}", status_code=303)


@router.get("/spot-check/{sample_id}")
def spot_check(reading: Reading, sample_id: str) -> Response:
    """The first claim of the sample that nobody has judged."""
    reading.need(Role.AUDITOR)
    with looking_up():
        sample = sampling.open_sample(reading.kb, sample_id)
    item = next((one for one in sample.items if not one.answered), None)
    return page(
        reading.request,
        "spotcheck.html",
        caller=reading.caller,
        drawn=(),
        sample=sample,
        item=item,
        agreement=None if item else sampling.agreement(reading.kb, sample_id=sample_id),
        judgements=JUDGEMENTS,
        done=sum(1 for one in sample.items if one.answered),
    )


@router.post("/spot-check/{sample_id}")
def judge(
    posting: Posting, sample_id: str, item_id: Annotated[str, Form()], answer: Annotated[str, Form()]
) -> Response:
    posting.need(Role.AUDITOR)
    sampling.record_label(posting.kb, sample_id, item_id, answer, by=posting.caller.user)
    return RedirectResponse(f"/spot-check/{sample_id}", status_code=303)
