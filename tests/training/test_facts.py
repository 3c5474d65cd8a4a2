"""The texts that a program makes of written facts: words cannot tell a true claim from its exchanged form."""

from __future__ import annotations

import random
from collections import Counter, defaultdict

import pytest
from training.facts import FactMaker, Made, cases, duties, standings, strengths


def made(maker: FactMaker, part: str = "train") -> list[Made]:
    return list(maker(part, random.Random(3), 200))


@pytest.mark.parametrize("maker", [duties, cases, strengths, standings])
def test_about_as_many_claims_hold_as_do_not(maker: FactMaker) -> None:
    held = Counter(holds for each in made(maker) for _, holds in each.claims)
    assert 0.35 <= held[True] / held.total() <= 0.65


@pytest.mark.parametrize("maker", [duties, cases, strengths])
def test_many_a_claim_holds_under_one_text_and_fails_under_another(maker: FactMaker) -> None:
    by_claim: dict[str, list[bool]] = defaultdict(list)
    for each in maker("train", random.Random(3), 3_000):
        for claim, holds in each.claims:
            by_claim[claim].append(holds)
    often = [labels for labels in by_claim.values() if len(labels) > 1]
    assert len(often) > 100
    assert sum(len(set(labels)) == 2 for labels in often) > 0.4 * len(often)


@pytest.mark.parametrize("maker", [duties, cases, strengths, standings])
def test_no_slot_is_left_open(maker: FactMaker) -> None:
    for part in ("train", "choose"):
        for each in made(maker, part):
            assert "{" not in " ".join([each.text, *(words for words, _ in (*each.claims, *each.asked))])


def test_a_question_about_a_case_that_the_text_leaves_out_is_not_answered() -> None:
    left = [
        said for each in made(cases) for said, answered in each.asked if not answered and len(each.asked) > 1
    ]
    assert left


def test_the_two_strengths_of_a_text_get_the_same_claims() -> None:
    found = made(strengths)
    for weak, strong in zip(found[::2], found[1::2], strict=True):
        assert weak.family == strong.family
        assert [claim for claim, _ in weak.claims] == [claim for claim, _ in strong.claims]
        assert [holds for _, holds in weak.claims] != [holds for _, holds in strong.claims]
