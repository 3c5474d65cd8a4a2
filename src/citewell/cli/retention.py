"""``citewell audit expire | erase``: remove contents from the log.

In: a person, or nothing but the configured retention. Out: counts of what was removed. Proofs stay.
"""

from __future__ import annotations

import typer

from citewell.cli.audit import audit
from citewell.cli.commands import Found, command
from citewell.cli.printing import say
from citewell.core.errors import UsageError
from citewell.knowledge.home import KnowledgeBase


@command(audit)
def expire(kb: KnowledgeBase, dry_run: bool = False) -> Found:
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
    return Found(outcome, lambda: say("\n".join(lines)))


@command(audit)
def erase(kb: KnowledgeBase, user: str = "", session: str = "", yes: bool = False) -> Found:
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
    return Found(outcome, lambda: say("\n".join(lines)))
