"""The store's statements mean the same on SQLite and on PostgreSQL."""

from __future__ import annotations

from pathlib import Path

from tests.audit_uses.conftest import database  # noqa: F401 - a fixture
from tests.feedback.conftest import Desk

from citewell.audit import AuditQuery, Queries
from citewell.audit.database import Database
from citewell.audit.postings import Postings
from citewell.core.records import Case
from citewell.knowledge.feedback import FeedbackStore, Review
from citewell.knowledge.feedback.store import ACCEPTED


def test_signals_and_flags(database: Database, tmp_path: Path) -> None:  # noqa: F811
    desk = Desk(tmp_path, database)
    desk.queries = Queries(desk.log, Postings(database))
    record = desk.answered(1)
    down = desk.intake.feedback(
        record.request_id, "thumbs_down", user="bob", claim=1, meta={"because": "no 'quotes' ✓"}
    )
    copied = desk.intake.feedback(record.request_id, "copied")
    assert FeedbackStore(database).of(record.request_id) == (down, copied)
    assert desk.store.of_each([record.request_id, "req_none"]) == {record.request_id: (down, copied)}
    for flag in ("thumbs_down", "failing:verification", "copied"):
        (found,) = desk.queries.page(AuditQuery(flag=flag)).records
        assert found.request_id == record.request_id
    assert desk.store.forget("bob", ()) == 1
    words, _ = desk.store.of(record.request_id)
    assert (words.user, words.meta, words.session_id) == ("", {}, "")
    desk.store.drop([down.feedback_id])
    assert desk.store.of(record.request_id) == (copied,)


def test_reviews(database: Database) -> None:  # noqa: F811
    store = FeedbackStore(database)
    case = Case(id="req_1", question="What was revenue?", reviewed="carol")
    review = Review(
        review_id="fb_1", request_id="req_1", timestamp="t", reviewer="carol", outcome=ACCEPTED, case=case
    )
    store.decide(review)
    store.decide(review)
    assert store.reviews() == {"req_1": review}
    assert store.forget_cases(["req_1", "req_2"]) == 1
    assert store.reviews()["req_1"].case is None
    store.forget("carol", ())
    assert store.reviews()["req_1"].reviewer == ""
    store.drop(["fb_1"])
    assert store.reviews() == {}
