"""Erases a person: destroys their key, and with it what is left of their texts.

In: a person's name, and the stores that may hold their words outside the log. Out: two entries (ordered,
done) that name only the pseudonym. The log and all its copies hold their texts only encrypted under that key;
the other stores drop what belongs to their requests. The log still verifies and the counts still hold, since
leaves commit to salted hashes. Independent of what the other stores are.
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
"""Overwrites what another store holds of a person and of these requests; returns the number of items."""


class Erasure(Record, frozen=True, kw_only=True):
    """``subject`` is the pseudonym that remains; ``forgotten`` counts items by store."""

    subject: str
    entries: int
    forgotten: dict[str, int]


def erase(log: Log, person: str, stores: Mapping[str, Forget] = {}) -> Erasure:
    """``person`` is a user, or the name that :func:`citewell.audit.keys.asker` returns for a session.

    Interrupted erasures are finished first; if one of them was this person's, it is returned.

    Raises UsageError for an unknown person, and whatever a store raises: the same call then resumes.
    """
    left = _left(log)
    # Looked up first: afterwards nobody can tell who they were.
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
    """Erasures that were ordered but never done, in order."""
    ordered: dict[str, dict[str, Any]] = {}
    for entry in log.entries(EntryKind.ERASURE):
        told = log.body(entry)
        if told.pop("outcome") == ORDERED:
            ordered[told["subject"]] = told
        else:
            ordered.pop(told["subject"], None)
    return list(ordered.values())


def _finish(log: Log, told: Mapping[str, Any], stores: Mapping[str, Forget]) -> Erasure:
    """Resumes where it stopped: each step does nothing if there is nothing left to do."""
    subject = told["subject"]
    # Once the key is gone the name is unknown, and the stores have already forgotten it.
    person = log.keys.name(subject) or subject
    requests = _requests(log, subject)
    forgotten = {name: forget(person, requests) for name, forget in stores.items()}
    # After the stores: without the key nobody could tell what was theirs.
    log.keys.destroy(person)
    # Requests that a server answered meanwhile; from now on the asker counts as a new person.
    if late := _requests(log, subject) - requests:
        for name, forget in stores.items():
            forgotten[name] += forget(person, late)
    with log.database.writing() as rows:
        rows.execute("DELETE FROM private WHERE subject = ?", (subject,))
    log.database.overwrite()
    log.note(EntryKind.ERASURE, {**told, "outcome": DONE, "forgotten": forgotten})
    return Erasure(subject=subject, entries=told["entries"], forgotten=forgotten)


def _requests(log: Log, subject: str) -> set[str]:
    """The ids of their requests."""
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
