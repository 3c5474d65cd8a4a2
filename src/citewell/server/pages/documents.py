"""``/documents``: what is in; one document and what was cited from it; a place in it as its source has it."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Form, UploadFile
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from citewell.core.access import Role
from citewell.core.errors import EvidenceError
from citewell.core.records import Citation, Document, Page, Record
from citewell.documents.evidence.catalogue import WITHDRAWN, CatalogueEntry
from citewell.documents.ingesting import FileOutcome
from citewell.server.pages.answers import place_of, title_of, worst
from citewell.server.pages.citing import cited_from
from citewell.server.pages.here import Here, Inside, Posting, Reading
from citewell.server.pages.marking import Span, blocks, section_at, window
from citewell.server.pages.rendering import address, page
from citewell.server.problems import absent, looking_up
from citewell.server.site import site
from citewell.server.uploads import upload

router = APIRouter(include_in_schema=False, route_class=Inside)

SHOWN = 50
"""Documents on one page of the list."""


@router.get("/documents")
def documents(reading: Reading, q: str = "", state: str = "", start: int = 0) -> Response:
    return _list(reading, q, state, max(start, 0))


@router.get("/documents/about")
def about(reading: Reading, id: str, sure: str = "") -> Response:
    entry = _entry(reading, id)
    if entry is None:
        raise absent()
    versions = [_version(reading, id, version) for version in reversed(reading.kb.versions(id))]
    with looking_up():
        document = reading.kb.document(id)
    citing = reading.kb.audit.citing(id)
    return page(
        reading.request,
        "about.html",
        caller=reading.caller,
        entry=entry,
        document=document,
        versions=versions,
        cited=cited_from(id, citing.records),
        more=bool(citing.next),
        may_change=reading.caller.has(Role.CURATOR),
        may_audit=reading.caller.has(Role.AUDITOR),
        sure=bool(sure),
    )


def _entry(reading: Here, document_id: str) -> CatalogueEntry | None:
    """None for what was never taken in, as a text that a caller handed in."""
    return next((one for one in reading.kb.documents() if one.document_id == document_id), None)


class Version(Record, frozen=True, kw_only=True):
    version: str
    ingested_at: str
    href: str
    lost: str = ""


def _version(reading: Here, document_id: str, version: str) -> Version:
    href = address("/documents/view", id=document_id, version=version)
    try:
        document = reading.kb.document(document_id, version)
    except EvidenceError as error:
        return Version(version=version, ingested_at="", href="", lost=str(error))
    return Version(version=version, ingested_at=document.ingested_at, href=href)


@router.get("/documents/view")
def view(
    reading: Reading,
    id: str,
    version: str = "",
    start: int = -1,
    end: int = -1,
    also: str = "",
    at: int = 0,
) -> Response:
    """One page of a document, or one window of it, with spans marked and drawn over the page's image."""
    with looking_up():
        document = reading.kb.document(id, version)
    spans = _spans(document, start, end, also)
    begins, ends = window(document, spans[0].start if spans else at)
    number = next((one.number for one in document.pages if one.start <= begins < max(one.end, 1)), None)
    paper = next((one for one in document.pages if one.number == number), None)
    newest = reading.kb.versions(id)[-1:]
    entry = _entry(reading, id)
    return page(
        reading.request,
        "view.html",
        caller=reading.caller,
        document=document,
        title=title_of(document),
        section=section_at(document, spans[0].start if spans else begins),
        blocks=blocks(document, begins, ends, spans),
        spans=spans,
        quote=" … ".join(document.text[span.start : span.end] for span in spans),
        paper=paper,
        rectangles=_rectangles(document, paper, spans) if paper else (),
        pages=len(document.pages),
        before=_step(document, begins, -1),
        after=_step(document, ends, 1),
        newest=newest[0] if newest else document.version,
        withdrawn=entry if entry and entry.state == WITHDRAWN else None,
        today=_today(reading, document, spans),
        image=_image(document, paper),
    )


@router.get("/documents/turn")
def turn(reading: Reading, id: str, version: str, number: int) -> Response:
    """The page that the form for turning pages names."""
    with looking_up():
        document = reading.kb.document(id, version)
    paper = next((one for one in document.pages if one.number == number), None)
    at = paper.start if paper else 0
    return RedirectResponse(address("/documents/view", id=id, version=version, at=at), status_code=303)


@router.post("/documents")
async def take_in(
    posting: Posting,
    files: list[UploadFile],
    tag: Annotated[str, Form()] = "",
    acl: Annotated[str, Form()] = "",
) -> Response:
    """Each file by the limited reader; what failed is shown with its remedy."""
    posting.need(Role.CURATOR)

    def take() -> tuple[FileOutcome, ...]:
        groups, tags = _named(acl), _named(tag)
        with site(posting.request).changing():
            reports = [
                upload(posting.kb, one.file, one.filename or "", acl=groups, tags=tags) for one in files
            ]
        return tuple(outcome for report in reports for outcome in report.files)

    outcomes = await run_in_threadpool(take)
    return await run_in_threadpool(_list, posting, "", "", 0, outcomes)


def _named(written: str) -> list[str]:
    """One name a line or between commas: names hold blanks, and half of one is somebody else's."""
    return [name.strip() for name in re.split(r"[,\n]", written) if name.strip()]


@router.post("/documents/withdraw")
def withdraw(
    posting: Posting,
    id: Annotated[str, Form()],
    reason: Annotated[str, Form()] = "",
) -> Response:
    posting.need(Role.CURATOR)
    with looking_up(), site(posting.request).changing():
        posting.kb.withdraw(id, reason=reason.strip(), user=posting.caller.user)
    return RedirectResponse(address("/documents/about", id=id), status_code=303)


def _list(reading: Here, q: str, state: str, start: int, outcomes: tuple[FileOutcome, ...] = ()) -> Response:
    entries = reading.kb.documents() if reading.kb.home.is_dir() else []
    found = [entry for entry in entries if _fits(entry, q, state)]
    told = {outcome.document_id for outcome in outcomes}
    ours = reading.caller.unrestricted and reading.kb.home.is_dir()
    failures = [one for one in reading.kb.failures() if one.document_id not in told] if ours else []
    return page(
        reading.request,
        "documents.html",
        caller=reading.caller,
        entries=found[start : start + SHOWN],
        total=len(entries),
        found=len(found),
        start=start,
        step=SHOWN,
        q=q,
        state=state,
        outcomes=outcomes,
        failures=failures,
        may_change=reading.caller.has(Role.CURATOR),
    )


def _fits(entry: CatalogueEntry, q: str, state: str) -> bool:
    words = f"{entry.document_id} {entry.title} {' '.join(entry.tags)}".lower()
    return all(word in words for word in q.lower().split()) and state in ("", entry.state)


def _spans(document: Document, start: int, end: int, also: str) -> list[Span]:
    """``also`` are further spans, as ``12-15 40-42``; what is no span of this text marks nothing."""
    asked = [(start, end)]
    for word in also.split()[:50]:
        first, _, last = word.partition("-")
        if first.isdecimal() and last.isdecimal():
            asked.append((int(first), int(last)))
    length = len(document.text)
    return [Span(start=a, end=b) for a, b in asked if 0 <= a < b <= length]


class Rectangle(Record, frozen=True, kw_only=True):
    """In points from the top left of the page, as an image is drawn."""

    x: float
    y: float
    width: float
    height: float


def _rectangles(document: Document, paper: Page, spans: list[Span]) -> tuple[Rectangle, ...]:
    """A rectangle for each printed line or table cell that a span stands in. In prose it covers the words,
    taken as equally wide a character. A row of which only the line is kept is covered whole, for its columns
    stand anywhere."""
    found: dict[Rectangle, None] = {}
    for box in document.boxes:
        if box.page != paper.number:
            continue
        row = "\t" in document.text[box.start : box.end]
        for span in spans:
            start, end = max(box.start, span.start), min(box.end, span.end)
            if start >= end:
                continue
            step = (box.x1 - box.x0) / (box.end - box.start)
            left = box.x0 if row else box.x0 + (start - box.start) * step
            right = box.x1 if row else box.x0 + (end - box.start) * step
            one = Rectangle(x=left, y=paper.height - box.y1, width=right - left, height=box.y1 - box.y0)
            found[one] = None
    return tuple(found)


def _image(document: Document, paper: Page | None) -> str:
    """Where the drawn page is; "" for what has no pages to draw."""
    if paper is None or document.media_type != "application/pdf":
        return ""
    return address(
        "/v1/documents/page.png",
        id=document.document_id,
        version=document.version,
        number=paper.number,
    )


def _step(document: Document, edge: int, direction: int) -> str:
    """The address of what comes before or after what is shown; "" at either end."""
    at = edge - 2 if direction < 0 else edge + 1
    if not 0 <= at < len(document.text):
        return ""
    if direction < 0 and not document.pages:
        at = max(0, at - 7_000)
    return address("/documents/view", id=document.document_id, version=document.version, at=at)


class Since(Record, frozen=True, kw_only=True):
    """What became of the marked words in the newest version: of several spans, the worst; ``quote`` are its
    words where others are marked too."""

    name: str
    text: str = ""
    href: str = ""
    quote: str = ""


def _today(reading: Here, document: Document, spans: list[Span]) -> Since | None:
    asked = [
        Citation(
            chunk_id="",
            document_id=document.document_id,
            document_version=document.version,
            start=span.start,
            end=span.end,
            quote=document.text[span.start : span.end],
            answer_start=0,
            answer_end=0,
        )
        for span in spans
    ]
    resolved = reading.kb.audit.resolve(asked)
    name = worst(one.resolution.value for one in resolved)
    found = next((one for one in resolved if one.resolution.value == name), None)
    if found is None:
        return None
    href = (
        place_of(found.document_id, found.version, found.start, found.end)
        if found.start >= 0 and found.version != document.version
        else ""
    )
    quote = found.quote if len(spans) > 1 else ""
    return Since(name=name, text=found.text or found.reason, href=href, quote=quote)
