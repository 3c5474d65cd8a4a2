"""One question put to the home on a caller's behalf: in a bounded thread, told to whoever listens, counted.

In: a request's options and its caller. Out: an Answer, or a running Stream. A question that was begun is
sealed: answered, or as abandoned where its client has gone. Knows nothing about the form of responses.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Annotated, Any

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from citewell.core import identity
from citewell.core.access import Caller
from citewell.core.records import Answer, Record
from citewell.questions.asking import MAX_QUESTION
from citewell.server.limits import Busy
from citewell.server.logs import NAME
from citewell.server.problems import Problem, problem_of
from citewell.server.site import Site
from citewell.server.streams import Stream
from citewell.server.telemetry import Carrier

log = logging.getLogger(NAME)

Word = Annotated[str, msgspec.Meta(max_length=1000)]


class AskRequest(Record, frozen=True, kw_only=True):
    """A question. ``groups`` narrows the caller's own, all of them when it is left out; ``session_id``
    continues a conversation; with ``stream`` the response is events, as with that ``Accept``."""

    question: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_QUESTION)]
    session_id: Annotated[str, msgspec.Meta(max_length=100)] = ""
    groups: Annotated[tuple[Word, ...], msgspec.Meta(max_length=100)] | None = None
    top_k: Annotated[int, msgspec.Meta(ge=1, le=10)] | None = None
    pool: Annotated[int, msgspec.Meta(ge=1, le=1000)] | None = None
    runs: Annotated[int, msgspec.Meta(ge=1, le=20)] = 1
    document: Word | None = None
    since: Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d{2}-\d{2}$")] | None = None
    tag: Word | None = None
    stream: bool = False

    @property
    def options(self) -> dict[str, Any]:
        """For :meth:`citewell.knowledge.home.KnowledgeBase.ask`."""
        given = {name: getattr(self, name) for name in self.__struct_fields__}
        del given["question"], given["stream"]
        return given


async def answered(
    here: Site, caller: Caller, asked: AskRequest, request_id: str, request: Request
) -> Answer:
    """The answer. Where the client of ``request`` hangs up, the pass ends at its next stage. Raises Busy, or
    what the pass raised."""
    left = threading.Event()

    async def wanted() -> bool:
        if await request.is_disconnected():
            left.set()
        return not left.is_set()

    def work() -> Answer:
        with here.telemetry.asking(request.headers) as heard:
            answer = here.kb_for(caller).ask(
                asked.question, **asked.options, request_id=request_id, gone=left.is_set
            )
            heard(answer)
        here.metrics.heard(answer)
        return answer

    return await here.work.run(work, caller=caller.user, wanted=wanted)


async def streamed(here: Site, caller: Caller, asked: AskRequest, carrier: Carrier) -> Stream:
    """A stream whose events come while the question is worked on, whoever listens: a client may come back to
    it. Raises Busy."""
    asked_at = time.monotonic()
    request_id = identity.request_id()
    stream = await run_in_threadpool(here.streams.open, request_id, caller)

    def work() -> None:
        try:
            if time.monotonic() - asked_at > here.settings.max_wait_s:
                raise Problem(503, "the server is too busy to take this request", retryable=True)
            with here.telemetry.asking(carrier) as heard:
                answer = here.kb_for(caller).ask(
                    asked.question, **asked.options, tell=stream.tell, request_id=request_id
                )
                heard(answer)
            here.metrics.heard(answer)
        except Exception as error:  # noqa: BLE001 - the listener is told; the record has it already
            log.warning(
                "a streamed question failed", extra={"request_id": request_id, "error": type(error).__name__}
            )
            stream.fail(problem_of(error).details)
        finally:
            stream.end()

    try:
        here.work.submit(work, caller.user)
    except Busy:
        here.streams.drop(request_id)
        raise
    return stream
