"""What is not in force is kept from gate and writer, and disclosed; with stub models."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
import pytest

from citewell.answering.force import Force, InForce, describe_conflicts, force_on
from citewell.core.identity import chunk_id
from citewell.core.records import (
    Chunk,
    Citation,
    Claim,
    Conflict,
    Document,
    Kind,
    Likeliest,
    Maker,
    Passage,
    Standing,
    Status,
    Supersession,
    Verdict,
)
from citewell.documents.text import caller_document
from citewell.questions.evidence import SentenceAnswer
from citewell.retrieval import Filters, Retrieved
from citewell.retrieval.gate import nearest_places

OLD = caller_document("lease.md", "The roof is green.\nThe rent is 900 euros.\nThe door is red.\n")
NEW = caller_document("change.md", "Clause 2 shall read: The rent is 950 euros.\n")
START = OLD.text.index("The rent")
END = START + len("The rent is 900 euros.")
REPLACED = Supersession(
    standing=Standing.REPLACED,
    what="lease.md",
    what_version=OLD.version,
    start=START,
    end=END,
    section=("2",),
    from_date="2026-03-01",
    by="change.md",
    by_version=NEW.version,
    source_start=0,
    source_end=len(NEW.text) - 1,
)
QUESTION = "What is the rent?"


def passage(document: Document, *, relevant: bool = True) -> Passage:
    text = document.text
    chunk = Chunk(
        chunk_id=chunk_id(document.version, 0, len(text), text),
        document_id=document.document_id,
        document_version=document.version,
        start_offset=0,
        end_offset=len(text),
        content=text,
    )
    return Passage(chunk=chunk, relevance=0.9 if relevant else 0.1, relevant=relevant)


def known(acl: tuple[str, ...] = (), *, counts: bool = True) -> InForce:
    stored = {document.document_id: document for document in (OLD, NEW)}

    def superseded(ids: Iterable[str]) -> Sequence[Supersession]:
        return [REPLACED] if "lease.md" in ids else []

    return InForce(
        superseded,
        lambda one: counts,
        lambda ids: dict.fromkeys(ids, acl),
        lambda version, name: stored[name],
    )


def force(
    question: str = QUESTION, as_of: str = "", acl: tuple[str, ...] = (), filters: Filters | None = None
) -> Force:
    return force_on(known(acl), question, as_of, filters or Filters(), "2026-06-01")


def reader(question: str, passages: Sequence[Passage]) -> list[SentenceAnswer]:
    """Finds the rent."""
    return [
        SentenceAnswer(passage=one, start=START, end=END, text=one.chunk.content[START:END], probability=0.9)
        for one in passages
        if "The rent" in one.chunk.content
    ]


def test_only_what_is_in_force_is_left_and_every_offset_stays() -> None:
    (left,) = force().only_in_force([passage(OLD)])
    assert left.chunk.content == "The roof is green.\n" + " " * (END - START) + "\nThe door is red.\n"
    (struck,) = force().superseded_text([passage(OLD)])
    assert struck.chunk.content.strip() == "The rent is 900 euros."
    assert struck.chunk.content.index("The rent") == START


def test_a_refusal_quotes_no_blanks_where_the_likeliest_answer_is_not_in_force() -> None:
    likeliest = Likeliest(start=START, end=END, answers=0.5)
    found = msgspec.structs.replace(passage(OLD), likeliest=likeliest)
    (place,) = nearest_places(QUESTION, force().only_in_force([found]))
    assert place.quote == OLD.text[place.start : place.end]
    assert place.quote.strip()
    (as_it_was,) = nearest_places(QUESTION, force(as_of="2026-02-28").only_in_force([found]))
    assert as_it_was.quote == "The rent is 900 euros."


def test_a_passage_of_which_nothing_is_left_is_gone() -> None:
    chunk = passage(OLD).chunk
    alone = msgspec.structs.replace(chunk, start_offset=START, end_offset=END, content=OLD.text[START:END])
    assert force().only_in_force([Passage(chunk=alone, relevant=True)]) == ()


@pytest.mark.parametrize(
    "read",
    [
        force(as_of="2026-02-28"),
        force("What was the rent in 2025?"),
        force(acl=("board",)),
        force(filters=Filters(document_id="lease.md")),
    ],
    ids=[
        "before its day",
        "asked of a past year",
        "said where the asker may not look",
        "asked of the document",
    ],
)
def test_it_is_read_where_it_was_in_force_or_is_asked_for(read: Force) -> None:
    assert read.only_in_force([passage(OLD)]) == (passage(OLD),)


def test_what_holds_instead_is_read_however_it_ranks() -> None:
    searched = []

    def search(document_id: str) -> Retrieved:
        searched.append(document_id)
        return Retrieved(passages=(), index_version="ix.1", pool=(passage(NEW, relevant=False),))

    for found in ([passage(OLD)], [passage(OLD), passage(NEW, relevant=False)]):
        read, notes = force().replacements(found, search)
        assert [(p.chunk.document_id, p.relevant) for p in read] == [("lease.md", True), ("change.md", True)]
        assert notes == ["change.md supersedes part of what was found"]
    assert set(searched) == {"change.md"}
    unread = (passage(OLD, relevant=False),)
    assert force().replacements(unread, search) == (unread, [])


def test_what_holds_instead_is_read_behind_any_number_of_known_passages() -> None:
    known = [
        msgspec.structs.replace(p, chunk=msgspec.structs.replace(p.chunk, chunk_id=f"known {n}"))
        for n, p in enumerate([passage(NEW)] * 5)
    ]
    pool = (*known, passage(NEW, relevant=False))

    def search(_: str) -> Retrieved:
        return Retrieved(passages=(), index_version="ix.1", pool=pool)

    read, _ = force().replacements([passage(OLD), *known], search)
    assert [p.chunk.chunk_id for p in read if p.relevant][-1] == passage(NEW).chunk.chunk_id


def test_a_passage_says_which_wording_it_changes() -> None:
    read = force().with_old_wording([passage(OLD), passage(NEW)])
    assert [[one.old for one in each.amends] for each in read] == [[], ["The rent is 900 euros."]]


def disclosed(conflicts: Sequence[Conflict] = ()) -> tuple[Conflict, ...]:
    return force().disclosed_conflicts(conflicts, [QUESTION], [passage(OLD)], [], reader)


def test_what_would_have_answered_is_told_with_what_superseded_it() -> None:
    (one,) = disclosed()
    assert [side.document_id for side in one.sides] == ["lease.md", "change.md"]
    assert one.supersession == REPLACED
    assert describe_conflicts([one]) == (
        "Not in force since 2026-03-01: “The rent is 900 euros.” (lease.md, no date); replaced by "
        "“Clause 2 shall read: The rent is 950 euros.” (change.md, 2026-03-01)."
    )


def cited(document: Document, start: int, end: int) -> Citation:
    return Citation(
        chunk_id="c",
        document_id=document.document_id,
        document_version=document.version,
        start=start,
        end=end,
        quote=document.text[start:end],
        answer_start=-1,
        answer_end=-1,
    )


def test_a_disagreement_with_what_is_superseded_is_none() -> None:
    sides = (cited(OLD, START, END), cited(NEW, 0, 43))
    rent = Conflict(about="rent", sides=sides, dates=("", ""))
    (one,) = disclosed([rent])
    assert one.supersession == REPLACED
    assert force().disclosed_conflicts([rent], [], [passage(OLD)], [], reader) == ()  # of another subject
    other = Conflict(about="roof", sides=(cited(OLD, 0, 18), cited(NEW, 0, 43)), dates=("", ""))
    assert disclosed([other])[-1] == other


def claim(citation: Citation) -> Claim:
    verdict = Verdict(status=Status.VERIFIED, reason="", maker=Maker(name="stub", hash="sha256:x"))
    return Claim(
        text=citation.quote,
        kind=Kind.CITED,
        answer_start=0,
        answer_end=1,
        verdict=verdict,
        citations=(citation,),
    )


def test_a_document_that_may_not_speak_for_another_strikes_nothing_and_is_told_beside_it() -> None:
    foreign = force_on(known(counts=False), QUESTION, "", Filters(), "2026-06-01")
    assert foreign.only_in_force([passage(OLD)]) == (passage(OLD),)
    assert foreign.at(cited(OLD, START, END)) is None
    shown = claim(cited(OLD, START, END))
    (one,) = foreign.disclosed_conflicts([], [QUESTION], [passage(OLD)], [shown], reader)
    assert one.supersession is None
    assert [side.document_id for side in one.sides] == ["lease.md", "change.md"]
    beside = claim(cited(OLD, 0, 18))
    assert foreign.disclosed_conflicts([], [QUESTION], [passage(OLD)], [beside], reader) == ()
