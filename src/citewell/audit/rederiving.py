"""The tables that questions are answered from, derived again from the log and compared row by row.

In: a log that is sound, and the database of its tables as somebody may have left it. Out: a finding for each
table whose rows are not those that the log gives, up to where the tables follow it. Nothing is changed: they
are no evidence, and once they are deleted the next question makes them. Knows nothing about questions.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.audit.database import Database, Row, Rows
from citewell.audit.entries import EntryKind, only
from citewell.audit.following import batches, same_log
from citewell.audit.postings import VERSION, Place, Postings
from citewell.audit.sqlite import SqliteDatabase
from citewell.audit.tampering import Finding
from citewell.core.errors import LogError

if TYPE_CHECKING:
    from citewell.audit.log import Log

ANEW = "delete the search tables; the next query of the log rebuilds them"
_BLOCK = 5_000
"""Rows compared at a time."""
_LAST = 2**63
_FACTS = "LEFT JOIN profiles f ON f.id = t.profile"
_TABLES: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("postings", "t.key, t.time, t.seq, f.facts", _FACTS, ("t.key", "t.time", "t.seq")),
    ("records", "t.time, t.seq, f.facts", _FACTS, ("t.time", "t.seq")),
    ("named", "t.seq, t.documents", "", ("t.seq",)),
    # A few for each day: read in one go. Profiles have numbers of their own in each database.
    ("tallies", "t.day, t.n, f.facts", _FACTS, ()),
)
"""Name, columns, join, and the columns that it is ordered by."""


def differing(log: Log, tables: Database) -> tuple[list[Finding], str]:
    """Findings; and why nothing was looked at, "" where it was. Raises LogError."""
    with tables.reading() as stored, tempfile.TemporaryDirectory(prefix="citewell-tables-") as folder:
        if "place" not in tables.tables(stored):
            return [], "there are no tables yet"
        version, seq, leaf = stored.execute("SELECT version, seq, leaf FROM place").fetchone() or (0, 0, "")
        of_it = version == VERSION and type(seq) is int
        if not of_it or (seq and not same_log(log, Place(seq=seq, leaf=leaf), log.size())):
            return [], "they do not belong to the log as it is; the next query of the log rebuilds them"
        anew = Postings(SqliteDatabase(Path(folder) / "tables.sqlite"))
        with closing(anew.database):
            try:
                anew.rebuild(batches(log, 0, until=seq))
            except LogError as error:  # a full disk here is no deed there
                return [], f"they could not be recomputed: {error}"
            with anew.database.reading() as derived:
                return list(_findings(log, derived, stored)), ""


def _findings(log: Log, derived: Rows, stored: Rows) -> Iterator[Finding]:
    for name, columns, join, order in _TABLES:
        statement = f"SELECT {columns} FROM {name} t {join}"
        # A flag stays where it was raised by somebody whose words have gone since.
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
    """The rows of the same stretch of both, a stretch at a time."""
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
    with log.database.reading() as rows:
        found = rows.execute(
            f"SELECT 1 FROM entries WHERE {only(EntryKind.FEEDBACK)} AND body IS NULL LIMIT 1"
        ).fetchone()
    return found is not None
