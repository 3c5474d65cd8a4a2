"""Stores feedback signals and reviewers' decisions.

In: values. Out: the same, by request, in order of arrival. One set of statements serves SQLite and
PostgreSQL, so the store works over any database the log supports. The log holds the same data, sealed; flags,
groups and the queue are built from this store. Knows nothing about what a signal means.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import msgspec

from citewell.audit.database import Database, Row, Step, migrate
from citewell.core.identity import plain
from citewell.core.records import Case, Record
from citewell.knowledge.feedback.signals import Feedback

ACCEPTED, DISMISSED = "accepted", "dismissed"
SOMEBODY = "[erased]"
"""Replaces the name of an erased reviewer."""

_FIRST: Step = (
    "CREATE TABLE feedback(number {id} PRIMARY KEY, feedback_id TEXT NOT NULL UNIQUE,"
    " request_id TEXT NOT NULL, session_id TEXT NOT NULL, person TEXT NOT NULL, timestamp TEXT NOT NULL,"
    " signal TEXT NOT NULL, claim INTEGER, meta TEXT NOT NULL, found_by TEXT NOT NULL, stage TEXT NOT NULL,"
    " documents TEXT NOT NULL)",
    "CREATE INDEX feedback_by_request ON feedback(request_id, number)",
    "CREATE INDEX feedback_by_time ON feedback(timestamp, signal)",
    "CREATE INDEX feedback_by_person ON feedback(person)",
    "CREATE TABLE reviews(request_id TEXT PRIMARY KEY, review_id TEXT NOT NULL, timestamp TEXT NOT NULL,"
    " reviewer TEXT NOT NULL, outcome TEXT NOT NULL, reason TEXT NOT NULL, body TEXT NOT NULL)",
)
STEPS: tuple[Step, ...] = (_FIRST,)
"""Append only; never change an existing step."""

_COLUMNS = (
    "feedback_id, request_id, session_id, person, timestamp, signal, claim, meta, found_by, stage, documents"
)
"""The fields of a Feedback, in order."""
_REVIEW = "review_id, request_id, timestamp, reviewer, outcome, reason, body"
"""The fields of a Review, in order."""


class Review(Record, frozen=True, kw_only=True):
    """A person's decision about one answer. ``case`` is None unless it was accepted, and once the asker is
    erased."""

    review_id: str
    request_id: str
    timestamp: str
    reviewer: str
    outcome: str
    reason: str = ""
    case: Case | None = None


class FeedbackStore:
    """Safe to share between threads and processes, like its database. Raises LogError."""

    def __init__(self, database: Database) -> None:
        self.database = database
        migrate(database, STEPS)

    # --- signals ----------------------------------------------------------------------------------

    def put(self, feedback: Feedback) -> None:
        """Adds a signal, numbered in order of arrival, whatever the clock says."""
        values = [_json(v) if isinstance(v, dict | list | tuple) else v for v in plain(feedback).values()]
        with self.database.writing() as rows:
            last = rows.execute("SELECT max(number) FROM feedback").fetchone()
            rows.execute(
                f"INSERT INTO feedback(number, {_COLUMNS}) VALUES({', '.join('?' * 12)})",
                (1 + ((last and last[0]) or 0), *values),
            )

    def of(self, request_id: str) -> tuple[Feedback, ...]:
        """All signals on one answer, oldest first."""
        return self.of_each([request_id]).get(request_id, ())

    def of_each(self, requests: Sequence[str]) -> dict[str, tuple[Feedback, ...]]:
        """The same for many answers; those without signals are left out."""
        found: dict[str, list[Feedback]] = {}
        with self.database.reading() as rows:
            for start in range(0, len(requests), 500):
                some = requests[start : start + 500]
                among = ", ".join("?" * len(some))
                for row in rows.execute(
                    f"SELECT {_COLUMNS} FROM feedback WHERE request_id IN ({among}) ORDER BY number", some
                ).fetchall():
                    found.setdefault(row[1], []).append(_feedback(row))
        return {request: tuple(said) for request, said in found.items()}

    def requests(self) -> set[str]:
        """Requests with at least one signal."""
        with self.database.reading() as rows:
            found = rows.execute("SELECT DISTINCT request_id FROM feedback").fetchall()
        return {request for (request,) in found}

    # --- reviews ----------------------------------------------------------------------------------

    def decide(self, review: Review) -> None:
        """Stores a decision, replacing any earlier one about the same answer."""
        *values, case = plain(review).values()
        with self.database.writing() as rows:
            rows.execute("DELETE FROM reviews WHERE request_id = ?", (review.request_id,))
            rows.execute(
                f"INSERT INTO reviews({_REVIEW}) VALUES(?, ?, ?, ?, ?, ?, ?)",
                (*values, _json(case) if case else ""),
            )

    def reviews(self) -> dict[str, Review]:
        """The current decisions by request, oldest first."""
        with self.database.reading() as rows:
            found = rows.execute(f"SELECT {_REVIEW} FROM reviews ORDER BY timestamp, request_id").fetchall()
        return {row[1]: _review(row) for row in found}

    # --- erasing and expiring ---------------------------------------------------------------------

    def forget(self, user: str, requests: Collection[str], *, session: str = "") -> int:
        """Overwrites text and names in feedback by ``user``, by unnamed users in ``session``, and by anybody
        on ``requests``, and returns how many; signals, stages and times stay, so counts are unchanged."""
        own = "(person <> '' AND person = ?) OR (person = '' AND session_id <> '' AND session_id = ?)"
        blank = "UPDATE feedback SET person = '', session_id = '', meta = '{}'"
        numbers: set[int] = set()
        with self.database.writing() as rows:
            theirs = ((own, (user, session)), *(("request_id = ?", (request,)) for request in requests))
            for where, values in theirs:
                found = rows.execute(f"{blank} WHERE {where} RETURNING number", values).fetchall()
                numbers.update(number for (number,) in found)
            for request, body in rows.execute(
                "SELECT request_id, body FROM reviews WHERE reviewer <> '' AND reviewer = ?", (user,)
            ).fetchall():
                rows.execute(
                    "UPDATE reviews SET reviewer = '', reason = '', body = ? WHERE request_id = ?",
                    (_without_reviewer(body), request),
                )
        self.database.overwrite()
        return len(numbers)

    def forget_cases(self, requests: Collection[str]) -> int:
        """Overwrites reviewers' text about these answers, including cases, and returns the number of cases.
        The decisions themselves stay."""
        cases = 0
        with self.database.writing() as rows:
            for request in requests:
                body = rows.execute("SELECT body FROM reviews WHERE request_id = ?", (request,)).fetchone()
                cases += bool(body and body[0])
                rows.execute("UPDATE reviews SET reason = '', body = '' WHERE request_id = ?", (request,))
        self.database.overwrite()
        return cases

    def drop(self, ids: Collection[str]) -> None:
        """Deletes signals and reviews by id once they have expired in the log."""
        with self.database.writing() as rows:
            keyed = [(one,) for one in sorted(ids)]
            rows.executemany("DELETE FROM feedback WHERE feedback_id = ?", keyed)
            rows.executemany("DELETE FROM reviews WHERE review_id = ?", keyed)
        self.database.overwrite()

    def close(self) -> None:
        self.database.close()


def _without_reviewer(body: str) -> str:
    """The case, still marked as reviewed but without the reviewer's name."""
    if not body:
        return body
    return _json(msgspec.structs.replace(msgspec.json.decode(body, type=Case), reviewed=SOMEBODY))


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _feedback(row: Row) -> Feedback:
    given = dict(zip(Feedback.__struct_fields__, row, strict=True))
    given |= {name: msgspec.json.decode(given[name]) for name in ("meta", "documents")}
    return msgspec.convert(given, Feedback)


def _review(row: Row) -> Review:
    given = dict(zip(Review.__struct_fields__, row, strict=True))
    given["case"] = msgspec.json.decode(given["case"]) if given["case"] else None
    return msgspec.convert(given, Review)
