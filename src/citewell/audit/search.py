"""Finds the records that match a query, newest first, and counts them over time.

In: an :class:`AuditQuery` and :class:`Postings`. Out: the matches one by one, with the documents they name,
for access checks; counts by day and profile. First the matching profiles are selected (there are a few
hundred); then either the shortest list of the keys asked for is read from its newest end, or, without keys,
the tallies tell which days fill the page and only those are read. So no query scans the log. Independent of
bodies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from citewell.audit.database import Row, Rows
from citewell.audit.postings import Postings, unpack_keys
from citewell.audit.profiles import DAY
from citewell.audit.question import AuditQuery, keys_asked, profile_fits, span_of
from citewell.core.records import Record

if TYPE_CHECKING:
    from citewell.audit.keys import FolderKeys

_SHORT = 20_000
"""Lengths of lists are compared up to this limit; of two longer ones either may be read."""
_FIRST, _STEP = 64, 4096
"""Records per step when they are read one by one: at first, and at most."""
_DAYS = 4
"""Days of tallies in the first read; each further step reads twice as many."""
_STRETCHES = 1_000
"""Time intervals counted in one statement."""
LAST = (2**62, 2**62)
"""(time, seq) after every record."""


class IndexMatch(Record, frozen=True, kw_only=True):
    """A matching record; ``named`` holds the keys of the documents it names, None (unknown) if its content
    has expired."""

    time: int
    seq: int
    profile: int
    named: tuple[int, ...] | None


Counted = Mapping[tuple[int, int], int]
"""Number of records by start of interval (microseconds since 1970) and profile number."""
Bucket = Callable[[int], int]
"""A time -> the start of its interval. Intervals start at day boundaries, or are hours."""


class _Window(NamedTuple):
    """Times in ``[since, until)``, and positions before the (time, seq) ``before``."""

    since: int
    until: int
    before: tuple[int, int] = LAST

    def terms(self) -> tuple[str, tuple[int, ...]]:
        return "time >= ? AND time < ? AND (time, seq) < (?, ?)", (self.since, self.until, *self.before)


class Finder:
    def __init__(self, postings: Postings, keys: FolderKeys) -> None:
        self._postings, self._keys = postings, keys

    def each(self, query: AuditQuery, before: tuple[int, int] = LAST) -> Iterator[IndexMatch]:
        """All matches, newest first, older than ``before`` (time, seq), read in steps: the query's ``limit``
        and ``cursor`` are ignored."""
        step = _FIRST
        while True:
            with self._postings.database.reading() as rows:
                found = self._newest(rows, query, before, step)
                seqs = _listed([seq for _, seq, _ in found])
                kept = rows.execute(f"SELECT seq, documents FROM named WHERE seq IN ({seqs})")
                named = {seq: unpack_keys(bytes(documents)) for seq, documents in kept}
            for time, seq, profile in found:
                yield IndexMatch(time=time, seq=seq, profile=profile, named=named.get(seq))
            if len(found) < step:
                return
            before = found[-1][:2]
            step = min(step * 4, _STEP)

    def count(self, query: AuditQuery, bucket: Bucket, unit: int) -> Counted:
        """The number of matching records; each ``unit`` (an hour or a day) lies in a single bucket."""
        window, keys = _Window(*span_of(query)), keys_asked(query, self._keys)
        with self._postings.database.reading() as rows:
            wanted, among = self._profiles(rows, query)
            if not wanted:
                return {}
            if keys or unit != DAY:
                return _merged(_count(rows, keys, window, among, unit), bucket)
            return _count_days(rows, window, among, bucket)

    def _newest(self, rows: Rows, query: AuditQuery, before: tuple[int, int], limit: int) -> list[Row]:
        """(time, seq, profile) of the newest ``limit`` matches."""
        since, until = span_of(query)
        window = _Window(since, min(until, before[0] + 1), before)
        keys = keys_asked(query, self._keys)
        wanted, among = self._profiles(rows, query)
        if not wanted:
            return []
        if keys:
            table, values = _with_keys(rows, keys, window)
        else:
            table, values = _RECORDS, ()
            window = _narrowed(rows, wanted, window, limit)
        terms, bounds = window.terms()
        return rows.execute(
            f"SELECT time, seq, profile {table} AND {terms}{among} ORDER BY time DESC, seq DESC LIMIT ?",
            (*values, *bounds, limit),
        ).fetchall()

    def _profiles(self, rows: Rows, query: AuditQuery) -> tuple[list[int], str]:
        """The numbers of the matching profiles, and an SQL term for them unless all match."""
        profiles = self._postings.refresh(rows)
        wanted = [number for number, profile in profiles.items() if profile_fits(query, profile)]
        return wanted, _in(wanted) if len(wanted) < len(profiles) else ""


_RECORDS = "FROM records p WHERE 1 = 1"


def _listed(numbers: Collection[int]) -> str:
    # Our own integers, so they are safe in the statement.
    return ", ".join(map(str, numbers)) or "NULL"


def _in(profiles: Collection[int]) -> str:
    return f" AND profile IN ({_listed(profiles)})"


def _with_keys(rows: Rows, keys: Sequence[int], window: _Window) -> tuple[str, tuple[int, ...]]:
    """The records with all keys: reads the shortest list, looks up each record in the others."""

    def length(key: int) -> int:
        row = rows.execute(
            "SELECT count(*) FROM"
            " (SELECT 1 FROM postings WHERE key = ? AND time >= ? AND time < ? LIMIT ?) AS first",
            (key, window.since, window.until, _SHORT),
        ).fetchone()
        return int(row[0]) if row else 0

    shortest, *others = sorted(keys, key=length) if len(keys) > 1 else keys
    probe = " AND EXISTS (SELECT 1 FROM postings o WHERE o.key = ? AND o.time = p.time AND o.seq = p.seq)"
    return f"FROM postings p WHERE key = ?{probe * len(others)}", (shortest, *others)


def _narrowed(rows: Rows, wanted: Sequence[int], window: _Window, limit: int) -> _Window:
    """Narrows the window to the days that hold the newest ``limit`` records, according to the tallies."""
    edge = (window.until - 1) // DAY
    first = last = None
    surely = 0
    for day, hits in _tallies(rows, window, wanted):
        first, last = day, day if last is None else last
        # An unknown part of the last day lies beyond the cursor or the bound.
        surely += hits if day != edge else 0
        if surely >= limit:
            break
    if first is None or last is None:
        return window._replace(until=window.since)
    return window._replace(since=max(window.since, first * DAY), until=min(window.until, (last + 1) * DAY))


def _tallies(rows: Rows, window: _Window, wanted: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The days of the window with records of a wanted profile, newest first, and their number."""
    first, last = _ends(rows)
    oldest = max(first, window.since // DAY)
    newest, step = min(last, (window.until - 1) // DAY), _DAYS
    while newest >= oldest:
        start = max(oldest, newest - step + 1)
        found = rows.execute(
            "SELECT day, sum(n) FROM tallies"
            f" WHERE day >= ? AND day <= ?{_in(wanted)} GROUP BY day ORDER BY day DESC",
            (start, newest),
        ).fetchall()
        yield from ((day, int(hits)) for day, hits in found)
        newest, step = start - 1, step * 2


def _ends(rows: Rows) -> tuple[int, int]:
    """The first and the last day. Separate subqueries: asked for both at once, SQLite scans the table."""
    row = rows.execute("SELECT (SELECT min(day) FROM tallies), (SELECT max(day) FROM tallies)").fetchone()
    return (0, -1) if row is None or row[0] is None else (row[0], row[1])


def _count(rows: Rows, keys: Sequence[int], window: _Window, among: str, unit: int) -> Counted:
    table, values = _with_keys(rows, keys, window) if keys else (_RECORDS, ())
    terms, bounds = window.terms()
    found = rows.execute(
        f"SELECT time / {unit}, profile, count(*) {table} AND {terms}{among} GROUP BY 1, 2",
        (*values, *bounds),
    )
    return {(slot * unit, profile): n for slot, profile, n in found}


def _count_days(rows: Rows, window: _Window, among: str, bucket: Bucket) -> Counted:
    """Whole days from the tallies, summed by interval; the partial first and last days from the records."""
    first, last = -(-window.since // DAY), window.until // DAY
    if first > last:
        return _merged(_count(rows, (), window, among, DAY), bucket)
    counts: Counter[tuple[int, int]] = Counter()
    oldest, newest = _ends(rows)
    days = range(max(first, oldest), min(last - 1, newest) + 1)
    stretches = [
        (start, inside[0], inside[-1])
        for start, group in groupby(days, key=lambda day: bucket(day * DAY))
        if (inside := list(group))
    ]
    for at in range(0, len(stretches), _STRETCHES):
        # One statement for many. CROSS JOIN fixes the join order: each interval reads its own days.
        values = ", ".join(map(str, stretches[at : at + _STRETCHES]))
        for start, profile, n in rows.execute(
            f"WITH stretches(start, low, high) AS (VALUES {values}) SELECT start, profile, sum(n)"
            f" FROM stretches CROSS JOIN tallies WHERE day >= low AND day <= high{among}"
            " GROUP BY start, profile"
        ):
            counts[start, profile] += int(n)
    for since, until in ((window.since, first * DAY), (last * DAY, window.until)):
        if since < until:
            counts.update(_merged(_count(rows, (), _Window(since, until), among, DAY), bucket))
    return counts


def _merged(counts: Counted, bucket: Bucket) -> Counted:
    merged: Counter[tuple[int, int]] = Counter()
    for (time, profile), n in counts.items():
        merged[bucket(time), profile] += n
    return merged
