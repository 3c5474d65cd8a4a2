"""``/documents``: the list; one document and what was cited from it; a location in it, as in its source."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from fastapi import APIRouter, UploadFile
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from citewell.audit.entries import UNREADABLE
from citewell.core.access import Role
from citewell.core.errors import EvidenceError
from citewell.core.records import AuditRecord, Citation, Document, Status
from citewell.documents.evidence.catalogue import WITHDRAWN, CatalogueEntry
from citewell.documents.outcomes import FileOutcome
from citewell.knowledge.revisiting.rechecking import CurrentCitation, Notice
from citewell.server.files import tame, upload
from citewell.server.pages.access import Field, Posting, Reading, SignedInRoute, Visit
from citewell.server.pages.answers import title_of, worst
from citewell.server.pages.marking import ClaimSpan, blocks, paper_of, section_at, window
from citewell.server.pages.rendering import address, view_of
from citewell.server.problems import looking_up, not_found
from citewell.server.site import site

router = APIRouter(include_in_schema=False, route_class=SignedInRoute)

SHOWN = 50
"""Documents per page of the list."""
QUOTES = 10
"""Number of most cited quotes shown per document."""
_REQUEST = re.compile(r"req_[0-9a-f]{24}")
FAILED = (Status.UNSUPPORTED, Status.CONTRADICTED, Status.BROKEN)


SORTS: dict[str, Callable[[CatalogueEntry], Any]] = {
    "name": lambda entry: (entry.title or entry.document_id).casefold(),
    "state": lambda entry: entry.state,
    "pages": lambda entry: -(entry.pages or 0),
    "text": lambda entry: -entry.bytes,
    "added": lambda entry: entry.ingested_at,
}
"""Column name -> sort key; a leading ``-`` reverses the order."""
ORDERS = {
    "name": "by name",
    "-name": "by name, Z first",
    "state": "by state",
    "pages": "most pages first",
    "text": "longest first",
    "-added": "newest first",
    "added": "oldest first",
}
"""The orders offered on a phone, which has no column heads."""


@router.get("/documents")
def documents(reading: Reading, q: str = "", state: str = "", start: int = 0, sort: str = "name") -> Response:
    return _list(reading, q, state, max(start, 0), sort=sort)


@router.get("/documents/about")
def about(reading: Reading, id: str) -> Response:
    return _about(reading, id)


def _about(
    reading: Visit, id: str, outcomes: Sequence[FileOutcome] = (), notices: Sequence[Notice] | None = None
) -> Response:
    """The page of one document; ``outcomes`` of a new version, ``notices`` of a recall."""
    entry = _entry(reading, id)
    if entry is None:
        raise not_found()
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
    """True if an answer cites a version of the document other than the newest."""
    cited = (one for claim in record.claims if claim.shown for one in claim.citations)
    return any(one.document_id == document_id and one.document_version != newest for one in cited)


def _entry(visit: Visit, document_id: str) -> CatalogueEntry | None:
    """The catalogue entry; None for what was never ingested, such as caller-supplied text."""
    return next((one for one in visit.kb.documents() if one.document_id == document_id), None)


def _version(visit: Visit, document_id: str, version: str) -> dict[str, str]:
    try:
        document = visit.kb.document(document_id, version)
    except EvidenceError as error:
        return {"version": version, "href": "", "lost": str(error)}
    href = address("/documents/view", id=document_id, version=version)
    return {"version": version, "href": href, "ingested_at": document.ingested_at}


class Quoted(NamedTuple):
    """A quote cited ``n`` times; ``href`` is the latest citation's location."""

    text: str
    href: str
    n: int
    failed: int


class CitationCounts(NamedTuple):
    """``n`` citations in ``answers``; ``shares`` counts them by status, ``failed`` those that failed (not
    UNCHECKED); ``quotes`` most cited first."""

    answers: int
    n: int
    failed: int
    shares: list[tuple[str, int]]
    quotes: list[Quoted]


def _cited(document_id: str, records: Sequence[AuditRecord]) -> CitationCounts:
    """What was cited from one document, and how often that failed, counted in citations, not answers. A
    citation not located in its source counts but is not quoted, as the document never contained its text.
    ``records`` newest first."""
    shares: Counter[Status] = Counter()
    quoted: defaultdict[str, list[tuple[Citation, Status]]] = defaultdict(list)
    cited = ((claim, one) for record in records for claim in record.claims for one in claim.citations)
    for claim, one in cited:
        if one.document_id == document_id:
            # Each citation of a claim with several has its own verdict.
            status = (one.verdict or claim.verdict).status
            shares[status] += 1
            if one.start >= 0 and one.quote not in UNREADABLE:
                quoted[one.quote].append((one, status))
    quotes = [
        Quoted(text, view_of(found[0][0]), len(found), sum(status in FAILED for _, status in found))
        for text, found in quoted.items()
    ]
    return CitationCounts(
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
    """One page or window of a document, with spans marked in the text and on the page's image; ``answer`` and
    ``claim`` are for the link back."""
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
        several=len(spans) > 1,
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
    replace: Field = "",
) -> Response:
    """Ingests uploaded files; failures are shown with their remedy. With ``replace``, a file with the name of
    one document becomes its new version."""
    posting.need(Role.CURATOR)
    given: dict[str, Any] = {"acl": _named(acl), "tags": _named(tag)}

    def options(name: str) -> dict[str, Any]:
        known = _namesakes(tame(name), posting.kb.documents()) if replace else []
        if len(known) != 1:
            return given
        return {"document_id": known[0].document_id, "acl": known[0].acl, "tags": known[0].tags}

    def take(gone: Callable[[], str]) -> tuple[FileOutcome, ...]:
        names = [one.filename or "" for one in files]
        reports = [
            upload(posting.kb, one.file, name, gone, **options(name))
            for one, name in zip(files, names, strict=True)
        ]
        return tuple(outcome for report in reports for outcome in report.files)

    outcomes = await site(posting.request).changed(posting.request, posting.caller, take)
    return await run_in_threadpool(_list, posting, "", "", 0, outcomes)


@router.post("/documents/version")
async def take_version(posting: Posting, id: Field, file: UploadFile) -> Response:
    """Ingests a file as a document's new version; the old one stays as evidence, no longer retrieved."""
    posting.need(Role.CURATOR)
    entry = await run_in_threadpool(_entry, posting, id)
    if entry is None:
        raise not_found()
    take = partial(
        upload, posting.kb, file.file, file.filename or "", document_id=id, acl=entry.acl, tags=entry.tags
    )
    report = await site(posting.request).changed(posting.request, posting.caller, take)
    return await run_in_threadpool(_about, posting, id, report.files)


@router.post("/documents/recall")
async def recall(posting: Posting, id: Field, reason: Field = "") -> Response:
    """Rechecks every past answer that cites the document, and shows the notices."""
    posting.need(Role.AUDITOR)

    def notices() -> Response:
        with looking_up():
            found = tuple(posting.kb.audit.recall(id, reason=reason.strip()))
        return _about(posting, id, notices=found)

    return await site(posting.request).reading(posting.request, posting.caller, notices)


def _named(written: str) -> list[str]:
    """Names separated by lines or commas, not spaces, as part of a name may be another's name."""
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
        orders=ORDERS if sort in ORDERS else {sort: sort, **ORDERS},
        # The current sort column reverses.
        sorts={name: name if sort != name else f"-{name}" for name in SORTS},
        outcomes=[(outcome, _like(outcome, entries)) for outcome in outcomes],
        failures=[one for one in failures if one.document_id not in told],
        may_change=visit.caller.has(Role.CURATOR),
    )


def _like(outcome: FileOutcome, entries: Sequence[CatalogueEntry]) -> CatalogueEntry | None:
    """Another indexed document with the same file name, of which this may be a new version."""
    name = (outcome.document_id or "").rpartition("/")[2]
    return next((one for one in _namesakes(name, entries) if one.document_id != outcome.document_id), None)


def _namesakes(name: str, entries: Sequence[CatalogueEntry]) -> list[CatalogueEntry]:
    """The indexed documents with this file name."""
    indexed = (one for one in entries if one.state == "indexed")
    return [one for one in indexed if one.document_id.rpartition("/")[2] == name]


def _fits(entry: CatalogueEntry, q: str, state: str) -> bool:
    words = f"{entry.document_id} {entry.title} {' '.join(entry.tags)}".lower()
    return all(word in words for word in q.lower().split()) and state in ("", entry.state)


def _spans(document: Document, start: int, end: int, also: str) -> list[ClaimSpan]:
    """The spans to mark; ``also`` lists further ones, as ``12-15 40-42``. Invalid spans are ignored."""
    asked = [(start, end)]
    for word in also.split()[:50]:
        first, _, last = word.partition("-")
        if first.isdecimal() and last.isdecimal() and len(word) < 40:  # int() refuses thousands of digits
            asked.append((int(first), int(last)))
    length = len(document.text)
    return [ClaimSpan(start=a, end=b) for a, b in asked if 0 <= a < b <= length]


def _step(document: Document, edge: int, direction: int) -> str:
    """The URL of what precedes or follows the text shown; "" at either end."""
    at = edge - 2 if direction < 0 else edge + 1
    if not 0 <= at < len(document.text):
        return ""
    if direction < 0 and not document.pages:
        at = max(0, at - 7_000)
    return address("/documents/view", id=document.document_id, version=document.version, at=at)


def _today(visit: Visit, document: Document, spans: list[ClaimSpan]) -> CurrentCitation | None:
    """What the marked spans resolve to in the newest version, the worst of several."""
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
    return next((one for one in resolved if one.resolution.value == name), None)
