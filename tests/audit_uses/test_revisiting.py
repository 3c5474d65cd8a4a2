"""Past citations checked against today's documents; a recall finds who must be informed."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from benchmarks.sample_records import some_record

from citewell.core.records import AuditRecord, Document, Status
from citewell.documents.evidence.sqlite import SqliteEvidence
from citewell.documents.text import caller_document
from citewell.knowledge.revisiting.rechecking import Resolution, Revisiting
from citewell.knowledge.revisiting.replaying import Replay, compare
from citewell.models.fake import FakeEntailer
from citewell.verification.verifier import Verifier

FIRST = "Acme report\nRevenue was 12 million.\nCosts were 7 million in the year.\n"
QUOTE = "Revenue was 12 million."
ID = "filings/a.pdf"


def document(text: str) -> Document:
    made = caller_document(ID, text)
    return msgspec.structs.replace(made, caller_supplied=False)


@pytest.fixture
def evidence(tmp_path: Path):  # type: ignore[no-untyped-def]
    with SqliteEvidence(tmp_path / "evidence.sqlite") as store:
        store.put(document(FIRST))
        store.mark_indexed(ID, document(FIRST).version)
        yield store


def cited(evidence: SqliteEvidence, quote: str = QUOTE, claim: str = "") -> AuditRecord:
    """A record that cites the first version, at the position of the quote in it."""
    version = evidence.versions(ID)[0]
    start = FIRST.index(quote)
    record = some_record(1, version=version, quote=quote, claim=claim or quote, document=ID)
    claims = tuple(
        msgspec.structs.replace(
            one,
            citations=tuple(
                msgspec.structs.replace(c, start=start, end=start + len(quote)) for c in one.citations
            ),
        )
        for one in record.claims
    )
    return msgspec.structs.replace(record, claims=claims)


def today(evidence: SqliteEvidence) -> Revisiting:
    return Revisiting(evidence, Verifier(FakeEntailer()))


def test_the_same_words_in_the_same_place(evidence: SqliteEvidence) -> None:
    found = today(evidence).recheck(cited(evidence))
    assert found.counts == {"SAME": 1}
    assert found.holds


def test_words_that_moved_still_hold(evidence: SqliteEvidence) -> None:
    evidence.put(document("A new foreword.\n" + FIRST))
    found = today(evidence).recheck(cited(evidence))
    assert found.counts == {"MOVED": 1}
    assert found.holds
    place = found.claims[0].citations[0]
    assert evidence.latest(ID).text[place.start : place.end] == QUOTE


def test_words_that_changed_are_judged_anew(evidence: SqliteEvidence) -> None:
    evidence.put(document(FIRST.replace("12 million", "15 million")))
    found = today(evidence).recheck(cited(evidence))
    assert found.counts == {"CHANGED": 1}
    assert found.claims[0].citations[0].text == "Revenue was 15 million."
    assert found.claims[0].now is not None
    assert found.claims[0].now.status is not Status.VERIFIED
    assert not found.holds


def test_changed_words_about_another_firm_carry_no_pronoun(evidence: SqliteEvidence) -> None:
    claim = "Its revenue was 12 million."
    record = cited(evidence, claim=claim)
    leaning = [
        msgspec.structs.replace(one, antecedent="Acme Inc. was founded in 1990.") for one in record.claims
    ]
    record = msgspec.structs.replace(record, claims=tuple(leaning))
    evidence.put(document(FIRST.replace("Revenue was", "Revenue of Beta Corp. was")))
    found = today(evidence).recheck(record)
    assert found.counts == {"CHANGED": 1}
    assert not found.holds


def test_a_claim_may_hold_by_changed_words(evidence: SqliteEvidence) -> None:
    evidence.put(document(FIRST.replace("12 million.", "12 million. It grew.")))
    record = cited(evidence, quote="Revenue was 12 million.\nCosts", claim="Revenue was 12 million.")
    found = today(evidence).recheck(record)
    assert found.counts == {"CHANGED": 1}
    assert found.holds


@pytest.mark.parametrize(
    ("quote", "today_"),
    [
        ("cancel at any time without a fee", "Members may not cancel at any time without a fee."),
        ("Members may cancel", "Members may cancel at any time without a fee, if they are students."),
        (
            "cancel at any time without a fee",
            "It is no longer true that members cancel at any time without a fee.",
        ),
    ],
)
def test_words_that_stand_in_a_line_that_says_otherwise_now_are_judged_anew(
    tmp_path: Path, quote: str, today_: str
) -> None:
    claim = "Members may cancel at any time without a fee."
    with SqliteEvidence(tmp_path / "terms.sqlite") as store:
        first = document(f"Terms\n{claim}\n")
        store.put(first)
        store.mark_indexed(ID, first.version)
        start = first.text.index(quote)
        record = some_record(1, version=first.version, quote=quote, claim=claim, document=ID)
        (one,) = record.claims
        place = msgspec.structs.replace(one.citations[0], start=start, end=start + len(quote))
        one = msgspec.structs.replace(one, citations=(place,))
        record = msgspec.structs.replace(record, claims=(one,))
        assert today(store).recheck(record).counts == {"SAME": 1}
        store.put(document(f"Terms\n{today_}\n"))
        found = today(store).recheck(record)
    assert found.counts == {"CHANGED": 1}
    assert found.claims[0].now is not None
    assert found.claims[0].citations[0].text == today_


def test_a_sentence_set_beside_the_quoted_one_has_the_claim_judged_anew(evidence: SqliteEvidence) -> None:
    record = cited(evidence)
    evidence.put(document(FIRST.replace(QUOTE, f"{QUOTE} That was before a restatement.")))
    found = today(evidence).recheck(record)
    assert found.counts == {"SAME": 1}
    assert found.claims[0].now is not None


def test_a_short_quote_counts_only_in_its_line(evidence: SqliteEvidence) -> None:
    evidence.put(document("Staff grew to 12 million.\nNothing else is alike at all here.\n"))
    found = today(evidence).recheck(cited(evidence, quote="12 million"))
    assert found.claims[0].citations[0].resolution is not Resolution.MOVED


def test_withdrawn_and_vanished_documents_are_gone(evidence: SqliteEvidence) -> None:
    record = cited(evidence)
    evidence.withdraw(ID, "retracted")
    found = today(evidence).recheck(record)
    assert found.counts == {"GONE": 1}
    assert "retracted" in found.claims[0].citations[0].reason
    assert not found.holds


def test_a_line_that_is_no_longer_there_is_gone(evidence: SqliteEvidence) -> None:
    evidence.put(document("Quite another text.\n"))
    assert today(evidence).recheck(cited(evidence)).counts == {"GONE": 1}


def test_an_erased_version_is_gone(evidence: SqliteEvidence) -> None:
    record = cited(evidence)
    evidence.erase(ID, record.claims[0].citations[0].document_version)
    found = today(evidence).recheck(record)
    assert found.counts == {"GONE": 1}
    assert "erased" in found.claims[0].citations[0].reason


def test_words_in_their_place_under_a_version_that_cannot_be_read_are_judged_anew(
    evidence: SqliteEvidence,
) -> None:
    record = cited(evidence)
    evidence.put(document(f"{FIRST}An appendix.\n"))
    evidence.erase(ID, record.claims[0].citations[0].document_version)
    found = today(evidence).recheck(record)
    assert found.counts == {"SAME": 1}
    assert "cannot be read" in found.claims[0].citations[0].reason
    assert found.claims[0].now is not None
    assert found.claims[0].now.status is Status.VERIFIED


def test_a_recalled_document_carries_nothing(evidence: SqliteEvidence) -> None:
    found = today(evidence).recheck(cited(evidence), without=ID)
    assert found.counts == {"GONE": 1}
    assert not found.holds


def test_erased_claims_cannot_be_judged(evidence: SqliteEvidence) -> None:
    found = today(evidence).recheck(cited(evidence, claim="[erased]"))
    assert found.claims[0].holds is None


def test_a_replay_names_every_difference(evidence: SqliteEvidence) -> None:
    from citewell.core.config import Config

    record = cited(evidence)

    def run(made: AuditRecord) -> Replay:
        parts = ("claims", "shown_response", "index_version")
        return compare(record, made, compared=parts, config=Config(), environment={"python": "9"})

    assert run(record).same
    different = run(msgspec.structs.replace(record, shown_response="other", index_version="2"))
    assert different.differences == (
        "shown_response was 'shown' and is now 'other'",
        "index_version was '1' and is now '2'",
    )
    assert any("python" in line for line in different.elsewhere)


def test_a_replay_tells_a_number_from_one_that_only_equals_it(evidence: SqliteEvidence) -> None:
    from citewell.core.config import Config

    whole, made = (msgspec.structs.replace(cited(evidence), cost=cost) for cost in (1.0, 1))
    found = compare(whole, made, compared=("cost",), config=Config(), environment={})
    assert found.differences == ("cost was 1.0 and is now 1",)
