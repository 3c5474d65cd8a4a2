"""Answers queries of the log: pages of records, all matches, and counts with rates over time.

In: an :class:`AuditQuery`. Out: a :class:`Page` of opened records with the cursor of the next;
:class:`Counts`. Pages are stable: a cursor names the last record seen, so later entries never shift a page.
Bodies are read only for the page shown. For readers who may see only some records
(:class:`VisibleQueries`) the others do not exist. Independent of how records are found and of access lists.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from citewell.audit.entries import open_body
from citewell.audit.indexing import follow
from citewell.audit.postings import Postings
from citewell.audit.profiles import DAY, Axis, Profile, axis_key, microseconds, timestamp_of
from citewell.audit.question import AuditQuery, narrows, record_matches, validate_query, within
from citewell.audit.search import LAST, Counted, Finder, IndexMatch
from citewell.core.errors import LogIntegrityError, UsageError
from citewell.core.records import AuditRecord, Record

if TYPE_CHECKING:
    from citewell.audit.entries import Entry
    from citewell.audit.log import Log

HOUR = DAY // 24


class Page(Record, frozen=True, kw_only=True):
    """``next`` is "" on the last page."""

    records: tuple[AuditRecord, ...]
    next: str = ""


class Share(Record, frozen=True, kw_only=True):
    """``rate`` is ``n`` over the records of the interval; one record may count under several values."""

    value: str
    n: int
    rate: float


class Stretch(Record, frozen=True, kw_only=True):
    """The records from ``since`` up to the next interval. ``of_all`` is their share of all records of that
    time that the reader may see; None if there are none."""

    since: str
    records: int
    of_all: float | None
    shares: tuple[Share, ...]


class Counts(Record, frozen=True, kw_only=True):
    """``total`` records in ``stretches`` (hours, days, weeks or months; empty ones are left out), with counts
    per value of ``of`` in each and overall; ``of_all`` as in :class:`Stretch`."""

    by: str
    of: str
    total: int
    of_all: float | None
    shares: tuple[Share, ...]
    stretches: tuple[Stretch, ...]


def _day(time: int) -> int:
    return time // DAY * DAY


def _week(time: int) -> int:
    """From Monday; 1970 began on a Thursday."""
    return (time // DAY + 3) // 7 * 7 * DAY - 3 * DAY


def _month(time: int) -> int:
    first = datetime.fromtimestamp(time // 1_000_000, UTC).replace(
        day=1, hour=0, minute=0, second=0, microsecond=0
    )
    return int(first.timestamp()) * 1_000_000


BY: Mapping[str, Callable[[int], int]] = {
    "hour": lambda time: time // HOUR * HOUR,
    "day": _day,
    "week": _week,
    "month": _month,
}


def _statuses(profile: Profile) -> tuple[str, ...]:
    return (*profile.statuses, "any broken") if profile.broken else profile.statuses or ("no claims",)


OF: Mapping[str, Callable[[Profile], tuple[str, ...]]] = {
    "decision": lambda profile: (profile.decision,),
    "status": _statuses,
    "proof": lambda profile: profile.proofs or ("none",),
    "confidence": lambda profile: (profile.band,),
    "model": lambda profile: profile.models,
    "prompt": lambda profile: profile.prompts or ("none",),
    "failure": lambda profile: (profile.failure or "none",),
}
"""The properties by which matching records can be counted."""


_OPENED = 64
"""Records opened at a time."""


class Queries:
    """Queries ``log`` through the tables of ``postings``, covering everything durable when the query arrived.
    Raises UsageError for an invalid query.

    Expired records count but appear on no page. A cursor is the id of the last record shown: a position in
    the log would reveal how many others there are.
    """

    def __init__(self, log: Log, postings: Postings) -> None:
        self._log, self._postings = log, postings
        self._finder = Finder(postings, log.keys)

    def page(self, query: AuditQuery) -> Page:
        """Newest first."""
        validate_query(query)
        records = tuple(islice(self.every(query), query.limit + 1))
        more = len(records) > query.limit
        return Page(records=records[: query.limit], next=records[query.limit - 1].request_id if more else "")

    def every(self, query: AuditQuery) -> Iterator[AuditRecord]:
        """All matches, newest first from the cursor on; ``limit`` does not apply."""
        fitting = self._each(query)
        while some := list(islice(fitting, min(query.limit + 1, _OPENED))):
            yield from self._opened(some, query)

    def entries(self, query: AuditQuery) -> Iterator[Entry]:
        """Like :meth:`every`, but sealed entries, including expired ones."""
        return (self._log.at(one.seq) for one in self._each(query))

    def counts(self, query: AuditQuery, *, by: str = "day", of: str = "decision") -> Counts:
        """The number of matching records over time; ``limit`` and ``cursor`` are ignored."""
        for what, value, known in (("stretch", by, BY), ("count", of, OF)):
            if value not in known:
                raise UsageError(f"unknown {what} {value!r}", hint=f"use one of {', '.join(known)}")
        self._ready(query)
        counted = self._counted(query, by)
        every = self._counted(within(query), by) if narrows(query) else counted
        return _added_up(counted, every, self._postings.profiles, by=by, of=of)

    def _ready(self, query: AuditQuery) -> None:
        validate_query(query)
        follow(self._log, self._postings)

    def _each(self, query: AuditQuery) -> Iterator[IndexMatch]:
        self._ready(query)
        return self._finder.each(query, self._place(query.cursor) if query.cursor else LAST)

    def _place(self, cursor: str) -> tuple[int, int]:
        """The (time, seq) of the record that a cursor names."""
        try:
            entry = self._log.get(cursor)
        except UsageError:
            raise _refused(cursor) from None
        return microseconds(entry.timestamp), entry.seq

    def _counted(self, query: AuditQuery, by: str) -> Counted:
        return self._finder.count(query, BY[by], HOUR if by == "hour" else DAY)

    def _opened(self, some: Sequence[IndexMatch], query: AuditQuery) -> Iterator[AuditRecord]:
        """These records in order, without those that expired or only collide with a key asked for."""
        for body in self._bodies([one.seq for one in some]):
            if record_matches(query, body):
                yield msgspec.convert(body, AuditRecord)

    def _bodies(self, seqs: Sequence[int]) -> Iterator[dict[str, Any]]:
        """Opened bodies in the order of ``seqs``, except expired ones; one read for all."""
        among = ", ".join(map(str, seqs)) or "NULL"
        with self._log.database.reading() as rows:
            found = rows.execute(
                "SELECT e.seq, e.subject, e.body, e.body_hash, p.sealed"
                f" FROM entries e LEFT JOIN private p ON p.seq = e.seq WHERE e.seq IN ({among})"
            )
            stored = {row[0]: row for row in found}
        keys: dict[str, bytes | None] = {}
        for seq in seqs:
            if seq not in stored:
                raise LogIntegrityError(f"entry {seq} is missing", hint="run `citewell audit check`")
            _, subject, text, body_hash, sealed = stored[seq]
            if text is not None and not subject:
                yield msgspec.json.decode(text)
            elif text is not None:
                if subject not in keys:
                    keys[subject] = self._log.keys.key(subject)
                yield open_body(text, body_hash, subject, sealed, keys[subject])


class VisibleQueries(Queries):
    """Queries restricted to records that ``sees`` admits. ``documents`` returns the ids that they may name,
    called for each query; ``only`` restricts them to one person's records, None means anybody's.

    The tables hold which documents a record names, so hidden records are skipped unopened; those shown are
    opened and checked with ``sees`` again. Expired entries are left out of counts too, since nobody can tell
    any more which documents they named.
    """

    def __init__(
        self,
        log: Log,
        postings: Postings,
        sees: Callable[[AuditRecord], bool],
        documents: Callable[[], Set[str]],
        only: str | None,
    ) -> None:
        super().__init__(log, postings)
        self._sees, self._documents, self._only = sees, documents, only

    def _each(self, query: AuditQuery) -> Iterator[IndexMatch]:
        """The records that the reader may see, as far as the tables can tell."""
        validate_query(query)
        if self._only is not None:
            if not self._only or query.user not in ("", self._only):
                return
            query = msgspec.structs.replace(query, user=self._only)
        seen = {axis_key(Axis.DOCUMENT, name) for name in self._documents()}
        for one in super()._each(query):
            if one.named is not None and seen.issuperset(one.named):
                yield one

    def _opened(self, some: Sequence[IndexMatch], query: AuditQuery) -> Iterator[AuditRecord]:
        return filter(self._sees, super()._opened(some, query))

    def _counted(self, query: AuditQuery, by: str) -> Counted:
        fitting = self._each(msgspec.structs.replace(query, cursor=""))
        return Counter((BY[by](one.time), one.profile) for one in fitting)

    def _place(self, cursor: str) -> tuple[int, int]:
        """Refuses a cursor that names a record the reader may not see."""
        place = super()._place(cursor)
        if self._log.at(place[1]).body is None or not self._sees(self._log.record(cursor)):
            raise _refused(cursor)
        return place


def _refused(cursor: str) -> UsageError:
    return UsageError(f"{cursor!r} is not a cursor", hint="pass `next` from the previous page unchanged")


def _added_up(
    counted: Counted, every: Counted, profiles: Mapping[int, Profile], *, by: str, of: str
) -> Counts:
    """``every`` counts all records in the time range."""
    values = {number: OF[of](profile) for number, profile in profiles.items()}
    stretches: dict[int, Counter[int]] = defaultdict(Counter)
    whole: Counter[int] = Counter()
    asked: Counter[int] = Counter()
    for (start, profile), n in counted.items():
        stretches[start][profile] += n
        whole[profile] += n
    for (start, _), n in every.items():
        asked[start] += n

    def share(records: int, all_records: int) -> float | None:
        return records / all_records if all_records else None

    return Counts(
        by=by,
        of=of,
        total=whole.total(),
        of_all=share(whole.total(), asked.total()),
        shares=_shares(whole, values),
        stretches=tuple(
            Stretch(
                since=timestamp_of(start),
                records=items.total(),
                of_all=share(items.total(), asked[start]),
                shares=_shares(items, values),
            )
            for start, items in sorted(stretches.items())
        ),
    )


def _shares(counted: Counter[int], values: Mapping[int, tuple[str, ...]]) -> tuple[Share, ...]:
    """``counted`` is by profile; a profile counts for each of its values."""
    found: Counter[str] = Counter()
    for profile, n in counted.items():
        for value in values[profile]:
            found[value] += n
    return tuple(Share(value=value, n=n, rate=n / counted.total()) for value, n in sorted(found.items()))
