"""``/v1/ask``: a question and its answer, whole or as events; ``/v1/verify``: checks any system's answer.

Questions run in a bounded thread pool. Every question begun is sealed, as answered or, if its client has
gone, as abandoned.
"""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from citewell.answering.streaming import Event, EventKind
from citewell.core import identity
from citewell.core.access import Caller
from citewell.core.errors import AbandonedError, UsageError
from citewell.core.records import Answer, Claim, Record
from citewell.knowledge.traces import RelayedEvent
from citewell.questions.parsing import MAX_QUESTION
from citewell.server.identity import require
from citewell.server.keys import Scope
from citewell.server.limits import Busy, Deadline
from citewell.server.logs import log
from citewell.server.problems import Problem, looking_up, problem_of
from citewell.server.shapes import JSON, body_of, decoded, described, reply
from citewell.server.site import DeadlineRoute, Here, Site, overdue
from citewell.server.streams import RemoteStream, Stream
from citewell.server.telemetry import Carrier
from citewell.verification.checking.grounding import GroundingReport

router = APIRouter(prefix="/v1", tags=["answers"], route_class=DeadlineRoute)

EVENTS = "text/event-stream"
LINES = "application/x-ndjson"
ID = "X-Request-Id"
_EVENT_ID = re.compile(r"(req_[0-9a-f]{24}):(\d{1,9})r?")
_MAX_SOURCES, _MAX_ANSWER = 200, 50_000

Asker = Annotated[Caller, Depends(require(scope=Scope.ASK))]
Word = Annotated[str, msgspec.Meta(max_length=1000)]


class Options(Record, frozen=True, kw_only=True):
    """``session_id`` continues a conversation."""

    session_id: Annotated[str, msgspec.Meta(max_length=100)] = ""
    top_k: Annotated[int, msgspec.Meta(ge=1, le=10)] | None = None
    pool: Annotated[int, msgspec.Meta(ge=1, le=1000)] | None = None
    runs: Annotated[int, msgspec.Meta(ge=1, le=20)] = 1
    document: Word | None = None
    since: Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d{2}-\d{2}$")] | None = None
    tag: Word | None = None


class AskRequest(Options, frozen=True, kw_only=True):
    """A question. ``groups`` narrows the caller's own, all of them when it is left out; with ``stream`` the
    response is events, as with that ``Accept``."""

    question: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_QUESTION)]
    groups: Annotated[tuple[Word, ...], msgspec.Meta(max_length=100)] | None = None
    stream: bool = False

    @property
    def options(self) -> dict[str, Any]:
        """For :meth:`citewell.knowledge.home.KnowledgeBase.ask`."""
        given = {name: getattr(self, name) for name in self.__struct_fields__}
        del given["question"], given["stream"]
        return given


async def run_answer(
    here: Site, caller: Caller, asked: AskRequest, request_id: str, request: Request
) -> Answer:
    """The answer. If the client of ``request`` hangs up, answering ends at its next stage or model run.
    Raises Busy, or what answering raised."""

    def work(gone: Callable[[], str]) -> Answer:
        return _ask(here, caller, asked, request.headers, request_id=request_id, gone=gone)

    return await here.attended(here.work, request, caller, work, timeout_s=here.settings.timeout_s)


def _ask(here: Site, caller: Caller, asked: AskRequest, carrier: Carrier, **more: Any) -> Answer:
    with here.telemetry.asking(carrier) as describe:
        answer = here.kb.as_(caller).ask(asked.question, **asked.options, **more)
        describe(answer)
    here.metrics.answered(answer)
    return answer


async def streamed(here: Site, caller: Caller, asked: AskRequest, carrier: Carrier) -> Stream:
    """A stream of events while the question is answered, whether or not anyone listens: a client may
    reconnect to it. Raises Busy."""
    asked_at = time.monotonic()
    request_id = identity.request_id()
    stream = await run_in_threadpool(here.streams.open, request_id, caller)
    stream.question, stream.session_id = asked.question, asked.session_id
    stream.deadline = Deadline(here.settings.timeout_s)

    def work() -> None:
        try:
            if time.monotonic() - asked_at > here.settings.max_wait_s:
                raise Problem(503, "the server is too busy to take this request", retryable=True)
            _ask(
                here,
                caller,
                asked,
                carrier,
                tell=stream.emit,
                request_id=request_id,
                gone=stream.deadline.gone,
            )
        except Exception as error:  # noqa: BLE001 - sent to the listener; already recorded
            extra = {"request_id": request_id, "error": type(error).__name__}
            log.warning("a streamed question failed", extra=extra)
            told = overdue(error, stream.deadline) if isinstance(error, AbandonedError) else error
            stream.fail(problem_of(told).details)
        finally:
            stream.end()

    try:
        here.work.submit(work, caller.user)
    except Busy:
        here.streams.drop(request_id)
        raise
    return stream


@router.post(
    "/ask",
    **described(
        Answer,
        "The answer, with a verdict for every claim; with `stream`, its events",
        body=AskRequest,
    ),
)
async def ask(
    request: Request, caller: Asker, here: Here, asked: AskRequest = body_of(AskRequest)
) -> Response:
    """The accountable pass. The record is durable before the answer leaves."""
    resumed = _EVENT_ID.fullmatch(request.headers.get("last-event-id", ""))
    if resumed:  # a client repeating its POST after a broken connection means the same question
        return await _resumed(here, caller, resumed[1], int(resumed[2]))
    if asked.stream or EVENTS in request.headers.get("accept", ""):
        return _following(await streamed(here, caller, asked, request.headers))
    request_id = identity.request_id()
    return reply(await run_answer(here, caller, asked, request_id, request), headers={ID: request_id})


@router.get(
    "/ask/{request_id}/events",
    **described(Event, "The events from there on, as text/event-stream", media=EVENTS),
)
async def events(request_id: str, request: Request, caller: Asker, here: Here) -> Response:
    """The events of a streamed question after `Last-Event-ID`, whichever worker answers it. When they are no
    longer kept, decision and Answer from the record, under ids that end in `r`."""
    last = _EVENT_ID.fullmatch(request.headers.get("last-event-id", ""))
    after = int(last[2]) if last and last[1] == request_id else 0
    return await _resumed(here, caller, request_id, after)


async def _resumed(here: Site, caller: Caller, request_id: str, after: int) -> Response:
    found = await run_in_threadpool(find_stream, here, caller, request_id)
    if found is not None:
        return _following(found, after)
    replayed = await run_in_threadpool(_replayed, here, caller, request_id)

    async def again() -> AsyncIterator[bytes]:
        for number, event in enumerate(replayed, 1):
            relayed = RelayedEvent(number=number, kind=event.kind.value, data=msgspec.json.encode(event))
            yield _line(relayed, request_id, "r")

    return _event_stream(again(), request_id)


def find_stream(here: Site, caller: Caller, request_id: str) -> Stream | RemoteStream | None:
    """The stream of a question, running or just ended, if ``caller`` may follow it; waits for the
    database."""
    if _closed(here, caller, request_id):
        return None
    return here.streams.get(request_id, caller) or here.streams.remote(request_id, caller)


def _closed(here: Site, caller: Caller, request_id: str) -> bool:
    """True if there is a record that the caller may not read: a stream must not reveal more than it."""
    if caller.unrestricted:
        return False
    try:
        here.kb.parts.log.get(request_id)
    except UsageError:
        return False  # nothing is sealed yet
    return not here.kb.as_(caller).visibility.all_of([request_id])


def _replayed(here: Site, caller: Caller, request_id: str) -> list[Event]:
    kb = here.kb.as_(caller)
    with looking_up():
        record = kb.audit.record(request_id, reader=caller.user)
    if not record.response_decision:
        raise Problem(409, "this question ended in an error", hint="ask the question again")
    answer = kb.answer_of(record)
    reason = next(iter(answer.confidence.reasons), "")
    return [
        Event(kind=EventKind.DECISION, decision=answer.decision, reason=reason),
        Event(kind=EventKind.DONE, answer=answer),
    ]


def _following(stream: Stream | RemoteStream, after: int = 0) -> StreamingResponse:
    async def lines() -> AsyncIterator[bytes]:
        yield b"retry: 2000\n\n"
        async for event in stream.events(after):
            yield _line(event, stream.request_id) if event is not None else b": still here\n\n"

    return _event_stream(lines(), stream.request_id)


def _event_stream(lines: AsyncIterator[bytes], request_id: str) -> StreamingResponse:
    headers = {ID: request_id, "X-Accel-Buffering": "no"}
    return StreamingResponse(lines, headers=headers, media_type=EVENTS)


def _line(event: RelayedEvent, request_id: str, mark: str = "") -> bytes:
    # JSON has no raw line breaks, so one data line holds it.
    head = f"event: {event.kind}\nid: {request_id}:{event.number}{mark}\ndata: "
    return head.encode() + event.data + b"\n\n"


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
    **described(
        Verified,
        "The claims with their verdicts; lines in (application/x-ndjson) give lines",
        body=VerifyRequest,
    ),
)
async def verify(
    request: Request, caller: Annotated[Caller, Depends(require(scope=Scope.VERIFY))], here: Here
) -> Response:
    """Checks an answer against its sources: other people's RAG. Nothing is kept."""
    body = await request.body()
    lines = request.headers.get("content-type", "").split(";")[0].strip() == LINES
    items = [line for line in body.split(b"\n") if line.strip()] if lines else [body]
    checked = b"\n".join(await check_lines(request, caller, here, items))
    return Response(checked + b"\n" * lines, media_type=LINES if lines else JSON)


async def check_lines(request: Request, caller: Caller, here: Site, items: Sequence[bytes]) -> list[bytes]:
    """Each VerifyRequest's Verified. Raises Problem for too much at once, and what ``Site.attended``
    raises."""
    for item in items:
        _bounded(decoded(item, VerifyRequest))

    def work(gone: Callable[[], str]) -> list[bytes]:
        with here.telemetry.verifying(request.headers) as describe:
            checked = [here.kb.verify_line(item, gone=gone) for item in items]
            claims = [one for line in checked for one in msgspec.json.decode(line, type=Verified).claims]
            describe(claims)
        here.metrics.verified(claims)
        return checked

    return await here.attended(here.checks, request, caller, work, timeout_s=here.settings.timeout_s)


def _bounded(asked: VerifyRequest) -> None:
    """Limits sources and text, beyond the size in bytes, as each claim is compared with each source."""
    text = asked.answer if asked.answer is not None else asked.claim
    if len(asked.sources) > _MAX_SOURCES or len(text or "") > _MAX_ANSWER:
        hint = f"send at most {_MAX_SOURCES} sources and {_MAX_ANSWER} characters"
        raise Problem(413, "this is too much to verify at once", hint=hint)
