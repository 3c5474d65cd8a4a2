"""``/v1/ask``: a question, its answer or the events of its making; ``/v1/verify``: anybody's answer."""

from __future__ import annotations

import re
import threading
from collections.abc import AsyncIterator
from typing import Annotated

import msgspec
from fastapi import APIRouter, Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from citewell.answering.streaming import Event
from citewell.core import identity
from citewell.core.access import Caller
from citewell.core.errors import UsageError
from citewell.core.records import Answer, Claim, Record
from citewell.server.asking import AskRequest, answered, streamed
from citewell.server.identity import require
from citewell.server.keys import Scope
from citewell.server.problems import Problem, looking_up
from citewell.server.remote_stream import Elsewhere
from citewell.server.shapes import JSON, asks, body_of, decoded, gives, query_of, reply, takes
from citewell.server.site import Site, site
from citewell.server.stream_replay import told_again
from citewell.server.streams import Stream, Told
from citewell.verification.checking.grounding import GroundingReport

router = APIRouter(prefix="/v1", tags=["answers"])

EVENTS = "text/event-stream"
LINES = "application/x-ndjson"
ID = "X-Request-Id"
_EVENT_ID = re.compile(r"(req_[0-9a-f]{24}):(\d{1,9})r?")
_MAX_SOURCES, _MAX_ANSWER = 200, 50_000

Asker = Annotated[Caller, Depends(require(scope=Scope.ASK))]
Here = Annotated[Site, Depends(site)]


@router.post(
    "/ask",
    responses=gives(Answer, "The answer, with a verdict for every claim; with `stream`, its events"),
    openapi_extra=takes(AskRequest),
)
async def ask(
    request: Request, caller: Asker, asked: Annotated[AskRequest, Depends(body_of(AskRequest))], here: Here
) -> Response:
    """The accountable pass. The record is durable before the answer leaves."""
    resumed = _EVENT_ID.fullmatch(request.headers.get("last-event-id", ""))
    if resumed:  # a client that repeats its POST when the line broke means the same question
        return await _resumed(here, caller, resumed[1], int(resumed[2]))
    if asked.stream or EVENTS in request.headers.get("accept", ""):
        return _listening(await streamed(here, caller, asked, request.headers))
    request_id = identity.request_id()
    return reply(await answered(here, caller, asked, request_id, request), headers={ID: request_id})


class After(Record, frozen=True, kw_only=True):
    """The number of the last event that arrived; the header ``Last-Event-ID`` says the same."""

    after: Annotated[int, msgspec.Meta(ge=0, le=10**9)] = 0


@router.get(
    "/ask/{request_id}/events",
    responses=gives(Event, "The events from there on, as text/event-stream", media=EVENTS),
    openapi_extra=asks(After),
)
async def events(
    request_id: str,
    request: Request,
    caller: Asker,
    asked: Annotated[After, Depends(query_of(After))],
    here: Here,
) -> Response:
    """The events of a streamed question again, whichever worker answers it; or made from the record. Then
    they begin at the beginning, and their ids end in `r`."""
    last = _EVENT_ID.fullmatch(request.headers.get("last-event-id", ""))
    after = int(last[2]) if last and last[1] == request_id else asked.after
    return await _resumed(here, caller, request_id, after)


class VerifyRequest(Record, frozen=True, kw_only=True):
    """One line of ``citewell verify --jsonl``: a ``claim`` is one statement and is not split."""

    sources: list[str | dict[str, str]] | dict[str, str]
    answer: str | None = None
    claim: str | None = None
    question: str | None = None
    id: str | int | None = None


class Verified(Record, frozen=True, kw_only=True):
    """``supported``: the calibrated probability, at equal priors, that all of it is supported."""

    id: str | int | None
    claims: tuple[Claim, ...]
    supported: float | None
    hallucination_gap: float | None
    report: GroundingReport
    notes: tuple[str, ...]


@router.post(
    "/verify",
    responses=gives(Verified, "The claims with their verdicts; lines in (application/x-ndjson) give lines"),
    openapi_extra=takes(VerifyRequest),
)
async def verify(
    request: Request, caller: Annotated[Caller, Depends(require(scope=Scope.VERIFY))], here: Here
) -> Response:
    """Checks an answer against its sources: other people's RAG. Nothing is kept."""
    body = await request.body()
    lines = request.headers.get("content-type", "").split(";")[0].strip() == LINES
    items = [line for line in body.split(b"\n") if line.strip()] if lines else [body]
    for item in items:
        _bounded(decoded(item, VerifyRequest))

    left = threading.Event()

    def work() -> bytes:
        with here.telemetry.verifying(request.headers) as heard:
            # Who has hung up gets no further line.
            checked = b"\n".join(here.kb.verify_line(item) for item in items if not left.is_set())
            heard(checked)
        return checked

    async def listening() -> bool:
        heard = not await request.is_disconnected()
        if not heard:
            left.set()
        return heard

    checked = await here.work.run(work, caller=caller.user, wanted=listening)
    here.metrics.verified(checked)
    return Response(checked + b"\n" * lines, media_type=LINES if lines else JSON)


def _bounded(asked: VerifyRequest) -> None:
    """Each claim is compared with each source: what may be sent is bounded beyond its bytes."""
    text = asked.answer if asked.answer is not None else asked.claim
    if len(asked.sources) > _MAX_SOURCES or len(text or "") > _MAX_ANSWER:
        raise Problem(
            413,
            "this is too much to verify at once",
            hint=f"send at most {_MAX_SOURCES} sources and {_MAX_ANSWER} characters",
        )


async def _resumed(here: Site, caller: Caller, request_id: str, after: int) -> Response:
    if not await run_in_threadpool(_closed, here, caller, request_id):
        stream = here.streams.get(request_id, caller)
        if stream is not None:
            return _listening(stream, after)
        if (relay := here.streams.relay) is not None:
            other = Elsewhere(relay, request_id, caller)
            if await run_in_threadpool(other.there):
                return _listening(other, after)
    told = await run_in_threadpool(_rebuilt, here, caller, request_id)

    async def again() -> AsyncIterator[bytes]:
        for number, event in enumerate(told, 1):
            data = msgspec.json.encode(event)
            yield _line(Told(number=number, kind=event.kind.value, data=data), request_id, "r")

    return _event_stream(again(), request_id)


def _closed(here: Site, caller: Caller, request_id: str) -> bool:
    """Whether there is a record that the caller may not read: a stream tells no more than its answer."""
    if caller.unrestricted:
        return False
    try:
        here.kb.parts.log.get(request_id)
    except UsageError:
        return False  # nothing is sealed yet
    return not here.kb_for(caller).seeing.all_of([request_id])


def _rebuilt(here: Site, caller: Caller, request_id: str) -> list[Event]:
    kb = here.kb_for(caller)
    with looking_up():
        record = kb.audit.record(request_id, reader=caller.user)
    if not record.response_decision:
        raise Problem(409, "this question ended in an error", hint="ask the question again")
    return list(told_again(kb.answer_of(record), record.notes))


def _listening(stream: Stream | Elsewhere, after: int = 0) -> StreamingResponse:
    async def lines() -> AsyncIterator[bytes]:
        yield b"retry: 2000\n\n"
        async for told in stream.events(after):
            yield _line(told, stream.request_id) if told is not None else b": still here\n\n"

    return _event_stream(lines(), stream.request_id)


def _event_stream(lines: AsyncIterator[bytes], request_id: str) -> StreamingResponse:
    headers = {ID: request_id, "X-Accel-Buffering": "no"}
    return StreamingResponse(lines, headers=headers, media_type=EVENTS)


def _line(told: Told, request_id: str, mark: str = "") -> bytes:
    # JSON has no raw line breaks, so one data line holds it.
    return f"event: {told.kind}\nid: {request_id}:{told.number}{mark}\ndata: ".encode() + told.data + b"\n\n"
