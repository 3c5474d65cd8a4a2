"""Commands on sealed answers: ``citewell audit receipt``, ``recheck``, ``recall``, ``replay``, ``expire``,
``erase``, and ``citewell receipt check``.

In: the id of an answer, a document, a person, a receipt. Out: proofs, what still holds today (exit code 5 if
anything does not), notices, counts of what was removed. ``receipt check`` needs no home.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.audit import audit
from citewell.cli.commands import CommandResult, Id, command, group, read_bytes, read_text
from citewell.cli.printing import FAILED, OK, say
from citewell.core.errors import UsageError
from citewell.core.files import make_folder, replace_file
from citewell.knowledge.home import KnowledgeBase

if TYPE_CHECKING:
    from citewell.knowledge.revisiting.rechecking import Recheck

receipts = group("receipt", "Check receipts offline, without a home.")
File = Annotated[Path, typer.Argument(metavar="FILE", help="A receipt file.")]


@command(audit)
def receipt(
    kb: KnowledgeBase,
    id: Id,
    with_user: bool = False,
    hashes_only: bool = False,
    checkpoint: Path | None = None,
    reader: str = "",
) -> None:
    """Print the receipt of one answer: its proof, as JSON.

    --with-user: Also show who asked.
    --hashes-only: Replace question and answer with salted hashes.
    --checkpoint FILE: Prove it against this older checkpoint.
    """
    from citewell.audit.receipts import receipt_bytes

    found = kb.audit.receipt(
        id,
        with_user=with_user,
        hashes_only=hashes_only,
        checkpoint=read_text(checkpoint) if checkpoint else "",
        reader=reader,
    )
    # Not through `say`, which escapes characters: the proof covers the exact bytes.
    typer.echo(receipt_bytes(found), nl=False)


@command(receipts)
def check(file: File, key: Path | None = None, checkpoint: list[Path] | None = None) -> CommandResult:
    """Check a receipt and say what it proves and what it does not. Exits with 5 if it is not valid.

    --key FILE: The issuer's public keys, obtained separately.
    --checkpoint FILE: A checkpoint of the issuer's that you kept elsewhere; repeatable.
    """
    from citewell.audit.receipt_check import check_receipt

    outside = [read_text(path) for path in checkpoint or ()]
    report = check_receipt(
        read_bytes(file, hint="name a receipt file"), key=read_text(key) if key else "", outside=outside
    )
    lines = [
        *(f"WRONG: {finding}" for finding in report.findings),
        *(f"proves {line}" for line in report.proves),
        *(f"does not prove {line}" for line in report.does_not_prove),
        "The receipt is valid." if report.ok else "The receipt is NOT valid.",
    ]
    return CommandResult(report, lambda: say("\n".join(lines)), OK if report.ok else FAILED)


@command(audit)
def recheck(
    kb: KnowledgeBase,
    id: Annotated[
        str, typer.Argument(metavar="[ID]", help="Check only this answer. [default: every answer]")
    ] = "",
    reader: str = "",
) -> CommandResult:
    """Check past citations against today's documents: SAME, MOVED, CHANGED or GONE. Exits with 5 if a claim
    no longer holds."""
    found = list(kb.audit.recheck(id, reader=reader))
    fallen = sum(not one.holds for one in found)

    def tell() -> None:
        for one in found:
            _print(one, every=bool(id))
        say(f"{len(found)} answers, {fallen} with a claim that no longer holds")

    return CommandResult({"answers": found}, tell, FAILED if fallen else OK)


@command(audit)
def recall(
    kb: KnowledgeBase, document: str, reason: str = "", out: Path | None = None, reader: str = ""
) -> CommandResult:
    """List every past answer that relies on a document, who saw it, and a notice for each. The recall is
    recorded.

    --document D: The document to recall.
    --reason: Why; every notice quotes it.
    --out FOLDER: Also write each notice to a file in this folder.
    """
    notices = list(kb.audit.recall(document, reason=reason, reader=reader))
    if out is not None:
        make_folder(out)
        for notice in notices:
            replace_file(out / f"{notice.request_id}.txt", f"{notice.text}\n".encode())

    def tell() -> None:
        for notice in notices:
            say(f"to {notice.user or notice.session_id or 'a person who was erased'}")
            if notice.readers:
                say(f"read by {', '.join(notice.readers)}")
            say(f"{notice.text}\n")
        fallen = sum(not notice.recheck.holds for notice in notices)
        say(f"{len(notices)} notices, {fallen} of them for answers that no longer hold")

    return CommandResult({"notices": notices}, tell)


@command(audit)
def replay(kb: KnowledgeBase, id: Id, reader: str = "") -> CommandResult:
    """Repeat a recorded request on its index version. Exits with 5 if the result is not identical."""
    outcome = kb.audit.replay(id, reader=reader)
    lines = [
        *outcome.differences,
        *(f"elsewhere: {other}" for other in outcome.elsewhere),
        f"compared: {', '.join(outcome.compared)}",
        f"{'the same' if outcome.same else 'NOT the same'} on index version {outcome.index_version}",
    ]
    return CommandResult(outcome, lambda: say("\n".join(lines)), OK if outcome.same else FAILED)


def _print(found: Recheck, *, every: bool) -> None:
    """Prints only what has changed, unless one answer was asked for."""
    counts = ", ".join(f"{n} {name}" for name, n in found.counts.items()) or "no citations"
    say(f"{found.request_id} {found.timestamp[:10]}: {counts}")
    for claim in found.claims:
        if every or claim.now is not None:
            state = {True: "holds", False: "does not hold", None: "cannot be determined"}[claim.holds]
            say(f"    {state} (was {claim.then.value}): {claim.text}")
            for today in claim.citations:
                where = f" [{today.start}:{today.end}]" if today.start >= 0 else ""
                said = f": {today.reason}" if today.reason else ""
                say(f"        {today.resolution.value} {today.document_id}{where}{said}")
            if claim.now is not None:
                say(f"        now: {claim.now.reason}")


@command(audit)
def expire(kb: KnowledgeBase, dry_run: bool = False) -> CommandResult:
    """Remove contents whose configured retention has passed. Hashes and counts stay.

    --dry-run: Only count what would expire.
    """
    outcome = kb.audit.expire(dry_run=dry_run)
    did = "would expire" if dry_run else "expired"
    lines = [f"{name}: {count} {did}" for name, count in outcome.expired.items()]
    if not outcome.expired:
        lines.append(
            "Nothing is due. The [retention] section of the configuration sets how long contents are kept."
        )
    return CommandResult(outcome, lambda: say("\n".join(lines)))


@command(audit)
def erase(kb: KnowledgeBase, user: str = "", session: str = "", yes: bool = False) -> CommandResult:
    """Erase a person by destroying their key: their texts become unreadable everywhere; the log still
    verifies.

    --user U: The person to erase.
    --session S: The session to erase, for a person without a name.
    --yes: Do not ask for confirmation. This cannot be undone.
    """
    if bool(user) == bool(session):
        raise UsageError("there must be exactly one of --user and --session", hint="name the person to erase")
    if not yes:
        typer.confirm("This cannot be undone. Continue?", abort=True, err=True)
    outcome = kb.audit.erase(user, session=session)
    lines = [
        f"Erased {outcome.subject}: {outcome.entries} entries can never be read again.",
        *(f"{store}: {count} overwritten" for store, count in outcome.forgotten.items()),
    ]
    return CommandResult(outcome, lambda: say("\n".join(lines)))
