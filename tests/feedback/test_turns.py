"""What the next turn says about the previous answer: the rules, by wording."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.core.config import Feedback as Settings
from citewell.knowledge.feedback import Signal
from citewell.knowledge.feedback.implicit import correction, rephrasing

ASKED, ANSWER = "What was capex in 2022?", "Capital expenditures were $969 million in 2022."


@pytest.mark.parametrize(
    ("said", "rule"),
    [
        ("No, I meant 2021", "denial"),
        ("no", "denial"),
        ("That\u2019s wrong.", "wrong"),
        ("the number is off", "wrong"),
        ("you're mistaken", "wrong"),
        ("Are you sure?", "doubt"),
        ("I asked for operating costs", "meant"),
        ("Actually it was higher", "other"),
        ("Wasn't it in 2021?", "tag"),
        ("But the report says 1,023 million", "another value"),
    ],
)
def test_a_correction_and_the_rule_that_saw_it(said: str, rule: str) -> None:
    found = correction(ASKED, ANSWER, said)
    assert found is not None
    assert (found.signal, found.rule) == (Signal.FOLLOW_UP_CORRECTION, rule)


@pytest.mark.parametrize(
    "said",
    [
        "No problem, and in 2021?",
        "No, thanks",
        "What was capex in 2021?",
        "Is the $969 million before tax?",
        "But why $969 million?",
        "Why are they not included?",
        "What is the wrong side of the fabric?",
        "Is that right before or after the split?",
        "Are you storing my questions?",
        "Northern region?",
    ],
)
def test_what_is_no_correction(said: str) -> None:
    assert correction(ASKED, ANSWER, said) is None


def _rephrased(first: str, then: str, *, cosine: float = 1.0) -> str | None:
    found = rephrasing(first, then, lambda *_: cosine, Settings())
    return found.rule if found else None


@pytest.mark.parametrize(
    ("first", "then", "rule"),
    [
        (ASKED, "what was CAPEX in 2022", "repeated"),
        ("Who founded Nike?", "Who are the founders of Nike?", "similar"),
        ("capex 2022", "How much capex in 2022?", "similar"),
        ("What was capex?", "What was capex in 2022?", "similar"),
        # The same frame with one part replaced asks something else, however close its vector.
        (ASKED, "What was capex in 2021?", None),
        ("What is the notice period for tenants?", "What is the notice period for landlords?", None),
        ("When was Nike founded?", "Who founded Nike?", None),
        ("What was the change in sales?", "What was the percentage change in sales?", None),
        ("Did sales exceed plan?", "Did sales exceed 50,000?", None),
        ("Who is the author?", "Where is the library?", None),
    ],
)
def test_asked_again_or_something_else(first: str, then: str, rule: str | None) -> None:
    assert _rephrased(first, then) == rule


def test_far_vectors_are_another_question() -> None:
    assert _rephrased("Who founded Nike?", "Who are the founders of Nike?", cosine=0.5) is None


def test_words_settle_it_without_the_embedder() -> None:
    def never(first: str, second: str) -> float:
        raise AssertionError("the embedder was asked")

    for then in (ASKED, "What was capex in 2021?", "Who is the author?"):
        rephrasing(ASKED, then, never, Settings())


@given(st.text(max_size=200), st.text(max_size=200), st.text(max_size=200))
def test_no_text_breaks_the_rules(first: str, answer: str, then: str) -> None:
    correction(first, answer, then)
    _rephrased(first, then)


@pytest.mark.slow
def test_with_the_embedded_model() -> None:
    from citewell.models.onnx.embedder import OnnxEmbedder

    embedder = OnnxEmbedder()

    def cosine(first: str, second: str) -> float:
        one, other = embedder.embed([first, second])
        return float(one @ other)

    assert rephrasing("When did the bridge open?", "What year was the bridge opened?", cosine, Settings())
    assert not rephrasing("When did the bridge open?", "What is the bridge made of?", cosine, Settings())
