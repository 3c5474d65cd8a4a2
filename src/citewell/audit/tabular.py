"""Exports records: CSV for people, with one row per record in the words of the pages, and JSON lines for
programs, with full records.

In: a stream of records. Out: a file. To keep spreadsheets from running what a person wrote, a CSV cell that
looks like a formula is prefixed with an apostrophe. Independent of queries.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import msgspec

from citewell.core.records import AuditRecord, Status
from citewell.core.vocabulary import readable_name

COLUMNS: Mapping[str, Callable[[AuditRecord], str | int | float | None]] = {
    "request_id": lambda r: r.request_id,
    "timestamp": lambda r: r.timestamp,
    "user": lambda r: r.user,
    "session_id": lambda r: r.session_id,
    "question": lambda r: r.user_query,
    "decision": lambda r: readable_name(r.response_decision or "ERROR"),
    "confidence": lambda r: r.confidence_report.overall if r.confidence_report else None,
    "shown": lambda r: r.shown_response,
    "claims": lambda r: len(r.claims),
    **{
        status.value: lambda r, status=status: _statuses(r)[status]  # type: ignore[misc]  # binds early
        for status in Status
    },
    "documents": lambda r: "; ".join(sorted({c.document_id for claim in r.claims for c in claim.citations})),
    "model": lambda r: r.generation_model,
    "prompt_hash": lambda r: r.generation_prompt_hash,
    "index_version": lambda r: r.index_version,
    "config_hash": lambda r: r.config_hash,
    "failure": lambda r: readable_name(r.failure_reason),
    "error": lambda r: r.error,
    "total_ms": lambda r: r.latency_ms.get("total"),
}
"""Column name -> cell; columns named after a status count claims."""
_FORMULA = frozenset("=+-@\t\r\n＝＋－＠")


def write_csv(records: Iterable[AuditRecord], path: Path) -> int:
    """UTF-8 with the columns' words as header, RFC 4180. Returns the number of records."""
    count = 0
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(map(readable_name, COLUMNS))
        for record in records:
            writer.writerow([_tame(make(record)) for make in COLUMNS.values()])
            count += 1
    return count


def write_json_lines(records: Iterable[AuditRecord], path: Path) -> int:
    """Each full record as one line of JSON. Returns the number of records."""
    count = 0
    with path.open("wb") as file:
        for record in records:
            file.write(msgspec.json.encode(record) + b"\n")
            count += 1
    return count


FORMATS: Mapping[str, Callable[[Iterable[AuditRecord], Path], int]] = {
    ".csv": write_csv,
    ".jsonl": write_json_lines,
}


def _statuses(record: AuditRecord) -> Counter[Status]:
    return Counter(claim.verdict.status for claim in record.claims)


def _tame(value: str | int | float | None) -> str | int | float | None:
    return f"'{value}" if isinstance(value, str) and value[:1] in _FORMULA else value
