"""Past answers, ``/v1/answers``; their traces, ``/v1/traces``; and feedback on them, ``/v1/feedback``."""

from __future__ import annotations

from typing import Annotated

import msgspec
from fastapi import APIRouter, Depends
from starlette.responses import Response

from citewell.audit.receipts import Receipt, receipt_bytes
from citewell.core.access import Caller
from citewell.core.records import Answer, Record, Trace
from citewell.knowledge.feedback import Feedback
from citewell.server.identity import require
from citewell.server.keys import Scope
from citewell.server.problems import looking_up, not_found
from citewell.server.shapes import JSON, body_of, described, query_of, reply
from citewell.server.site import DeadlineRoute, Here

router = APIRouter(prefix="/v1", tags=["answers"], route_class=DeadlineRoute)

Reader = Annotated[Caller, Depends(require(scope=Scope.READ))]


@router.get("/answers/{request_id}", **described(Answer, "The answer as it was given, read from its record"))
def answer(request_id: str, caller: Reader, here: Here) -> Response:
    """Passages as far as the index version that it was answered on is kept."""
    with looking_up():
        return reply(here.kb.as_(caller).answer(request_id))


class ReceiptOptions(Record, frozen=True, kw_only=True):
    """``with_user`` opens who asked; ``hashes_only`` opens nothing."""

    with_user: bool = False
    hashes_only: bool = False


@router.get(
    "/answers/{request_id}/receipt",
    **described(Receipt, "The proof as one file: `citewell receipt check FILE`", query=ReceiptOptions),
)
def receipt(
    request_id: str, caller: Reader, here: Here, options: ReceiptOptions = query_of(ReceiptOptions)
) -> Response:
    """The same bytes as ``citewell audit receipt``."""
    with looking_up():
        made = here.kb.as_(caller).audit.receipt(
            request_id, with_user=options.with_user, hashes_only=options.hashes_only, reader=caller.user
        )
    name = f'attachment; filename="{made.answer["request_id"]}.receipt.json"'
    return Response(receipt_bytes(made), media_type=JSON, headers={"Content-Disposition": name})


class Traces(Record, frozen=True, kw_only=True):
    traces: tuple[Trace, ...]


@router.get("/traces/{session_id}", **described(Traces, "What happened in each request of a session"))
def traces(session_id: str, caller: Reader, here: Here) -> Response:
    """Oldest first. A session of somebody else is one that is not there."""
    found = here.kb.as_(caller).trace(session_id)
    if not found:
        raise not_found()
    return reply(Traces(traces=tuple(found)))


class FeedbackRequest(Record, frozen=True, kw_only=True):
    """``signal`` as in :class:`citewell.knowledge.feedback.Signal`; ``claim`` counts from 1."""

    request_id: str
    signal: str
    claim: Annotated[int, msgspec.Meta(ge=1, le=10_000)] | None = None
    meta: dict[str, str] = {}


@router.post("/feedback", **described(Feedback, "What was kept", body=FeedbackRequest))
def feedback(
    caller: Annotated[Caller, Depends(require(scope=Scope.FEEDBACK))],
    here: Here,
    said: FeedbackRequest = body_of(FeedbackRequest),
) -> Response:
    """What somebody did with an answer that they may see."""
    kb = here.kb.as_(caller)
    with looking_up():
        kb.visibility.request(said.request_id)
    return reply(
        kb.feedback(said.request_id, said.signal, user=caller.user, claim=said.claim, meta=said.meta)
    )
