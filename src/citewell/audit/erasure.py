"""A person is forgotten: their key is destroyed, and what is left of their texts with it.

In: a person's name, and the stores that may hold their words outside the log. Out: two entries (ordered,
done) that name the pseudonym alone. In the log and in every copy of it their texts were only ever encrypted
under that key; the other stores drop what belongs to their requests. The log still verifies and the counts
still hold: leaves commit to salted hashes. Knows nothing about what the other stores are.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Protocol

import msgspec

from citewell.audit.entries import RECORDS, Entry, EntryKind
from citewell.audit.holds import holding, holds_in_force
from citewell.errors import UsageError
from citewell.records import Record

if TYPE_CHECKING:
    from citewell.audit.log import Log

ORDERED, DONE = "ordered", "done"


class Forgetful(Protocol):
    """A store beside the log that keeps words of people."""

    name: str

    def forget(self, person: str, requests: Collection[str]) -> int:
        """Overwrites what it holds of these requests and of this person; how many things that were."""
        ...


class Erasure(Record, frozen=True, kw_only=True):
    """``subject`` is the pseudonym that is left; ``forgotten`` counts by store."""

    subject: str
    entries: int
    forgotten: dict[str, int]


def erase(log: Log, person: str, *, reason: str, stores: Sequence[Forgetful] = ()) -> Erasure:
    """``person`` is a user, or the session of somebody who gave no name.

    Raises UsageError for somebody the log does not know, who is under a legal hold, or whom the reason names;
    whatever a store raises: then the key stands, and the same call goes on.
    """
    known = log.keys.find(person) if person else None
    if known is None:
        raise UsageError("the log knows nobody of that name", hint="check the spelling, or they are erased")
    if person.casefold() in reason.casefold():
        raise UsageError("the reason names the person and would outlive them", hint="give a case number")
    entries = _entries(log, known.id)
    bodies = [msgspec.json.decode(entry.body) for entry in entries if entry.body is not None]
    holds = holds_in_force(log)
    hold = next((found for body in [{}, *bodies] if (found := holding(holds, known.id, body))), None)
    if hold is not None:
        raise UsageError(
            f"they are under legal hold {hold.hold!r}", hint="lift it: `citewell audit hold lift`"
        )
    requests = {
        body["request_id"]
        for entry, body in zip([e for e in entries if e.body is not None], bodies, strict=True)
        if entry.kind in RECORDS
    }
    told = {"subject": known.id, "entries": len(entries), "reason": reason}
    log.note(EntryKind.ERASURE, {**told, "outcome": ORDERED})
    forgotten = {store.name: store.forget(person, requests) for store in stores}
    # Last, because without the key nobody could tell which requests were theirs.
    log.keys.destroy(person)
    with log.database.writing() as rows:
        rows.execute("DELETE FROM private WHERE subject = ?", (known.id,))
    log.database.overwrite()
    log.note(EntryKind.ERASURE, {**told, "outcome": DONE, "forgotten": forgotten})
    return Erasure(subject=known.id, entries=len(entries), forgotten=forgotten)


def _entries(log: Log, subject: str) -> list[Entry]:
    """Every entry about them."""
    with log.database.reading() as rows:
        found = rows.execute("SELECT seq FROM private WHERE subject = ? ORDER BY seq", (subject,)).fetchall()
    return [log.at(seq) for (seq,) in found]
