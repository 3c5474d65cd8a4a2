"""``/``: the question form; ``/answers/ID``: the answer, with progress while it is being made, below the
earlier turns; ``/history``: the reader's questions.

The script posts to ``/v1/ask`` and opens the answer's page at once; without it, the form posts, waits, and is
redirected there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from citewell.audit.question import AuditQuery
from citewell.core import identity
from citewell.core.access import Role
from citewell.core.errors import CitewellError
from citewell.core.records import AuditRecord
from citewell.core.vocabulary import STATES
from citewell.server.pages.access import Field, Posting, Reading, SignedInRoute, Trouble, Visit
from citewell.server.pages.answers import outdated, show_answer
from citewell.server.pages.rendering import address
from citewell.server.problems import Problem, looking_up, not_found, problem_of
from citewell.server.routes.asking import AskRequest, find_stream, run_answer
from citewell.server.site import site
from citewell.server.streams import Stream

router = APIRouter(include_in_schema=False, route_class=SignedInRoute)

WORDS = {state.name: state.words for state in STATES.values()}
"""Labels for the script, which shows claims before the page has them."""
NAMED = 200
"""Maximum documents offered by name in the form."""
PAST, TURNS = 30, 10
"""Questions per page of the history; earlier turns shown of a conversation."""


def typed(session_id: Field = "", document: Field = "", since: Field = "", tag: Field = "") -> dict[str, Any]:
    """The other fields of the form, without those left empty."""
    fields = {"session_id": session_id, "document": document, "since": since, "tag": tag}
    return {name: value for name, value in fields.items() if value}


@router.get("/")
def ask(
    reading: Reading, document: str = "", since: str = "", tag: str = "", q: str = "", session_id: str = ""
) -> Response:
    return _form(reading, q, typed(session_id, document, since, tag))


@router.post("/")
async def post_ask(
    posting: Posting, fields: Annotated[dict[str, Any], Depends(typed)], question: Field = ""
) -> Response:
    """Without the script: answers the question, then redirects to the answer."""
    asked = AskRequest(question=question, **fields)
    try:
        here = site(posting.request)
        answer = await run_answer(here, posting.caller, asked, identity.request_id(), posting.request)
    except CitewellError as error:
        told = problem_of(error).details  # messages about internal failures are withheld: they name paths
        problem = (told.title, told.hint)
        return await run_in_threadpool(_form, posting, question, fields, problem)
    return RedirectResponse(f"/answers/{answer.request_id}", status_code=303)


@router.get("/answers/{request_id}")
def answer(reading: Reading, request_id: str) -> Response:
    try:
        with looking_up():
            record = reading.kb.audit.record(request_id)
    except Problem:
        return _live(reading, request_id)
    filters = record.parameters.get("filters") or {}
    return _page(
        reading,
        record.session_id,
        before=record.timestamp,
        answer=show_answer(record, reading.kb, said=reading.kb.said_of(request_id)),
        document=filters.get("document_id") or "",
        since=filters.get("since") or "",
        tag=filters.get("tag") or "",
    )


def _live(visit: Visit, request_id: str) -> Response:
    """The page of an answer in progress. Raises Problem 404 if there is none for this reader."""
    found = find_stream(site(visit.request), visit.caller, request_id)
    if found is None:
        raise not_found()
    if isinstance(found, Stream) and found.ended_at is not None:
        raise Problem(503, "this question could not be answered", hint="ask it again")
    return _page(visit, found.session_id, live=found)


def _turns(visit: Visit, session_id: str, before: str = "") -> list[AuditRecord]:
    """The turns of a conversation that the reader may see, oldest first."""
    if not session_id:
        return []
    query = AuditQuery(session=session_id, until=before, limit=TURNS)
    return [one for one in reversed(visit.kb.audit.query(query).records) if one.response_decision]


def _page(visit: Visit, session_id: str, before: str = "", **values: Any) -> Response:
    """The page below the turns of its session, those ``before`` that time."""
    empty: dict[str, Any] = {"answer": None, "live": None, "narrowed": False, "names": ()}
    empty |= dict.fromkeys(("question", "document", "since", "tag"), "")
    turns = _turns(visit, session_id, before)
    values |= {"session_id": session_id, "turns": turns, "outdated": outdated(turns, visit.kb)}
    return visit.page("ask.html", words=WORDS, **(empty | values))


@router.post("/answers/{request_id}/cancel")
def cancel(posting: Posting, request_id: str) -> Response:
    """Ends the request at its next stage; its outcome is sealed."""
    found = site(posting.request).streams.get(request_id, posting.caller)
    if found is None:
        raise not_found()
    found.deadline.left.set()
    return RedirectResponse(f"/answers/{request_id}", status_code=303)


@router.get("/history")
def history(reading: Reading, q: str = "", cursor: str = "") -> Response:
    found = reading.kb.audit.query(AuditQuery(user=reading.caller.user, limit=PAST, cursor=cursor))
    words = q.casefold().split()
    records = [one for one in found.records if all(word in one.user_query.casefold() for word in words)]
    return reading.page(
        "history.html",
        records=records,
        outdated=outdated(records, reading.kb),
        q=q,
        following=address("/history", q=q, cursor=found.next) if found.next else "",
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
        posting.kb.visibility.request(request_id)
    meta = {"reason": reason.strip()} if reason.strip() else {}
    posting.kb.feedback(request_id, signal, user=posting.caller.user, claim=claim, meta=meta)
    place = f"claim-{claim}" if claim else "answer"
    return RedirectResponse(f"/answers/{request_id}#{place}", status_code=303)


def _form(visit: Visit, question: str, fields: Mapping[str, str], problem: Trouble | None = None) -> Response:
    known = visit.kb.documents() if visit.kb.home.is_dir() else []
    kept = [entry for entry in known if entry.state == "indexed"]
    narrowing = {name: value for name, value in fields.items() if name != "session_id"}
    return _page(
        visit,
        fields.get("session_id", ""),
        question=question,
        **narrowing,
        narrowed=bool(narrowing),
        names=[entry.document_id for entry in kept[:NAMED]],
        problem=problem,
        count=len(kept),
        may_upload=visit.caller.has(Role.CURATOR),
    )
