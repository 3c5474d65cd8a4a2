"""``citewell audit expire | erase | hold``: remove contents from the log, and keep what must stay.

In: a person, or nothing but the configured retention. Out: counts of what was removed. Proofs stay.
"""

from __future__ import annotations

from typing import Annotated

import typer

from citewell.cli.home import HomeOption, JsonOption, open_home
from citewell.cli.printing import columns, say, say_json
from citewell.core.errors import UsageError

holds = typer.Typer(help="Manage legal holds.", no_args_is_help=True, rich_markup_mode=None)
Name = Annotated[str, typer.Argument(metavar="NAME", help="The hold's name, such as a case number.")]
Reason = Annotated[str, typer.Option("--reason", help="Why; stays readable, so do not name people.")]


def register(group: typer.Typer) -> None:
    group.command()(expire)
    group.command()(erase)
    group.add_typer(holds, name="hold")


def expire(
    context: typer.Context,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what would expire.")] = False,
    json: JsonOption = False,
    home: HomeOption = None,
) -> None:
    """Remove contents whose configured retention has passed. Hashes and counts stay."""
    outcome = open_home(context, home).audit.expire(dry_run=dry_run)
    if json:
        return say_json(outcome)
    for name, count in outcome.expired.items():
        say(f"{name}: {count} {'would expire' if dry_run else 'expired'}")
    if outcome.held:
        say(f"{outcome.held} kept by legal holds")
    if not outcome.expired:
        say("Nothing is due. The [retention] section of the configuration sets how long contents are kept.")
    return None


def erase(
    context: typer.Context,
    user: Annotated[str, typer.Option(metavar="U", help="The person to erase.")] = "",
    session: Annotated[
        str, typer.Option(metavar="S", help="The session to erase, for a person without a name.")
    ] = "",
    reason: Reason = "",
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask for confirmation. This cannot be undone.")
    ] = False,
    json: JsonOption = False,
    home: HomeOption = None,
) -> None:
    """Erase a person by destroying their key: their texts become unreadable everywhere; the log still
    verifies."""
    if bool(user) == bool(session):
        raise UsageError("there must be exactly one of --user and --session", hint="name the person to erase")
    audit = open_home(context, home).audit
    if not yes:
        typer.confirm("This cannot be undone. Continue?", abort=True, err=True)
    outcome = audit.erase(user, session=session, reason=reason)
    if json:
        return say_json(outcome)
    say(f"Erased {outcome.subject}: {outcome.entries} entries can never be read again.")
    for store, count in outcome.forgotten.items():
        say(f"{store}: {count} overwritten")
    return None


@holds.command("add")
def add(
    context: typer.Context,
    name: Name,
    user: Annotated[str, typer.Option(metavar="U", help="Hold the records of this person.")] = "",
    document: Annotated[
        str, typer.Option(metavar="D", help="Hold the records that rest on this document.")
    ] = "",
    id: Annotated[str, typer.Option(metavar="ID", help="Hold one record.")] = "",
    reason: Reason = "",
    home: HomeOption = None,
) -> None:
    """Protect records from expiry and erasure. Without options, this covers all records."""
    held = open_home(context, home).audit.hold(
        name, reason=reason, user=user, document=document, request_id=id
    )
    say(f"Hold {held.hold} is in force.")


@holds.command("lift")
def lift(context: typer.Context, name: Name, reason: Reason = "", home: HomeOption = None) -> None:
    """End a hold."""
    open_home(context, home).audit.lift(name, reason=reason)
    say(f"Hold {name} is lifted.")


@holds.command("list")
def list_(context: typer.Context, json: JsonOption = False, home: HomeOption = None) -> None:
    """List the holds in force."""
    found = open_home(context, home).audit.holds()
    if json:
        return say_json({"holds": found})
    if not found:
        return say("No holds are in force.")
    about = [hold.subject or hold.document_id or hold.request_id or "everything" for hold in found]
    columns(
        [(hold.hold, on, hold.timestamp[:10], hold.reason) for hold, on in zip(found, about, strict=True)]
    )
    return None
