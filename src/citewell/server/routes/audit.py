"""``/v1/audit``: questions to the log, a record, counts, and files of everything that fits."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import msgspec
from fastapi import APIRouter, Depends
from starlette.responses import Response, StreamingResponse

from citewell.audit.pages import Counts, Page
from citewell.audit.question import AuditQuery, moment
from citewell.audit.tabular import FORMATS
from citewell.core.access import Caller
from citewell.core.records import AuditRecord
from citewell.knowledge.home import KnowledgeBase
from citewell.server.identity import require
from citewell.server.keys import Scope
from citewell.server.problems import looking_up
from citewell.server.shapes import asks, gives, query_of, reply
from citewell.server.site import Site, site

router = APIRouter(prefix="/v1/audit", tags=["audit"])

Auditor = Annotated[Caller, Depends(require(scope=Scope.AUDIT))]
"""Everybody may ask: the core shows an asker their own records, an auditor others' too."""
Here = Annotated[Site, Depends(site)]
MEDIA = {".csv": "text/csv", ".jsonl": "application/x-ndjson", ".parquet": "application/vnd.apache.parquet"}


class AuditPage(Page, frozen=True, kw_only=True):
    """A page of records; a document's page has that name already."""


@router.get(
    "",
    responses=gives(AuditPage, "Records, newest first; `next` is the cursor"),
    openapi_extra=asks(AuditQuery),
)
def query(
    caller: Auditor, asked: Annotated[AuditQuery, Depends(query_of(AuditQuery))], here: Here
) -> Response:
    """Every member narrows; `since` and `until` are `30d`, `12h` or a date. The read is itself on record."""
    kb = here.kb_for(caller)
    return reply(kb.audit.query(_dated(kb, asked), reader=caller.user))


class CountsQuery(AuditQuery, frozen=True, kw_only=True):
    """A query, ``by`` hour, day, week or month, ``of`` decision, status, proof, confidence, ..."""

    by: str = "day"
    of: str = "decision"


@router.get(
    "/counts", responses=gives(Counts, "Numbers of records over time"), openapi_extra=asks(CountsQuery)
)
def counts(
    caller: Auditor, asked: Annotated[CountsQuery, Depends(query_of(CountsQuery))], here: Here
) -> Response:
    """How many records fit, and how many of them had what."""
    kb = here.kb_for(caller)
    plain = msgspec.convert(_members(asked), AuditQuery)
    return reply(kb.audit.counts(_dated(kb, plain), by=asked.by, of=asked.of, reader=caller.user))


class ExportQuery(AuditQuery, frozen=True, kw_only=True):
    """A query, and ``format``: csv, jsonl or parquet."""

    format: Annotated[str, msgspec.Meta(pattern="^(csv|jsonl|parquet)$")] = "jsonl"


@router.get(
    "/export",
    responses=gives(None, "All matching records, as a file", media="application/octet-stream"),
    openapi_extra=asks(ExportQuery),
)
def export(
    caller: Auditor, asked: Annotated[ExportQuery, Depends(query_of(ExportQuery))], here: Here
) -> Response:
    """The same files as ``citewell audit query --out``."""
    kb = here.kb_for(caller)
    ending = f".{asked.format}"
    wanted = _dated(kb, msgspec.convert(_members(asked), AuditQuery))
    handle, name = tempfile.mkstemp(prefix="citewell-export-", suffix=ending)  # readable by us alone
    os.close(handle)
    path = Path(name)
    try:
        FORMATS[ending](kb.audit.every(wanted, reader=caller.user), path)
        file = path.open("rb")
    finally:
        path.unlink()  # what is open stays readable, and nothing is left behind by a client that hangs up
    headers = {"Content-Disposition": f'attachment; filename="audit{ending}"'}
    return StreamingResponse(_pieces(file), media_type=MEDIA[ending], headers=headers)


@router.get("/records/{request_id}", responses=gives(AuditRecord, "The full record of one request"))
def record(request_id: str, caller: Auditor, here: Here) -> Response:
    """From the question to the decision."""
    with looking_up():
        return reply(here.kb_for(caller).audit.record(request_id, reader=caller.user))


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    with file:
        while piece := file.read(1 << 16):
            yield piece


def _members(asked: AuditQuery) -> dict[str, Any]:
    return {name: getattr(asked, name) for name in AuditQuery.__struct_fields__}


def _dated(kb: KnowledgeBase, asked: AuditQuery) -> AuditQuery:
    now = kb.now()
    times = {name: moment(getattr(asked, name), now) for name in ("since", "until") if getattr(asked, name)}
    return msgspec.structs.replace(asked, **times)
