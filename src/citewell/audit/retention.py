"""Retention: after a number of days the content of an entry is removed; its proof stays.

In: a log, the days each class is kept, the time. Out: expiry entries, which name what was removed and keep
the profile of each record for the counts; then the bodies and personal texts are overwritten. Leaves, tree,
checkpoints and receipts already issued stay valid. A final entry names the expiry entries that are complete:
what an interrupted run left in the files or in other stores, the next run removes. Independent of traces and
documents.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from citewell.audit.entries import RECORDS, Entry, EntryKind
from citewell.audit.expiries import CLASSES, entries_named
from citewell.audit.indexing import follow
from citewell.audit.postings import Postings
from citewell.audit.profiles import Facts, Profile, facts_of
from citewell.core.environment import format_time
from citewell.core.errors import UsageError
from citewell.core.identity import plain
from citewell.core.records import Record

if TYPE_CHECKING:
    from citewell.audit.log import Log

_BATCH = 1_000
DONE = "done"

Forget = Callable[[Collection[str], Collection[str]], object]
"""Overwrites what other stores hold of these requests, and of these signals and reviews."""


class Expiry(Record, frozen=True, kw_only=True):
    """``expired``: entries by class; ``requests``: those whose records expired; ``feedback``: the ids of
    expired signals and reviews."""

    expired: dict[str, int]
    requests: tuple[str, ...]
    feedback: tuple[str, ...] = ()
    dry_run: bool = False


def expire(
    log: Log,
    postings: Postings,
    days: Mapping[str, int],
    now: datetime,
    *,
    dry_run: bool = False,
    forget: Forget | None = None,
) -> Expiry:
    """``days`` by class, 0 for ever. Raises UsageError for an unknown class, LogError, and whatever
    ``forget`` raises: the next call then resumes."""
    unknown = sorted(set(days) - set(CLASSES))
    if unknown:
        raise UsageError(f"unknown retention class {unknown[0]!r}", hint=f"use one of {', '.join(CLASSES)}")
    follow(log, postings)
    expired: dict[str, int] = {}
    requests: list[str] = []
    feedback: list[str] = []
    for name, kept in days.items():
        if kept <= 0:
            continue
        before = format_time(now - timedelta(days=kept))
        after = 0
        while due := _due(log, CLASSES[name], before, after):
            after = due[-1][0].seq
            expired[name] = expired.get(name, 0) + len(due)
            requests += [body["request_id"] for entry, body in due if entry.kind in RECORDS]
            feedback += [str(body["feedback_id"]) for _, body in due if "feedback_id" in body]
            if not dry_run:
                _take_out(log, postings, name, before, due)
    if not dry_run:
        _finish(log, postings, forget)
    return Expiry(expired=expired, requests=tuple(requests), feedback=tuple(feedback), dry_run=dry_run)


_Due = Sequence[tuple[Entry, dict[str, Any]]]
"""Entries and their bodies."""


def _due(log: Log, kinds: Sequence[str], before: str, after: int) -> _Due:
    among = ", ".join("?" * len(kinds))
    found = log.select(
        f"seq > ? AND body IS NOT NULL AND kind IN ({among}) AND timestamp < ? ORDER BY seq LIMIT {_BATCH}",
        (after, *kinds, before),
    )
    return [(entry, msgspec.json.decode(entry.body or "")) for entry in found]


def _take_out(log: Log, postings: Postings, name: str, before: str, going: _Due) -> None:
    """Records in the log what expires, then removes it, from the search tables too."""
    facts = {
        entry.seq: facts_of(entry.kind, entry.timestamp, entry.subject, body)
        for entry, body in going
        if entry.kind in RECORDS
    }
    profiles: list[Profile] = list(dict.fromkeys(fact.profile for fact in facts.values()))
    numbers = {profile: number for number, profile in enumerate(profiles)}
    body = {
        "class": name,
        "before": before,
        "entries": [entry.seq for entry, _ in going],
        "profiles": [plain(profile) for profile in profiles],
        "records": [[seq, numbers[fact.profile]] for seq, fact in facts.items()],
        "feedback": [said["feedback_id"] for _, said in going if "feedback_id" in said],
    }
    log.note(EntryKind.EXPIRY, body)
    # Before the bodies: without them nobody could tell which rows to remove.
    postings.forget_keys(_keyed(facts))
    among = ", ".join(str(entry.seq) for entry, _ in going)
    with log.database.writing() as rows:
        rows.execute(f"UPDATE entries SET body = NULL WHERE seq IN ({among})")
        rows.execute(f"DELETE FROM private WHERE seq IN ({among})")


def _finish(log: Log, postings: Postings, forget: Forget | None) -> None:
    """Completes expiries not yet marked as done: removes their content from every file and other store."""
    left: dict[int, dict[str, Any]] = {}
    for entry in log.entries(EntryKind.EXPIRY):
        body = log.body(entry)
        if body.get("outcome") == DONE:
            for seq in body.get("finished", ()):
                left.pop(seq, None)
        elif _is_expiry(body):
            left[entry.seq] = body
    finished: list[int] = []
    requests: list[str] = []
    feedback: list[str] = []
    for seq, body in left.items():
        among = ", ".join(map(str, entries_named(body)))
        with log.database.reading() as rows:
            # Entries that still have content belong to another run in progress, or are due again.
            still = f"SELECT 1 FROM entries WHERE body IS NOT NULL AND seq IN ({among}) LIMIT 1"
            if rows.execute(still).fetchone() is None:
                finished.append(seq)
                feedback += body.get("feedback", ())
                found = rows.execute(f"SELECT request_id FROM requests WHERE seq IN ({among})").fetchall()
                requests += [request for (request,) in found]
    if not finished:
        return
    if forget is not None:
        forget(requests, feedback)
    log.database.overwrite()
    postings.database.overwrite()
    mark = {"entries": [], "profiles": [], "records": [], "outcome": DONE, "finished": finished}
    log.note(EntryKind.EXPIRY, mark)


def _is_expiry(body: dict[str, Any]) -> bool:
    """An invalid one is left for `check` to report."""
    try:
        entries_named(body)
    except ValueError:
        return False
    return True


def _keyed(facts: Mapping[int, Facts]) -> list[tuple[int, int, int]]:
    return [(key, fact.time, seq) for seq, fact in facts.items() for key in fact.keys]
