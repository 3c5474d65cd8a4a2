"""``/``: the question; ``/answers/ID``: an answer at an address of its own, and judgements of it.

The script streams from ``/v1/ask`` and then takes the finished answer from the second address; without it the
form posts, waits, and is led there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Form
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from citewell.core import identity
from citewell.core.access import Role
from citewell.core.errors import CitewellError
from citewell.server.pages.access import Field, Inside, Posting, Reading, Trouble, Visit
from citewell.server.pages.answers import shown
from citewell.server.pages.words import STATES
from citewell.server.problems import looking_up, problem_of
from citewell.server.routes.asking import AskRequest, answered
from citewell.server.site import site

router = APIRouter(include_in_schema=False, route_class=Inside)

WORDS = {state.name: state.words for state in STATES.values()}
"""For the script, which shows claims before their page is there."""
NAMED = 200
"""Documents offered by name in the form."""


@router.get("/")
def ask(reading: Reading, document: str = "", since: str = "", tag: str = "", q: str = "") -> Response:
    return _form(reading, q, {"document": document, "since": since, "tag": tag})


@router.post("/")
async def post_ask(
    posting: Posting,
    question: Field = "",
    session_id: Field = "",
    document: Field = "",
    since: Field = "",
    tag: Field = "",
) -> Response:
    """Without the script: the whole pass, then the answer's own address."""
    narrowing = {"document": document, "since": since, "tag": tag}
    given: dict[str, Any] = {name: value or None for name, value in narrowing.items()}
    asked = AskRequest(question=question, session_id=session_id, **given)
    try:
        here = site(posting.request)
        answer = await answered(here, posting.caller, asked, identity.request_id(), posting.request)
    except CitewellError as error:
        told = problem_of(error).details  # of what failed in our parts its words stay here: they name places
        problem = (told.title, told.hint)
        return await run_in_threadpool(_form, posting, question, narrowing, problem, session_id)
    return RedirectResponse(f"/answers/{answer.request_id}", status_code=303)


@router.get("/answers/{request_id}")
def answer(reading: Reading, request_id: str) -> Response:
    with looking_up():
        record = reading.kb.audit.record(request_id)
    filters = record.parameters.get("filters") or {}
    return reading.page(
        "ask.html",
        words=WORDS,
        answer=shown(
            record, reading.kb, stale=record.confidence_report.card_note if record.confidence_report else ""
        ),
        question="",
        session_id=record.session_id,
        document=filters.get("document_id") or "",
        since=filters.get("since") or "",
        tag=filters.get("tag") or "",
        narrowed=False,
        names=(),
    )


@router.post("/answers/{request_id}/feedback")
def feedback(
    posting: Posting,
    request_id: str,
    signal: Field,
    claim: Annotated[int | None, Form()] = None,
    reason: Field = "",
) -> Response:
    with looking_up():
        posting.kb.seeing.request(request_id)
    meta = {"reason": reason.strip()} if reason.strip() else {}
    posting.kb.feedback(request_id, signal, user=posting.caller.user, claim=claim, meta=meta)
    place = f"claim-{claim}" if claim else "answer"
    return RedirectResponse(f"/answers/{request_id}#{place}", status_code=303)


def _form(
    visit: Visit,
    question: str,
    narrowing: Mapping[str, str],
    problem: Trouble | None = None,
    session_id: str = "",
) -> Response:
    known = visit.kb.documents() if visit.kb.home.is_dir() else []
    kept = [entry for entry in known if entry.state == "indexed"]
    return visit.page(
        "ask.html",
        words=WORDS,
        answer=None,
        question=question,
        session_id=session_id,
        **narrowing,
        narrowed=any(narrowing.values()),
        problem=problem,
        names=[entry.document_id for entry in kept[:NAMED]],
        count=len(kept),
        may_upload=visit.caller.has(Role.CURATOR),
    )
