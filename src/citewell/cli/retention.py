"""``citewell audit expire | erase | hold``: remove contents from the log, and keep what must stay.

In: a person, or nothing but the configured retention. Out: counts of what was removed. Proofs stay.
"""

from __future__ import annotations

from typing import Annotated

import typer

from citewell.cli.commands import Found, command, group
from citewell.cli.printing import columns, say
from citewell.core.errors import UsageError
from citewell.knowledge.home import KnowledgeBase

holds = group("Manage legal holds.")
Name = Annotated[str, typer.Argument(metavar="NAME", help="The hold's name, such as a case number.")]
Reason = Annotated[str, typer.Option("--reason", help="Why; stays readable, so do not name people.")]


def register(audit: typer.Typer) -> None:
    command(audit)(expire)
    command(audit)(erase)
    audit.add_typer(holds, name="hold")


def expire(
    kb: KnowledgeBase,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what would expire.")] = False,
) -> Found:
    """Remove contents whose configured retention has passed. Hashes and counts stay."""
    outcome = kb.audit.expire(dry_run=dry_run)
    did = "would expire" if dry_run else "expired"
    lines = [f"{name}: {count} {did}" for name, count in outcome.expired.items()]
    if outcome.held:
        lines.append(f"{outcome.held} kept by legal holds")
    if not outcome.expired:
        lines.append(
            "Nothing is due. The [retention] section of the configuration sets how long contents are kept."
        )
    return Found(outcome, lambda: say("\n".join(lines)))


def erase(
    kb: KnowledgeBase,
    user: Annotated[str, typer.Option(metavar="U", help="The person to erase.")] = "",
    session: Annotated[
        str, typer.Option(metavar="S", help="The session to erase, for a person without a name.")
    ] = "",
    reason: Reason = "",
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask for confirmation. This cannot be undone.")
    ] = False,
) -> Found:
    """Erase a person by destroying their key: their texts become unreadable everywhere; the log still
    verifies."""
    if bool(user) == bool(session):
        raise UsageError("there must be exactly one of --user and --session", hint="name the person to erase")
    if not yes:
        typer.confirm("This cannot be undone. Continue?", abort=True, err=True)
    outcome = kb.audit.erase(user, session=session, reason=reason)
    lines = [
        f"Erased {outcome.subject}: {outcome.entries} entries can never be read again.",
        *(f"{store}: {count} overwritten" for store, count in outcome.forgotten.items()),
    ]
    return Found(outcome, lambda: say("\n".join(lines)))


@command(holds)
def add(
    kb: KnowledgeBase,
    name: Name,
    user: Annotated[str, typer.Option(metavar="U", help="Hold the records of this person.")] = "",
    document: Annotated[
        str, typer.Option(metavar="D", help="Hold the records that rest on this document.")
    ] = "",
    id: Annotated[str, typer.Option(metavar="ID", help="Hold one record.")] = "",
    reason: Reason = "",
) -> None:
    """Protect records from expiry and erasure. Without options, this covers all records."""
    held = kb.audit.hold(name, reason=reason, user=user, document=document, request_id=id)
    say(f"Hold {held.hold} is in force.")


@command(holds)
def lift(kb: KnowledgeBase, name: Name, reason: Reason = "") -> None:
    """End a hold."""
    kb.audit.lift(name, reason=reason)
    say(f"Hold {name} is lifted.")


@command(holds, "list")
def list_(kb: KnowledgeBase) -> Found:
    """List the holds in force."""
    found = kb.audit.holds()
    if not found:
        return Found({"holds": []}, lambda: say("No holds are in force."))
    rows = [
        (
            one.hold,
            one.subject or one.document_id or one.request_id or "everything",
            one.timestamp[:10],
            one.reason,
        )
        for one in found
    ]
    return Found({"holds": found}, lambda: columns(rows))
