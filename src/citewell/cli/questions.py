"""``citewell audit query | counts``: find, count and export records of the log.

In: words. Out: a page, a table of counts, or a CSV, JSON-lines or Parquet file of all matching records.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.home import HomeOption, JsonOption, open_home
from citewell.cli.printing import aside, columns, counted, say, say_json
from citewell.core.errors import UsageError

if TYPE_CHECKING:
    from citewell.audit.question import AuditQuery
    from citewell.core.records import AuditRecord
    from citewell.knowledge.home import KnowledgeBase

Since = Annotated[str, typer.Option("--since", metavar="WHEN", help="30d, 12h, or a date.")]
Until = Annotated[
    str, typer.Option("--until", metavar="WHEN", help="Only before this time: 30d, 12h, or a date.")
]
User = Annotated[str, typer.Option("--user", metavar="U", help="Only questions by this user.")]
Session = Annotated[str, typer.Option("--session", metavar="S", help="Only this session.")]
Doc = Annotated[str, typer.Option("--document", metavar="D", help="Only answers that cite this document.")]
Version = Annotated[
    str, typer.Option("--version", metavar="V", help="Only answers that cite this version of it.")
]
Chunk = Annotated[str, typer.Option("--chunk", metavar="C", help="Only answers that cite this chunk.")]
Status = Annotated[str, typer.Option("--status", help="any-unsupported, any-broken, all-verified, ...")]
Proof = Annotated[str, typer.Option("--proof", help="verbatim, numeric, computed, entailed or human.")]
Band = Annotated[str, typer.Option("--confidence", help="low, medium or high.")]
Decision = Annotated[str, typer.Option("--decision", help="ANSWER, PARTIAL, ABSTAIN or ERROR.")]
Model = Annotated[str, typer.Option("--model", metavar="M", help="Only answers made with this model.")]
Prompt = Annotated[str, typer.Option("--prompt", metavar="HASH", help="Only answers made with this prompt.")]
Failure = Annotated[str, typer.Option("--failure", help="relevance_gate_failed, citation_broken, ...")]
Flag = Annotated[str, typer.Option("--flag", metavar="F", help="Only answers that a user gave this flag.")]
Reader = Annotated[str, typer.Option("--reader", metavar="U", help="Your name, for the record.")]


def register(group: typer.Typer) -> None:
    group.command()(query)
    group.command()(counts)


def query(
    context: typer.Context,
    since: Since = "",
    until: Until = "",
    user: User = "",
    session: Session = "",
    document: Doc = "",
    version: Version = "",
    chunk: Chunk = "",
    status: Status = "",
    proof: Proof = "",
    confidence: Band = "",
    decision: Decision = "",
    model: Model = "",
    prompt: Prompt = "",
    failure: Failure = "",
    flag: Flag = "",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Records per page.")] = 50,
    cursor: Annotated[str, typer.Option(help="The cursor that the previous page printed.")] = "",
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write all matching records to a .csv, .jsonl or .parquet file."),
    ] = None,
    reader: Reader = "",
    json: JsonOption = False,
    home: HomeOption = None,
) -> None:
    """List records, newest first."""
    knowledge_base = open_home(context, home)
    asked = _asked(knowledge_base, context)
    if out is not None:
        return _export(knowledge_base, asked, out, reader)
    page = knowledge_base.audit.query(asked, reader=reader)
    if json:
        return say_json(page)
    if page.expired:
        aside(f"note: {len(page.expired)} more records match, but their content has expired")
    if not page.records:
        return say("No records found.")
    head = ("id", "time", "user", "decision", "confidence", "claims", "question")
    columns([head] + [_line(record) for record in page.records])
    if page.next:
        say(f"More with --cursor {page.next}")
    return None


def counts(
    context: typer.Context,
    by: Annotated[str, typer.Option(help="hour, day, week or month.")] = "day",
    of: Annotated[
        str, typer.Option(help="decision, status, proof, confidence, model, prompt or failure.")
    ] = "decision",
    since: Since = "",
    until: Until = "",
    user: User = "",
    session: Session = "",
    document: Doc = "",
    version: Version = "",
    chunk: Chunk = "",
    status: Status = "",
    proof: Proof = "",
    confidence: Band = "",
    decision: Decision = "",
    model: Model = "",
    prompt: Prompt = "",
    failure: Failure = "",
    flag: Flag = "",
    reader: Reader = "",
    json: JsonOption = False,
    home: HomeOption = None,
) -> None:
    """Count records over time, by decision, status, model or another property."""
    knowledge_base = open_home(context, home)
    asked = _asked(knowledge_base, context)
    found = knowledge_base.audit.counts(asked, by=by, of=of, reader=reader)
    if json:
        return say_json(found)
    values = [share.value for share in found.shares]
    rows = [(by, "records", "of all", *values)]
    for stretch in (*found.stretches, None):
        shares = {share.value: share for share in (stretch.shares if stretch else found.shares)}
        cells = [f"{shares[v].n} ({shares[v].rate:.1%})" if v in shares else "0" for v in values]
        rows.append(
            (stretch.since[:13], str(stretch.records), _percent(stretch.of_all), *cells)
            if stretch
            else ("all", str(found.total), _percent(found.of_all), *cells)
        )
    columns(rows)
    return None


def _asked(knowledge_base: KnowledgeBase, context: typer.Context) -> AuditQuery:
    """The query that the options of either command spell out; options and fields share their names."""
    import msgspec

    from citewell.audit.question import AuditQuery, moment

    now = knowledge_base.now()
    given = {name: context.params[name] for name in AuditQuery.__struct_fields__ if name in context.params}
    times = {name: moment(given[name], now) for name in ("since", "until") if given[name]}
    return msgspec.convert({**given, **times}, AuditQuery)


def _export(knowledge_base: KnowledgeBase, asked: AuditQuery, out: Path, reader: str) -> None:
    from citewell.audit.tabular import FORMATS

    if out.suffix not in FORMATS:
        raise UsageError(f"{out.name} has an unknown extension", hint=f"use one of {', '.join(FORMATS)}")
    try:
        out.open("ab").close()  # before anything is read on record
    except OSError as error:
        raise UsageError(
            f"{out} cannot be written: {error}", hint="name a file in a folder that exists"
        ) from error
    count = FORMATS[out.suffix](knowledge_base.audit.every(asked, reader=reader), out)
    say(f"Wrote {counted(count, 'record')} to {out}.")


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


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
