"""``/documents``: what is in; one document and what was cited from it; a place in it as its source has it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from fastapi import APIRouter, UploadFile
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from citewell.audit.bodies import UNREADABLE
from citewell.core.access import Role
from citewell.core.errors import EvidenceError
from citewell.core.records import AuditRecord, Citation, Document, Status
from citewell.documents.evidence.catalogue import WITHDRAWN, CatalogueEntry
from citewell.documents.outcomes import FileOutcome
from citewell.knowledge.revisiting.rechecking import Notice
from citewell.server.files import upload
from citewell.server.pages.access import Field, Inside, Posting, Reading, Visit
from citewell.server.pages.answers import title_of, worst
from citewell.server.pages.marking import Span, blocks, section_at, window
from citewell.server.pages.papers import paper_of
from citewell.server.pages.rendering import address, place_of, view_of
from citewell.server.problems import absent, looking_up
from citewell.server.site import site

router = APIRouter(include_in_schema=False, route_class=Inside)

SHOWN = 50
"""Documents on one page of the list."""
QUOTES = 10
"""Most cited quotes that are shown of a document."""
_REQUEST = re.compile(r"req_[0-9a-f]{24}")
FAILED = (Status.UNSUPPORTED, Status.CONTRADICTED, Status.BROKEN)


SORTS: dict[str, Callable[[CatalogueEntry], Any]] = {
    "name": lambda entry: (entry.title or entry.document_id).casefold(),
    "state": lambda entry: entry.state,
    "pages": lambda entry: -(entry.pages or 0),
    "text": lambda entry: -entry.bytes,
    "added": lambda entry: entry.ingested_at,
}
"""By the column's name; ``-added`` is the newest first."""


@router.get("/documents")
def documents(reading: Reading, q: str = "", state: str = "", start: int = 0, sort: str = "name") -> Response:
    return _list(reading, q, state, max(start, 0), sort=sort)


@router.get("/documents/about")
def about(reading: Reading, id: str) -> Response:
    return _about(reading, id)


def _about(
    reading: Visit, id: str, outcomes: Sequence[FileOutcome] = (), notices: Sequence[Notice] | None = None
) -> Response:
    """``outcomes`` of a new version, ``notices`` of a recall."""
    entry = _entry(reading, id)
    if entry is None:
        raise absent()
    versions = [_version(reading, id, version) for version in reversed(reading.kb.versions(id))]
    with looking_up():
        document = reading.kb.document(id)
    citing = reading.kb.audit.citing(id)
    return reading.page(
        "about.html",
        entry=entry,
        document=document,
        versions=versions,
        cited=_cited(id, citing.records),
        leaning=sum(_leans(record, id, document.version) for record in citing.records),
        outcomes=outcomes,
        notices=notices,
        more=bool(citing.next),
        may_change=reading.caller.has(Role.CURATOR),
        may_audit=reading.caller.has(Role.AUDITOR),
    )


def _leans(record: AuditRecord, document_id: str, newest: str) -> bool:
    """Whether an answer rests on a version of the document that is not the newest."""
    cited = (one for claim in record.claims if claim.shown for one in claim.citations)
    return any(one.document_id == document_id and one.document_version != newest for one in cited)


def _entry(visit: Visit, document_id: str) -> CatalogueEntry | None:
    """None for what was never taken in, as a text that a caller handed in."""
    return next((one for one in visit.kb.documents() if one.document_id == document_id), None)


def _version(visit: Visit, document_id: str, version: str) -> dict[str, str]:
    try:
        document = visit.kb.document(document_id, version)
    except EvidenceError as error:
        return {"version": version, "href": "", "lost": str(error)}
    href = address("/documents/view", id=document_id, version=version)
    return {"version": version, "href": href, "ingested_at": document.ingested_at}


class Quoted(NamedTuple):
    """The same words, cited ``n`` times; ``href`` is where they were cited last."""

    text: str
    href: str
    n: int
    failed: int


class Cited(NamedTuple):
    """``n`` citations in ``answers``; ``shares`` of them by status, ``failed`` of those that were found false
    or wrong (UNCHECKED is neither), ``quotes`` the most cited first."""

    answers: int
    n: int
    failed: int
    shares: list[tuple[str, int]]
    quotes: list[Quoted]


def _cited(document_id: str, records: Sequence[AuditRecord]) -> Cited:
    """What was cited from one document, and how often that failed: counted in citations of it, not in
    answers. What a citation that stands in no source quotes was never the document's: it counts, and is not
    quoted. ``records`` newest first."""
    shares: Counter[Status] = Counter()
    quoted: defaultdict[str, list[tuple[Citation, Status]]] = defaultdict(list)
    cited = ((claim, one) for record in records for claim in record.claims for one in claim.citations)
    for claim, one in cited:
        if one.document_id == document_id:
            # Of a claim that rests on several places each has a verdict of its own.
            status = (one.verdict or claim.verdict).status
            shares[status] += 1
            if one.start >= 0 and one.quote not in UNREADABLE:
                quoted[one.quote].append((one, status))
    quotes = [
        Quoted(text, view_of(found[0][0]), len(found), sum(status in FAILED for _, status in found))
        for text, found in quoted.items()
    ]
    return Cited(
        answers=len(records),
        n=shares.total(),
        failed=sum(shares[status] for status in FAILED),
        shares=[(status.value, shares[status]) for status in Status if shares[status]],
        quotes=sorted(quotes, key=lambda one: -one.n)[:QUOTES],
    )


@router.get("/documents/view")
def view(
    reading: Reading,
    id: str,
    version: str = "",
    start: int = -1,
    end: int = -1,
    also: str = "",
    at: int = 0,
    answer: str = "",
    claim: int = 0,
) -> Response:
    """One page of a document, or one window of it, with spans marked and drawn over the page's image;
    ``answer`` and ``claim`` are where the reader comes from."""
    with looking_up():
        document = reading.kb.document(id, version)
    spans = _spans(document, start, end, also)
    begins, ends = window(document, spans[0].start if spans else at)
    number = next((one.number for one in document.pages if one.start <= begins < max(one.end, 1)), None)
    page = next((one for one in document.pages if one.number == number), None)
    newest = reading.kb.versions(id)[-1:]
    entry = _entry(reading, id)
    return reading.page(
        "view.html",
        document=document,
        title=title_of(document),
        section=section_at(document, spans[0].start if spans else begins),
        blocks=blocks(document, begins, ends, spans),
        page=page,
        paper=paper_of(document, page, spans),
        back=f"/answers/{answer}#claim-{claim or 1}" if _REQUEST.fullmatch(answer) else "",
        pages=len(document.pages),
        before=_step(document, begins, -1),
        after=_step(document, ends, 1),
        newest=newest[0] if newest else document.version,
        withdrawn=entry if entry and entry.state == WITHDRAWN else None,
        today=_today(reading, document, spans),
    )


@router.get("/documents/turn")
def turn(reading: Reading, id: str, version: str, number: int) -> Response:
    with looking_up():
        document = reading.kb.document(id, version)
    paper = next((one for one in document.pages if one.number == number), None)
    at = paper.start if paper else 0
    return RedirectResponse(address("/documents/view", id=id, version=version, at=at), status_code=303)


@router.post("/documents")
async def take_in(
    posting: Posting,
    files: list[UploadFile],
    tag: Field = "",
    acl: Field = "",
) -> Response:
    """Each file by the limited reader; what failed is shown with its remedy."""
    posting.need(Role.CURATOR)
    options: dict[str, Any] = {"acl": _named(acl), "tags": _named(tag)}

    def take(gone: Callable[[], str]) -> tuple[FileOutcome, ...]:
        reports = [upload(posting.kb, one.file, one.filename or "", gone=gone, **options) for one in files]
        return tuple(outcome for report in reports for outcome in report.files)

    outcomes = await site(posting.request).changed(posting.request, posting.caller, take)
    return await run_in_threadpool(_list, posting, "", "", 0, outcomes)


@router.post("/documents/version")
async def take_version(posting: Posting, id: Field, file: UploadFile) -> Response:
    """A file as the new version of a document: the old one stays as evidence and is retrieved no more."""
    posting.need(Role.CURATOR)
    entry = await run_in_threadpool(_entry, posting, id)
    if entry is None:
        raise absent()
    take = partial(
        upload, posting.kb, file.file, file.filename or "", document_id=id, acl=entry.acl, tags=entry.tags
    )
    report = await site(posting.request).changed(
        posting.request, posting.caller, lambda gone: take(gone=gone)
    )
    return await run_in_threadpool(_about, posting, id, report.files)


@router.post("/documents/recall")
async def recall(posting: Posting, id: Field, reason: Field = "") -> Response:
    """Every past answer that leaned on the document, judged by what there is today."""
    posting.need(Role.AUDITOR)

    def notices() -> Response:
        with looking_up():
            found = tuple(posting.kb.audit.recall(id, reason=reason.strip()))
        return _about(posting, id, notices=found)

    return await site(posting.request).reading(posting.request, posting.caller, notices)


def _named(written: str) -> list[str]:
    """One name a line or between commas: names hold blanks, and half of one is somebody else's."""
    return [name.strip() for name in re.split(r"[,\n]", written) if name.strip()]


@router.post("/documents/withdraw")
def withdraw(posting: Posting, id: Field, reason: Field = "") -> Response:
    posting.need(Role.CURATOR)
    with looking_up(), site(posting.request).changing():
        posting.kb.withdraw(id, reason=reason.strip(), user=posting.caller.user)
    return RedirectResponse(address("/documents/about", id=id), status_code=303)


def _list(
    visit: Visit, q: str, state: str, start: int, outcomes: tuple[FileOutcome, ...] = (), sort: str = "name"
) -> Response:
    there = visit.kb.home.is_dir()
    entries = visit.kb.documents() if there else []
    by = SORTS.get(sort.removeprefix("-"), SORTS["name"])
    found = sorted((one for one in entries if _fits(one, q, state)), key=by, reverse=sort.startswith("-"))
    told = {outcome.document_id for outcome in outcomes}
    failures = visit.kb.failures() if there and visit.caller.unrestricted else ()
    return visit.page(
        "documents.html",
        entries=found[start : start + SHOWN],
        total=len(entries),
        found=len(found),
        start=start,
        step=SHOWN,
        q=q,
        state=state,
        sort=sort,
        # The one that is sorted by turns around.
        sorts={name: name if sort != name else f"-{name}" for name in SORTS},
        outcomes=[(outcome, _like(outcome, entries)) for outcome in outcomes],
        failures=[one for one in failures if one.document_id not in told],
        may_change=visit.caller.has(Role.CURATOR),
    )


def _like(outcome: FileOutcome, entries: Sequence[CatalogueEntry]) -> CatalogueEntry | None:
    """Another document in use whose file has the same name: what came in may be its new version."""
    name = (outcome.document_id or "").rpartition("/")[2]
    others = (one for one in entries if one.document_id != outcome.document_id and one.state == "indexed")
    return next((one for one in others if one.document_id.rpartition("/")[2] == name), None)


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


def _step(document: Document, edge: int, direction: int) -> str:
    """The address of what comes before or after what is shown; "" at either end."""
    at = edge - 2 if direction < 0 else edge + 1
    if not 0 <= at < len(document.text):
        return ""
    if direction < 0 and not document.pages:
        at = max(0, at - 7_000)
    return address("/documents/view", id=document.document_id, version=document.version, at=at)


class Since(NamedTuple):
    """What became of the marked words in the newest version: of several spans, the worst; ``quote`` are its
    words where others are marked too."""

    name: str
    text: str
    href: str
    quote: str


def _today(visit: Visit, document: Document, spans: list[Span]) -> Since | None:
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
    resolved = visit.kb.audit.resolve(asked)
    name = worst(resolved)
    found = next((one for one in resolved if one.resolution.value == name), None)
    if found is None:
        return None
    moved = found.start >= 0 and found.version != document.version
    href = place_of(found.document_id, found.version, found.start, found.end) if moved else ""
    return Since(name, found.text or found.reason, href, found.quote if len(spans) > 1 else "")
