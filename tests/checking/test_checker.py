"""Drafts of honest and lying writers: what reaches the reader, and how each lie is named."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from citewell.core.config import Verification
from citewell.core.identity import chunk_id
from citewell.core.records import (
    Cell,
    Chunk,
    Draft,
    DraftClaim,
    Failure,
    Kind,
    Maker,
    Passage,
    Proof,
    Quote,
    Row,
    Section,
    Status,
)
from citewell.documents.evidence.catalogue import MemoryEvidence
from citewell.documents.text import caller_document
from citewell.models.fake import FakeEntailer
from citewell.verification.checking import Checked, Checker, nothing_to_check
from citewell.verification.checking.citations import Library
from citewell.verification.checking.judging import ClaimState, Judging
from citewell.verification.verifier import Verifier

NIKE = (
    "Nike reported revenue of $5,120 million in 2018. "
    "Nike bought Converse in 2003. Some stores were closed in Oregon."
)
ADIDAS = "Adidas sold Reebok in 2021. Adidas reported revenue of $2,340 million in 2021."
WRITER = Maker(name="writer")


def passage(
    name: str, text: str, rows: tuple[Row, ...] = (), context: str = "", sections: tuple[Section, ...] = ()
) -> tuple[Passage, MemoryEvidence]:
    store = MemoryEvidence()
    document = msgspec.structs.replace(caller_document(name, text), sections=sections)
    store.put(document)
    chunk = Chunk(
        chunk_id=chunk_id(document.version, 0, len(text), text),
        document_id=name,
        document_version=document.version,
        start_offset=0,
        end_offset=len(text),
        content=document.text,
        rows=rows,
        context=context,
        section_path=("Item 7",),
    )
    return Passage(chunk=chunk, relevance=0.9, relevant=True, used=True), store


def checked(
    claims: Sequence[DraftClaim],
    texts: dict[str, str] | None = None,
    *,
    policy: str = "flag",
    mend: bool = True,
    aspects: Sequence[str] = (),
    missing: Sequence[str] = (),
) -> Checked:
    texts = {"nike": NIKE, "adidas": ADIDAS} if texts is None else texts
    store = MemoryEvidence()
    passages = []
    for name, text in texts.items():
        one, own = passage(name, text)
        store.put(own.get(one.chunk.document_version, name))
        passages.append(one)
    settings = Verification(unsupported=policy)
    checker = Checker(Verifier(FakeEntailer(), settings), store, settings)
    draft = Draft(
        text=" ".join(claim.text for claim in claims),
        raw="",
        claims=placed(claims),
        maker=WRITER,
        missing=tuple(missing),
    )
    return checker.check("What happened?", aspects, draft, passages, mend=mend)


def placed(claims: Sequence[DraftClaim]) -> tuple[DraftClaim, ...]:
    at, result = 0, []
    for claim in claims:
        result.append(
            DraftClaim(
                text=claim.text,
                start=at,
                end=at + len(claim.text),
                quotes=claim.quotes,
                kind=claim.kind,
                aspect=claim.aspect,
                antecedent=claim.antecedent,
            )
        )
        at += len(claim.text) + 1
    return tuple(result)


def says(
    text: str, *quotes: Quote, kind: Kind = Kind.CITED, aspect: str = "", antecedent: str = ""
) -> DraftClaim:
    return DraftClaim(
        text=text, start=0, end=len(text), quotes=quotes, kind=kind, aspect=aspect, antecedent=antecedent
    )


def test_a_citation_stands_under_the_heading_of_its_own_sentence() -> None:
    text = "Policy\n\nMeals\nThe limit is 30 euros.\n\nHotels\nThe limit in Zurich is 210 euros.\n"
    hotels = text.index("Hotels")
    sections = (
        Section(path=("Policy",), start=0, end=len(text)),
        Section(path=("Policy", "Meals"), start=8, end=hotels),
        Section(path=("Policy", "Hotels"), start=hotels, end=len(text)),
    )
    one, store = passage("policy", text, sections=sections)
    said = "The limit in Zurich is 210 euros."
    checker = Checker(Verifier(FakeEntailer()), store, Verification())
    draft = Draft(text=said, raw="", claims=(says(said, Quote(source="policy", text=said)),), maker=WRITER)
    (claim,) = checker.check("What is the limit?", (), draft, [one]).claims
    assert claim.citations[0].section_path == ("Policy", "Hotels")


def test_an_honest_quote_is_verified_and_its_span_is_the_source() -> None:
    result = checked(
        [says("Nike bought Converse in 2003.", Quote(source="nike", text="Nike bought Converse in 2003."))]
    )
    (claim,) = result.claims
    assert (claim.verdict.status, claim.verdict.proof) == (Status.VERIFIED, Proof.VERBATIM)
    (citation,) = claim.citations
    assert NIKE[citation.start : citation.end] == citation.quote == "Nike bought Converse in 2003."
    assert citation.section_path == ("Item 7",)
    assert (result.hallucination_gap.value, result.failure) == (0.0, "")


LIES = [
    (
        "fabricates",
        says("Nike left Asia.", Quote(source="nike", text="Nike left Asia for good")),
        Status.BROKEN,
        Failure.FABRICATED,
    ),
    (
        "splices",
        says("Nike bought stores.", Quote(source="nike", text="Nike bought Converse in Oregon")),
        Status.BROKEN,
        Failure.SPLICED,
    ),
    (
        "misattributes",
        says("Adidas sold Reebok in 2021.", Quote(source="nike", text="Adidas sold Reebok in 2021.")),
        Status.BROKEN,
        Failure.MISATTRIBUTED,
    ),
    (
        "invents a source",
        says("Nike bought Converse in 2003.", Quote(source="puma")),
        Status.BROKEN,
        Failure.FABRICATED,
    ),
    (
        "swaps a digit",
        says("Nike reported revenue of $5,210 million in 2018.", Quote(source="nike")),
        Status.CONTRADICTED,
        None,
    ),
    ("swaps a year", says("Nike bought Converse in 2013.", Quote(source="nike")), Status.CONTRADICTED, None),
    ("negates", says("Nike never bought Converse in 2003.", Quote(source="nike")), Status.CONTRADICTED, None),
    ("invents", says("Nike opened factories in Mars.", Quote(source="nike")), Status.UNSUPPORTED, None),
    (
        "quotes words nobody wrote",
        says("Nike spoke of \u201cthe greatest year of all times\u201d.", Quote(source="nike")),
        Status.BROKEN,
        Failure.FABRICATED,
    ),
    (
        "connects",
        says(
            "Nike bought Converse in 2003 because Adidas sold Reebok in 2021.",
            Quote(source="nike"),
            Quote(source="adidas"),
        ),
        Status.UNSUPPORTED,
        Failure.SYNTHESISED,
    ),
]


@pytest.mark.parametrize(
    ("lie", "status", "failure"), [lie[1:] for lie in LIES], ids=[lie[0] for lie in LIES]
)
def test_a_mechanical_liar_is_caught_and_named(
    lie: DraftClaim, status: Status, failure: Failure | None
) -> None:
    result = checked([lie])
    (claim,) = result.claims
    assert claim.verdict.status is status
    assert claim.verdict.failure is failure
    assert result.failure == ("citation_broken" if status is Status.BROKEN else "hallucination_detected")
    assert result.failing == (lie.text,)
    assert result.shown_text != lie.text


def test_the_parts_of_a_made_up_connection_lean_on_their_own_claim() -> None:
    claim = says(
        "Its rival Beta grew in 2018 because it sold shoes in Leeds.",
        Quote(source="beta"),
        antecedent="Acme fell in 2018.",
    )
    (result,) = checked([claim], {"beta": "Its rival Beta grew in 2018. Beta sold shoes in Leeds."}).claims
    assert result.verdict.failure is Failure.SYNTHESISED


def test_a_true_quote_under_a_false_claim_does_not_help() -> None:
    (claim,) = checked(
        [says("Nike bought Converse in 1999.", Quote(source="nike", text="Nike bought Converse in 2003."))]
    ).claims
    assert claim.verdict.status in {Status.CONTRADICTED, Status.UNSUPPORTED}


def test_offsets_that_a_writer_gives_count_only_where_the_text_is_the_quote() -> None:
    wrong = Quote(source="nike", text="Nike bought Converse in 2003.", start=0, end=29)
    (claim,) = checked([says("Nike bought Converse in 2003.", wrong)]).claims
    assert NIKE[claim.citations[0].start : claim.citations[0].end] == "Nike bought Converse in 2003."


def test_a_broken_citation_is_neither_stripped_nor_repaired() -> None:
    (claim,) = checked(
        [says("Adidas sold Reebok in 2021.", Quote(source="nike", text="Adidas sold Reebok in 2021."))]
    ).claims
    (citation,) = claim.citations
    assert (citation.start, citation.end, citation.document_id) == (-1, -1, "nike")
    assert citation.verdict is not None
    assert citation.verdict.status is Status.BROKEN
    assert "adidas" in citation.verdict.reason


def test_a_claim_cited_to_the_wrong_source_is_mended_with_a_note_or_reported() -> None:
    claim = says("Adidas sold Reebok in 2021.", Quote(source="nike"))
    mended = checked([claim])
    assert mended.claims[0].verdict.status is Status.VERIFIED
    assert mended.claims[0].citations[0].mode == "post-hoc"
    assert any("cited nike, but adidas supports it" in note for note in mended.notes)
    reported = checked([claim], mend=False)
    assert (reported.claims[0].verdict.status, reported.claims[0].verdict.failure) == (
        Status.UNSUPPORTED,
        Failure.MISATTRIBUTED,
    )
    assert reported.hallucination_gap.value == 0.0


def test_a_claim_without_citation_is_cited_afterwards_by_entailment() -> None:
    (claim,) = checked([says("Adidas sold Reebok in 2021.")]).claims
    assert claim.verdict.status is Status.VERIFIED
    assert [(c.document_id, c.mode) for c in claim.citations] == [("adidas", "post-hoc")]


def test_a_claim_needs_its_citations_together() -> None:
    (claim,) = checked(
        [says("Nike bought Converse and Adidas sold Reebok.", Quote(source="nike"), Quote(source="adidas"))]
    ).claims
    assert claim.verdict.status is Status.VERIFIED
    assert {c.document_id for c in claim.citations} == {"nike", "adidas"}


def test_an_unsupported_inference_is_shown_as_one() -> None:
    result = checked([says("Nike will surely prosper.", kind=Kind.INFERENCE)])
    assert result.claims[0].kind is Kind.INFERENCE
    assert result.shown_text.endswith("[inference]")
    assert result.failure == ""


@pytest.mark.parametrize(
    ("policy", "shown"),
    [
        ("flag", "Nike bought Converse in 2003. Nike flew to Mars. [no supporting passage found]"),
        ("drop", "Nike bought Converse in 2003."),
        ("withhold", ""),
    ],
)
def test_the_policy_says_what_happens_to_what_nothing_supports(policy: str, shown: str) -> None:
    result = checked(
        [says("Nike bought Converse in 2003.", Quote(source="nike")), says("Nike flew to Mars.")],
        policy=policy,
    )
    assert result.shown_text == shown
    assert len(result.claims) == 2
    assert result.claims[1].shown == (policy == "flag")


def test_the_gap_counts_what_no_passage_supports() -> None:
    result = checked(
        [says("Nike bought Converse in 2003.", Quote(source="nike")), says("Nike flew to Mars.")]
    )
    assert (result.hallucination_gap.value, result.hallucination_gap.n) == (0.5, 2)


def test_coverage_is_aspects_with_a_verified_claim() -> None:
    aspects = ("What did Nike buy?", "What did Puma sell?")
    result = checked(
        [says("Nike bought Converse in 2003.", Quote(source="nike"), aspect=aspects[0])], aspects=aspects
    )
    assert (result.coverage.value, result.coverage.n) == (0.5, 2)
    assert result.missing == (aspects[1],)


def test_nothing_to_check_is_not_a_pass() -> None:
    for result in (nothing_to_check(("a",)), checked([])):
        assert result.claims == ()
        assert result.hallucination_gap.value is None
        assert result.hallucination_gap.n == 0


def test_no_passages_leave_a_claim_unchecked() -> None:
    (claim,) = checked([says("Nike bought Converse in 2003.")], {}).claims
    assert claim.verdict.status is Status.UNCHECKED
    assert claim.kind is Kind.UNSUPPORTED


def test_label_and_cell_of_one_row_are_the_claim_and_of_two_rows_are_not() -> None:
    text = "Net revenue\t1,577\t1,373\nCosts\t900\t800"
    rows = (
        Row(
            start=0,
            end=23,
            label="Net revenue",
            cells=(Cell(start=12, end=17, head="2018"), Cell(start=18, end=23, head="2017")),
        ),
        Row(
            start=24,
            end=37,
            label="Costs",
            cells=(Cell(start=30, end=33, head="2018"), Cell(start=34, end=37, head="2017")),
        ),
    )
    one, store = passage("table", text, rows, context="Income\nStatement (In millions): 2018; 2017")
    checker = Checker(Verifier(FakeEntailer()), store, Verification())

    def status(*spans: tuple[int, int]) -> Status:
        quotes = tuple(Quote(source=one.chunk.chunk_id, text=text[a:b], start=a, end=b) for a, b in spans)
        said = " \u2026 ".join(quote.text for quote in quotes)
        draft = Draft(
            text=said,
            raw=said,
            claims=(DraftClaim(text=said, start=0, end=len(said), quotes=quotes),),
            maker=WRITER,
        )
        (claim,) = checker.check("", (), draft, [one]).claims
        return claim.verdict.status

    assert status((0, 11), (12, 17)) is Status.VERIFIED
    assert status((24, 29), (12, 17)) is not Status.VERIFIED


@pytest.mark.parametrize(
    ("question", "said", "exact"),
    [
        ("What was the net revenue in FY2018?", "Net revenue | 1,577", True),
        ("What was the net revenue in FY2018?", "Net revenue | 1,373", False),
        ("What was the net revenue in FY2018?", "Net revenue \u2026 1,373", False),
        ("How did net revenue change from FY2017 to FY2018?", "Net revenue | 1,373", True),
        ("What was the net revenue?", "Net revenue | 1,373", True),
        ("What was the net revenue in FY2018?", "Net revenue | EMEA", True),
    ],
)
def test_a_quoted_cell_of_a_year_that_is_not_asked_is_no_exact_proof(
    question: str, said: str, exact: bool
) -> None:
    text = "Net revenue\t1,577\t1,373\tEMEA"
    heads = ((12, 17, "2018"), (18, 23, "2017"), (24, 28, "Region in 2017"))
    row = Row(
        start=0,
        end=28,
        label="Net revenue",
        cells=tuple(Cell(start=start, end=end, head=head) for start, end, head in heads),
    )
    one, store = passage("table", text, (row,), context="Income\nStatement (In millions): 2018; 2017")
    judging = Judging(
        question=question,
        library=Library([one], store),
        verifier=Verifier(FakeEntailer(), Verification()),
        settings=Verification(),
    )
    claim = says(said, Quote(source="table", text=said))
    cited = tuple(judging.library.locate(quote) for quote in claim.quotes)
    assert [len(found.spans) for found in cited] == [2]
    verdict = judging.exact(ClaimState(drafted=claim, cited=cited))
    assert (verdict is not None and verdict.status is Status.VERIFIED) is exact


def test_quotes_of_the_label_and_another_years_cell_are_as_the_embedded_writer_makes_them() -> None:
    text = "Net revenue\t1,577\t1,373"
    cells = (Cell(start=12, end=17, head="2018"), Cell(start=18, end=23, head="2017"))
    row = Row(start=0, end=23, label="Net revenue", cells=cells)
    one, store = passage("table", text, (row,), context="Income\nStatement (In millions): 2018; 2017")
    quotes = tuple(Quote(source="table", text=text[a:b], start=a, end=b) for a, b in ((0, 11), (18, 23)))
    claim = says("Net revenue: 1,373", *quotes)
    draft = Draft(text=claim.text, raw=claim.text, claims=(claim,), maker=WRITER)
    checker = Checker(Verifier(FakeEntailer()), store, Verification())
    (result,) = checker.check("How did net revenue change in FY2018?", (), draft, [one]).claims
    assert result.verdict.proof is Proof.VERBATIM


@pytest.mark.parametrize(
    ("question", "status"),
    [
        ("What were net sales in 2021?", Status.UNSUPPORTED),
        ("What were net sales in 2020?", Status.VERIFIED),
        ("What were net sales from 2019 to 2021?", Status.VERIFIED),
        ("What were net sales before 2021?", Status.VERIFIED),
        ("Why did net sales rise in 2021?", Status.VERIFIED),
        ("What were the net sales under the 2025 plan?", Status.VERIFIED),
        ("What were net sales?", Status.VERIFIED),
    ],
)
def test_a_cell_of_a_year_that_is_not_asked_is_not_verified_in_however_many_quotes(
    question: str, status: Status
) -> None:
    text = "Net sales\t5,120\t4,800"
    cells = (Cell(start=10, end=15, head="2021"), Cell(start=16, end=21, head="2020"))
    row = Row(start=0, end=21, label="Net sales", cells=cells)
    one, store = passage("table", text, (row,), context="Income\nStatement (In millions): 2021; 2020")
    checker = Checker(Verifier(FakeEntailer()), store, Verification())
    for quotes in (("Net sales", "4,800"), ("Net sales | 4,800",)):
        said = ": ".join(quotes)
        claim = says(said, *(Quote(source="table", text=quote) for quote in quotes))
        draft = Draft(text=said, raw=said, claims=(claim,), maker=WRITER)
        (result,) = checker.check(question, (), draft, [one]).claims
        assert result.verdict.status is status
        assert ("FY2020" in result.verdict.reason) is (status is Status.UNSUPPORTED)


@pytest.mark.parametrize(
    ("question", "spans", "status"),
    [
        ("How many ships came from Europe in 2024?", ((0, 6), (12, 15)), Status.UNSUPPORTED),
        ("How many ships came from Europe in 2024?", ((0, 6), (7, 11), (12, 15)), Status.VERIFIED),
        ("How many ships came from Europe in 2024?", ((0, 6), (16, 20), (21, 24)), Status.VERIFIED),
        ("How many ships came from Europe in 2023?", ((0, 6), (12, 15)), Status.VERIFIED),
        ("How many ships came from Europe?", ((0, 6), (12, 15)), Status.VERIFIED),
    ],
)
def test_a_value_of_a_row_of_another_year_is_not_verified_where_the_year_is_left_out(
    question: str, spans: tuple[tuple[int, int], ...], status: Status
) -> None:
    text = "Europe\t2023\t410\n2024\t455"  # the label applies to the row below, too
    ends = ((0, 15, -1, (7, 11), (12, 15)), (16, 24, 0, (16, 20), (21, 24)))
    rows = tuple(
        Row(
            start=start,
            end=end,
            label="Europe",
            label_start=label,
            cells=tuple(
                Cell(start=a, end=b, head=head) for (a, b), head in zip(cells, ("Year", "Ships"), strict=True)
            ),
        )
        for start, end, label, *cells in ends
    )
    one, store = passage("table", text, rows, context="Ships\nYear | Ships")
    quotes = tuple(Quote(source=one.chunk.chunk_id, text=text[a:b], start=a, end=b) for a, b in spans)
    said = " \u2026 ".join(quote.text for quote in quotes)
    draft = Draft(text=said, raw=said, claims=placed([says(said, *quotes)]), maker=WRITER)
    checker = Checker(Verifier(FakeEntailer()), store, Verification())
    (result,) = checker.check(question, (), draft, [one]).claims
    assert result.verdict.status is status
    assert ("2023" in result.verdict.reason) is (status is Status.UNSUPPORTED)


def test_a_draft_without_claims_is_read_from_its_text() -> None:
    store = MemoryEvidence()
    one, own = passage("nike", NIKE)
    store.put(own.get(one.chunk.document_version, "nike"))
    text = "Nike bought Converse in 2003 [SOURCE_1]. Nike flew to Mars [SOURCE_7]."
    draft = Draft(text=text, raw=text, claims=(), maker=WRITER)
    result = Checker(Verifier(FakeEntailer()), store, Verification()).check("", (), draft, [one])
    assert [claim.verdict.status for claim in result.claims] == [Status.VERIFIED, Status.BROKEN]


def test_a_long_quote_is_cited_in_spans_of_at_most_thirty_tokens() -> None:
    long = "Nike " + " ".join(f"word{chr(97 + i % 26)}" for i in range(80)) + " grew."
    (claim,) = checked([says(long, Quote(source="long", text=long))], {"long": long}).claims
    assert len(claim.citations) > 1
    assert " ".join(c.quote for c in claim.citations).split() == long.split()


def test_a_quote_that_does_not_carry_its_claim_gets_a_better_span() -> None:
    text = "Acme opened a shop in Oslo in 2014. The winter was mild. Bread is sold there. Coffee is free."
    quote = Quote(source="acme", text="Coffee is free.")
    result = checked([says("Acme opened a shop in Oslo in 2014.", quote)], {"acme": text})
    (claim,) = result.claims
    assert claim.verdict.status is Status.VERIFIED
    assert [c.mode for c in claim.citations] == ["post-hoc"]
    assert "Oslo" in claim.citations[0].quote
    assert "Coffee" not in claim.citations[0].quote
    assert any("another passage" in note for note in result.notes)
    (kept,) = checked([says("Coffee is free.", quote)], {"acme": text}).claims
    assert [(c.mode, c.quote) for c in kept.citations] == [("generated", "Coffee is free.")]
