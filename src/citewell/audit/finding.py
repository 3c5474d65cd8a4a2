"""Which records answer a question, and how many: pages newest first, counts over time.

In: an :class:`AuditQuery` and :class:`Postings`. Out: sequence numbers a page at a time; counts by day and
profile; one by one what fits, with the documents it names, for whoever may see only a part. The profiles that
fit are chosen first (there are some hundreds); then either the shortest list of the keys asked for is walked
from its newest end, or, where no key is asked for, the tallies say in which days the page will be full and
only those are looked at. So no question walks the log. Knows nothing about bodies.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

import msgspec

from citewell.audit.database import Row, Rows
from citewell.audit.postings import Postings, unpacked
from citewell.audit.profiles import DAY
from citewell.audit.question import AuditQuery, Names, keys_asked, profile_fits, span_of
from citewell.core.errors import UsageError
from citewell.core.records import Record

_SHORT = 20_000
"""Lists are compared in length up to here; of two longer ones either may be walked."""
_RARE = 0.05
"""Share of the records under which they are found by profile and not by walking the time."""
_FIRST, _STEP = 64, 4096
"""Records that are looked at in one step when they are read one by one: the first, and the most."""
_DAYS = 4
"""Of tallies that are read at first; each further step reads twice as many."""


_STRETCHES = 1_000
"""Of time, that are counted in one statement."""


class Found(Record, frozen=True, kw_only=True):
    """``(time, seq)`` of each record, newest first; ``more`` when there are others behind them."""

    records: tuple[tuple[int, int], ...]
    more: bool


class Candidate(Record, frozen=True, kw_only=True):
    """A record that fits; ``named`` holds the keys of the documents it names, None where only the opened
    record tells."""

    time: int
    seq: int
    profile: int
    named: tuple[int, ...] | None


Counts = dict[tuple[int, int], int]
"""Records by the beginning of a stretch of time (microseconds since 1970) and the number of a profile."""
Bucket = Callable[[int], int]
"""A time -> the beginning of its stretch. Stretches begin where days do, or are hours."""


class Finder:
    def __init__(self, postings: Postings, names: Names) -> None:
        self._postings, self._names = postings, names

    def page(self, query: AuditQuery) -> Found:
        """The newest records before the cursor. Raises UsageError for a cursor that is none."""
        with self._postings.database.reading() as rows:
            found = self._newest(rows, query, query.limit + 1)
        records = tuple((time, seq) for time, seq, _ in found)
        return Found(records=records[: query.limit], more=len(records) > query.limit)

    def each(self, query: AuditQuery) -> Iterator[Candidate]:
        """All that fits, newest first from the cursor on, read in steps: ``limit`` does not bound it."""
        step = _FIRST
        while True:
            with self._postings.database.reading() as rows:
                found = self._newest(rows, query, step)
                named = _named(rows, [seq for _, seq, _ in found])
            for time, seq, profile in found:
                yield Candidate(time=time, seq=seq, profile=profile, named=named.get(seq))
            if len(found) < step:
                return
            query = msgspec.structs.replace(query, cursor=cursor_of(*found[-1][:2]))
            step = min(step * 4, _STEP)

    def _newest(self, rows: Rows, query: AuditQuery, limit: int) -> list[Row]:
        """(time, seq, profile) of the newest ``limit`` before the cursor."""
        since, until = span_of(query)
        before = parse_cursor(query.cursor) if query.cursor else (2**62, 2**62)
        keys = keys_asked(query, self._names)
        profiles = self._postings.refresh(rows)
        wanted = [number for number, profile in profiles.items() if profile_fits(query, profile)]
        if not wanted:
            return []
        window = _Window(since, min(until, before[0] + 1), before)
        among = _among(wanted) if len(wanted) < len(profiles) else ""
        if keys:
            return _by_keys(rows, keys, window, among, limit)
        return _by_time(rows, wanted, window, among, limit)

    def count(self, query: AuditQuery, bucket: Bucket, unit: int) -> Counts:
        """How many records fit; ``unit`` (an hour or a day) is what surely lies in one bucket."""
        since, until = span_of(query)
        keys = keys_asked(query, self._names)
        with self._postings.database.reading() as rows:
            profiles = self._postings.refresh(rows)
            wanted = {number for number, profile in profiles.items() if profile_fits(query, profile)}
            if not wanted:
                return {}
            among = _among(wanted) if len(wanted) < len(profiles) else ""
            if keys:
                return _merged(_count_keys(rows, keys, since, until, among, unit), bucket)
            if unit == DAY:
                return _count_days(rows, since, until, among, bucket)
            return _merged(_count_rows(rows, since, until, among, unit), bucket)


def cursor_of(time: int, seq: int) -> str:
    """Names the last record of a page; whoever has it can go on from there, whatever arrives meanwhile."""
    return f"{time}.{seq}"


def parse_cursor(cursor: str) -> tuple[int, int]:
    """Raises UsageError."""
    time, _, seq = cursor.partition(".")
    if not (time.isdigit() and seq.isdigit() and len(cursor) < 40):
        raise UsageError(f"{cursor!r} is not a cursor", hint="pass `next` from the previous page unchanged")
    return int(time), int(seq)


class _Window:
    """``[since, until)`` and before ``(time, seq)``."""

    def __init__(self, since: int, until: int, before: tuple[int, int]) -> None:
        self.since, self.until, self.before = since, until, before

    def terms(self, since: int, until: int) -> tuple[str, list[int]]:
        return "time >= ? AND time < ? AND (time, seq) < (?, ?)", [since, until, *self.before]


def _among(numbers: Sequence[int] | set[int]) -> str:
    # Our own integers, so they may stand in the statement.
    return f" AND profile IN ({', '.join(map(str, sorted(numbers)))})"


_NEWEST = " ORDER BY time DESC, seq DESC LIMIT ?"


def _by_keys(rows: Rows, keys: Sequence[int], window: _Window, among: str, limit: int) -> list[Row]:
    """The shortest list is walked; the others are asked record by record."""
    lengths = {key: _length(rows, key, window) for key in keys} if len(keys) > 1 else {keys[0]: 1}
    if not all(lengths.values()):
        return []
    driver, *others = sorted(keys, key=lengths.__getitem__)
    terms, values = window.terms(window.since, window.until)
    probes = "".join(
        " AND EXISTS (SELECT 1 FROM postings o WHERE o.key = ? AND o.time = p.time AND o.seq = p.seq)"
        for _ in others
    )
    return rows.execute(
        f"SELECT time, seq, profile FROM postings p WHERE key = ? AND {terms}{among}{probes}{_NEWEST}",
        (driver, *values, *others, limit),
    ).fetchall()


def _named(rows: Rows, seqs: Sequence[int]) -> dict[int, tuple[int, ...]]:
    """The documents that each of these records names."""
    if not seqs:
        return {}
    found = rows.execute(f"SELECT seq, documents FROM named WHERE seq IN ({', '.join(map(str, seqs))})")
    return {seq: unpacked(bytes(kept)) for seq, kept in found}


def _length(rows: Rows, key: int, window: _Window) -> int:
    row = rows.execute(
        "SELECT count(*) FROM"
        " (SELECT 1 FROM postings WHERE key = ? AND time >= ? AND time < ? LIMIT ?) AS first",
        (key, window.since, window.until, _SHORT),
    ).fetchone()
    return int(row[0]) if row else 0


def _by_time(rows: Rows, wanted: Sequence[int], window: _Window, among: str, limit: int) -> list[Row]:
    """The tallies bound the days in which the newest ``limit`` records lie."""
    edge = (window.until - 1) // DAY
    first = last = None
    matching = total = surely = 0
    for day, hits, n in _tallies(rows, window, wanted):
        if hits:
            first, last = day, day if last is None else last
            matching += hits
            # Of the last day an unknown part lies behind the cursor or the bound.
            surely += hits if day != edge else 0
        if last is not None:
            total += n
        if surely >= limit:
            break
    if first is None or last is None:
        return []
    since, until = max(window.since, first * DAY), min(window.until, (last + 1) * DAY)
    terms, values = window.terms(since, until)
    if not among or matching > _RARE * total:
        statement = f"SELECT time, seq, profile FROM records WHERE {terms}{among}{_NEWEST}"
    else:
        # By profile: the walk over the time would pass many records for each that fits.
        those = ", ".join(map(str, wanted))
        statement = f"SELECT time, seq, profile FROM records WHERE profile IN ({those}) AND {terms}{_NEWEST}"
    return rows.execute(statement, (*values, limit)).fetchall()


def _tallies(rows: Rows, window: _Window, wanted: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Days of the window that have records, newest first: how many have a wanted profile, how many there
    are."""
    ends = _ends(rows)
    if ends is None:
        return
    oldest = max(ends[0], window.since // DAY)
    newest, step = min(ends[1], (window.until - 1) // DAY), _DAYS
    fitting = ", ".join(map(str, wanted))
    while newest >= oldest:
        start = max(oldest, newest - step + 1)
        found = rows.execute(
            f"SELECT day, sum(CASE WHEN profile IN ({fitting}) THEN n ELSE 0 END), sum(n) FROM tallies"
            " WHERE day >= ? AND day <= ? GROUP BY day ORDER BY day DESC",
            (start, newest),
        ).fetchall()
        yield from ((day, int(hits), int(n)) for day, hits, n in found)
        newest, step = start - 1, step * 2


def _ends(rows: Rows) -> tuple[int, int] | None:
    """The first and the last day. One from each end: asked for both at once, SQLite reads the table."""
    row = rows.execute("SELECT (SELECT min(day) FROM tallies), (SELECT max(day) FROM tallies)").fetchone()
    return None if row is None or row[0] is None else (row[0], row[1])


def _count_keys(rows: Rows, keys: Sequence[int], since: int, until: int, among: str, unit: int) -> Counts:
    window = _Window(since, until, (2**62, 2**62))
    lengths = {key: _length(rows, key, window) for key in keys} if len(keys) > 1 else {keys[0]: 1}
    driver, *others = sorted(keys, key=lengths.__getitem__)
    probes = "".join(
        " AND EXISTS (SELECT 1 FROM postings o WHERE o.key = ? AND o.time = p.time AND o.seq = p.seq)"
        for _ in others
    )
    found = rows.execute(
        f"SELECT time / {unit}, profile, count(*) FROM postings p WHERE key = ? AND time >= ? AND time < ?"
        f"{among}{probes} GROUP BY 1, 2",
        (driver, since, until, *others),
    )
    return {(slot * unit, profile): n for slot, profile, n in found}


def _count_rows(rows: Rows, since: int, until: int, among: str, unit: int) -> Counts:
    found = rows.execute(
        f"SELECT time / {unit}, profile, count(*) FROM records WHERE time >= ? AND time < ?{among}"
        " GROUP BY 1, 2",
        (since, until),
    )
    return {(slot * unit, profile): n for slot, profile, n in found}


def _count_days(rows: Rows, since: int, until: int, among: str, bucket: Bucket) -> Counts:
    """Whole days from the tallies, added up a stretch at a time; of the first and the last day only what lies
    inside, from the records."""
    first, last = -(-since // DAY), until // DAY
    if first > last:
        return _merged(_count_rows(rows, since, until, among, DAY), bucket)
    counts: Counts = {}
    ends = _ends(rows)
    days = range(max(first, ends[0]), min(last - 1, ends[1]) + 1) if ends else range(0)
    stretches = [
        (start, inside[0], inside[-1])
        for start, group in groupby(days, key=lambda day: bucket(day * DAY))
        if (inside := list(group))
    ]
    for at in range(0, len(stretches), _STRETCHES):
        # One statement for many. The order of the join is said: each stretch reads its own days.
        values = ", ".join(map(str, stretches[at : at + _STRETCHES]))
        for start, profile, n in rows.execute(
            f"WITH stretches(start, low, high) AS (VALUES {values}) SELECT start, profile, sum(n)"
            f" FROM stretches CROSS JOIN tallies WHERE day >= low AND day <= high{among}"
            " GROUP BY start, profile"
        ):
            counts[start, profile] = int(n)
    for start, end in ((since, first * DAY), (last * DAY, until)):
        if start < end:
            for key, n in _merged(_count_rows(rows, start, end, among, DAY), bucket).items():
                counts[key] = counts.get(key, 0) + n
    return counts


def _merged(counts: Counts, bucket: Bucket) -> Counts:
    merged: Counts = defaultdict(int)
    for (time, profile), n in counts.items():
        merged[bucket(time), profile] += n
    return dict(merged)
