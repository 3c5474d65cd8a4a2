"""``/v1/chat/completions`` and ``/v1/models``: the accountable pass for any chat client."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from citewell.core import identity
from citewell.core.access import Caller
from citewell.core.records import Trace
from citewell.server.asking import AskRequest, answered, streamed
from citewell.server.chat import (
    MODELS,
    ChatCompletion,
    ChatRequest,
    Known,
    ModelList,
    Options,
    chunk,
    completion,
    pieces,
    question_of,
    session_of,
)
from citewell.server.identity import require
from citewell.server.keys import Scope
from citewell.server.problems import Problem
from citewell.server.shapes import body_of, gives, reply, takes
from citewell.server.site import Site, site
from citewell.server.streams import ERROR, Stream

router = APIRouter(prefix="/v1", tags=["chat"])

Here = Annotated[Site, Depends(site)]


@router.get("/models", responses=gives(ModelList, "The two models: two ways to write an answer"))
def models(_: Annotated[Caller, Depends(require())]) -> Response:
    """Names for the member ``model`` of a chat."""
    listed = [{"id": name, "object": "model", "created": 0, "owned_by": "citewell"} for name in MODELS]
    return reply(ModelList(object="list", data=listed))


@router.post(
    "/chat/completions",
    responses=gives(
        ChatCompletion, "The assistant's message, with its citations in `annotations` and `citewell`"
    ),
    openapi_extra=takes(ChatRequest),
)
async def completions(
    request: Request,
    caller: Annotated[Caller, Depends(require(scope=Scope.ASK))],
    asked: Annotated[ChatRequest, Depends(body_of(ChatRequest))],
    here: Here,
) -> Response:
    """Answers the last message. Streamed content begins when the answer is sealed."""
    options = asked.citewell or Options()
    given = {name: getattr(options, name) for name in options.__struct_fields__ if name != "session_id"}
    text = question_of(asked)
    session = await run_in_threadpool(session_of, asked, caller.user, _known(here, caller))
    question = _question(text, session, given)
    base_url = str(request.base_url)
    if asked.stream:
        stream = await streamed(here, caller, question, request.headers)
        lines = _lines(stream, asked.model, base_url)
        return StreamingResponse(lines, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})
    answer = await answered(here, caller, question, identity.request_id(), request)
    return reply(completion(answer, asked.model, base_url))


def _known(here: Site, caller: Caller) -> Known:
    def known(first: str, last: str) -> list[Trace]:
        parts = here.kb.parts
        parts.must_be_there()
        return here.kb_for(caller).seeing.traces(parts.traces.between(first, last))

    return known


def _question(text: str, session_id: str, given: dict[str, Any]) -> AskRequest:
    try:
        return msgspec.convert({"question": text, "session_id": session_id, **given}, AskRequest)
    except msgspec.ValidationError as error:
        raise Problem(400, f"the question cannot be asked: {error}", hint="see /openapi.json") from error


async def _lines(stream: Stream, model: str, base_url: str) -> AsyncIterator[bytes]:
    yield _line(chunk(stream.request_id, model, {"role": "assistant", "content": ""}))
    async for told in stream.events():
        if told is None:
            yield b": still here\n\n"
        elif told.kind == ERROR:
            problem = msgspec.json.decode(told.data)
            yield _line(
                {"error": {"message": problem["title"], "type": "citewell", "code": problem["status"]}}
            )
            return
        elif told.kind != "done":
            # Beside the message, never in it: what is provisional may be withdrawn.
            event = {"event": told.kind, **msgspec.json.decode(told.data)}
            event.pop("passages", None)
            yield _line(chunk(stream.request_id, model, {}, citewell=event))
    if stream.answer is not None:
        for piece in pieces(stream.answer, model, base_url):
            yield _line(piece)
    yield b"data: [DONE]\n\n"


def _line(piece: dict[str, Any]) -> bytes:
    return b"data: " + msgspec.json.encode(piece) + b"\n\n"
