"""Questions to the log, answered: pages of records, everything that fits, and counts with rates over time.

In: an :class:`AuditQuery`. Out: a :class:`Page` of opened records and the cursor of the next;
:class:`Counts`. Pages are stable: a cursor names the last record seen, so entries that arrive later never
shift a page. The bodies are read only for the page shown. Knows nothing about how records are found.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from citewell.audit.bodies import open_body
from citewell.audit.finding import Candidate, Finder, cursor_of
from citewell.audit.following import follow
from citewell.audit.postings import Postings
from citewell.audit.profiles import DAY, Profile, timestamp_of
from citewell.audit.question import MAX_PAGE, AuditQuery, cites, narrows, refuse, within
from citewell.core.errors import LogIntegrityError, UsageError
from citewell.core.records import AuditRecord, Record

if TYPE_CHECKING:
    from citewell.audit.entries import Entry
    from citewell.audit.log import Log

HOUR = DAY // 24


class Page(Record, frozen=True, kw_only=True):
    """``next`` is "" when this is the last page. ``expired`` are entries that fit and whose content is
    gone."""

    records: tuple[AuditRecord, ...]
    next: str = ""
    expired: tuple[int, ...] = ()


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


K = TypeVar("K", bound=Hashable)
"""A profile, or its number."""

_ENTRIES = "SELECT seq, subject, body, body_hash FROM entries WHERE seq IN ({})"


class _LogNames:
    """People and sessions as this log names them. Nobody of that name: a name that no record has."""

    def __init__(self, log: Log) -> None:
        self._keys = log.keys

    def user(self, name: str) -> str:
        known = self._keys.find(name)
        return known.id if known is not None else "nobody"

    def session(self, name: str) -> str:
        return self._keys.blind(name)


class Queries:
    """Questions to ``log`` through the tables of ``postings``. Raises UsageError for what makes no sense."""

    def __init__(self, log: Log, postings: Postings) -> None:
        self._log, self._postings = log, postings
        self._finder = Finder(postings, _LogNames(log))

    def page(self, query: AuditQuery) -> Page:
        """Newest first, among everything that was durable when the question came."""
        refuse(query)
        follow(self._log, self._postings)
        return self._page(query)

    def every(self, query: AuditQuery) -> Iterator[AuditRecord]:
        """All that fits, newest first, page after page; ``limit`` does not bound it."""
        refuse(query)
        follow(self._log, self._postings)
        query = msgspec.structs.replace(query, limit=MAX_PAGE)
        while True:
            page = self._page(query)
            yield from page.records
            if not page.next:
                return
            query = msgspec.structs.replace(query, cursor=page.next)

    def entries(self, query: AuditQuery) -> Iterator[Entry]:
        """As :meth:`every`, sealed: also what has expired."""
        refuse(query)
        follow(self._log, self._postings)
        query = msgspec.structs.replace(query, limit=MAX_PAGE)
        while True:
            found = self._finder.page(query)
            yield from (self._log.at(seq) for _, seq in found.records)
            if not found.more:
                return
            query = msgspec.structs.replace(query, cursor=cursor_of(*found.records[-1]))

    def each(self, query: AuditQuery) -> Iterator[Candidate]:
        """As :meth:`every`, unopened."""
        refuse(query)
        follow(self._log, self._postings)
        yield from self._finder.each(query)

    def opened(self, seqs: Sequence[int], query: AuditQuery) -> Iterator[AuditRecord]:
        """These records in their order, without those that expired or only share a key with what is asked."""
        for _, body in self._bodies(seqs):
            if body is not None and cites(query, body):
                yield msgspec.convert(body, AuditRecord)

    @property
    def profiles(self) -> Mapping[int, Profile]:
        """What the numbers of profiles stand for, as far as they were met."""
        return self._postings.profiles

    def counts(self, query: AuditQuery, *, by: str = "day", of: str = "decision") -> Counts:
        """How many records fit, over time; ``limit`` and ``cursor`` do not matter."""
        refuse(query)
        refuse_counts(by, of)
        follow(self._log, self._postings)
        bucket, unit = BY[by], HOUR if by == "hour" else DAY
        counted = self._finder.count(query, bucket, unit)
        every = self._finder.count(within(query), bucket, unit) if narrows(query) else counted
        return added_up(counted, self._postings.profiles, by=by, of=of, every=every)

    def _page(self, query: AuditQuery) -> Page:
        found = self._finder.page(query)
        records, expired = [], []
        for seq, body in self._bodies([seq for _, seq in found.records]):
            if body is None:
                expired.append(seq)
            elif cites(query, body):
                records.append(msgspec.convert(body, AuditRecord))
        following = cursor_of(*found.records[-1]) if found.more else ""
        return Page(records=tuple(records), next=following, expired=tuple(expired))

    def _bodies(self, seqs: Sequence[int]) -> Iterator[tuple[int, dict[str, Any] | None]]:
        """Opened bodies in the order of ``seqs``, None where the content has expired; two reads for all."""
        if not seqs:
            return
        among = ", ".join(map(str, seqs))
        with self._log.database.reading() as rows:
            stored = {row[0]: row for row in rows.execute(_ENTRIES.format(among))}
            private: dict[int, object] = dict(
                rows.execute(f"SELECT seq, sealed FROM private WHERE seq IN ({among})").fetchall()
            )
        keys: dict[str, bytes | None] = {}
        for seq in seqs:
            if seq not in stored:
                raise LogIntegrityError(f"entry {seq} is missing", hint="run `citewell audit check`")
            _, subject, text, body_hash = stored[seq]
            if text is None:
                yield seq, None
                continue
            if not subject:
                yield seq, msgspec.json.decode(text)
                continue
            if subject not in keys:
                keys[subject] = self._log.keys.key(subject)
            yield seq, open_body(text, body_hash, subject, private.get(seq), keys[subject])


def refuse_counts(by: str, of: str) -> None:
    """Raises UsageError for a stretch or a count that nobody knows."""
    for what, value, known in (("stretch", by, BY), ("count", of, OF)):
        if value not in known:
            raise UsageError(f"unknown {what} {value!r}", hint=f"one of {', '.join(known)}")


def added_up(
    counted: Mapping[tuple[int, K], int],
    profiles: Mapping[K, Profile],
    *,
    by: str,
    of: str,
    every: Mapping[tuple[int, K], int] | None = None,
) -> Counts:
    """``counted`` by the beginning of a stretch and the name of a profile; ``every`` likewise, of all records
    of the time."""
    values = {name: OF[of](profile) for name, profile in profiles.items()}
    stretches: dict[int, Counter[K]] = defaultdict(Counter)
    whole: Counter[K] = Counter()
    for (start, name), n in counted.items():
        stretches[start][name] += n
        whole[name] += n
    asked: Counter[int] = Counter()
    for (start, _), n in (every or {}).items():
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


def _shares(counted: Mapping[K, int], values: Mapping[K, tuple[str, ...]]) -> tuple[Share, ...]:
    """``counted`` by profile; a profile counts for each of its values."""
    found: Counter[str] = Counter()
    for profile, n in counted.items():
        for value in values[profile]:
            found[value] += n
    total = sum(counted.values())
    return tuple(Share(value=value, n=n, rate=n / total) for value, n in sorted(found.items()))
