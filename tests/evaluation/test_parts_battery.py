"""The battery of parts, links and off-point claims is consistent, and its counts mean what they say."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from benchmarks.batteries import lines, shows, words
from benchmarks.parts import cases, told

from citewell.core.records import Decision

TEXTS = list(lines("parts.jsonl"))
QUESTIONS = [(text, row) for text in TEXTS for row in text["questions"]]


def test_it_is_as_large_as_asked_for() -> None:
    assert len(TEXTS) == len({text["name"] for text in TEXTS}) == 60
    assert len(QUESTIONS) >= 300
    stated = [is_stated for text in TEXTS for _, is_stated in text["links"]]
    assert len(stated) == 300
    assert 140 <= sum(stated) <= 160
    assert sum(len(text["beside"]) for text in TEXTS) == 300


def test_expected_words_stand_in_the_text_and_every_part_has_its_word_in_the_question() -> None:
    for text, row in QUESTIONS:
        assert 2 <= len(row["parts"]) <= 4
        for key, expected in row["parts"]:
            if expected is None:
                assert set(words(key)) <= set(words(row["question"])), row["question"]
            else:
                assert shows(text["text"], expected), expected


def test_fewer_rows_are_the_first_of_more() -> None:
    assert cases(TEXTS, "links", 7) == cases(TEXTS, "links", 9)[:7]
    assert all(row in text["links"] for text, row in cases(TEXTS, "links", 300))


PARTS = [("price", "429 euros"), ("colours", None)]


@pytest.mark.parametrize(
    ("decision", "text", "missing", "counted"),
    [
        (Decision.PARTIAL, "It costs 429 euros.", ("in which colours is it sold?",), {"absent named": 1}),
        (Decision.ANSWER, "It costs 429 euros.", (), {"hidden": 1}),
        (Decision.ABSTAIN, "", ("colours",), {"standing abstained": 1}),
    ],
)
def test_an_answer_is_counted_by_its_parts(
    decision: Decision, text: str, missing: tuple[str, ...], counted: dict[str, int]
) -> None:
    answer: Any = SimpleNamespace(decision=decision, text=text, missing=missing)
    counts = told(PARTS, answer)
    odd = {name: n for name in ("absent named", "hidden", "standing abstained") if (n := counts[name])}
    assert odd == counted
    assert counts["parts shown"] == (decision is not Decision.ABSTAIN)
