"""Citation measures by hand, as Gao et al. 2023 compute theirs; and the empty answer."""

from __future__ import annotations

import itertools

import pytest

from citewell.core.records import Failure, Measure, Status
from citewell.evaluation.judging import ClaimSupport, JudgedCase
from citewell.evaluation.measures import BY_NAME
from citewell.evaluation.running import summed
from citewell.evaluation.support import judge
from citewell.verification.verifier import Verifier

from .conftest import Scripted, broken, citation, claim, judged, observed, passage, verdict

A, B, C = passage("alpha"), passage("beta", start=10), passage("gamma", start=20)


def value(name: str, *cases: JudgedCase) -> tuple[float | None, int, int]:
    result = summed(BY_NAME[name], [BY_NAME[name].of(case) for case in cases], "by hand")
    return result.value, result.n, result.unscored


def answer(*support: ClaimSupport) -> JudgedCase:
    return judged(support=support)


HELD = ClaimSupport(whole=True, needed=(True,), spans=(True,))
BARE = ClaimSupport(whole=False)


def test_alce_is_the_mean_over_answers_not_over_claims() -> None:
    cases = answer(HELD, BARE), answer(HELD)
    assert value("alce_recall", *cases) == (0.75, 2, 0)
    assert value("alce_precision", *cases) == (1.0, 2, 0)


def test_an_irrelevant_citation_costs_alce_precision_and_no_recall() -> None:
    case = answer(ClaimSupport(whole=True, needed=(True, False, True), spans=(True, False, True)))
    assert value("alce_recall", case) == (1.0, 1, 0)
    assert value("alce_precision", case) == (pytest.approx(2 / 3), 1, 0)


def test_alce_counts_the_citations_of_a_claim_without_support_as_wrong() -> None:
    case = answer(HELD, ClaimSupport(whole=False, needed=(False, False), spans=(False, False)))
    assert value("alce_precision", case) == (pytest.approx(1 / 3), 1, 0)


def test_alce_gives_an_answer_without_citations_nothing() -> None:
    assert value("alce_recall", answer(BARE)) == (0.0, 1, 0)
    assert value("alce_precision", answer(BARE)) == (0.0, 1, 0)


@pytest.mark.parametrize(
    "name", ["alce_recall", "alce_precision", "citation_recall", "citation_precision", "hallucination_gap"]
)
def test_an_answer_that_says_nothing_measures_nothing(name: str) -> None:
    assert value(name, judged()) == (None, 0, 0)
    assert value(name) == (None, 0, 0)


def test_what_could_not_be_judged_is_unscored_not_wrong() -> None:
    case = answer(HELD, ClaimSupport(whole=None, needed=(None,), spans=(None,)))
    assert value("citation_precision", case) == (1.0, 1, 1)
    assert value("citation_recall", case) == (1.0, 1, 1)


def test_alce_leaves_an_answer_unscored_of_which_a_part_could_not_be_judged() -> None:
    """One claim entailed and four unjudged are not a recall of 1."""
    unjudged = ClaimSupport(whole=None, needed=(None,), spans=(None,))
    cases = answer(HELD, *[unjudged] * 4), answer(HELD, BARE)
    assert value("alce_recall", *cases) == (0.5, 1, 1)
    assert value("alce_precision", *cases) == (1.0, 1, 1)
    assert value("alce_recall", answer(unjudged)) == (None, 0, 1)
    half = answer(ClaimSupport(whole=True, needed=(True, None), spans=(True, None)))
    assert (value("alce_recall", half), value("alce_precision", half)) == ((1.0, 1, 0), (None, 0, 1))


def test_citation_measures_count_spans_over_all_answers() -> None:
    cases = answer(ClaimSupport(whole=True, needed=(True, True), spans=(True, False))), answer(HELD, BARE)
    assert value("citation_precision", *cases) == (pytest.approx(2 / 3), 3, 0)
    assert value("citation_recall", *cases) == (pytest.approx(2 / 3), 3, 0)


def test_broken_citations_are_counted_and_named() -> None:
    case = judged(
        seen=observed(
            claim("one", citation(A), broken(Failure.FABRICATED), status=Status.BROKEN),
            claim("two", broken(Failure.SPLICED), shown=False),
            claim("three", citation(B, verdict=verdict(Status.UNSUPPORTED, Failure.SYNTHESISED))),
            claim("four", citation(C, mode="post-hoc")),
        )
    )
    assert value("broken_citation_rate", case) == (0.5, 4, 0)
    found = {name: value(name, case)[0] for name in ("fabricated", "spliced", "misattributed", "synthesised")}
    assert found == {"fabricated": 0.25, "spliced": 0.25, "misattributed": 0.0, "synthesised": 0.25}


def test_whether_an_unchecked_citation_is_misattributed_is_not_known() -> None:
    """Its quote is where it says, so it is neither fabricated nor spliced; the rest is unknown."""
    case = judged(
        seen=observed(
            claim("one", citation(A)),
            claim("two", citation(B, verdict=verdict(Status.UNCHECKED)), status=Status.UNCHECKED),
            claim("three", citation(C, verdict=None)),
        )
    )
    for name in ("misattributed", "synthesised"):
        assert value(name, case) == (0.0, 1, 2)
    for name in ("fabricated", "spliced", "broken_citation_rate"):
        assert value(name, case) == (0.0, 3, 0)


def test_a_sound_citation_beside_a_broken_one_is_not_broken() -> None:
    """The claim's verdict, BROKEN, is on all of its citations."""
    beside = citation(A, verdict=verdict(Status.BROKEN, Failure.FABRICATED))
    case = judged(seen=observed(claim("one", beside, broken(Failure.FABRICATED), status=Status.BROKEN)))
    assert value("broken_citation_rate", case) == (0.5, 2, 0)
    assert value("fabricated", case) == (0.5, 2, 0)


def test_the_gap_counts_claims_over_all_answers() -> None:
    first = judged(seen=observed(claim("a"), claim("b"), gap=Measure(value=0.5, n=2)))
    second = judged(seen=observed(claim("c"), gap=Measure(value=0.0, n=1)))
    unknown = judged(seen=observed(claim("d"), gap=Measure(value=None, n=0, note="not English")))
    assert value("hallucination_gap", first, second, unknown) == (pytest.approx(1 / 3), 3, 1)


def test_a_claim_that_could_not_be_checked_is_unscored_in_the_gap() -> None:
    """One claim supported and four unchecked are not a gap of 0 with nothing missing."""
    unchecked = [claim(name, status=Status.UNCHECKED) for name in "bcde"]
    mostly = judged(seen=observed(claim("a"), *unchecked, gap=Measure(value=0.0, n=1, note="4 unchecked")))
    nothing = judged(seen=observed(*unchecked, gap=Measure(value=None, n=0, note="4 unchecked")))
    assert value("hallucination_gap", mostly) == (0.0, 1, 4)
    assert value("hallucination_gap", mostly, nothing) == (0.0, 1, 8)
    assert BY_NAME["hallucination_gap"].of(mostly).reason == "4 unchecked"


# --- the questions that the verifier is asked -------------------------------------------------------


def supports(needs: set[str], *cited: object) -> ClaimSupport:
    said = "The thing was said by everybody."
    seen = observed(claim(said, *(citation(one) for one in cited)), passages=(A, B, C))  # type: ignore[arg-type]
    entailer = Scripted(lambda premise, text: needs <= set(premise.split()))
    (found,) = judge("q?", seen, Verifier(entailer))
    return found


def test_a_passage_that_entails_alone_makes_the_other_one_irrelevant() -> None:
    assert supports({"alpha"}, A, B) == ClaimSupport(whole=True, needed=(True, False), spans=(True, False))


def test_no_citation_supports_nothing_and_a_broken_one_takes_the_claim_with_it() -> None:
    assert supports({"alpha"}) == ClaimSupport(whole=False)
    seen = observed(claim("The thing was said.", citation(A), broken()), passages=(A,))
    (found,) = judge("q?", seen, Verifier(Scripted(lambda premise, text: True)))
    assert found == ClaimSupport(whole=False, needed=(False, False), spans=(True, False))


def test_a_broken_citation_counts_in_alce_precision() -> None:
    """Next to a claim with one sound citation out of one: 1 of 3, not 1 of 1."""
    seen = observed(
        claim("The first was said.", citation(A)),
        claim("The second was said.", citation(B), broken()),
        passages=(A, B),
    )
    case = judged(seen=seen, support=judge("q?", seen, Verifier(Scripted(lambda premise, text: True))))
    assert value("alce_precision", case) == (pytest.approx(1 / 3), 1, 0)


def test_a_citation_whose_passage_did_not_come_along_cannot_be_judged() -> None:
    seen = observed(claim("The thing was said.", citation(A)), passages=(B,))
    (found,) = judge("q?", seen, Verifier(Scripted(lambda premise, text: True)))
    assert found == ClaimSupport(whole=None, needed=(None,), spans=(None,))


def test_pieces_of_one_quote_are_one_citation() -> None:
    whole = passage("alpha beta gamma")
    seen = observed(
        claim("The thing was said.", citation(whole, "alpha"), citation(whole, "beta gamma")),
        passages=(whole,),
    )
    entailer = Scripted(lambda premise, text: {"alpha", "gamma"} <= set(premise.split()))
    (found,) = judge("q?", seen, Verifier(entailer))
    assert found == ClaimSupport(whole=True, needed=(True,), spans=(True,))


def test_a_row_of_plain_text_is_a_row_for_its_words_too() -> None:
    row = passage("retrieval.relevance_threshold\t0.7\tpassages under it are not used")
    seen = observed(claim("The retrieval.relevance_threshold is 0.7.", citation(row)), passages=(row,))
    asked = "What is the default relevance threshold?"
    (found,) = judge(asked, seen, Verifier(Scripted(lambda premise, text: False)))
    assert found == ClaimSupport(whole=True, needed=(True,), spans=(True,))


def test_withheld_claims_are_not_judged() -> None:
    seen = observed(claim("It was said.", citation(A)), passages=(A,), answered=False)
    assert judge("q?", seen, Verifier(Scripted(lambda premise, text: True))) == ()


def reference(cited: list[str], entails: object) -> tuple[float, float]:
    """ALCE's own loop (`compute_autoais`) for an answer of one sentence, reimplemented from its paper."""
    joint = bool(cited) and entails(cited)  # type: ignore[operator]
    counted = 0
    if joint and len(cited) > 1:
        for one in cited:
            others = [other for other in cited if other != one]
            if entails([one]) or not entails(others):  # type: ignore[operator]
                counted += 1
    else:
        counted = int(joint)
    return float(joint), counted / len(cited) if cited else 0.0


@pytest.mark.parametrize("size", [0, 1, 2, 3])
@pytest.mark.parametrize(
    "sets", [[{"alpha"}], [{"beta"}, {"gamma"}], [{"gamma"}], [{"delta"}], [{"alpha", "beta"}]]
)
def test_the_same_as_alce_over_small_worlds(size: int, sets: list[set[str]]) -> None:
    """Each world says which passages suffice alone."""
    passages = {"alpha": A, "beta": B, "gamma": C}
    for cited in itertools.permutations(passages, size):

        def entails(names: object) -> bool:
            return any(need <= set(names) for need in sets)  # type: ignore[call-overload]

        seen = observed(
            claim("Then alpha, beta and gamma were said.", *(citation(passages[name]) for name in cited)),
            passages=(A, B, C),
        )
        found = judge("q?", seen, Verifier(Scripted(lambda premise, text: entails(premise.split()))))
        case = judged(seen=seen, support=found)
        expected = reference(list(cited), entails)
        assert (value("alce_recall", case)[0], value("alce_precision", case)[0]) == expected
