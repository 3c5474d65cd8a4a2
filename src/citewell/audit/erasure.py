"""A person is forgotten: their key is destroyed, and what is left of their texts with it.

In: a person's name, and the stores that may hold their words outside the log. Out: two entries (ordered,
done) that name the pseudonym alone. In the log and in every copy of it their texts were only ever encrypted
under that key; the other stores drop what belongs to their requests. The log still verifies and the counts
still hold: leaves commit to salted hashes. Knows nothing about what the other stores are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from citewell.audit.entries import RECORDS, EntryKind
from citewell.core.errors import UsageError
from citewell.core.records import Record

if TYPE_CHECKING:
    from citewell.audit.log import Log

ORDERED, DONE = "ordered", "done"


Forget = Callable[[str, Collection[str]], int]
"""Overwrites what a store beside the log holds of a person and of these requests; how many things that
were."""


class Erasure(Record, frozen=True, kw_only=True):
    """``subject`` is the pseudonym that is left; ``forgotten`` counts by store."""

    subject: str
    entries: int
    forgotten: dict[str, int]


def erase(log: Log, person: str, stores: Mapping[str, Forget] = {}) -> Erasure:
    """``person`` is a user, or the name that :func:`citewell.audit.keys.asker` has for a session.

    Erasures that were cut short are finished first; one of them is given where it was this person's.

    Raises UsageError for somebody the log does not know, whatever a store raises: then the same call goes on.
    """
    left = _left(log)
    # Asked before it is done: after it nobody can tell who they were.
    own = {told["subject"] for told in left if person and log.keys.name(told["subject"]) == person}
    finished = [_finish(log, told, stores) for told in left]
    known = log.keys.find(person) if person else None
    if known is None:
        for done in finished:
            if done.subject in own:
                return done
        subjects = ", ".join(done.subject for done in finished)
        also = (
            f"; an earlier erasure that had been interrupted is now complete: {subjects}" if subjects else ""
        )
        raise UsageError(
            f"the log has nobody with that name{also}",
            hint="check the spelling; a person who was erased is no longer found",
        )
    told = {"subject": known.id, "entries": len(_bodies(log, known.id))}
    log.note(EntryKind.ERASURE, {**told, "outcome": ORDERED})
    return _finish(log, told, stores)


def _left(log: Log) -> list[dict[str, Any]]:
    """What was ordered and never done, in order."""
    ordered: dict[str, dict[str, Any]] = {}
    for entry in log.entries(EntryKind.ERASURE):
        told = log.body(entry)
        if told.pop("outcome") == ORDERED:
            ordered[told["subject"]] = told
        else:
            ordered.pop(told["subject"], None)
    return list(ordered.values())


def _finish(log: Log, told: Mapping[str, Any], stores: Mapping[str, Forget]) -> Erasure:
    """From wherever it ended before: each step does nothing where there is nothing left to do."""
    subject = told["subject"]
    # Once the key is gone nobody has the name any more, and the stores have forgotten it.
    person = log.keys.name(subject) or subject
    requests = _requests(log, subject)
    forgotten = {name: forget(person, requests) for name, forget in stores.items()}
    # After the stores, because without the key nobody could tell what was theirs.
    log.keys.destroy(person)
    # What a server was answering meanwhile; after this it is somebody new who asks.
    if late := _requests(log, subject) - requests:
        for name, forget in stores.items():
            forgotten[name] += forget(person, late)
    with log.database.writing() as rows:
        rows.execute("DELETE FROM private WHERE subject = ?", (subject,))
    log.database.overwrite()
    log.note(EntryKind.ERASURE, {**told, "outcome": DONE, "forgotten": forgotten})
    return Erasure(subject=subject, entries=told["entries"], forgotten=forgotten)


def _requests(log: Log, subject: str) -> set[str]:
    """What they asked."""
    return {body["request_id"] for kind, body in _bodies(log, subject) if kind in RECORDS}


def _bodies(log: Log, subject: str) -> list[tuple[str, dict[str, Any]]]:
    """Kind and sealed body of every entry about them whose content has not expired."""
    with log.database.reading() as rows:
        found = rows.execute(
            "SELECT e.kind, e.body FROM private p JOIN entries e ON e.seq = p.seq"
            " WHERE p.subject = ? AND e.body IS NOT NULL ORDER BY p.seq",
            (subject,),
        ).fetchall()
    return [(kind, msgspec.json.decode(body)) for kind, body in found]
