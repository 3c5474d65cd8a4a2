"""A signal is sealed, stored once, and raised as a flag to search by; what it names must exist."""

from __future__ import annotations

import threading
from typing import Any

import msgspec
import pytest
from tests.feedback.conftest import Desk

from citewell.audit import AuditQuery, EntryKind
from citewell.audit.sqlite import SqliteDatabase
from citewell.core.errors import CitewellError, UsageError
from citewell.core.records import RetrievalResult, Status
from citewell.knowledge.feedback import Feedback, FeedbackStore, Signal
from citewell.knowledge.feedback.signals import documents_of, failing_stage, flags_of


def test_a_signal_is_sealed_kept_and_raised_as_a_flag(desk: Desk) -> None:
    record = desk.answered(1, statuses=(Status.VERIFIED, Status.UNSUPPORTED))
    said = desk.intake.feedback(
        record.request_id, "thumbs_down", user="bob", claim=2, meta={"because": "the year is wrong"}
    )
    assert (said.signal, said.claim, said.stage) == (Signal.THUMBS_DOWN, 2, "generation")
    assert (said.session_id, said.documents) == ("ses_1", ("filings/a.pdf",))
    assert desk.store.of(record.request_id) == (said,)
    assert desk.flags(record) == ("thumbs_down", "failing:generation")
    entry = desk.log.latest(EntryKind.FEEDBACK)
    assert entry is not None
    assert "the year is wrong" not in str(entry.body)
    assert "bob" not in str(entry.body)
    assert desk.log.body(entry)["meta"] == [["because", "the year is wrong"]]
    assert desk.log.check().ok


@pytest.mark.parametrize("flag", ["thumbs_down", "failing:verification"])
def test_flagged_records_are_found(desk: Desk, flag: str) -> None:
    desk.answered(1)
    flagged = desk.answered(2)
    desk.intake.feedback(flagged.request_id, "thumbs_down", claim=1)
    found = desk.queries.page(AuditQuery(flag=flag)).records
    assert [record.request_id for record in found] == [flagged.request_id]
    assert desk.queries.page(AuditQuery(flag="copied")).records == ()


def test_the_same_said_twice_is_kept_once(desk: Desk) -> None:
    record = desk.answered(1)
    first = desk.intake.feedback(record.request_id, "thumbs_down", user="bob")
    size = desk.log.size()
    assert desk.intake.feedback(record.request_id, "thumbs_down", user="bob") == first
    assert desk.log.size() == size
    assert desk.intake.feedback(record.request_id, "thumbs_down", user="eve") != first


def test_a_thumb_takes_the_one_before_it_back(desk: Desk) -> None:
    record = desk.answered(1)
    for signal in ("thumbs_down", "thumbs_up"):
        desk.intake.feedback(record.request_id, signal, user="bob", claim=1)
    assert desk.flags(record) == ("thumbs_up",)
    desk.intake.feedback(record.request_id, "thumbs_down", user="bob", claim=1)
    assert desk.flags(record) == ("thumbs_down", "failing:verification")
    desk.intake.feedback(record.request_id, "thumbs_up", user="eve", claim=1)
    assert desk.flags(record) == ("thumbs_down", "thumbs_up", "failing:verification")


@pytest.mark.parametrize(
    ("asked", "match"),
    [
        ({"signal": "thumb_down"}, "thumb_down"),
        ({"claim": 2}, "no claim 2"),
        ({"claim": 0}, "no claim 0"),
        ({"request_id": "req_none"}, "no record"),
        ({"meta": {f"k{n}": "" for n in range(9)}}, "9 members"),
        ({"meta": {"because": "x" * 2001}}, "2001 characters"),
        ({"meta": {"Not A Name": "x"}}, "Not A Name"),
        ({"meta": {"because": "\x00"}}, "NUL"),
    ],
)
def test_what_cannot_be_said(desk: Desk, asked: dict[str, Any], match: str) -> None:
    record = desk.answered(1)
    given = {"request_id": record.request_id, "signal": "thumbs_down"} | asked
    size = desk.log.size()
    with pytest.raises(UsageError, match=match):
        desk.intake.feedback(given.pop("request_id"), given.pop("signal"), **given)
    assert desk.log.size() == size
    assert desk.store.of(record.request_id) == ()


def test_the_nearest_signal_is_named(desk: Desk) -> None:
    with pytest.raises(UsageError) as error:
        desk.intake.feedback(desk.answered(1).request_id, "thumb_down")
    assert "thumbs_down" in str(error.value)


def test_one_answer_cannot_be_flooded(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("citewell.knowledge.feedback.intake.MAX_SAID", 3)
    record = desk.answered(1)
    for number in range(3):
        desk.intake.feedback(record.request_id, "copied", user=f"u{number}")
    with pytest.raises(UsageError, match="3 feedback signals"):
        desk.intake.feedback(record.request_id, "copied", user="u4")


def _record(desk: Desk, **more: Any) -> Any:
    changes = more.pop("changes", {})
    return msgspec.structs.replace(desk.answered(1, **more), **changes)


RESULT = RetrievalResult(
    chunk_id="c",
    document_id="found.pdf",
    document_version="v",
    similarity_score=0.1,
    reranker_score=0.2,
    was_used_in_generation=False,
)


@pytest.mark.parametrize(
    ("made", "claim", "stage"),
    [
        ({}, None, ""),
        ({}, 1, "verification"),
        ({"statuses": (Status.UNCHECKED,)}, None, "verification"),
        ({"statuses": (Status.UNSUPPORTED,)}, None, "generation"),
        ({"statuses": (Status.VERIFIED, Status.BROKEN)}, 2, "generation"),
        ({"failure": "citation_broken"}, None, "generation"),
        ({"failure": "generator_failed"}, None, "generation"),
        ({"statuses": (), "failure": "relevance_gate_failed"}, None, "retrieval"),
        (
            {
                "statuses": (),
                "failure": "relevance_gate_failed",
                "changes": {"retrieval_results": (RESULT,)},
            },
            None,
            "gate",
        ),
        ({"changes": {"missing": ("the year 2021",)}}, None, "retrieval"),
    ],
)
def test_the_failing_stage_as_far_as_the_record_tells(
    desk: Desk, made: dict[str, Any], claim: int | None, stage: str
) -> None:
    assert failing_stage(_record(desk, **made), claim) == stage


def test_what_an_answer_leans_on(desk: Desk) -> None:
    assert documents_of(_record(desk)) == ("filings/a.pdf",)
    nothing = msgspec.structs.replace(desk.answered(3, statuses=()), retrieval_results=(RESULT,))
    assert documents_of(nothing) == ("found.pdf",)


def test_no_flags_of_nothing() -> None:
    assert flags_of(()) == ()


def test_threads_and_processes_share_a_store(desk: Desk) -> None:
    other = FeedbackStore(SqliteDatabase(desk.folder / "feedback.sqlite"))

    def said(number: int) -> Feedback:
        return Feedback(
            feedback_id=f"fb_{number}",
            request_id="req",
            session_id="s",
            user="",
            timestamp="t",
            signal=Signal.COPIED,
        )

    stores = [desk.store, other]
    threads = [threading.Thread(target=stores[n % 2].put, args=(said(n),)) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(other.of("req")) == 20
    other.close()


def test_a_store_of_a_newer_citewell_is_refused(desk: Desk) -> None:
    with desk.store.database.writing() as rows:
        rows.execute("INSERT INTO schema_steps(step) VALUES(99)")
    with pytest.raises(CitewellError, match="99"):
        FeedbackStore(SqliteDatabase(desk.folder / "feedback.sqlite"))
