"""``citewell audit recheck | recall | replay``: check past answers again.

In: the id of an answer, or a document. Out: what still holds today and what does not (exit code 5); notices.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.home import HomeOption, JsonOption, open_home
from citewell.cli.printing import FAILED, say, say_json

if TYPE_CHECKING:
    from citewell.knowledge.revisiting.rechecking import Recheck

Reader = Annotated[str, typer.Option("--reader", metavar="U", help="Your name, for the record.")]


def register(group: typer.Typer) -> None:
    for command in (recheck, recall, replay):
        group.command()(command)


def recheck(
    context: typer.Context,
    id: Annotated[
        str, typer.Argument(metavar="[ID]", help="Check only this answer. [default: every answer]")
    ] = "",
    reader: Reader = "",
    json: JsonOption = False,
    home: HomeOption = None,
) -> None:
    """Check past citations against today's documents: SAME, MOVED, CHANGED or GONE. Exits with 5 if a claim
    no longer holds."""
    found = list(open_home(context, home).audit.recheck(id, reader=reader))
    if json:
        say_json({"answers": found})
    else:
        for one in found:
            _print(one, every=bool(id))
        fallen = sum(not one.holds for one in found)
        say(f"{len(found)} answers, {fallen} with a claim that no longer holds")
    if not all(one.holds for one in found):
        raise typer.Exit(FAILED)


def recall(
    context: typer.Context,
    document: Annotated[str, typer.Option("--document", metavar="D", help="The document to recall.")],
    reason: Annotated[str, typer.Option(help="Why; every notice quotes it.")] = "",
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Also write each notice to a file in this folder.")
    ] = None,
    reader: Reader = "",
    json: JsonOption = False,
    home: HomeOption = None,
) -> None:
    """List every past answer that rests on a document, who saw it, and a notice for each. The recall is
    recorded."""
    notices = list(open_home(context, home).audit.recall(document, reason=reason, reader=reader))
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        for notice in notices:
            (out / f"{notice.request_id}.txt").write_text(notice.text + "\n", encoding="utf-8")
    if json:
        say_json({"notices": notices})
    else:
        for notice in notices:
            say(f"to {notice.user or notice.session_id or 'a person who was erased'}")
            if notice.readers:
                say(f"read by {', '.join(notice.readers)}")
            say(notice.text)
            say()
        fallen = sum(not notice.recheck.holds for notice in notices)
        say(f"{len(notices)} notices, {fallen} of them for answers that no longer hold")


def replay(
    context: typer.Context,
    id: Annotated[str, typer.Argument(metavar="ID", help="The record id that `ask` printed.")],
    reader: Reader = "",
    json: JsonOption = False,
    home: HomeOption = None,
) -> None:
    """Repeat a recorded request on its index version. Exits with 5 if the result is not identical."""
    outcome = open_home(context, home).audit.replay(id, reader=reader)
    if json:
        say_json(outcome)
    else:
        for difference in outcome.differences:
            say(difference)
        for other in outcome.elsewhere:
            say(f"elsewhere: {other}")
        say(f"compared: {', '.join(outcome.compared)}")
        say(f"{'the same' if outcome.same else 'NOT the same'} on index version {outcome.index_version}")
    if not outcome.same:
        raise typer.Exit(FAILED)


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
