"""``citewell audit expire | erase | hold``: what leaves the log, and what must not.

In: a person, or nothing but the configured retention. Out: what went, counted. Proofs stay.
"""

from __future__ import annotations

from typing import Annotated

import typer

from citewell.cli.home import HomeOption, JsonOption, open_home
from citewell.cli.printing import columns, say, say_json
from citewell.core.errors import UsageError

holds = typer.Typer(help="Legal holds.", no_args_is_help=True, rich_markup_mode=None)
Name = Annotated[str, typer.Argument(metavar="NAME", help="The hold's name, such as a case number.")]
Reason = Annotated[str, typer.Option("--reason", help="Why; stays readable, so it names nobody.")]


def register(group: typer.Typer) -> None:
    group.command()(expire)
    group.command()(erase)
    group.add_typer(holds, name="hold")


def expire(
    context: typer.Context,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count only.")] = False,
    json: JsonOption = False,
    home: HomeOption = None,
) -> None:
    """Take out what the configured retention says; leaves and counts stay."""
    outcome = open_home(context, home).audit.expire(dry_run=dry_run)
    if json:
        return say_json(outcome)
    for name, count in outcome.expired.items():
        say(f"{name}: {count} {'would go' if dry_run else 'expired'}")
    if outcome.held:
        say(f"{outcome.held} kept by legal holds")
    if not outcome.expired:
        say("nothing is due; `retention` in the configuration says how long contents are kept")
    return None


def erase(
    context: typer.Context,
    user: Annotated[str, typer.Option(metavar="U", help="Who is forgotten.")] = "",
    session: Annotated[str, typer.Option(metavar="S", help="The session of somebody without a name.")] = "",
    reason: Reason = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask: it cannot be undone.")] = False,
    json: JsonOption = False,
    home: HomeOption = None,
) -> None:
    """Destroy a person's key: their texts become unreadable everywhere; the log still verifies."""
    if bool(user) == bool(session):
        raise UsageError("one of --user and --session", hint="name whom to forget")
    audit = open_home(context, home).audit
    if not yes:
        typer.confirm("This cannot be undone. Go on?", abort=True, err=True)
    outcome = audit.erase(user, session=session, reason=reason)
    if json:
        return say_json(outcome)
    say(f"erased: {outcome.entries} entries of {outcome.subject} are unreadable for ever")
    for store, count in outcome.forgotten.items():
        say(f"{store}: {count} overwritten")
    return None


@holds.command("add")
def add(
    context: typer.Context,
    name: Name,
    user: Annotated[str, typer.Option(metavar="U", help="Records of this person.")] = "",
    document: Annotated[str, typer.Option(metavar="D", help="Records that lean on this document.")] = "",
    id: Annotated[str, typer.Option(metavar="ID", help="One record.")] = "",
    reason: Reason = "",
    home: HomeOption = None,
) -> None:
    """Keep records from expiry and erasure; all of them when nothing is named."""
    held = open_home(context, home).audit.hold(
        name, reason=reason, user=user, document=document, request_id=id
    )
    say(f"hold {held.hold} is in force")


@holds.command("lift")
def lift(context: typer.Context, name: Name, reason: Reason = "", home: HomeOption = None) -> None:
    """End a hold."""
    open_home(context, home).audit.lift(name, reason=reason)
    say(f"hold {name} is lifted")


@holds.command("list")
def list_(context: typer.Context, json: JsonOption = False, home: HomeOption = None) -> None:
    """The holds in force."""
    found = open_home(context, home).audit.holds()
    if json:
        return say_json({"holds": found})
    if not found:
        return say("no holds")
    about = [hold.subject or hold.document_id or hold.request_id or "everything" for hold in found]
    columns(
        [(hold.hold, on, hold.timestamp[:10], hold.reason) for hold, on in zip(found, about, strict=True)]
    )
    return None
