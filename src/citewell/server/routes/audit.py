"""``/v1/audit``: log queries, single records, counts, and exports of all matching records."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, BinaryIO

import msgspec
from fastapi import APIRouter, Depends
from starlette.responses import Response, StreamingResponse

from citewell.audit.pages import Counts, Page
from citewell.audit.question import AuditQuery, dated_query
from citewell.audit.tabular import FORMATS
from citewell.core.access import Caller
from citewell.core.records import AuditRecord
from citewell.knowledge.home import KnowledgeBase
from citewell.server.identity import require
from citewell.server.keys import Scope
from citewell.server.problems import looking_up
from citewell.server.shapes import described, query_of, reply
from citewell.server.site import DeadlineRoute, Here

router = APIRouter(prefix="/v1/audit", tags=["audit"], route_class=DeadlineRoute)

Auditor = Annotated[Caller, Depends(require(scope=Scope.AUDIT))]
"""Open to every role: the core shows askers their own records, and auditors other people's too."""
MEDIA = {".csv": "text/csv", ".jsonl": "application/x-ndjson"}


class AuditPage(Page, frozen=True, kw_only=True):
    """A page of records; a document's page has that name already."""


@router.get("", **described(AuditPage, "Records, newest first; `next` is the cursor", query=AuditQuery))
def query(caller: Auditor, here: Here, asked: AuditQuery = query_of(AuditQuery)) -> Response:
    """Every member narrows; `since` and `until` are `30d`, `12h` or a date. The read is itself on record."""
    kb = here.kb.as_(caller)
    return reply(kb.audit.query(_dated(kb, asked), reader=caller.user))


class CountsQuery(AuditQuery, frozen=True, kw_only=True):
    """A query, ``by`` hour, day, week or month, ``of`` decision, status, proof, confidence, ..."""

    by: str = "day"
    of: str = "decision"


@router.get("/counts", **described(Counts, "Numbers of records over time", query=CountsQuery))
def counts(caller: Auditor, here: Here, asked: CountsQuery = query_of(CountsQuery)) -> Response:
    """How many records fit, and how many of them had what."""
    kb = here.kb.as_(caller)
    return reply(kb.audit.counts(_dated(kb, asked), by=asked.by, of=asked.of, reader=caller.user))


class ExportQuery(AuditQuery, frozen=True, kw_only=True):
    """A query, and ``format``: csv or jsonl."""

    format: Annotated[str, msgspec.Meta(pattern="^(csv|jsonl)$")] = "jsonl"


@router.get(
    "/export",
    **described(None, "All matching records, as a file", query=ExportQuery, media="application/octet-stream"),
)
def export(caller: Auditor, here: Here, asked: ExportQuery = query_of(ExportQuery)) -> Response:
    """The same files as ``citewell audit query --out``."""
    kb = here.kb.as_(caller)
    ending = f".{asked.format}"
    wanted = _dated(kb, asked)
    handle, name = tempfile.mkstemp(prefix="citewell-export-", suffix=ending)  # readable only by us
    os.close(handle)
    path = Path(name)
    try:
        FORMATS[ending](kb.audit.every(wanted, reader=caller.user), path)
        file = path.open("rb")
    finally:
        path.unlink()  # the open file stays readable, and a client that hangs up leaves nothing behind
    headers = {"Content-Disposition": f'attachment; filename="audit{ending}"'}
    return StreamingResponse(_pieces(file), media_type=MEDIA[ending], headers=headers)


@router.get("/records/{request_id}", **described(AuditRecord, "The full record of one request"))
def record(request_id: str, caller: Auditor, here: Here) -> Response:
    """From the question to the decision."""
    with looking_up():
        return reply(here.kb.as_(caller).audit.record(request_id, reader=caller.user))


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    with file:
        while piece := file.read(1 << 16):
            yield piece


def _dated(kb: KnowledgeBase, asked: AuditQuery) -> AuditQuery:
    """The plain query in ``asked``, with absolute times."""
    return dated_query({name: getattr(asked, name) for name in AuditQuery.__struct_fields__}, kb.now())
