"""``/v1/chat/completions`` and ``/v1/models``: answers for every client that speaks OpenAI's protocol.

A delta cannot be retracted, so no content is sent before the answer is sealed: provisional events travel in
the member ``citewell``, which other clients ignore. Clients render Markdown, so document text is escaped and
cannot act as links, images or tags.
"""

from __future__ import annotations

import re
import secrets
import time
from bisect import bisect_right
from collections.abc import AsyncIterator
from typing import Annotated, Any
from urllib.parse import urlencode

import msgspec
from fastapi import APIRouter, Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from citewell.core import identity
from citewell.core.access import Caller
from citewell.core.display import ACTIVE, harmless, harmless_line
from citewell.core.identity import hash_value
from citewell.core.records import Answer, Citation, Decision, Status, Trace
from citewell.server.identity import require
from citewell.server.keys import Scope
from citewell.server.problems import Problem
from citewell.server.protocols import CHAT, line
from citewell.server.routes.asking import EVENTS, AskRequest, Options, run_answer, streamed
from citewell.server.shapes import body_of, described, reply
from citewell.server.site import DeadlineRoute, Here, Site
from citewell.server.streams import ERROR, Stream

router = APIRouter(prefix="/v1", tags=["chat"], route_class=DeadlineRoute)

PLAIN, CITED = "citewell", "citewell-cited"
MODELS = (PLAIN, CITED)
"""The plain answer; the answer with numbered markers and a list of sources, for clients that do not show
annotations."""

_MARK = re.compile(r" \[\d+\]")


class Message(msgspec.Struct):
    """``content`` is a text or parts, of which only texts can be asked."""

    role: str
    content: str | list[dict[str, Any]] | None = None


class ChatRequest(msgspec.Struct):
    """Members that mean nothing here (temperature, seed, tools...) are ignored, as other servers do."""

    model: str
    messages: Annotated[list[Message], msgspec.Meta(min_length=1, max_length=1000)]
    stream: bool | None = False
    n: int | None = 1
    citewell: Options | None = None


class ChatCompletion(msgspec.Struct):
    """As OpenAI has it; ``citewell`` is the Answer. Tokens are in the record: most answers cost none."""

    id: str
    object: str
    created: int
    model: str
    choices: list[dict[str, Any]]
    citewell: dict[str, Any]


class ModelList(msgspec.Struct):
    object: str
    data: list[dict[str, Any]]


@router.get("/models", **described(ModelList, "The two models: two ways to write an answer"))
def models(_: Annotated[Caller, Depends(require())]) -> Response:
    """Names for the member ``model`` of a chat."""
    listed = [{"id": name, "object": "model", "created": 0, "owned_by": "citewell"} for name in MODELS]
    return reply(ModelList(object="list", data=listed))


@router.post(
    "/chat/completions",
    **described(
        ChatCompletion,
        "The assistant's message, with its citations in `annotations` and `citewell`",
        body=ChatRequest,
    ),
)
async def completions(
    request: Request,
    caller: Annotated[Caller, Depends(require(scope=Scope.ASK))],
    here: Here,
    asked: ChatRequest = body_of(ChatRequest),
) -> Response:
    """Answers the last message. Streamed content begins when the answer is sealed."""
    text = question_of(asked)
    session = await run_in_threadpool(session_of, asked, here, caller)
    options = msgspec.structs.asdict(asked.citewell or Options())
    try:
        question = msgspec.convert(options | {"question": text, "session_id": session}, AskRequest)
    except msgspec.ValidationError as error:
        raise Problem(400, f"the question cannot be asked: {error}", hint="see /openapi.json") from error
    base_url = str(request.base_url)
    if asked.stream:
        stream = await streamed(here, caller, question, request.headers)
        lines = _lines(stream, asked.model, base_url)
        return StreamingResponse(lines, media_type=EVENTS, headers={"X-Accel-Buffering": "no"})
    answer = await run_answer(here, caller, question, identity.request_id(), request)
    return reply(completion(answer, asked.model, base_url))


def question_of(asked: ChatRequest) -> str:
    """The last message. Raises Problem if it is not a user's question, or for an unknown model or n > 1."""
    if asked.model not in MODELS:
        raise Problem(404, f"unknown model {asked.model[:100]!r}", hint=f"use one of {', '.join(MODELS)}")
    if (asked.n or 1) != 1:
        hint = "leave out n; to compare several drafts, set `citewell.runs`"
        raise Problem(400, "each request returns one answer, so n must be 1", hint=hint)
    last = asked.messages[-1]
    if last.role != "user":
        title = f"the last message has the role {last.role[:20]!r}, not 'user'"
        raise Problem(400, title, hint="put the user's question last")
    if last.content is None or any(part.get("type") != "text" for part in _parts(last)):
        raise Problem(400, "only text questions are supported", hint="send the question as text")
    return _text(last)


def session_of(asked: ChatRequest, here: Site, caller: Caller) -> str:
    """A session id, the same for every turn of a conversation, as the protocol has none.

    A request with a single user turn opens a session. A later one carries the earlier turns and is matched to
    the session that has them: among those that ``caller`` opened with the same text, the one with the same
    questions, preferably also the same first answer, preferably the newest. An unknown conversation (begun
    elsewhere, or erased) is identified by its first question and answer.
    """
    if asked.citewell is not None and asked.citewell.session_id:
        return asked.citewell.session_id
    turns = [_words(message) for message in asked.messages if message.role == "user"]
    begin = "ses_" + hash_value({"chat": [caller.user, turns[0]]}).partition(":")[2][:16]
    before = turns[:-1]
    if not before:
        return begin + secrets.token_hex(4)
    answers = (_words(message) for message in asked.messages if message.role == "assistant")
    answer = _MARK.sub("", next(answers, ""))
    parts = here.kb.parts
    parts.must_be_there()
    known = parts.traces.between(begin + "0" * 8, begin + "f" * 8)
    sessions: dict[str, list[Trace]] = {}
    for turn in here.kb.as_(caller).visibility.traces(known):
        sessions.setdefault(turn.session_id, []).insert(0, turn)
    fitting = []
    for session, had in sessions.items():
        questions = [_plain(turn.query) for turn in had]
        left = iter(questions)
        # A regenerated turn is in the session twice, but in the conversation once.
        if all(question in left for question in before):
            told = answer.startswith(_plain(harmless(had[0].final_returned)))
            fitting.append((questions == before, told, session))
    if fitting:
        # max() takes the first of equals, and sessions come newest first.
        return max(fitting, key=lambda one: one[:2])[2]
    return begin + hash_value({"answer": answer}).partition(":")[2][:8]


def completion(answer: Answer, model: str, base_url: str) -> ChatCompletion:
    """The whole answer as one completion."""
    text, annotations = chat_text(answer, model, base_url)
    message = {"role": "assistant", "content": text, "refusal": None, "annotations": annotations}
    return ChatCompletion(
        id=answer.request_id,
        object="chat.completion",
        created=int(time.time()),
        model=model,
        choices=[{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
        citewell=answer_details(answer),
    )


def chunk(request_id: str, model: str, delta: dict[str, Any], **more: Any) -> dict[str, Any]:
    """One chunk of a streamed completion; ``more`` are further members."""
    return {
        "id": request_id,
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": model,
        "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}],
        **more,
    }


def chat_text(answer: Answer, model: str, base_url: str) -> tuple[str, list[dict[str, Any]]]:
    """(the text as a chat shows it, an annotation for each citation shown)."""
    cited = sorted(
        (
            citation
            for claim in answer.claims
            if claim.shown and claim.verdict.status is Status.VERIFIED
            for citation in claim.citations
            if citation.start >= 0
        ),
        key=lambda citation: citation.answer_end,
    )
    marks = [f" [{number}]" if model == CITED else "" for number in range(1, len(cited) + 1)]
    added = [(one.answer_end, mark) for one, mark in zip(cited, marks, strict=True) if mark]
    # What follows one of our markers must not turn it into a link.
    behind = {place for place, _ in added if answer.text[place : place + 1] in ("(", ":", "<")}
    added += [(place, "\\") for place in behind.union(one.end() - 1 for one in ACTIVE.finditer(answer.text))]
    added.sort(key=lambda one: (one[0], one[1] == "\\"))  # a backslash stays right before its character
    text, place, widths = "", 0, [0]
    for at, inserted in added:
        text += answer.text[place:at] + inserted
        place = max(place, at)
        widths.append(widths[-1] + len(inserted))
    text += answer.text[place:]

    def moved(offset: int) -> int:
        return offset + widths[bisect_right(added, offset, key=lambda one: one[0])]

    if answer.decision is not Decision.ANSWER and answer.missing:
        missing = map(harmless_line, answer.missing)
        text += "\n\nNot answered from the documents: " + "; ".join(missing)
    if answer.nearest:
        places = (harmless_line(f"{_place(one)}: “{one.quote}”") for one in answer.nearest)
        text += "\n\nNearest passages, not verified to answer:\n" + "\n".join(places)
    if model == CITED and cited:
        sources = (
            f"{mark.strip()} {harmless_line(f'{_place(one)}: “{one.quote}”')}"
            for one, mark in zip(cited, marks, strict=True)
        )
        text += "\n\nSources:\n" + "\n".join(sources)
    return text, [
        {
            "type": "url_citation",
            "url_citation": {
                "start_index": moved(citation.answer_start),
                "end_index": moved(citation.answer_end - 1) + 1,
                "title": _place(citation),
                "url": _address(base_url, citation),
            },
            "citewell": citation,
        }
        for citation in cited
    ]


def answer_details(answer: Answer) -> dict[str, Any]:
    """The answer without passages and trace, which have their own routes."""
    left_out = {"passages", "trace"}
    return {name: getattr(answer, name) for name in answer.__struct_fields__ if name not in left_out}


def _place(citation: Citation) -> str:
    page = f", page {citation.page}" if citation.page else ""
    return f"{citation.document_id}{page}{citation.ocr and f', {citation.ocr}'}"


def _address(base_url: str, citation: Citation) -> str:
    where = {"id": citation.document_id, "version": citation.document_version}
    where |= {"start": str(citation.start), "end": str(citation.end)}
    return f"{base_url.rstrip('/')}/documents/view?{urlencode(where)}"


def _parts(message: Message) -> list[dict[str, Any]]:
    content = message.content or ""
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def _text(message: Message) -> str:
    """Its text, without other parts."""
    return "\n".join(str(part.get("text", "")) for part in _parts(message))


def _words(message: Message) -> str:
    return _plain(_text(message))


def _plain(text: str) -> str:
    return " ".join(text.split())


async def _lines(stream: Stream, model: str, base_url: str) -> AsyncIterator[bytes]:
    yield line(chunk(stream.request_id, model, {"role": "assistant", "content": ""}))
    try:
        async for event in stream.events():
            if event is None:
                yield b": still here\n\n"
            elif event.kind == ERROR:
                problem = msgspec.json.decode(event.data)
                told = {"message": problem["title"], "type": "citewell", "code": problem["status"]}
                yield line({"error": told})
                return
            elif event.kind != "done":
                # Never in the message itself: provisional claims may be withdrawn.
                beside = {"event": event.kind, **msgspec.json.decode(event.data)}
                beside.pop("passages", None)
                yield line(chunk(stream.request_id, model, {}, citewell=beside))
    finally:
        stream.deadline.left.set()  # the protocol cannot resume a stream
    if stream.answer is not None:
        for piece in CHAT.events(msgspec.structs.asdict(completion(stream.answer, model, base_url))):
            yield line(piece)
