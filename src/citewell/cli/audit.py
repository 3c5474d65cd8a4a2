"""``citewell audit show | check`` and ``citewell trace``; the group for all commands of the log."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli import keys, proving, questions, receipts, retention, revisits
from citewell.cli.answers import print_claims
from citewell.cli.home import HomeOption, JsonOption, open_home
from citewell.cli.printing import FAILED, aside, columns, say, say_json
from citewell.core.errors import UsageError

if TYPE_CHECKING:
    from citewell.core.records import AuditRecord

Reader = Annotated[str, typer.Option("--reader", metavar="U", help="Your name, for the record.")]

group = typer.Typer(
    help="Query, check and prove the sealed log of answers.", no_args_is_help=True, rich_markup_mode=None
)


def register(app: typer.Typer) -> None:
    proving.register(group)
    group.add_typer(keys.group, name="key")
    for uses in (questions, receipts, revisits, retention):
        uses.register(group)
    app.add_typer(group, name="audit")
    app.add_typer(receipts.group, name="receipt")
    app.command("trace")(trace)


@group.command()
def show(
    context: typer.Context,
    id: Annotated[str, typer.Argument(metavar="ID", help="The record id that `ask` printed.")],
    reader: Reader = "",
    json: JsonOption = False,
    home: HomeOption = None,
) -> None:
    """Show one record: the whole chain from the question to the decision."""
    record = open_home(context, home).audit.record(id, reader=reader)
    if json:
        return say_json(record)
    _print_record(record)
    return None


@group.command()
def check(
    context: typer.Context,
    checkpoint: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="A checkpoint that you kept elsewhere; repeatable."),
    ] = None,
    key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The published keys. [default: the home's own]")
    ] = None,
    json: JsonOption = False,
    home: HomeOption = None,
) -> None:
    """Recompute the whole log and list every finding. Exits with 5 if anything does not match."""
    from citewell.server.keys import ApiKeys

    outside = [_text(path) for path in checkpoint or ()]
    published = _text(key) if key else ""
    knowledge_base = open_home(context, home)
    keys = ApiKeys(knowledge_base.home)
    context.call_on_close(keys.close)
    # A copy on a read-only disk is checked without them: SQLite wants to write beside them.
    stored = keys.all() if os.access(knowledge_base.home, os.W_OK) else None
    report = knowledge_base.log.check(outside=outside, key=published, api_keys=stored)
    if json:
        say_json({"ok": report.ok, "size": report.size, "findings": report.findings})
    else:
        for finding in report.findings:
            say(f"{finding.kind}: entry {finding.seq}: {finding.reason}")
        say(
            f"{'whole' if report.ok else 'NOT whole'}: {report.size} entries, {len(report.findings)} findings"
        )
    own = (
        ()
        if key
        else ("the signatures were checked with the home's own key, which shows integrity but not origin",)
    )
    for note in (*report.skipped, *own, *report.notes):
        aside(f"note: {note}")
    if not report.ok:
        raise typer.Exit(FAILED)


def trace(
    context: typer.Context,
    session: Annotated[str, typer.Argument(metavar="SESSION", help="The session id that `ask` printed.")],
    json: JsonOption = False,
    home: HomeOption = None,
) -> None:
    """Show what happened in each request of a session, stage by stage."""
    traces = open_home(context, home).trace(session)
    if json:
        return say_json({"traces": traces})
    if not traces:
        return say(f"No requests in session {session}")
    for item in traces:
        say(f"{item.request_id} {item.timestamp} {item.query}")
        for stage in item.stages:
            say(f"    {stage.latency_ms:>9.1f} ms  {stage.name}")
            for note in stage.notes:
                say(f"{'':18}{note}")
        if item.failure_reason:
            say(f"    failed: {item.failure_reason}")
        say()
    return None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}", hint="name a text file") from error


def _print_record(record: AuditRecord) -> None:
    facts = {
        "record": record.request_id,
        "time": record.timestamp,
        "user": record.user,
        "session": record.session_id,
        "question": record.user_query,
        "decision": record.response_decision,
        "failure": record.failure_reason,
        "error": record.error,
        "index": record.index_version,
        "config": record.config_hash,
        "missing": "; ".join(record.missing),
        "took": f"{record.latency_ms.get('total', 0.0):.0f} ms",
    }
    columns([(f"{name}:", value) for name, value in facts.items() if value])
    say("\nretrieved:")
    for result in record.retrieval_results:
        score = "not judged" if result.reranker_score is None else f"{result.reranker_score:.2f}"
        used = "used" if result.was_used_in_generation else "not used"
        say(f"    {score} {used}: {result.document_id} {result.chunk_id}")
    say("\nshown:")
    say(record.shown_response)
    say()
    print_claims(record.claims)
    say("made by:")
    for maker in record.makers:
        say(f"    {maker.name} {maker.hash}")
    say("notes:")
    for note in record.notes:
        say(f"    {note}")
