"""Writes a generator's records in bulk, straight into a log and its query tables.

In: a :class:`Generator`, an empty log and its postings. Out: the tables that appending these records and
reading the log would produce (a test compares them), in minutes for ten million: the key lists are sorted
here and inserted in order, so each tree is written once. Only keys and pseudonyms differ between runs.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import numpy as np

from benchmarks.audit_generator import (
    CHUNKS,
    FLAG,
    FLAGGED_EACH,
    Generator,
    Numbers,
    Stretch,
    chunk_name,
    document_name,
    request_name,
    session_name,
    subject_of,
    user_name,
    version_name,
)
from citewell.audit.database import Rows
from citewell.audit.log import Log
from citewell.audit.merkle import Frontier, leaf_hash
from citewell.audit.postings import IndexPosition, Postings, _move
from citewell.audit.profiles import DAY, Axis, axis_key
from citewell.audit.signing import checkpoint
from citewell.core.identity import TAG, keyed_hash

PER_SESSION = 5
_SLICE = 1_000_000
"""Rows per batch."""


def write_entries(log: Log, generator: Generator) -> None:
    """Entries, requests, tree and signed checkpoint; one transaction per stretch."""
    frontier, pepper = Frontier(), _pepper(log)
    _name_people(log, generator.users.count)
    kinds = ["error" if one.profile.decision == "ERROR" else "answer" for one in generator.outcomes]
    for stretch in generator.stretches():
        entries, requests, tree = [], [], []
        for seq, outcome, user, stamp, values in _told(stretch, generator):
            blind = keyed_hash(pepper, session_name(seq // PER_SESSION))
            body = generator.outcomes[outcome].template % (*values, seq, blind)
            body_hash, kind, subject = (
                TAG + sha256(body.encode()).hexdigest(),
                kinds[outcome],
                subject_of(user),
            )
            data = (
                f'{{"body":"{body_hash}","format":1,"kind":"{kind}","seq":{seq},"subject":"{subject}",'
                f'"timestamp":"{stamp}"}}'
            )
            tree += frontier.append(leaf_hash(data.encode()))
            entries.append((seq, kind, stamp, subject, body, body_hash))
            requests.append((request_name(seq), seq))
        _insert(log, entries, requests, tree, frontier)


def _told(stretch: Stretch, generator: Generator) -> Iterator[tuple[int, int, int, str, list[int]]]:
    """For each record its seq, outcome, user, timestamp, and what its claims cite, in the body's order."""
    times = np.datetime_as_string(generator.times(stretch.seqs).astype("datetime64[us]"))
    cited = np.stack([stretch.documents, stretch.places, stretch.documents, stretch.versions], axis=2)
    yield from zip(
        stretch.seqs.tolist(),
        stretch.outcomes.tolist(),
        stretch.users.tolist(),
        np.char.add(times, "Z").tolist(),
        cited.reshape(len(cited), -1).tolist(),
        strict=True,
    )


def _insert(log: Log, entries: list[Any], requests: list[Any], tree: list[Any], frontier: Frontier) -> None:
    with log.database.writing() as rows:
        rows.executemany(
            "INSERT INTO entries(seq, kind, timestamp, subject, body, body_hash) VALUES(?, ?, ?, ?, ?, ?)",
            entries,
        )
        rows.executemany("INSERT INTO requests(request_id, seq) VALUES(?, ?)", requests)
        rows.executemany("INSERT INTO tree(level, place, hash) VALUES(?, ?, ?)", tree)
        rows.execute(
            "INSERT INTO head(one, size, checkpoint) VALUES(1, ?, ?)"
            " ON CONFLICT(one) DO UPDATE SET size = excluded.size, checkpoint = excluded.checkpoint",
            (frontier.size, checkpoint(frontier.size, frontier.root(), log.keys.signer())),
        )


def write_tables(log: Log, postings: Postings, generator: Generator) -> None:
    """The query tables, from the same numbers, positioned at the log's end."""
    keys, seqs, outcomes = _keyed(generator, _pepper(log))
    with postings._writing() as rows:
        postings._create(rows)
        numbers = np.array([postings._number(rows, one.profile) for one in generator.outcomes])
        profiles = numbers[outcomes]
        for first in range(0, len(keys), _SLICE):
            part = seqs[first : first + _SLICE].astype(np.int64)
            key = keys[first : first + _SLICE]
            _rows(rows, "postings", key=key, time=generator.times(part), seq=part, profile=profiles[part])
        for first in range(0, generator.size, _SLICE):
            part = np.arange(first, min(first + _SLICE, generator.size)) + 1
            _rows(rows, "records", time=generator.times(part), seq=part, profile=profiles[part])
        # Day and profile packed into one number, because pairs are slow to sort.
        days = generator.times(np.arange(generator.size) + 1) // DAY
        pairs, counts = np.unique(days << 32 | profiles[1:], return_counts=True)
        _rows(rows, "tallies", day=pairs >> 32, profile=pairs & 0xFFFFFFFF, n=counts)
        _move(rows, IndexPosition(seq=generator.size, leaf=log.at(generator.size).hash))
        for table in ("postings", "records", "tallies"):
            rows.execute(f"ANALYZE {table}")


def _keyed(generator: Generator, pepper: bytes) -> tuple[Numbers, Any, Any]:
    """Every key of every record, sorted, with its seq; and each seq's outcome (0 has none)."""
    documents = range(generator.documents.count)
    of_user = _keys(Axis.USER, ((subject_of(user),) for user in range(generator.users.count)))
    of_document = _keys(Axis.DOCUMENT, ((document_name(one),) for one in documents))
    of_version = _keys(
        Axis.VERSION, ((document_name(one), version_name(v)) for one in documents for v in range(2))
    )
    of_chunk = _keys(Axis.CHUNK, ((chunk_name(one, n),) for one in documents for n in range(CHUNKS)))
    flag = _keys(Axis.FLAG, [(FLAG,)])
    outcomes = np.zeros(generator.size + 1, np.int16)
    found, whose = [], []
    for stretch in generator.stretches():
        seqs = stretch.seqs
        outcomes[seqs] = stretch.outcomes
        sessions = np.arange(seqs[0] // PER_SESSION, seqs[-1] // PER_SESSION + 1)
        blinded = ((keyed_hash(pepper, session_name(one)),) for one in sessions.tolist())
        of_session = _keys(Axis.SESSION, blinded)
        each = np.column_stack(
            [
                of_user[stretch.users],
                of_session[seqs // PER_SESSION - sessions[0]],
                of_document[stretch.documents[:, :3]],
                of_version[stretch.documents * 2 + stretch.versions],
                of_chunk[stretch.documents * CHUNKS + stretch.places],
            ]
        )
        each.sort(axis=1)
        fresh = np.ones(each.shape, bool)
        fresh[:, 1:] = each[:, 1:] != each[:, :-1]
        flagged = seqs[::FLAGGED_EACH].astype(np.int32)
        found += [each[fresh], np.repeat(flag, len(flagged))]
        whose += [np.repeat(seqs.astype(np.int32), fresh.sum(axis=1)), flagged]
    keys, seqs = np.concatenate(found), np.concatenate(whose)
    found.clear()
    whose.clear()
    order = np.argsort(keys, kind="stable")
    return keys[order], seqs[order], outcomes


def _keys(axis: Axis, values: Any) -> Numbers:
    """Bypasses the cache: each key is needed once."""
    return np.array([axis_key.__wrapped__(axis, *each) for each in values], np.int64)


def _rows(rows: Rows, table: str, **columns: Numbers) -> None:
    """Prepared statements on SQLite, binary COPY on PostgreSQL."""
    if isinstance(rows, sqlite3.Connection):
        marks = ", ".join("?" * len(columns))
        values = zip(*(column.tolist() for column in columns.values()), strict=True)
        rows.executemany(f"INSERT INTO {table}({', '.join(columns)}) VALUES({marks})", values)
        return
    connection = rows._connection  # type: ignore[attr-defined]
    types = [">i4" if name in ("profile", "day") else ">i8" for name in columns]
    layout: list[tuple[str, str]] = [("fields", ">i2")]
    for name, kind in zip(columns, types, strict=True):
        layout += [(f"{name} bytes", ">i4"), (name, kind)]
    packed = np.empty(len(next(iter(columns.values()))), layout)
    packed["fields"] = len(columns)
    for (name, column), kind in zip(columns.items(), types, strict=True):
        packed[f"{name} bytes"], packed[name] = int(kind[-1]), column
    statement = f"COPY {table}({', '.join(columns)}) FROM STDIN (FORMAT BINARY)"
    with connection.cursor() as cursor, cursor.copy(statement.encode()) as copy:
        copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8))
        copy.write(packed.tobytes())
        copy.write(b"\xff\xff")


def _pepper(log: Log) -> bytes:
    """The pepper that blinds sessions: read once, not once per record."""
    log.keys.blind("made on first use")
    with log.keys.people().writing() as connection:
        return bytes(connection.execute("SELECT value FROM pepper").fetchall()[0][0])


def _name_people(log: Log, count: int) -> None:
    """Registers the names, so that a query by name finds the pseudonym as usual."""
    log.keys.subject("somebody")
    with log.keys.people().writing() as connection:
        connection.executemany(
            "INSERT OR IGNORE INTO subjects(id, name, key) VALUES(?, ?, ?)",
            [(subject_of(user), user_name(user), bytes(32)) for user in range(count)],
        )
