"""``citewell audit show | query | counts | check | checkpoint | prove | export | key`` and ``trace``."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from citewell.audit.log import Growth, InclusionProof
from citewell.audit.question import AuditQuery, dated_query
from citewell.cli.answers import print_claims
from citewell.cli.commands import CommandResult, Id, app, command, group, options_in, read_text
from citewell.cli.printing import ERROR, FAILED, OK, aside, counted, facts, format_columns, say
from citewell.core.errors import UsageError
from citewell.core.files import make_file
from citewell.core.records import AuditRecord, Trace
from citewell.core.vocabulary import counted_name, readable_name
from citewell.knowledge.home import KnowledgeBase

Backup = Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of the backup.")]
Reason = Annotated[str, typer.Option(help="Why, for the record.")]

audit = group("audit", "Query, check and prove the sealed log of answers.")
keys = group("key", "Manage the log's keys.", audit)


@command(audit)
def checkpoint(kb: KnowledgeBase, publish: bool = False) -> int:
    """Print the newest signed checkpoint. Keep it where the log's owner cannot change it.

    --publish: Also send it to the configured witnesses.
    """
    say(kb.log.checkpoint().removesuffix("\n"))
    sent = kb.log.publish() if publish else ()
    for one in sent:
        aside(f"{one.witness}: {one.error or f'received the checkpoint of {one.size} entries'}")
    return ERROR if any(one.error for one in sent) else OK


@command(audit)
def prove(
    kb: KnowledgeBase,
    id: Annotated[str, typer.Argument(metavar="[ID]", help="The record id that `ask` printed.")] = "",
    since: Path | None = None,
) -> CommandResult:
    """Prove that a record is in the log or, with --since, that the log only grew. Prints the hashes up to the
    root and the checkpoint.

    --since FILE: Prove that the log only grew since this checkpoint.
    """
    if bool(id) == (since is not None):
        raise UsageError(
            "there must be exactly one thing to prove", hint="give a record id, or a checkpoint with --since"
        )
    proof: InclusionProof | Growth
    if since is None:
        proof = kb.log.prove(id)
        head = f"leaf {proof.index} of {proof.size}: {proof.leaf}"
    else:
        proof = kb.log.prove_growth(read_text(since, hint="name the file in which you kept the checkpoint"))
        head = f"the first {proof.old_size} of {proof.size} entries are those of the checkpoint:"
    lines = (head, *proof.hashes, "", proof.checkpoint.removesuffix("\n"))
    return CommandResult(proof, lambda: say("\n".join(lines)))


@command(audit)
def export(
    kb: KnowledgeBase,
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="A new folder, or that of an earlier export.")
    ],
    reader: str = "",
) -> None:
    """Write the log in a standard file format (C2SP tlog-tiles). `python -m citewell.audit FOLDER` checks the
    files."""
    say(f"{kb.audit.export(folder, reader=reader)} entries in {folder}")


@command(audit)
def show(kb: KnowledgeBase, id: Id, reader: str = "") -> CommandResult:
    """Show one record: the whole chain from the question to the decision."""
    record = kb.audit.record(id, reader=reader)
    return CommandResult(record, lambda: _print_record(record))


@command(audit)
def check(kb: KnowledgeBase, checkpoint: list[Path] | None = None, key: Path | None = None) -> CommandResult:
    """Recompute the whole log and list every finding. Exits with 5 if anything does not match.

    --checkpoint FILE: A checkpoint that you kept elsewhere; repeatable.
    --key FILE: The published keys. [default: the home's own]
    """
    from citewell.server.keys import ApiKeys

    outside, published = (
        [read_text(path) for path in checkpoint or ()],
        read_text(key) if key else "",
    )
    with closing(ApiKeys(kb.home)) as api_keys:
        report = kb.log.check(outside=outside, key=published, api_keys=api_keys.all())
    notes = [*report.skipped, *report.notes]
    if not key:
        own = "the signatures were checked with the home's own key, which shows integrity but not origin"
        notes.insert(len(report.skipped), own)
    for note in notes:
        aside(f"note: {note}")

    def tell() -> None:
        for finding in report.findings:
            say(f"{finding.kind}: entry {finding.seq}: {finding.reason}")
        verdict = "whole" if report.ok else "NOT whole"
        say(f"{verdict}: {report.size} entries, {len(report.findings)} findings")

    value = {"ok": report.ok, "size": report.size, "findings": report.findings}
    return CommandResult(value, tell, OK if report.ok else FAILED)


@command(app)
def trace(
    kb: KnowledgeBase,
    session: Annotated[str, typer.Argument(metavar="SESSION", help="The session id that `ask` printed.")],
) -> CommandResult:
    """Show what happened in each request of a session, stage by stage."""
    traces = kb.trace(session)
    if not traces:
        return CommandResult({"traces": []}, lambda: say(f"No requests in session {session}"))
    return CommandResult({"traces": traces}, lambda: _print_traces(traces))


@command(keys)
def new(kb: KnowledgeBase, lost: bool = False, reason: Reason = "") -> None:
    """Create the signing key before the first entry would; with --lost, replace a lost one.

    --lost: The old signing key is lost for good; replace it.
    """
    held = kb.log.keys
    if lost:
        say(kb.log.replace_lost_key(reason))
        aside(
            "publish this key: it signs all checkpoints from now on, and the old key has not vouched for it"
        )
    elif held.can_sign():
        raise UsageError(
            f"there is already a signing key in {held.folder}",
            hint="replace it with `citewell audit key rotate`",
        )
    else:
        kb.log.checkpoint()
        say(held.published())


@command(keys)
def publish(kb: KnowledgeBase) -> None:
    """Print the public keys, oldest first. Others need them to check the log."""
    kb.log.checkpoint()
    say(kb.log.published_keys())


@command(keys)
def rotate(kb: KnowledgeBase, reason: Reason = "") -> None:
    """Replace the signing key. The old key signs the change, and the log records it."""
    say(kb.log.rotate_key(reason))
    aside("publish this key, and back up the keys again")


@command(keys)
def backup(kb: KnowledgeBase, folder: Backup) -> None:
    """Copy every key into a new folder. Keep it apart from the log."""
    kb.log.checkpoint()
    kb.log.keys.back_up(folder)
    say(
        f"Copied the keys to {folder}."
        " Anyone who has them can sign in the log's name and read what people asked."
    )


@command(keys)
def restore(kb: KnowledgeBase, folder: Backup) -> None:
    """Restore missing keys from a backup. People who were erased since then stay erased."""
    whole = kb.log.restore_keys(folder)
    say("Restored the keys.")
    if not whole:
        aside(
            "Only the people's keys were restored: this backup is older than the last change of the"
            " signing key."
            " Restore a newer backup as well, or record that the key is lost: `citewell audit key new --lost`"
        )


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
) -> CommandResult:
    """List records, newest first.

    --limit: Records per page.
    --cursor: The cursor that the previous page printed.
    --out FILE: Write all matching records to a .csv or .jsonl file.
    """
    asked = dated_query({**filters, "limit": limit, "cursor": cursor}, kb.now())
    if out is not None:
        count = _export(kb, asked, out, reader)
        return CommandResult({"records": count}, lambda: say(f"Wrote {counted(count, 'record')} to {out}."))
    page = kb.audit.query(asked, reader=reader)

    def tell() -> None:
        if not page.records:
            return say("No records found.")
        head = ("request_id", "timestamp", "user", "decision", "confidence", "claims", "question")
        format_columns([tuple(map(readable_name, head)), *map(_row, page.records)])
        if page.next:
            say(f"More with --cursor {page.next}")
        return None

    return CommandResult(page, tell)


@command(audit, options=_FILTERS)
def counts(
    kb: KnowledgeBase,
    by: str = "day",
    of: str = "decision",
    reader: str = "",
    filters: Mapping[str, str] = {},
) -> CommandResult:
    """Count records over time, by decision, status, model or another property.

    --by: hour, day, week or month.
    --of: decision, status, proof, confidence, model, prompt or failure.
    """
    found = kb.audit.counts(dated_query(filters, kb.now()), by=by, of=of, reader=reader)
    values = [share.value for share in found.shares]
    rows = [(by, "records", "of all", *(counted_name(of, value) for value in values))]
    stretches = [(one.since[:13], one.records, one.of_all, one.shares) for one in found.stretches]
    for since, records, of_all, shares in (*stretches, ("all", found.total, found.of_all, found.shares)):
        cells = {share.value: f"{share.n} ({share.rate:.1%})" for share in shares}
        share_of_all = "" if of_all is None else f"{of_all:.1%}"
        rows.append((since, str(records), share_of_all, *(cells.get(value, "0") for value in values)))
    return CommandResult(found, lambda: format_columns(rows))


def _export(kb: KnowledgeBase, asked: AuditQuery, out: Path, reader: str) -> int:
    from citewell.audit.tabular import FORMATS

    if out.suffix not in FORMATS:
        raise UsageError(f"{out.name} has an unknown extension", hint=f"use one of {', '.join(FORMATS)}")
    try:
        make_file(out)
        out.open("ab").close()  # before the read is logged
    except OSError as error:
        raise UsageError(
            f"{out} cannot be written: {error}", hint="name a file in a folder that exists"
        ) from error
    return FORMATS[out.suffix](kb.audit.every(asked, reader=reader), out)


def _row(record: AuditRecord) -> tuple[str, ...]:
    report = record.confidence_report
    overall = "" if report is None or report.overall is None else f"{report.overall:.2f}"
    return (
        record.request_id,
        record.timestamp[:19],
        record.user,
        readable_name(record.response_decision or "ERROR"),
        overall,
        str(len(record.claims)),
        record.user_query[:60],
    )


def _print_traces(traces: list[Trace]) -> None:
    for item in traces:
        say(f"{item.request_id} {item.timestamp} {item.query}")
        for stage in item.stages:
            say(f"    {stage.latency_ms:>9.1f} ms  {stage.name}")
            for note in stage.notes:
                say(f"{'':18}{note}")
        if item.failure_reason:
            say(f"    failed: {readable_name(item.failure_reason)}")
        say()


def _print_record(record: AuditRecord) -> None:
    facts(
        {
            "record": record.request_id,
            "time": record.timestamp,
            "user": record.user,
            "session": record.session_id,
            "question": record.user_query,
            "decision": readable_name(record.response_decision or "ERROR"),
            "failure": readable_name(record.failure_reason),
            "error": record.error,
            "index": record.index_version,
            "config": record.config_hash,
            "missing": "; ".join(record.missing),
            "took": f"{record.latency_ms.get('total', 0.0):.0f} ms",
        }
    )
    say("\nretrieved:")
    for result in record.retrieval_results:
        score = "not judged" if result.reranker_score is None else f"{result.reranker_score:.2f}"
        used = "used" if result.was_used_in_generation else "not used"
        say(f"    {score} {used}: {result.document_id} {result.chunk_id}")
    say(f"\nshown:\n{record.shown_response}\n")
    print_claims(record.claims)
    say("made by:")
    for maker in record.makers:
        say(f"    {maker.name} {maker.hash}")
    say("notes:")
    for note in record.notes:
        say(f"    {note}")
    for one in record.streamed:
        end = f" (withdrawn: {one.withdrawn})" if one.withdrawn else ""
        say(f"    shown while streaming as {one.number}: {one.text}{end}")
