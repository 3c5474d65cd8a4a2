"""Brings the search tables up to date with the log, and compares them with it.

In: a log and its :class:`Postings`, or their database in any state. Out: the tables at the log's end; or a
finding for each table whose rows do not follow from the log. If the tables were built from another log
(restored, rolled back, replaced), the leaf reveals it and everything is rebuilt. Records whose content has
expired keep their profile, which the expiry entry holds; their keys went with the content. Independent of
queries.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from functools import cache
from itertools import islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from citewell.audit.database import Database, Row, Rows
from citewell.audit.entries import RECORDS, Entry, EntryKind, kind_condition
from citewell.audit.expiries import entries_named
from citewell.audit.postings import VERSION, Batch, FlaggedRecord, IndexedRecord, IndexPosition, Postings
from citewell.audit.profiles import Axis, Facts, Profile, axis_key, facts_of, microseconds
from citewell.audit.sqlite import SqliteDatabase
from citewell.audit.tampering import Finding
from citewell.core.errors import LogError, LogIntegrityError, UsageError

if TYPE_CHECKING:
    from citewell.audit.log import Log

_BATCH = 1_000
"""Entries per transaction."""
_ANEW = 20_000
"""Above this many entries, an empty index is built in one sorted pass."""


def follow(log: Log, postings: Postings) -> int:
    """Returns the number of entries added. Raises LogError; the tables then stay unchanged."""
    place = postings.place()
    size = log.size()
    if place.seq and not _same_log(log, place, size):
        place = IndexPosition()
        postings.rebuild(())
    if not place.seq and size > _ANEW:
        postings.rebuild(_batches(log, 0))
        return size
    if place.seq == size:
        return 0
    taken = 0
    for batch in _batches(log, place.seq):
        if not postings.add(batch, after=place.seq):
            # Another process is indexing too: skip what it has added.
            return taken + follow(log, postings)
        taken += batch.place.seq - place.seq
        place = batch.place
    return taken


def _same_log(log: Log, place: IndexPosition, size: int) -> bool:
    """Whether tables that end at ``place`` were built from this log."""
    if place.seq > size:
        return False
    try:
        return log.at(place.seq).hash == place.leaf
    except LogIntegrityError:
        return False


def _batches(log: Log, after: int, *, until: int | None = None) -> Iterator[Batch]:
    """The batches of the entries after ``after``, up to ``until`` if given."""
    kept = cache(profiles_kept)  # read at the first expired record
    entries = takewhile(lambda entry: until is None or entry.seq <= until, log.entries(after=after))
    while some := list(islice(entries, _BATCH)):
        records: list[IndexedRecord] = []
        flags: list[FlaggedRecord] = []
        for entry in some:
            if entry.kind in RECORDS:
                facts = _facts(entry) if entry.body is not None else _expired(entry, kept(log))
                if facts is not None:
                    records.append(IndexedRecord(seq=entry.seq, facts=facts))
            elif entry.kind == EntryKind.FEEDBACK.value and entry.body is not None:
                flags += _flags(log, msgspec.json.decode(entry.body))
        place = IndexPosition(seq=some[-1].seq, leaf=some[-1].hash)
        yield Batch(records=tuple(records), flags=tuple(flags), place=place)


def profiles_kept(log: Log) -> dict[int, Profile]:
    """By seq, the profiles that expiry entries keep of expired records. They hold ``profiles`` and
    ``records``: pairs of a seq and the index of its profile."""
    found: dict[int, Profile] = {}
    for entry in log.entries(EntryKind.EXPIRY):
        # An invalid expiry hides nothing and stops no query; `check` reports it.
        with suppress(ValueError, LookupError, TypeError):
            body = msgspec.json.decode(entry.body or "null")
            entries_named(body)
            profiles = [msgspec.convert(profile, Profile) for profile in body["profiles"]]
            found |= {seq: profiles[number] for seq, number in body["records"]}
    return found


def _expired(entry: Entry, kept: dict[int, Profile]) -> Facts | None:
    if entry.seq not in kept:
        return None
    return Facts(time=microseconds(entry.timestamp), profile=kept[entry.seq], keys=())


def _facts(entry: Entry) -> Facts | None:
    """None for a body that is not a record: `check` reports such an entry, queries do not find it."""
    try:
        return facts_of(entry.kind, entry.timestamp, entry.subject, msgspec.json.decode(entry.body or ""))
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _flags(log: Log, body: dict[str, Any]) -> Iterator[FlaggedRecord]:
    """The flags that a user set on one record; none if the request is not in this log."""
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
            yield FlaggedRecord(
                key=axis_key(Axis.FLAG, name), seq=entry.seq, time=microseconds(entry.timestamp)
            )


# --- comparing ------------------------------------------------------------------------------------

ANEW = "delete the search tables; the next query of the log rebuilds them"
_BLOCK = 5_000
"""Rows compared at once."""
_LAST = 2**63
_FACTS = "LEFT JOIN profiles f ON f.id = t.profile"
_TABLES: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("postings", "t.key, t.time, t.seq, f.facts", _FACTS, ("t.key", "t.time", "t.seq")),
    ("records", "t.time, t.seq, f.facts", _FACTS, ("t.time", "t.seq")),
    ("named", "t.seq, t.documents", "", ("t.seq",)),
    # A few per day: read at once. Profile numbers differ between databases.
    ("tallies", "t.day, t.n, f.facts", _FACTS, ()),
)
"""Name, columns, join, and the columns to order by."""


def differing(log: Log, tables: Database) -> tuple[list[Finding], str]:
    """Findings, and the reason if nothing was compared, else "". Raises LogError."""
    with tables.reading() as stored, tempfile.TemporaryDirectory(prefix="citewell-tables-") as folder:
        if "place" not in tables.tables(stored):
            return [], "there are no tables yet"
        version, seq, leaf = stored.execute("SELECT version, seq, leaf FROM place").fetchone() or (0, 0, "")
        of_it = version == VERSION and type(seq) is int
        if not of_it or (seq and not _same_log(log, IndexPosition(seq=seq, leaf=leaf), log.size())):
            return [], "they do not belong to the current log; the next query of the log rebuilds them"
        anew = Postings(SqliteDatabase(Path(folder) / "tables.sqlite"))
        with closing(anew.database):
            try:
                anew.rebuild(_batches(log, 0, until=seq))
            except LogError as error:  # a full disk is not tampering
                return [], f"they could not be recomputed: {error}"
            with anew.database.reading() as derived:
                return list(_findings(log, derived, stored)), ""


def _findings(log: Log, derived: Rows, stored: Rows) -> Iterator[Finding]:
    for name, columns, join, order in _TABLES:
        statement = f"SELECT {columns} FROM {name} t {join}"
        # A flag stays even after the feedback that set it has expired.
        flags_may_stay = name == "postings" and _feedback_has_expired(log)
        missing, more, first = 0, 0, _LAST
        for expected, found in _blocks(derived, stored, statement, order):
            lacking, others = expected - found, set() if flags_may_stay else found - expected
            missing, more = missing + len(lacking), more + len(others)
            if order:
                at = order.index("t.seq")
                first = min([first, *(row[at] for row in lacking | others if type(row[at]) is int)])
        if missing or more:
            reason = f"table {name} lacks {missing} rows that follow from the log and has {more} that do not"
            yield Finding("side-table", first if first < _LAST else 0, f"{reason}; {ANEW}")


def _blocks(
    derived: Rows, stored: Rows, statement: str, order: Sequence[str]
) -> Iterator[tuple[set[Row], set[Row]]]:
    """The rows of both for the same key range, one range at a time."""
    if not order:
        yield set(derived.execute(statement).fetchall()), set(stored.execute(statement).fetchall())
        return
    names, marks = ", ".join(order), ", ".join("?" * len(order))
    after: tuple[object, ...] = ()
    while True:
        since = f"WHERE ({names}) > ({marks})" if after else "WHERE 1 = 1"
        expected = derived.execute(f"{statement} {since} ORDER BY {names} LIMIT {_BLOCK}", after).fetchall()
        last = tuple(expected[-1][: len(order)]) if len(expected) == _BLOCK else ()
        until = f" AND ({names}) <= ({marks})" if last else ""
        yield set(expected), set(stored.execute(f"{statement} {since}{until}", (*after, *last)).fetchall())
        if not last:
            return
        after = last


def _feedback_has_expired(log: Log) -> bool:
    return bool(log.select(f"{kind_condition(EntryKind.FEEDBACK)} AND body IS NULL LIMIT 1"))
