"""``/``: the question; ``/answers/ID``: an answer at an address of its own, and judgements of it.

The script streams from ``/v1/ask`` and then takes the finished answer from the second address; without it the
form posts, waits, and is led there.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from citewell.core import identity
from citewell.core.access import Role
from citewell.core.errors import CitewellError
from citewell.core.records import Record
from citewell.server.asking import AskRequest, answered
from citewell.server.pages.answers import shown
from citewell.server.pages.here import Here, Inside, Posting, Reading
from citewell.server.pages.rendering import page
from citewell.server.problems import looking_up, problem_of
from citewell.server.site import site
from citewell.verification.confidence.cards import STALE

router = APIRouter(include_in_schema=False, route_class=Inside)

NAMED = 200
"""Documents offered by name in the form."""


class Asked(Record, frozen=True, kw_only=True):
    """What narrows a question."""

    document: str = ""
    since: str = ""
    tag: str = ""


class Trouble(Record, frozen=True, kw_only=True):
    title: str
    hint: str


@router.get("/")
def ask(reading: Reading, document: str = "", since: str = "", tag: str = "", q: str = "") -> Response:
    return _form(reading, q, Asked(document=document, since=since, tag=tag))


@router.post("/")
async def post_ask(
    posting: Posting,
    question: Annotated[str, Form()] = "",
    session_id: Annotated[str, Form()] = "",
    document: Annotated[str, Form()] = "",
    since: Annotated[str, Form()] = "",
    tag: Annotated[str, Form()] = "",
) -> Response:
    """Without the script: the whole pass, then the answer's own address."""
    asked = Asked(document=document, since=since, tag=tag)
    try:
        put = AskRequest(
            question=question,
            session_id=session_id,
            document=document or None,
            since=since or None,
            tag=tag or None,
        )
        here = site(posting.request)
        answer = await answered(here, posting.caller, put, identity.request_id(), posting.request)
    except CitewellError as error:
        told = problem_of(error).details  # of what failed in our parts its words stay here: they name places
        trouble = Trouble(title=told.title, hint=told.hint)
        return await run_in_threadpool(_form, posting, question, asked, trouble, session_id)
    return RedirectResponse(f"/answers/{answer.request_id}", status_code=303)


@router.get("/answers/{request_id}")
def answer(reading: Reading, request_id: str) -> Response:
    with looking_up():
        record = reading.kb.audit.record(request_id)
    stale = next((note for note in record.notes if STALE in note), "")
    filters = record.parameters.get("filters") or {}
    return page(
        reading.request,
        "ask.html",
        caller=reading.caller,
        answer=shown(record, reading.kb, stale=stale),
        question="",
        session_id=record.session_id,
        asked=Asked(
            document=filters.get("document_id") or "",
            since=filters.get("since") or "",
            tag=filters.get("tag") or "",
        ),
        narrowed=False,
        problem=None,
        names=(),
        count=0,
        may_upload=False,
    )


@router.post("/answers/{request_id}/feedback")
def feedback(
    posting: Posting,
    request_id: str,
    signal: Annotated[str, Form()],
    claim: Annotated[int | None, Form()] = None,
    reason: Annotated[str, Form()] = "",
) -> Response:
    with looking_up():
        posting.kb.seeing.request(request_id)
    posting.kb.feedback(
        request_id,
        signal,
        user=posting.caller.user,
        claim=claim,
        meta={"reason": reason.strip()} if reason.strip() else {},
    )
    place = f"claim-{claim}" if claim else "answer"
    return RedirectResponse(f"/answers/{request_id}#{place}", status_code=303)


def _form(
    reading: Here, question: str, asked: Asked, trouble: Trouble | None = None, session_id: str = ""
) -> Response:
    known = reading.kb.documents() if reading.kb.home.is_dir() else []
    kept = [entry for entry in known if entry.state == "indexed"]
    return page(
        reading.request,
        "ask.html",
        status=400 if trouble else 200,
        caller=reading.caller,
        answer=None,
        question=question,
        session_id=session_id,
        asked=asked,
        narrowed=any((asked.document, asked.since, asked.tag)),
        problem=trouble,
        names=[entry.document_id for entry in kept[:NAMED]],
        count=len(kept),
        may_upload=reading.caller.has(Role.CURATOR),
    )
