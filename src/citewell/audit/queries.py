"""Questions to the log: which records, newest first, a page at a time.

In: an :class:`AuditQuery`. Out: a :class:`Page` of records and the cursor of the next. Each question is
answered from one denormalised table's index; the bodies are read only for the page shown. Pages are stable: a
cursor names the last record seen, so entries that arrive later never shift a page.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from citewell.audit.database import Rows
from citewell.audit.facts import ANY_VERSION
from citewell.clock import written
from citewell.errors import UsageError
from citewell.records import AuditRecord, Record

STATUSES = {
    "any-unsupported": "unsupported > 0",
    "any-broken": "broken > 0",
    "all-verified": "all_verified = 1",
}
CONFIDENCES = ("low", "medium", "high")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


class AuditQuery(Record, frozen=True, kw_only=True):
    """Every field narrows; "" does not. ``since`` and ``until`` (excluded) as ``clock.written`` has them.

    ``document`` is a document id that a citation names, ``version`` one version of it; ``status`` a key of
    ``STATUSES``; ``confidence`` low, medium or high; ``limit`` from 1 to 1000; ``cursor`` as a Page gave it.
    """

    since: str = ""
    until: str = ""
    user: str = ""
    session: str = ""
    document: str = ""
    version: str = ""
    status: str = ""
    confidence: str = ""
    decision: str = ""
    limit: int = 50
    cursor: str = ""


class Page(Record, frozen=True, kw_only=True):
    """``next`` is "" when this is the last page."""

    records: tuple[AuditRecord, ...]
    next: str = ""


def run_query(rows: Rows, query: AuditQuery) -> tuple[list[int], str]:
    """The seqs of a page and the cursor of the next; ``user`` and ``session`` are pseudonyms here.

    Raises UsageError for a status, band, cursor or limit that is none.
    """
    _refuse(query)
    table = "cited" if query.document else "answers"
    wanted = {
        "timestamp >= ?": query.since,
        "timestamp < ?": query.until,
        "subject = ?": query.user,
        "session = ?": query.session,
        "band = ?": query.confidence,
        "decision = ?": query.decision,
        "document_id = ?": query.document,
    }
    terms = [term for term, value in wanted.items() if value]
    values: list[str | int] = [value for value in wanted.values() if value]
    if query.document:
        terms.append("document_version = ?")
        values.append(query.version or ANY_VERSION)
    if query.status:
        terms.append(STATUSES[query.status])
    if query.cursor:
        terms.append("(timestamp, seq) < (?, ?)")
        values.extend(_parse_cursor(query.cursor))
    found = rows.execute(
        f"SELECT timestamp, seq FROM {table} WHERE {' AND '.join(terms) or '1'}"
        " ORDER BY timestamp DESC, seq DESC LIMIT ?",
        (*values, query.limit + 1),
    ).fetchall()
    shown = found[: query.limit]
    more = len(found) > query.limit
    return [seq for _, seq in shown], f"{shown[-1][0]}.{shown[-1][1]}" if more else ""


def moment(text: str, now: datetime) -> str:
    """``30d`` (also m, h, w: so long before ``now``) or an ISO date or time, as ``clock.written`` writes it.

    Raises UsageError for anything else.
    """
    span = re.fullmatch(r"(\d{1,6})([mhdw])", text.strip())
    try:
        if span:
            return written(now - timedelta(**{_UNITS[span[2]]: int(span[1])}))
        return written(datetime.fromisoformat(text.strip()))
    except (ValueError, OverflowError) as error:
        raise UsageError(
            f"{text!r} is no time", hint="write 30d, 12h, 2026-11-21 or 2026-11-21T03:00:00Z"
        ) from error


def _refuse(query: AuditQuery) -> None:
    if query.status and query.status not in STATUSES:
        raise UsageError(f"unknown status {query.status!r}", hint=f"one of {', '.join(STATUSES)}")
    if query.confidence and query.confidence not in CONFIDENCES:
        raise UsageError(f"unknown band {query.confidence!r}", hint=f"one of {', '.join(CONFIDENCES)}")
    if query.version and not query.document:
        raise UsageError("a version without its document", hint="name the document too")
    if not 1 <= query.limit <= 1000:
        raise UsageError(f"a page of {query.limit} records", hint="from 1 to 1000")


def _parse_cursor(cursor: str) -> tuple[str, int]:
    timestamp, _, seq = cursor.rpartition(".")
    if not timestamp or not seq.isdigit():
        raise UsageError(f"{cursor!r} is no cursor", hint="pass `next` of the page before, as it was")
    return timestamp, int(seq)
