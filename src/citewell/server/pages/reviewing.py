"""``/review``: failed or flagged answers, in groups; each becomes a case with the right spans, or is
dismissed with a reason. ``/spot-check``: people judge claims without seeing the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Form
from starlette.responses import RedirectResponse, Response

from citewell.core.access import Role
from citewell.core.errors import EvidenceError, UsageError
from citewell.core.records import CaseSpan
from citewell.evaluation import sampling
from citewell.knowledge.feedback.store import DISMISSED
from citewell.knowledge.reviewing import MOST
from citewell.server.pages.access import Field, Posting, Reading, SignedInRoute, Trouble, Visit, trouble_of
from citewell.server.pages.answers import passages_read, show_answer
from citewell.server.pages.rendering import REVIEWING, address
from citewell.server.problems import looking_up
from citewell.server.site import site

router = APIRouter(include_in_schema=False, route_class=SignedInRoute)

BY = {"cause": "What happened", "document": "Document"}
STATES = ("open", "accepted", "dismissed", "all")
JUDGEMENTS = {
    "supported": "The source says it",
    "partly": "The source says part of it",
    "not": "The source does not say it",
    "cannot tell": "I cannot tell",
}


@router.get("/review")
def review(
    reading: Reading,
    by: str = "cause",
    state: str = "open",
    cause: str = "",
    document: str = "",
    cursor: str = "",
    done: str = "",
) -> Response:
    """``done``: the answers just dismissed together, for which undo is offered."""
    reading.need(*REVIEWING)
    narrowed = {"cause": cause, "document": document}
    groups = reading.kb.review.groups(by=by, state=state)
    found = reading.kb.review.queue(state=state, cursor=cursor, cause=cause, document=document)
    whole: dict[str, Any] = {"by": by, "state": state}
    return reading.page(
        "review.html",
        by=by,
        ways={name: (words, address("/review", by=name, state=state)) for name, words in BY.items()},
        state=state,
        states={name: address("/review", by=by, state=name) for name in STATES},
        groups=[(one, address("/review", **whole, **{by: one.name})) for one in groups],
        narrowed=next((value for value in narrowed.values() if value), ""),
        whole=address("/review", **whole),
        found=found,
        following=address("/review", **whole, **narrowed, cursor=found.next) if found.next else "",
        may_check=reading.caller.has(Role.AUDITOR),
        undo=_dismissed(reading, done.split()),
    )


def _dismissed(visit: Visit, requests: Sequence[str]) -> list[str]:
    if not requests:
        return []
    dismissed = visit.kb.review.queue(state=DISMISSED, limit=MOST).items
    return [item.request_id for item in dismissed if item.request_id in requests]


@router.post("/review/dismiss")
def dismiss_many(
    posting: Posting, chosen: Annotated[Sequence[str], Form()] = (), reason: Field = "", state: Field = "open"
) -> Response:
    posting.need(*REVIEWING)
    with looking_up():
        for request_id in chosen:
            posting.kb.review.dismiss(request_id, reviewer=posting.caller.user, reason=reason)
    return RedirectResponse(address("/review", state=state, done=" ".join(chosen)), status_code=303)


@router.post("/review/reopen")
def reopen_many(posting: Posting, chosen: Annotated[Sequence[str], Form()] = ()) -> Response:
    posting.need(*REVIEWING)
    with looking_up():
        for request_id in chosen:
            posting.kb.review.reopen(request_id, reviewer=posting.caller.user)
    return RedirectResponse("/review", status_code=303)


@router.get("/review/{request_id}")
def one(reading: Reading, request_id: str, done: str = "") -> Response:
    reading.need(*REVIEWING)
    return _one(reading, request_id, done=done)


@router.post("/review/{request_id}/accept")
def accept(
    posting: Posting,
    request_id: str,
    expected: Field = "",
    document: Annotated[Sequence[str], Form()] = (),
    quote: Annotated[Sequence[str], Form()] = (),
    picked: Annotated[Sequence[str], Form()] = (),
    abstain: Field = "",
    question: Field = "",
) -> Response:
    """Makes a case: the question, the right answer, and its supporting quotes, typed or selected, or
    sentences ``picked``, as ``START-END VERSION DOCUMENT``."""
    posting.need(*REVIEWING)
    following = _following(posting, request_id)
    pairs = zip(document, quote, strict=False)
    spans = [CaseSpan(document=a.strip(), quote=b.strip()) for a, b in pairs if b.strip()]
    spans += [span for one in picked if (span := _picked(posting, one)) is not None]
    try:
        if not (spans or abstain.strip()):
            raise UsageError(
                "no words were chosen",
                hint="choose the words that support the answer, or say why there is none",
            )
        posting.kb.review.accept(
            request_id,
            reviewer=posting.caller.user,
            question=question.strip(),
            expected=expected.strip(),
            spans=[] if abstain.strip() else spans,
            abstain=abstain.strip(),
        )
    except (UsageError, EvidenceError) as error:
        return _one(posting, request_id, trouble_of(error), spans, expected)
    return _onwards(following, request_id)


def _picked(visit: Visit, written: str) -> CaseSpan | None:
    """The picked span; None for malformed input."""
    place, _, rest = written.partition(" ")
    version, _, document_id = rest.partition(" ")
    start, _, end = place.partition("-")
    if not (start.isdecimal() and end.isdecimal()) or len(place) > 40:  # int() refuses thousands of digits
        return None
    text = visit.kb.document(document_id, version).text
    return CaseSpan(document=document_id, quote=text[int(start) : int(end)])


@router.post("/review/{request_id}/dismiss")
def dismiss(posting: Posting, request_id: str, reason: Field = "") -> Response:
    posting.need(*REVIEWING)
    following = _following(posting, request_id)
    try:
        posting.kb.review.dismiss(request_id, reviewer=posting.caller.user, reason=reason)
    except UsageError as error:
        return _one(posting, request_id, trouble_of(error))
    return _onwards(following, request_id)


@router.post("/review/{request_id}/reopen")
def reopen(posting: Posting, request_id: str) -> Response:
    posting.need(*REVIEWING)
    with looking_up():
        posting.kb.review.reopen(request_id, reviewer=posting.caller.user)
    return RedirectResponse(f"/review/{request_id}", status_code=303)


def _waiting(visit: Visit) -> list[str]:
    return [item.request_id for item in visit.kb.review.queue(limit=MOST).items]


def _following(visit: Visit, request_id: str) -> str:
    """The open answer after this one, from the last on to the newest; "" if there is no other."""
    waiting = _waiting(visit)
    at = waiting.index(request_id) if request_id in waiting else -1
    return next(iter([*waiting[at + 1 :], *waiting[: max(at, 0)]]), "")


def _onwards(following: str, done: str) -> Response:
    """Redirects to the next open answer, with a link to undo the last decision, else to the queue."""
    to = address(f"/review/{following}", done=done) if following else "/review"
    return RedirectResponse(to, status_code=303)


def _one(
    visit: Visit,
    request_id: str,
    problem: Trouble | None = None,
    spans: Sequence[CaseSpan] = (),
    expected: str = "",
    done: str = "",
) -> Response:
    with looking_up():
        found = visit.kb.review.show(request_id)
        undo = visit.kb.review.show(done).item if done else None
    waiting = _waiting(visit)
    at = waiting.index(request_id) if request_id in waiting else -1
    return visit.page(
        "case.html",
        problem=problem,
        item=found.item,
        case=found.case,
        undo=undo,
        place=at + 1,
        waiting=len(waiting),
        before=waiting[at - 1] if at > 0 else "",
        after=waiting[at + 1] if 0 <= at + 1 < len(waiting) else "",
        answer=show_answer(found.record, visit.kb),
        offered=passages_read(found.record, visit.kb, sentences=True),
        may_read=visit.kb.visibility.record(found.record),
        spans=spans or (found.case.spans if found.case else ()),
        expected=expected or (found.case.expected if found.case else ""),
    )


# --- spot checks ---------------------------------------------------------------------------------------


@router.get("/spot-check")
def spot_checks(reading: Reading) -> Response:
    reading.need(Role.AUDITOR)
    drawn = sampling.samples(reading.kb)
    agreement = sampling.agreement(reading.kb) if drawn else None
    return reading.page("spotcheck.html", drawn=drawn, sample=None, item=None, agreement=agreement)


@router.post("/spot-check")
async def draw(posting: Posting, since: Field = "30d", n: Annotated[int, Form()] = 50) -> Response:
    posting.need(Role.AUDITOR)
    here, drawing = site(posting.request), partial(sampling.draw, posting.kb, since=since, n=n)
    sample = await here.reading(posting.request, posting.caller, drawing)
    return RedirectResponse(f"/spot-check/{sample.sample_id}", status_code=303)


@router.get("/spot-check/{sample_id}")
def spot_check(reading: Reading, sample_id: str) -> Response:
    """The first claim of the sample that the reader has not judged."""
    reading.need(Role.AUDITOR)
    with looking_up():
        sample = sampling.open_sample(reading.kb, sample_id)
    left = [one for one in sample.items if not one.answered]
    return reading.page(
        "spotcheck.html",
        sample=sample,
        item=left[0] if left else None,
        agreement=None if left else sampling.agreement(reading.kb, sample_id=sample_id),
        judgements=JUDGEMENTS,
        done=len(sample.items) - len(left),
    )


@router.post("/spot-check/{sample_id}")
def judge(posting: Posting, sample_id: str, item_id: Field, answer: Field) -> Response:
    posting.need(Role.AUDITOR)
    sampling.record_label(posting.kb, sample_id, item_id, answer, by=posting.caller.user)
    return RedirectResponse(f"/spot-check/{sample_id}", status_code=303)
