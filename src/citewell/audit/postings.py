"""The search tables for queries: derived from the log, stored separately, rebuilt whenever they differ.

In: entries, in order. Out: for each key the records that have it, with the number of their profile; the
number of records per profile and day; for each record the documents that it names. Nothing here is evidence:
the log is. So entries are durable before they are indexed, appending costs nothing extra, and a query first
indexes what is new. The tables (in a SQLite file or PostgreSQL) may be deleted: the next query rebuilds them.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager

import msgspec

from citewell.audit.database import Database, Rows
from citewell.audit.profiles import DAY, Facts, Profile
from citewell.core.identity import canonical_json
from citewell.core.records import Record

VERSION = 2
"""The version of the tables; other versions are dropped and rebuilt."""

_STATEMENTS = (
    "CREATE TABLE place(version INTEGER, seq BIGINT, leaf TEXT)",
    f"INSERT INTO place VALUES({VERSION}, 0, '')",
    "CREATE TABLE profiles(id INTEGER PRIMARY KEY, facts TEXT NOT NULL UNIQUE)",
    "CREATE TABLE postings(key BIGINT NOT NULL, time BIGINT NOT NULL, seq BIGINT NOT NULL,"
    " profile INTEGER NOT NULL, PRIMARY KEY(key, time, seq)){compact}",
    "CREATE TABLE records(time BIGINT NOT NULL, seq BIGINT NOT NULL, profile INTEGER NOT NULL,"
    " PRIMARY KEY(time, seq)){compact}",
    "CREATE INDEX records_by_profile ON records(profile, time, seq)",
    "CREATE TABLE tallies(day INTEGER NOT NULL, profile INTEGER NOT NULL, n BIGINT NOT NULL,"
    " PRIMARY KEY(day, profile)){compact}",
    "CREATE TABLE named(seq {id} PRIMARY KEY, documents {bytes} NOT NULL)",
)
_TABLES = ("postings", "records", "tallies", "profiles", "place", "named")
_UNSORTED = "CREATE TEMPORARY TABLE unsorted(key BIGINT, time BIGINT, seq BIGINT, profile INTEGER)"


class IndexedRecord(Record, frozen=True, kw_only=True):
    """One record, ready to be indexed."""

    seq: int
    facts: Facts


class FlaggedRecord(Record, frozen=True, kw_only=True):
    """A further key for a record already indexed: a user's later feedback."""

    key: int
    seq: int
    time: int


class IndexPosition(Record, frozen=True, kw_only=True):
    """How far the tables follow the log: the last entry indexed, and its leaf's hash, so that another or a
    rolled-back log is noticed."""

    seq: int = 0
    leaf: str = ""


class Batch(Record, frozen=True, kw_only=True):
    """The index rows of a section of the log, and where it ends."""

    records: tuple[IndexedRecord, ...]
    flags: tuple[FlaggedRecord, ...]
    place: IndexPosition


class Postings:
    """The tables in one database. One writer at a time; any number of readers."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.profiles: dict[int, Profile] = {}
        self._numbers: dict[Profile, int] = {}
        with database.reading() as rows:
            stands = self._stands(rows)
        if not stands:
            with self._writing() as rows:
                if not self._stands(rows):
                    self._create(rows)

    def place(self) -> IndexPosition:
        """The last entry indexed."""
        with self.database.reading() as rows:
            return _place(rows)

    def add(self, batch: Batch, *, after: int) -> bool:
        """Indexes a batch and moves to its end; False if another process was first."""
        with self._writing() as rows:
            if _place(rows).seq != after:
                return False
            records = self._insert(rows, batch, "postings")
            tallies = Counter((time // DAY, profile) for time, _, profile in records)
            for (day, profile), n in sorted(tallies.items()):
                rows.execute(
                    "INSERT INTO tallies(day, profile, n) VALUES(?, ?, ?)"
                    " ON CONFLICT(day, profile) DO UPDATE SET n = tallies.n + excluded.n",
                    (day, profile, n),
                )
            _flag(rows, batch.flags)
        return True

    def rebuild(self, batches: Iterable[Batch]) -> None:
        """Rebuilds everything. Rows are sorted as a whole: a B-tree filled in order is written once."""
        flags: list[FlaggedRecord] = []
        with self._writing() as rows:
            self._create(rows)
            rows.execute(_UNSORTED)
            for batch in batches:
                self._insert(rows, batch, "unsorted")
                flags += batch.flags
            rows.execute(
                "INSERT INTO postings(key, time, seq, profile)"
                " SELECT key, time, seq, profile FROM unsorted ORDER BY key, time, seq"
            )
            rows.execute("DROP TABLE unsorted")
            rows.execute(
                f"INSERT INTO tallies(day, profile, n) SELECT time / {DAY}, profile, count(*) FROM records"
                " GROUP BY 1, 2 ORDER BY 1, 2"
            )
            _flag(rows, flags)
            for table in _TABLES[:3]:
                rows.execute(f"ANALYZE {table}")

    def _insert(self, rows: Rows, batch: Batch, postings: str) -> list[tuple[int, int, int]]:
        """Adds a batch without its flags and moves to its end; the keys go into the table ``postings``.
        Returns the rows of table ``records``: time, seq, profile."""
        keys: list[tuple[int, int, int, int]] = []
        records: list[tuple[int, int, int]] = []
        named: list[tuple[int, bytes]] = []
        for record in batch.records:
            seq, facts = record.seq, record.facts
            row = (facts.time, seq, self._number(rows, facts.profile))
            records.append(row)
            keys += [(key, *row) for key in facts.keys]
            if facts.named is not None:
                named.append((seq, pack_keys(facts.named)))
        rows.executemany(f"INSERT INTO {postings}(key, time, seq, profile) VALUES(?, ?, ?, ?)", sorted(keys))
        rows.executemany("INSERT INTO records(time, seq, profile) VALUES(?, ?, ?)", records)
        rows.executemany("INSERT INTO named(seq, documents) VALUES(?, ?)", named)
        _move(rows, batch.place)
        return records

    def forget_keys(self, keyed: Sequence[tuple[int, int, int]]) -> None:
        """Removes ``(key, time, seq)`` rows: an expired record is found by its profile alone."""
        gone = sorted({seq for _, _, seq in keyed})
        with self._writing() as rows:
            rows.executemany("DELETE FROM named WHERE seq = ?", [(seq,) for seq in gone])
            rows.executemany("DELETE FROM postings WHERE key = ? AND time = ? AND seq = ?", keyed)

    def refresh(self, rows: Rows) -> dict[int, Profile]:
        """All profiles by number; reads only new ones."""
        newest = max(self.profiles, default=0)
        for number, facts in rows.execute("SELECT id, facts FROM profiles WHERE id > ?", (newest,)):
            self.profiles[number] = msgspec.json.decode(facts, type=Profile)
            self._numbers[self.profiles[number]] = number
        return self.profiles

    @contextmanager
    def _writing(self) -> Iterator[Rows]:
        """A transaction; if it fails, the cached profiles are dropped."""
        try:
            with self.database.writing() as rows:
                yield rows
        except BaseException:
            self._forget()
            raise

    def _forget(self) -> None:
        self.profiles.clear()
        self._numbers.clear()

    def _stands(self, rows: Rows) -> bool:
        if "place" not in self.database.tables(rows):
            return False
        version = rows.execute("SELECT version FROM place").fetchone()
        return version is not None and version[0] == VERSION

    def _create(self, rows: Rows) -> None:
        for table in _TABLES:
            rows.execute(f"DROP TABLE IF EXISTS {table}")
        for statement in _STATEMENTS:
            rows.execute(statement.format(**self.database.types))
        self._forget()

    def _number(self, rows: Rows, profile: Profile) -> int:
        """The profile's number, assigned if it is new."""
        if profile not in self._numbers:
            self.refresh(rows)
        if profile not in self._numbers:
            number, facts = max(self.profiles, default=0) + 1, canonical_json(profile).decode()
            rows.execute("INSERT INTO profiles(id, facts) VALUES(?, ?)", (number, facts))
            self.profiles[number] = profile
            self._numbers[profile] = number
        return self._numbers[profile]


def _place(rows: Rows) -> IndexPosition:
    row = rows.execute("SELECT seq, leaf FROM place").fetchone()
    return IndexPosition() if row is None else IndexPosition(seq=row[0], leaf=row[1])


def _move(rows: Rows, place: IndexPosition) -> None:
    rows.execute("UPDATE place SET seq = ?, leaf = ?", (place.seq, place.leaf))


def _flag(rows: Rows, flags: Iterable[FlaggedRecord]) -> None:
    for flag in flags:
        rows.execute(
            "INSERT INTO postings(key, time, seq, profile) SELECT CAST(? AS BIGINT), time, seq, profile"
            " FROM records WHERE time = ? AND seq = ? ON CONFLICT DO NOTHING",
            (flag.key, flag.time, flag.seq),
        )


def pack_keys(keys: Collection[int]) -> bytes:
    """Keys as stored with a record."""
    return struct.pack(f"<{len(keys)}q", *sorted(keys))


def unpack_keys(kept: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(kept) // 8}q", kept)
