"""Brings the tables for questions up to the log: reads what is new, hands it over in batches.

In: a log and its :class:`Postings`. Out: the tables at the log's end. A log that is not the one the tables
were made of (restored, rolled back, another) is noticed by its leaf, and everything is made anew. Records
whose content has expired keep their profile, which the expiry entry holds; their keys went with the content.
Knows nothing about questions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from citewell.audit.entries import RECORDS, Entry, EntryKind
from citewell.audit.expired import profiles_kept
from citewell.audit.postings import Batch, Flagged, Indexed, Place, Postings
from citewell.audit.profiles import Axis, Facts, Profile, facts_of, key_of, microseconds
from citewell.core.errors import LogIntegrityError, UsageError

if TYPE_CHECKING:
    from citewell.audit.log import Log

_BATCH = 2_000
"""Entries a transaction."""
_ANEW = 20_000
"""From so many entries on an empty index is filled in one go, sorted."""


def follow(log: Log, postings: Postings) -> int:
    """How many entries were taken in. Raises LogError; the tables then stand where they stood."""
    place = postings.place()
    size = log.size()
    if place.seq and not same_log(log, place, size):
        place = Place()
        postings.rebuild(())
    if not place.seq and size > _ANEW:
        postings.rebuild(batches(log, 0))
        return size
    if place.seq == size:
        return 0
    taken = 0
    for batch in batches(log, place.seq):
        if not postings.add(batch, after=place.seq):
            # Another process is at it: what it has taken in need not be taken in again.
            return taken + follow(log, postings)
        taken += batch.place.seq - place.seq
        place = batch.place
    return taken


def same_log(log: Log, place: Place, size: int) -> bool:
    """Whether tables that stand at ``place`` were made of this log."""
    if place.seq > size:
        return False
    try:
        return log.at(place.seq).hash == place.leaf
    except LogIntegrityError:
        return False


def batches(log: Log, after: int, *, until: int | None = None) -> Iterator[Batch]:
    """What the entries above ``after`` bring, up to ``until`` where it is given."""
    expired = _Expired(log)
    records: list[Indexed] = []
    flags: list[Flagged] = []
    held = 0
    last: Entry | None = None
    for entry in log.entries(after=after):
        if until is not None and entry.seq > until:
            break
        last = entry
        held += 1
        if last.kind in RECORDS:
            facts = _facts(last, expired)
            if facts is not None:
                records.append(Indexed(seq=last.seq, facts=facts))
        elif last.kind == EntryKind.FEEDBACK.value and last.body is not None:
            flags += _flags(log, msgspec.json.decode(last.body))
        if held == _BATCH:
            yield _batch(records, flags, last)
            records, flags, held = [], [], 0
    if held and last is not None:
        yield _batch(records, flags, last)


class _Expired:
    """The profiles of records whose content has expired; read when the first such record is met."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._kept: dict[int, Profile] | None = None

    def profile(self, seq: int) -> Profile | None:
        if self._kept is None:
            with self._log.database.reading() as rows:
                self._kept = profiles_kept(rows)
        return self._kept.get(seq)


def _batch(records: list[Indexed], flags: list[Flagged], last: Entry) -> Batch:
    return Batch(records=tuple(records), flags=tuple(flags), place=Place(seq=last.seq, leaf=last.hash))


def _facts(entry: Entry, expired: _Expired) -> Facts | None:
    """None for a body that is no record: `check` names such an entry, a question does not find it."""
    if entry.body is None:
        profile = expired.profile(entry.seq)
        if profile is None:
            return None
        return Facts(time=microseconds(entry.timestamp), profile=profile, keys=())
    try:
        return facts_of(entry.kind, entry.timestamp, entry.subject, msgspec.json.decode(entry.body))
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _flags(log: Log, body: dict[str, Any]) -> Iterator[Flagged]:
    """What a user signalled about one record; a request that is not in this log flags nothing."""
    named = [body.get("signal"), body.get("flag"), *(body.get("flags") or ())]
    request = body.get("request_id")
    if not isinstance(request, str) or not any(named):
        return
    try:
        entry = log.get(request)
    except UsageError:
        return
    for name in named:
        if isinstance(name, str) and name:
            yield Flagged(key=key_of(Axis.FLAG, name), seq=entry.seq, time=microseconds(entry.timestamp))
