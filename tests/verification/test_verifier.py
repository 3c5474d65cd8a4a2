"""The verdict on a claim: every status, every proof, reasons in words, makers named."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.core.config import Verification
from citewell.core.errors import ModelError
from citewell.core.records import Entailment, Label, Maker, Proof, Status
from citewell.core.sentences import sentence_spans
from citewell.models.fake import FakeEntailer
from citewell.verification.evidence import EvidenceText, as_evidence
from citewell.verification.standing import stands_whole
from citewell.verification.verifier import Verifier

VERIFIER = Verifier(FakeEntailer())


class Fixed:
    """An entailer that always answers the same."""

    maker = Maker(name="fixed", hash="sha256:0")

    def __init__(self, entailment: float, contradiction: float) -> None:
        self._answer = Entailment(
            entailment=entailment, neutral=1 - entailment - contradiction, contradiction=contradiction
        )

    def entail(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        return [self._answer for _ in pairs]


class Failing(Fixed):
    error: Exception = ModelError("the weights are gone")

    def entail(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        raise self.error


class Skimming(Fixed):
    """Reads at most three sentences of a text, and says so."""

    def entail(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        counts = [len(sentence_spans(premise)) for premise, _ in pairs]
        return [msgspec.structs.replace(self._answer, read=min(3, n), units=n) for n in counts]


LOG = " ".join(f"Day {n} was calm." for n in range(20))


def test_an_unsupported_claim_says_how_much_of_the_sources_the_model_read() -> None:
    verdict = Verifier(Skimming(0.1, 0.1)).verify("The CEO resigned.", [LOG, "The founder stepped down."])
    assert verdict.status is Status.UNSUPPORTED
    assert verdict.reason.endswith("(the model read 4 of 21 sentences or rows)")


def test_a_whole_reading_is_not_spoken_of() -> None:
    partly = Verifier(Skimming(0.9, 0.05)).verify("Every day was calm.", [LOG])
    whole = Verifier(Skimming(0.1, 0.1)).verify("The CEO resigned.", ["The founder stepped down."])
    assert partly.status is Status.VERIFIED
    assert whole.status is Status.UNSUPPORTED
    assert "the model read" not in partly.reason + whole.reason


def test_a_whole_statement_is_verified_verbatim() -> None:
    verdict = VERIFIER.verify("Revenue was $5 million.", ["Costs fell. Revenue was $5 million."])
    assert (verdict.status, verdict.proof, verdict.support) == (Status.VERIFIED, Proof.VERBATIM, 1.0)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The fraud happened in May.", "The company denied that the fraud happened in May."),
        ("Taxes will rise in May.", "Critics said taxes will rise in May."),
        ("The dam will break.", "If it rains, the dam will break."),
        ("Members may vote.", "Members may vote only if they have paid."),
        ("The drug is safe.", "The drug is safe except in pregnancy."),
        ("Sales will double.", "It is unlikely that sales will double."),
        ("He is rich.", "He is rich in spirit."),
        ("Vaccines cause autism.", "It is a myth that: Vaccines cause autism."),
    ],
)
def test_a_statement_cut_out_of_what_turns_it_is_no_proof(claim: str, source: str) -> None:
    assert not stands_whole(claim, source)


def test_a_row_is_whole_and_a_clause_is_left_to_the_entailer() -> None:
    row = "Net revenue\t1,577\t1,373"
    assert stands_whole(row, f"{row}\nCosts\t900\t800")
    assert not stands_whole("Revenue was $5 million.", "Revenue was $5 million, and costs fell.")
    assert not stands_whole("Costs fell in May.", "Revenue rose; costs fell in May.")


def test_a_quote_that_no_source_holds_cannot_be_handed_in_as_evidence() -> None:
    claim = "The CEO resigned in May."
    with pytest.raises(TypeError, match="quote"):
        VERIFIER.verify(claim, ["Sales were flat."], quote=claim)  # type: ignore[call-arg]


def test_a_cell_at_its_place_is_a_numeric_proof_without_any_model() -> None:
    table = "(In millions)\t2018\t2017\nNet revenue\t1,577\t1,373"
    verdict = Verifier(Failing(0, 0)).verify("Net revenue in 2018 was $1,577 million.", [table])
    assert (verdict.status, verdict.proof) == (Status.VERIFIED, Proof.NUMERIC)
    assert "Net revenue" in verdict.reason


@pytest.mark.parametrize(
    ("claim", "asked"),
    [
        ("Sales were $5,120 million in 2023.", "What were sales in 2023?"),
        ("The sales of Contoso were $4,800 million in 2020.", "What were the sales of Contoso in 2020?"),
    ],
)
def test_what_was_asked_proves_nothing(claim: str, asked: str) -> None:
    table = "(In millions)\t2021\t2020\nSales\t5,120\t4,800"
    assert Verifier(Fixed(0.01, 0.0)).verify(claim, [table], context=asked).status is not Status.VERIFIED


def test_a_number_in_another_column_is_refused_whatever_the_model_says() -> None:
    table = "(In millions)\t2018\t2017\nNet revenue\t1,577\t1,373"
    verdict = Verifier(Fixed(0.99, 0.0)).verify("Net revenue in 2017 was $1,577 million.", [table])
    assert verdict.status is Status.UNSUPPORTED
    assert "2018" in verdict.reason


def test_a_number_that_the_source_denies_is_refused_and_named() -> None:
    verdict = Verifier(Fixed(0.99, 0.0)).verify("Revenue was $6 million.", ["Revenue was $5 million."])
    assert verdict.status is Status.UNSUPPORTED
    assert "$6 million" in verdict.reason


@pytest.mark.parametrize(
    ("claim", "status"),
    [
        ("In 2021, sales were $5 million.", Status.VERIFIED),
        ("In 2019, sales were $5 million.", Status.UNSUPPORTED),  # a year in the question alone
    ],
)
def test_the_year_of_the_title_is_no_missing_number(claim: str, status: Status) -> None:
    source = EvidenceText(
        text="Sales were $5 million, up from $4 million in 2020. In 2020, costs rose to $3 million.",
        context="Acme annual report 2021",
    )
    asked = "What were sales and costs in 2019 and 2021?"
    assert Verifier(Fixed(0.99, 0.005)).verify(claim, [source], context=asked).status is status


def test_prose_under_labels_is_held_to_its_words() -> None:
    source = "Policy: Some employees receive a bonus.\nScope: The policy applies in Ohio."
    verdict = Verifier(Fixed(0.99, 0.005)).verify("All employees receive a bonus.", [source])
    assert verdict.status is Status.UNSUPPORTED


def test_entailment_over_the_threshold_is_verified_and_says_by_whom() -> None:
    verdict = Verifier(Fixed(0.8, 0.1)).verify("It grew.", ["The firm got bigger."])
    assert (verdict.status, verdict.proof, verdict.label) == (
        Status.VERIFIED,
        Proof.ENTAILED,
        Label.ENTAILMENT,
    )
    assert verdict.maker.hash == "sha256:0"
    assert "fixed" in verdict.maker.name
    assert verdict.maker.threshold == 0.5
    assert verdict.maker.card == "not calibrated for this verification model"


RENT = "Acme earned $9 million. Beta's rent was $5 million."


@pytest.mark.parametrize(
    ("claim", "source", "proof"),
    [
        ("Beta's rent came to $5 million.", RENT, Proof.NUMERIC),
        ("Beta paid $5 million to Acme.", RENT, Proof.ENTAILED),
        ("Beta's rent in 2018 was $5 million.", f"{RENT} Acme began in 2018.", Proof.ENTAILED),
        ("Beta paid 1,577 to Acme.", "\t2018\t2017\nRent\t1,577\t1,373", Proof.ENTAILED),
        ("Sales rose to 1,577 in 2018.", "\t2018\t2017\nSales\t1,577\t1,373", Proof.NUMERIC),
        ("Sales and costs were 1,577 and 900.", "\t2018\nSales\t1,577\nCosts\t900", Proof.ENTAILED),
        ("Beta paid five directors.", "Beta paid several directors. It has five offices.", Proof.ENTAILED),
    ],
)  # fmt: skip
def test_a_numeric_proof_is_a_cell_or_the_one_sentence_that_speaks_of_it(
    claim: str, source: str, proof: Proof
) -> None:
    verdict = Verifier(Fixed(0.99, 0.0)).verify(claim, [source])
    assert (verdict.status, verdict.proof) == (Status.VERIFIED, proof)


def test_contradiction_fails() -> None:
    verdict = Verifier(Fixed(0.1, 0.8)).verify("It grew.", ["The firm shrank."])
    assert (verdict.status, verdict.label) == (Status.CONTRADICTED, Label.CONTRADICTION)


def test_a_sentence_is_not_contradicted_by_itself() -> None:
    source = "Common rumours\nThe arena has ordered 60 kegs. The brewery moves to Kiel."
    verdict = Verifier(Fixed(0.05, 0.9)).verify("The arena has ordered 60 kegs.", [source])
    assert verdict.status is Status.UNSUPPORTED
    assert verdict.reason == "the source has this sentence, but it may not be what the source states"


def test_a_contradiction_that_cannot_be_named_does_not_say_that_nothing_says_it() -> None:
    verdict = Verifier(Fixed(0.05, 0.9)).verify("Acme makes anvils.", ["Acme was founded by a smith."])
    assert (verdict.status, verdict.reason) == (Status.CONTRADICTED, "the source says something different")


def test_neutral_is_unsupported_and_names_what_is_missing() -> None:
    verdict = Verifier(Fixed(0.2, 0.1)).verify("Google grew.", ["Apple grew."])
    assert verdict.status is Status.UNSUPPORTED
    assert "Google" in verdict.reason


@pytest.mark.parametrize(
    ("claim", "evidence", "reason"),
    [
        ("", ["It grew."], "empty"),
        ("...", ["It grew."], "empty"),
        ("It grew.", [], "no source to check"),
        ("It grew.", ["  "], "no source to check"),
        ("Der Umsatz ist in diesem Jahr nicht mit der Zahl der Kunden gestiegen.", ["It grew."], "German"),
        ("It grew.", ["Выручка выросла на пять процентов в этом году."], "Latin"),
    ],
)
def test_what_cannot_be_judged_is_unchecked_with_the_reason(
    claim: str, evidence: list[str], reason: str
) -> None:
    verdict = VERIFIER.verify(claim, evidence)
    assert verdict.status is Status.UNCHECKED
    assert reason in verdict.reason
    assert verdict.support is None


def test_a_model_that_fails_is_unchecked_not_a_number() -> None:
    verdict = Verifier(Failing(0, 0)).verify("It grew.", ["The firm got bigger."])
    assert verdict.status is Status.UNCHECKED
    assert "the weights are gone" in verdict.reason


def test_a_model_that_reads_past_its_end_is_unchecked_too() -> None:
    entailer = Failing(0, 0)
    entailer.error = IndexError("index out of range in self")
    verdict = Verifier(entailer).verify("It grew.", ["The firm got bigger."])
    assert verdict.status is Status.UNCHECKED
    assert "out of range" in verdict.reason


def test_several_texts_support_together_what_none_supports_alone() -> None:
    verdict = VERIFIER.verify("Bob won and Al lost.", ["Bob won the game.", "Al lost the game."])
    assert verdict.status is Status.VERIFIED


COSTS = "(in thousands)\t2023\t2022\nResearch and development\t33,450\t30,100\nRent\t900\t850"


@pytest.mark.parametrize(
    ("claim", "status"),
    [
        ("Research and development cost $33.45 million in 2023.", Status.UNSUPPORTED),
        ("Research and development cost $33.45 million in 2022.", Status.CONTRADICTED),
        ("Research and development did not cost $33.45 million in 2023.", Status.CONTRADICTED),
    ],
)
def test_a_model_contradicts_no_claim_whose_values_stand_in_the_cells_it_names(
    claim: str, status: Status
) -> None:
    assert Verifier(Fixed(0.01, 0.98)).verify(claim, [COSTS]).status is status


THOUSANDS = "(in thousands)\t2023\nNet sales\t412,300\nEmployees\t1,200\nPrice per seat\t310"
SHARES = "(in thousands, except per share data)\t2023\nNet sales\t412,300\nDividends declared\t0.25"


@pytest.mark.parametrize(
    ("claim", "source", "asked", "status"),
    [
        ("Net sales were $412,300 in 2023.", THOUSANDS, "", Status.UNSUPPORTED),
        ("Net sales were $412,300 in 2023.", SHARES, "", Status.UNSUPPORTED),
        ("Net sales were $412,300 in 2023.", THOUSANDS, "What were net sales in thousands?", Status.VERIFIED),
        ("Net sales, in thousands, were $412,300 in 2023.", THOUSANDS, "", Status.VERIFIED),
        ("Net sales were about $412 million in 2023.", THOUSANDS, "", Status.VERIFIED),
        ("Employees were 1,200 in 2023.", THOUSANDS, "", Status.VERIFIED),
        ("The price per seat was $310 in 2023.", THOUSANDS, "", Status.VERIFIED),
        ("Dividends declared were $0.25 in 2023.", SHARES, "", Status.VERIFIED),
        ("Net sales were $412,300.", f"A stall had net sales of $412,300.\n{THOUSANDS}", "", Status.VERIFIED),
        ("The fee was $412,300.", f"{THOUSANDS}\n\nFees\t2023\nFee\t412,300", "", Status.VERIFIED),
    ],
)
def test_money_without_the_scale_of_its_table_is_another_amount(
    claim: str, source: str, asked: str, status: Status
) -> None:
    verdict = Verifier(Fixed(0.99, 0.0)).verify(claim, [source], context=asked)
    assert verdict.status is status
    assert status is Status.VERIFIED or "412,300 thousand" in verdict.reason


def test_the_threshold_is_the_settings() -> None:
    strict = Verifier(Fixed(0.8, 0.1), Verification(support_threshold=0.9))
    assert strict.verify("It grew.", ["The firm got bigger."]).status is Status.UNSUPPORTED


_SENTENCES = st.sampled_from(
    [
        "Nike sold shoes in 2018.",
        "Adidas sold shirts.",
        "Sales rose by 5%.",
        "Costs did not fall.",
        "Nike is based in Oregon.",
    ]
)


@settings(deadline=None)
@given(_SENTENCES, st.lists(_SENTENCES, min_size=1, max_size=4), _SENTENCES)
def test_more_evidence_never_lowers_the_best_support(claim: str, evidence: list[str], more: str) -> None:
    before = VERIFIER.verify(claim, evidence).support or 0.0
    after = VERIFIER.verify(claim, [*evidence, more]).support or 0.0
    assert after >= before


@pytest.mark.parametrize(
    "source",
    [
        "- [ ] The patient smokes.\n- [x] The patient drinks.",
        "\u2610 The patient smokes.\n\u2611 The patient drinks.",
        "~~The patient smokes.~~ The patient drinks.",
        "<del>The patient smokes.</del> The patient drinks.",
    ],
)
def test_what_is_struck_or_not_ticked_is_not_said(source: str) -> None:
    verifier = Verifier(FakeEntailer())
    assert verifier.verify("The patient smokes.", [source]).status is not Status.VERIFIED
    assert verifier.verify("The patient drinks.", [source]).status is Status.VERIFIED


@pytest.mark.parametrize(
    "source",
    [
        "Amounts in m\u0131llions of dollars. Returns are accepted w\u0131thin 30 days.",
        "AMOUNTS IN M\u0130LL\u0130ONS. ACCEPTED W\u0130TH\u0130N 30 DAYS.",
        "Amounts in thou\u017fands. Returns are accepted after 30 days.",
    ],
)
def test_letters_that_only_look_alike_end_nothing(source: str) -> None:
    claim = "Returns are accepted within 30 days, revenue was $5 million."
    assert VERIFIER.verify(claim, [source]).status in set(Status)


@pytest.mark.parametrize(
    "source",
    ["\u2610 Yes \u2612 The patient drinks.", "[ ] No [x] The patient drinks.", "<s>The patient drinks.</s>"],
)
def test_what_is_ticked_beside_another_box_is_said(source: str) -> None:
    assert VERIFIER.verify("The patient drinks.", [source]).status is Status.VERIFIED


def test_brackets_of_prose_are_no_box() -> None:
    assert "falsy" in as_evidence("[ ] is an empty list, and it is falsy.").text


class Listening(Fixed):
    """Notes what it is asked."""

    def entail(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        self.asked = [claim for _, claim in pairs]
        return super().entail(pairs)


def test_a_bare_yes_is_checked_as_the_answer_to_its_question() -> None:
    entailer = Listening(0.1, 0.8)
    source = "Is the hull covered? Yes. Is racing covered? No."
    verdict = Verifier(entailer).verify("Yes.", [source], asked="Is racing covered?")
    assert entailer.asked == ["The answer to \u201cIs racing covered\u201d is yes."]
    assert verdict.status is not Status.VERIFIED
    assert verdict.proof is not Proof.VERBATIM
