"""From a flagged answer to a reviewed case: what enters the queue, what people decide, what is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.sample_records import TEXT
from tests.feedback.conftest import Room

from citewell.audit import AuditQuery, EntryKind
from citewell.core.errors import UsageError
from citewell.core.records import Case, CaseSpan, Status
from citewell.evaluation.cases import load_cases

QUOTE = TEXT[:23]


def ids(page: Any) -> list[int]:
    return [int(item.request_id.removeprefix("req_")) for item in page.items]


def test_what_failed_or_was_flagged_enters_the_queue_newest_first(room: Room) -> None:
    room.answered(1)
    room.answered(2, failure="relevance_gate_failed", statuses=())
    room.answered(3, failure="citation_broken", statuses=(Status.BROKEN,))
    flagged = room.answered(4)
    praised = room.answered(5)
    room.kb.feedback(flagged.request_id, "thumbs_down", claim=1)
    room.kb.feedback(praised.request_id, "thumbs_up")
    page = room.kb.review.queue()
    assert ids(page) == [4, 3, 2]
    assert [item.causes for item in page.items] == [
        ("thumbs_down",),
        ("citation_broken",),
        ("relevance_gate_failed",),
    ]
    assert [item.stage for item in page.items] == ["verification", "generation", "retrieval"]
    assert page.total == 3
    assert page.complete


def test_a_signal_taken_back_leaves_the_queue(room: Room) -> None:
    record = room.answered(1)
    for signal in ("thumbs_down", "thumbs_up"):
        room.kb.feedback(record.request_id, signal, user="bob")
    assert ids(room.kb.review.queue()) == []


def test_a_question_asked_again_waits_only_under_its_own_cause(room: Room) -> None:
    first, again = room.turn(1, "Who founded Nike?"), room.turn(2, "Who founded Nike?")
    assert room.flags(first) == ("rephrased_query",)
    review = room.kb.review
    assert ids(review.queue()) == []
    assert review.groups(by="document") == ()
    assert [(group.name, group.n) for group in review.groups()] == [("rephrased_query", 1)]
    assert ids(review.queue(cause="rephrased_query")) == [1]
    review.dismiss(first.request_id, reviewer="carol", reason="it was right")
    assert ids(review.queue(state="dismissed")) == [1]
    room.kb.feedback(again.request_id, "thumbs_down")
    assert ids(review.queue()) == [2]


def test_the_queue_narrows_and_pages(room: Room) -> None:
    for number in range(1, 6):
        room.answered(number, failure="citation_broken", question=f"revenue of part {number}?")
    room.answered(6, failure="citation_broken", document="b.pdf", question="Who wrote it?")
    review = room.kb.review
    first = review.queue(limit=4)
    assert ids(first) == [6, 5, 4, 3]
    room.answered(7, failure="citation_broken")
    assert ids(review.queue(limit=4, cursor=first.next)) == [2, 1]
    assert ids(review.queue(document="b.pdf")) == [6]
    assert ids(review.queue(cause="thumbs_down")) == []
    assert ids(review.queue(since="2026-11-08T00:00:00Z")) == [7]


def test_an_evaluation_s_failures_stay_in_its_report(room: Room) -> None:
    room.answered(1, user="evaluation", failure="citation_broken")
    assert ids(room.kb.review.queue()) == []


def test_looking_is_on_record(room: Room) -> None:
    room.answered(1, failure="citation_broken")
    room.kb.review.queue(reader="carol")
    entry = room.log.latest(EntryKind.READ)
    assert entry is not None
    assert room.log.body(entry) == {"review": "queue", "state": "open", "reader": "carol", "records": 1}


def test_the_cited_spans_are_the_case_where_the_answer_was_right(room: Room) -> None:
    version = room.document()
    record = room.answered(1, version=version, failure="citation_broken", statuses=(Status.VERIFIED,) * 2)
    case = room.kb.review.accept(record.request_id, reviewer="carol", expected="12 million")
    assert case == Case(
        id=record.request_id,
        question="question 1?",
        expected="12 million",
        spans=(CaseSpan(document="filings/a.pdf", quote=QUOTE),),
        tags=("citation_broken",),
        reviewed="carol",
    )
    assert room.kb.review.cases() == (case,)
    assert ids(room.kb.review.queue()) == []
    (item,) = room.kb.review.queue(state="accepted").items
    assert (item.state, item.reviewer) == ("accepted", "carol")
    assert room.kb.review.show(record.request_id).case == case
    assert ids_flagged(room, "accepted") == [record.request_id]
    assert room.log.check(evidence=room.parts.evidence).ok


def ids_flagged(room: Room, flag: str) -> list[str]:
    return [record.request_id for record in room.queries.page(AuditQuery(flag=flag)).records]


def test_corrected_spans_are_the_documents_own_words(room: Room) -> None:
    record = room.answered(1, version=room.document(text="Revenue was\n12 million. Costs were 7 million."))
    span = CaseSpan(document="filings/a.pdf", quote="Revenue was 12   million.")
    case = room.kb.review.accept(record.request_id, reviewer="carol", spans=[span])
    assert case.spans == (CaseSpan(document="filings/a.pdf", quote="Revenue was\n12 million."),)


def test_a_newer_version_may_hold_the_right_words(room: Room) -> None:
    record = room.answered(1, version=room.document())
    room.document(text="Revenue was restated to 13 million.")
    span = CaseSpan(document="filings/a.pdf", quote="restated to 13 million")
    assert room.kb.review.accept(record.request_id, reviewer="carol", spans=[span]).spans == (span,)


@pytest.mark.parametrize(
    ("said", "match"),
    [
        (
            {"spans": [CaseSpan(document="filings/a.pdf", quote="Revenue was 13 million")]},
            "does not contain the words",
        ),
        ({"spans": [CaseSpan(document="filings/a.pdf", quote=" ")]}, "does not contain the words"),
        ({"spans": [CaseSpan(document="none.pdf", quote="x")]}, "none.pdf"),
        (
            {"spans": [CaseSpan(document="filings/a.pdf", quote="Costs")], "abstain": "no"},
            "either an answer or",
        ),
        ({"expected": "7 million", "abstain": "no"}, "either an answer or"),
        ({}, "no verified citation"),
        ({"reviewer": " "}, "no reviewer"),
    ],
)
def test_a_case_that_cannot_be_made(room: Room, said: dict[str, Any], match: str) -> None:
    record = room.answered(1, version=room.document(), statuses=(Status.UNSUPPORTED,))
    size = room.log.size()
    with pytest.raises(UsageError, match=match):
        room.kb.review.accept(record.request_id, **({"reviewer": "carol"} | said))
    assert room.log.size() == size
    assert room.kb.review.cases() == ()


def test_a_rightly_unanswered_question_is_a_case_too(room: Room) -> None:
    record = room.answered(1, statuses=(), failure="relevance_gate_failed")
    case = room.kb.review.accept(
        record.request_id, reviewer="carol", abstain="not in the documents", tags=["x"]
    )
    assert (case.abstain, case.spans, case.tags) == ("not in the documents", (), ("x",))


def test_a_dismissal_has_a_reason_and_can_be_taken_back(room: Room) -> None:
    record = room.answered(1, version=room.document(), failure="citation_broken")
    review = room.kb.review
    with pytest.raises(UsageError, match="reason"):
        review.dismiss(record.request_id, reviewer="carol", reason=" ")
    review.dismiss(record.request_id, reviewer="carol", reason="a test of ours")
    (item,) = review.queue(state="dismissed").items
    assert item.reason == "a test of ours"
    assert ids(review.queue()) == []
    review.accept(record.request_id, reviewer="dave")
    assert [case.reviewed for case in review.cases()] == ["dave"]


def test_cases_are_written_once_and_the_lines_of_others_stay(room: Room, tmp_path: Path) -> None:
    version = room.document()
    file = tmp_path / "cases.jsonl"
    own = '{"id":"own","question":"Mine?"}'
    file.write_text(own + "\n")
    records = [room.answered(number, version=version) for number in (1, 2)]
    review = room.kb.review
    review.accept(records[0].request_id, reviewer="carol")
    assert review.write(file).added == 1
    review.accept(records[1].request_id, reviewer="carol")
    written = review.write(file)
    assert (written.added, written.already, written.removed) == (1, 1, 0)
    assert review.write(file).added == 0
    assert file.read_text().splitlines()[0] == own
    assert [case.id for case in load_cases(file)] == ["own", *(record.request_id for record in records)]
    assert {case.reviewed for case in load_cases(file)} == {"", "carol"}
    review.dismiss(records[0].request_id, reviewer="carol", reason="twice the same")
    assert review.write(file).removed == 1
    assert [case.id for case in load_cases(file)] == ["own", records[1].request_id]


def test_a_case_that_was_decided_anew_is_rewritten_where_it_stands(room: Room, tmp_path: Path) -> None:
    """Also in a file that an editor began with a byte order mark; and only where it differs."""
    version, file, review = room.document(), tmp_path / "cases.jsonl", room.kb.review
    record = room.answered(1, version=version)
    review.accept(record.request_id, reviewer="carol", expected="2013")
    assert review.write(file).added == 1
    own = '{"id":"own","question":"Mine?"}'
    file.write_text(f"\ufeff{own}\n{file.read_text()}{own.replace('own', 'too')}\n", encoding="utf-8")
    review.accept(record.request_id, reviewer="carol", expected="2014")
    written = review.write(file)
    assert (written.added, written.already, written.changed, written.removed) == (0, 0, 1, 0)
    assert [(case.id, case.expected) for case in load_cases(file)] == [
        ("own", ""),
        (record.request_id, "2014"),
        ("too", ""),
    ]
    again = review.write(file)
    assert (again.added, again.already, again.changed) == (0, 1, 0)


def test_a_question_with_what_unicode_calls_the_end_of_a_line_is_one_case(room: Room, tmp_path: Path) -> None:
    record = room.answered(1, version=room.document(), question="What\u2028was\x85it?")
    room.kb.review.accept(record.request_id, reviewer="carol")
    for added in (1, 0):
        assert room.kb.review.write(tmp_path / "cases.jsonl").added == added


def test_a_file_of_something_else_is_left_alone(room: Room, tmp_path: Path) -> None:
    record = room.answered(1, version=room.document())
    room.kb.review.accept(record.request_id, reviewer="carol")
    file = tmp_path / "notes.txt"
    file.write_text("not a case\n")
    with pytest.raises(UsageError, match="line 1"):
        room.kb.review.write(file)
    assert file.read_text() == "not a case\n"


def test_nothing_to_write(room: Room, tmp_path: Path) -> None:
    written = room.kb.review.write(tmp_path / "cases.jsonl")
    assert (written.added, written.already, written.removed) == (0, 0, 0)
    assert not (tmp_path / "cases.jsonl").exists()


def test_decisions_are_sealed_and_name_the_reviewer_by_pseudonym(room: Room) -> None:
    record = room.answered(1, version=room.document())
    room.kb.review.dismiss(record.request_id, reviewer="carol", reason="the asker misread it")
    entry = room.log.latest(EntryKind.FEEDBACK)
    assert entry is not None
    assert "misread" not in str(entry.body)
    body = room.log.body(entry)
    assert (body["outcome"], body["reason"]) == ("dismissed", "the asker misread it")
    assert room.log.keys.name(body["reviewer"]) == "carol"
    assert json.dumps(body).count("carol") == 0


@pytest.mark.parametrize(
    ("asked", "match"),
    [({"state": "closed"}, "closed"), ({"cursor": "req_x"}, "cursor"), ({"limit": 0}, "0 items")],
)
def test_a_question_to_the_queue_that_makes_no_sense(room: Room, asked: dict[str, Any], match: str) -> None:
    with pytest.raises(UsageError, match=match):
        room.kb.review.queue(**asked)
    with pytest.raises(UsageError, match="weather"):
        room.kb.review.groups(by="weather")
