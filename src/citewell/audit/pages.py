"""Questions to the log, answered: pages of records, everything that fits, and counts with rates over time.

In: an :class:`AuditQuery`. Out: a :class:`Page` of opened records and the cursor of the next;
:class:`Counts`. Pages are stable: a cursor names the last record seen, so entries that arrive later never
shift a page. The bodies are read only for the page shown. For somebody who may see some of the records
(:class:`VisibleQueries`) the others do not exist. Knows nothing about how records are found, or about access
lists.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from citewell.audit.bodies import open_body
from citewell.audit.indexing import follow
from citewell.audit.postings import Postings
from citewell.audit.profiles import DAY, Axis, Profile, key_of, microseconds, timestamp_of
from citewell.audit.question import AuditQuery, cites, narrows, refuse, within
from citewell.audit.search import LAST, Candidate, Counted, Finder
from citewell.core.errors import LogIntegrityError, UsageError
from citewell.core.records import AuditRecord, Record

if TYPE_CHECKING:
    from citewell.audit.entries import Entry
    from citewell.audit.log import Log

HOUR = DAY // 24


class Page(Record, frozen=True, kw_only=True):
    """``next`` is "" when this is the last page."""

    records: tuple[AuditRecord, ...]
    next: str = ""


class Share(Record, frozen=True, kw_only=True):
    """``rate`` is ``n`` over the records of the stretch; one record may count under several values."""

    value: str
    n: int
    rate: float


class Stretch(Record, frozen=True, kw_only=True):
    """The records from ``since`` on, up to the next stretch. ``of_all`` is their share of all that there are
    of that time (for whoever asks); None where there is none."""

    since: str
    records: int
    of_all: float | None
    shares: tuple[Share, ...]


class Counts(Record, frozen=True, kw_only=True):
    """``total`` records in ``stretches`` (hour, day, week or month; those without records are left out), and
    in each and in all how many had which value of ``of``; ``of_all`` as in a stretch."""

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
"""What can be counted within what was asked for."""


_OPENED = 64
"""Records opened at a time."""


class Queries:
    """Questions to ``log`` through the tables of ``postings``, about everything that was durable when the
    question came. Raises UsageError for what makes no sense.

    What has expired counts, and is in no page. A cursor is the id of the last record shown, as a place in the
    log would tell how many others there are.
    """

    def __init__(self, log: Log, postings: Postings) -> None:
        self._log, self._postings = log, postings
        self._finder = Finder(postings, log.keys)

    def page(self, query: AuditQuery) -> Page:
        """Newest first."""
        refuse(query)
        records = tuple(islice(self.every(query), query.limit + 1))
        more = len(records) > query.limit
        return Page(records=records[: query.limit], next=records[query.limit - 1].request_id if more else "")

    def every(self, query: AuditQuery) -> Iterator[AuditRecord]:
        """All that fits, newest first from the cursor on; ``limit`` does not bound it."""
        fitting = self._each(query)
        while some := list(islice(fitting, min(query.limit + 1, _OPENED))):
            yield from self._opened(some, query)

    def entries(self, query: AuditQuery) -> Iterator[Entry]:
        """As :meth:`every`, sealed: also what has expired."""
        return (self._log.at(one.seq) for one in self._each(query))

    def counts(self, query: AuditQuery, *, by: str = "day", of: str = "decision") -> Counts:
        """How many records fit, over time; ``limit`` and ``cursor`` do not matter."""
        for what, value, known in (("stretch", by, BY), ("count", of, OF)):
            if value not in known:
                raise UsageError(f"unknown {what} {value!r}", hint=f"use one of {', '.join(known)}")
        self._ready(query)
        counted = self._counted(query, by)
        every = self._counted(within(query), by) if narrows(query) else counted
        return _added_up(counted, every, self._postings.profiles, by=by, of=of)

    def _ready(self, query: AuditQuery) -> None:
        refuse(query)
        follow(self._log, self._postings)

    def _each(self, query: AuditQuery) -> Iterator[Candidate]:
        self._ready(query)
        return self._finder.each(query, self._place(query.cursor) if query.cursor else LAST)

    def _place(self, cursor: str) -> tuple[int, int]:
        """Where in the log the record stands that a cursor names."""
        try:
            entry = self._log.get(cursor)
        except UsageError:
            raise _refused(cursor) from None
        return microseconds(entry.timestamp), entry.seq

    def _counted(self, query: AuditQuery, by: str) -> Counted:
        return self._finder.count(query, BY[by], HOUR if by == "hour" else DAY)

    def _opened(self, some: Sequence[Candidate], query: AuditQuery) -> Iterator[AuditRecord]:
        """These in their order, without those that expired or only share a key with what is asked."""
        for body in self._bodies([one.seq for one in some]):
            if cites(query, body):
                yield msgspec.convert(body, AuditRecord)

    def _bodies(self, seqs: Sequence[int]) -> Iterator[dict[str, Any]]:
        """Opened bodies in the order of ``seqs``, but of those that expired; one read for all."""
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
    """Of the records that ``sees`` lets through. ``documents`` are the ids that may be named in them, asked
    for anew with each question; ``only`` names the one person whose records can be among them, None where
    anybody's can.

    The tables hold which documents a record names, so records that are not theirs are passed over unopened;
    what is shown is opened and asked for by the rule once more. Expired entries are left out of counts too:
    nobody can tell any more what they named.
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

    def _each(self, query: AuditQuery) -> Iterator[Candidate]:
        """What may be the person's, as far as the tables know."""
        refuse(query)
        if self._only is not None:
            if not self._only or query.user not in ("", self._only):
                return
            query = msgspec.structs.replace(query, user=self._only)
        seen = {key_of(Axis.DOCUMENT, name) for name in self._documents()}
        for one in super()._each(query):
            if one.named is not None and seen.issuperset(one.named):
                yield one

    def _opened(self, some: Sequence[Candidate], query: AuditQuery) -> Iterator[AuditRecord]:
        return filter(self._sees, super()._opened(some, query))

    def _counted(self, query: AuditQuery, by: str) -> Counted:
        fitting = self._each(msgspec.structs.replace(query, cursor=""))
        return Counter((BY[by](one.time), one.profile) for one in fitting)

    def _place(self, cursor: str) -> tuple[int, int]:
        """Nobody pages from a record that they may not see."""
        place = super()._place(cursor)
        if self._log.at(place[1]).body is None or not self._sees(self._log.record(cursor)):
            raise _refused(cursor)
        return place


def _refused(cursor: str) -> UsageError:
    return UsageError(f"{cursor!r} is not a cursor", hint="pass `next` from the previous page unchanged")


def _added_up(
    counted: Counted, every: Counted, profiles: Mapping[int, Profile], *, by: str, of: str
) -> Counts:
    """``every`` is of all records of the time."""
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
    """``counted`` by profile; a profile counts for each of its values."""
    found: Counter[str] = Counter()
    for profile, n in counted.items():
        for value in values[profile]:
            found[value] += n
    return tuple(Share(value=value, n=n, rate=n / counted.total()) for value, n in sorted(found.items()))
