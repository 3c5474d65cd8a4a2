"""Who may see the queue, and what of it: an answer from a document they may not see is absent."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from benchmarks.sample_records import TEXT
from tests.feedback.conftest import Room

from citewell.core.access import Caller, Role
from citewell.core.errors import AccessError, UsageError
from citewell.core.records import CaseSpan
from citewell.documents.text import caller_document


@pytest.fixture
def shared(room: Room) -> Room:
    """One answer from an open document, one from a document of the board."""
    for name, acl in (("open.txt", ()), ("board.txt", ("board",))):
        document = msgspec.structs.replace(caller_document(name, TEXT + name), acl=acl, caller_supplied=False)
        room.parts.evidence.put(document)
        number = 1 if name == "open.txt" else 2
        room.answered(number, document=name, version=document.version, failure="citation_broken")
    return room


OPEN, BOARD = f"req_{1:024d}", f"req_{2:024d}"
CURATOR = Caller(user="carol", roles=(Role.CURATOR,))


@pytest.mark.parametrize("role", [Role.CURATOR, Role.AUDITOR])
def test_what_a_reviewer_may_not_see_is_not_there(shared: Room, role: Role) -> None:
    review = shared.kb.as_(Caller(user="carol", roles=(role,))).review
    page = review.queue()
    assert ([item.request_id for item in page.items], page.total) == ([OPEN], 1)
    assert [group.n for group in review.groups()] == [1]
    with pytest.raises(UsageError) as hidden:
        review.show(BOARD)
    with pytest.raises(UsageError) as absent:
        review.show("req_none")
    assert str(hidden.value).replace(BOARD, "X") == str(absent.value).replace("req_none", "X")
    with pytest.raises(UsageError, match="no record"):
        review.dismiss(BOARD, reason="hidden")
    of_the_board = shared.kb.as_(Caller(user="dora", groups=("board",), roles=(role,))).review
    assert of_the_board.queue().total == 2


def test_askers_review_nothing(shared: Room) -> None:
    review = shared.kb.as_(Caller(user="alice")).review
    for act in (
        review.queue,
        review.groups,
        review.cases,
        lambda: review.show(OPEN),
        lambda: review.accept(OPEN, expected="x"),
        lambda: review.dismiss(OPEN, reason="x"),
    ):
        with pytest.raises(AccessError):
            act()


def test_a_reviewer_decides_under_their_own_name(shared: Room, tmp_path: Path) -> None:
    review = shared.kb.as_(CURATOR).review
    assert review.accept(OPEN, reviewer="somebody else").reviewed == "carol"
    with pytest.raises(AccessError):
        review.write(tmp_path / "cases.jsonl")


def test_a_hidden_document_cannot_be_probed_for_its_words(shared: Room) -> None:
    review = shared.kb.as_(CURATOR).review
    for words in (TEXT, "not in it"):
        with pytest.raises(UsageError, match=r"no document 'board\.txt'"):
            review.accept(OPEN, spans=[CaseSpan(document="board.txt", quote=words)])


def test_cases_of_hidden_answers_are_not_listed(shared: Room) -> None:
    shared.kb.review.accept(BOARD, reviewer="owner", expected="x")
    assert shared.kb.as_(CURATOR).review.cases() == ()
    assert len(shared.kb.review.cases()) == 1


def test_feedback_on_somebody_else_s_answer(shared: Room) -> None:
    with pytest.raises(UsageError, match="no record"):
        shared.kb.as_(Caller(user="mallory")).feedback(OPEN, "thumbs_down")
    assert shared.kb.as_(Caller(user="alice")).feedback(OPEN, "thumbs_down").user == "alice"
