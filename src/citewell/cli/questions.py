"""``citewell audit query | counts``: find, count and export records of the log.

In: words. Out: a page, a table of counts, or a CSV or JSON-lines file of all matching records.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from citewell.audit.question import AuditQuery, moment
from citewell.cli.audit import audit
from citewell.cli.commands import Found, command, options_in
from citewell.cli.printing import columns, counted, say
from citewell.core.errors import UsageError
from citewell.core.records import AuditRecord
from citewell.knowledge.home import KnowledgeBase

_FILTERS = options_in("""\
--since WHEN: 30d, 12h, or a date.
--until WHEN: Only before this time: 30d, 12h, or a date.
--user U: Only questions by this user.
--session S: Only this session.
--document D: Only answers that cite this document.
--version V: Only answers that cite this version of it.
--chunk C: Only answers that cite this chunk.
--status: any-unsupported, any-broken, all-verified, ...
--proof: verbatim, numeric, computed, entailed or human.
--confidence: low, medium or high.
--decision: ANSWER, PARTIAL, ABSTAIN or ERROR.
--model M: Only answers made with this model.
--prompt HASH: Only answers made with this prompt.
--failure: relevance_gate_failed, citation_broken, ...
--flag F: Only answers that a user gave this flag.
""")
"""Options of both commands, named like the fields of an AuditQuery."""


@command(audit, options=_FILTERS)
def query(
    kb: KnowledgeBase,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 50,
    cursor: str = "",
    out: Path | None = None,
    reader: str = "",
    filters: Mapping[str, str] = {},
) -> Found:
    """List records, newest first.

    --limit: Records per page.
    --cursor: The cursor that the previous page printed.
    --out FILE: Write all matching records to a .csv or .jsonl file.
    """
    asked = msgspec.structs.replace(_asked(kb, filters), limit=limit, cursor=cursor)
    if out is not None:
        count = _export(kb, asked, out, reader)
        return Found({"records": count}, lambda: say(f"Wrote {counted(count, 'record')} to {out}."))
    page = kb.audit.query(asked, reader=reader)

    def tell() -> None:
        if not page.records:
            return say("No records found.")
        head = ("id", "time", "user", "decision", "confidence", "claims", "question")
        columns([head, *map(_line, page.records)])
        if page.next:
            say(f"More with --cursor {page.next}")
        return None

    return Found(page, tell)


@command(audit, options=_FILTERS)
def counts(
    kb: KnowledgeBase,
    by: str = "day",
    of: str = "decision",
    reader: str = "",
    filters: Mapping[str, str] = {},
) -> Found:
    """Count records over time, by decision, status, model or another property.

    --by: hour, day, week or month.
    --of: decision, status, proof, confidence, model, prompt or failure.
    """
    found = kb.audit.counts(_asked(kb, filters), by=by, of=of, reader=reader)
    values = [share.value for share in found.shares]
    rows = [(by, "records", "of all", *values)]
    stretches = [(one.since[:13], one.records, one.of_all, one.shares) for one in found.stretches]
    for since, records, of_all, shares in (*stretches, ("all", found.total, found.of_all, found.shares)):
        cells = {share.value: f"{share.n} ({share.rate:.1%})" for share in shares}
        share_of_all = "" if of_all is None else f"{of_all:.1%}"
        rows.append((since, str(records), share_of_all, *(cells.get(value, "0") for value in values)))
    return Found(found, lambda: columns(rows))


def _asked(kb: KnowledgeBase, filters: Mapping[str, str]) -> AuditQuery:
    now = kb.now()
    times = {name: moment(filters[name], now) for name in ("since", "until") if filters[name]}
    return msgspec.convert({**filters, **times}, AuditQuery)


def _export(kb: KnowledgeBase, asked: AuditQuery, out: Path, reader: str) -> int:
    from citewell.audit.tabular import FORMATS

    if out.suffix not in FORMATS:
        raise UsageError(f"{out.name} has an unknown extension", hint=f"use one of {', '.join(FORMATS)}")
    try:
        out.open("ab").close()  # before anything is read on record
    except OSError as error:
        raise UsageError(
            f"{out} cannot be written: {error}", hint="name a file in a folder that exists"
        ) from error
    return FORMATS[out.suffix](kb.audit.every(asked, reader=reader), out)


def _line(record: AuditRecord) -> tuple[str, ...]:
    report = record.confidence_report
    overall = "" if report is None or report.overall is None else f"{report.overall:.2f}"
    return (
        record.request_id,
        record.timestamp[:19],
        record.user,
        record.response_decision or "error",
        overall,
        str(len(record.claims)),
        record.user_query[:60],
    )
