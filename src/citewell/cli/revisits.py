"""``citewell audit recheck | recall | replay``: check past answers again.

In: the id of an answer, or a document. Out: what still holds today and what does not (exit code 5); notices.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.audit import audit
from citewell.cli.commands import Found, Id, command
from citewell.cli.printing import FAILED, OK, say
from citewell.knowledge.home import KnowledgeBase

if TYPE_CHECKING:
    from citewell.knowledge.revisiting.rechecking import Recheck


@command(audit)
def recheck(
    kb: KnowledgeBase,
    id: Annotated[
        str, typer.Argument(metavar="[ID]", help="Check only this answer. [default: every answer]")
    ] = "",
    reader: str = "",
) -> Found:
    """Check past citations against today's documents: SAME, MOVED, CHANGED or GONE. Exits with 5 if a claim
    no longer holds."""
    found = list(kb.audit.recheck(id, reader=reader))
    fallen = sum(not one.holds for one in found)

    def tell() -> None:
        for one in found:
            _print(one, every=bool(id))
        say(f"{len(found)} answers, {fallen} with a claim that no longer holds")

    return Found({"answers": found}, tell, FAILED if fallen else OK)


@command(audit)
def recall(
    kb: KnowledgeBase, document: str, reason: str = "", out: Path | None = None, reader: str = ""
) -> Found:
    """List every past answer that relies on a document, who saw it, and a notice for each. The recall is
    recorded.

    --document D: The document to recall.
    --reason: Why; every notice quotes it.
    --out FOLDER: Also write each notice to a file in this folder.
    """
    notices = list(kb.audit.recall(document, reason=reason, reader=reader))
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        for notice in notices:
            (out / f"{notice.request_id}.txt").write_text(notice.text + "\n", encoding="utf-8")

    def tell() -> None:
        for notice in notices:
            say(f"to {notice.user or notice.session_id or 'a person who was erased'}")
            if notice.readers:
                say(f"read by {', '.join(notice.readers)}")
            say(f"{notice.text}\n")
        fallen = sum(not notice.recheck.holds for notice in notices)
        say(f"{len(notices)} notices, {fallen} of them for answers that no longer hold")

    return Found({"notices": notices}, tell)


@command(audit)
def replay(kb: KnowledgeBase, id: Id, reader: str = "") -> Found:
    """Repeat a recorded request on its index version. Exits with 5 if the result is not identical."""
    outcome = kb.audit.replay(id, reader=reader)
    lines = [
        *outcome.differences,
        *(f"elsewhere: {other}" for other in outcome.elsewhere),
        f"compared: {', '.join(outcome.compared)}",
        f"{'the same' if outcome.same else 'NOT the same'} on index version {outcome.index_version}",
    ]
    return Found(outcome, lambda: say("\n".join(lines)), OK if outcome.same else FAILED)


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
