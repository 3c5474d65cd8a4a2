"""Case files: what is read, and the message for each kind of mistake."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.core.errors import UsageError
from citewell.core.records import Case, CaseSpan
from citewell.evaluation.cases import hash_cases, load_cases, write_cases

LINE = '{"id": "a", "question": "Who founded Nike?"}'


def load(tmp_path: Path, text: str | bytes) -> tuple[Case, ...]:
    path = tmp_path / "cases.jsonl"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_cases(path)


def test_a_whole_case_is_read(tmp_path: Path) -> None:
    (case,) = load(
        tmp_path,
        '{"id": "a", "question": "Who?", "expected": "Knight",'
        ' "spans": [{"document": "d.md", "quote": "by"}],'
        ' "tags": ["t"], "groups": ["g"], "reviewed": "ann"}\n\n',
    )
    assert case.spans == (CaseSpan(document="d.md", quote="by"),)
    assert (case.expected, case.tags, case.groups, case.reviewed) == ("Knight", ("t",), ("g",), "ann")


def test_a_case_without_any_label_is_allowed(tmp_path: Path) -> None:
    assert load(tmp_path, LINE)[0].expected == ""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"{LINE}\nnonsense", "line 2 is not JSON"),
        (f"{LINE}\n[1]", "line 2 is not a JSON object"),
        (
            '{"id": "a", "question": "q", "expectd": "x"}',
            "line 1: unknown key 'expectd': did you mean expected?",
        ),
        ('{"id": "a", "question": "q", "spans": [{"document": "d", "qoute": "x"}]}', "did you mean quote?"),
        ('{"id": "a", "question": "q", "spans": [{"document": "d", "quote": " "}]}', "span without"),
        ('{"id": "a", "question": "q", "zzz": 1}', "may have id, question"),
        ('{"id": 7, "question": "q"}', "line 1: Expected `str`"),
        ('{"id": "a"}', "missing required field `question`"),
        ('{"id": "a", "question": " "}', "question is empty"),
        ('{"id": "a", "question": "q", "abstain": true}', "Expected `str`"),
        ('{"id": "a", "question": "q", "abstain": "no", "expected": "x"}', "not both"),
        (
            '{"id": "a", "question": "q", "abstain": "no", "spans": [{"document": "d", "quote": "x"}]}',
            "line 1: an answer or a reason to abstain, not both",
        ),
        (f"{LINE}\n\n{LINE}", "line 3: the id 'a' is already used in line 1"),
        ("\n \n", "contains no case"),
        (b"\xff\xfe", "not UTF-8"),
    ],
)
def test_a_slip_is_named_with_its_line(tmp_path: Path, text: str | bytes, told: str) -> None:
    with pytest.raises(UsageError) as caught:
        load(tmp_path, text)
    assert told in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.jsonl cannot be read"):
        load_cases(tmp_path / "none.jsonl")


texts = st.text(st.characters(exclude_categories=["Cs"]))
words = texts.filter(str.strip)


@given(st.lists(st.tuples(words, words, texts), min_size=1, unique_by=lambda made: made[0]))
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, made: list[tuple[str, str, str]]
) -> None:
    cases = tuple(Case(id=a, question=b, expected=c) for a, b, c in made)
    path = tmp_path_factory.mktemp("cases") / "cases.jsonl"
    assert write_cases(cases, path) == len(cases)
    assert load_cases(path) == cases
    assert hash_cases(load_cases(path)) == hash_cases(cases)
