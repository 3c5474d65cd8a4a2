"""The shipped canary fits the documentation as it is today."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from citewell.core.records import Case
from citewell.documents.reading import read_bytes
from citewell.evaluation.cases import load_cases

ROOT = Path(__file__).parents[2]
CASES = load_cases(ROOT / "evaluation" / "canary.jsonl")
KINDS = ("answerable", "unanswerable", "near-miss")


@cache
def text(document: str) -> str:
    """The canonical text, as `citewell ingest docs` stores it."""
    return read_bytes((ROOT / document).read_bytes(), document_id=document).text


def kind(case: Case) -> str:
    (found,) = set(case.tags) & set(KINDS)
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_the_words_a_case_rests_on_stand_in_their_page(case: Case) -> None:
    assert bool(case.spans) == (kind(case) == "answerable") == bool(case.expected) == (not case.abstain)
    for span in case.spans:
        assert span.quote in text(span.document), f"{span.document} no longer says: {span.quote}"


def test_there_are_enough_of_each_kind() -> None:
    counts = Counter(kind(case) for case in CASES)
    assert len(CASES) >= 100
    assert counts["answerable"] >= 60
    assert min(counts["unanswerable"], counts["near-miss"]) >= 15
    assert len({case.question for case in CASES}) == len(CASES)


def test_a_setting_that_is_called_unknown_is_unknown() -> None:
    for case in CASES:
        if kind(case) == "unanswerable":
            for key in re.findall(r"\b[a-z]+\.[a-z_]+\b", case.question):
                assert key not in text("docs/configuration.md"), case.id
