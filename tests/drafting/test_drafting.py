"""Drafts ask what their span answers, and say there is no answer only where there is none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.core.records import Case, Document
from citewell.documents.reading import read_bytes
from citewell.evaluation.drafting import draft_cases

MANUAL = """# Pump manual

## Warranty

Warranty period: two years

It has 9 exceptions. The pump warranty covers all parts.

## History

The Malmo factory was opened in 1987 by Astrid Berg. Engineers visited the plant often. The Malmo
factory employs 240 workers.

Nothing else is known.

The Lund workshop has 12 windows. The workshop was closed in 1990.
The noise limit is 60 decibels.

| setting | default | meaning |
|---|---|---|
| pump.speed | 40 | turns of the wheel in a second |
| pump.pressure | 3 bar | pressure behind the valve |
| alarm.delay_s | 15 | seconds until the alarm |

| part | weight |
|---|---|
| Seal B4 | 3 g |
| Wheel C1 | 900 g |

| Item | 2021 | 2022 |
|---|---|---|
| Net sales | 1,204 | 1,377 |
| Research costs | 88 | 91 |
"""


def read(text: str, name: str = "manuals/pump.md") -> Document:
    return read_bytes(text.encode(), document_id=name)


@pytest.fixture(scope="module")
def cases() -> tuple[Case, ...]:
    return draft_cases([read(MANUAL)], n=100)


def of(cases: tuple[Case, ...], kind: str) -> dict[str, Case]:
    return {case.question: case for case in cases if case.tags[0] == kind}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the “Warranty period”?", "two years"),
        ("What is the “default” of pump.pressure?", "3 bar"),
        ("What is the “meaning” of alarm.delay_s?", "seconds until the alarm"),
        ("What is the “Net sales” for 2022?", "1,377"),
    ],
)
def test_a_cell_or_a_label_becomes_the_question_it_answers(
    cases: tuple[Case, ...], question: str, expected: str
) -> None:
    case = of(cases, "answerable")[question]
    assert case.expected == expected
    (span,) = case.spans
    assert span.document == "manuals/pump.md"
    assert expected in span.quote
    assert span.quote in read(MANUAL).text


def test_no_draft_is_reviewed_and_each_says_its_kind_and_form(cases: tuple[Case, ...]) -> None:
    for case in cases:
        assert not case.reviewed
        assert case.tags[0] in {"answerable", "unanswerable"}
        assert case.tags[1].startswith("form:")
        assert bool(case.spans) == bool(case.expected) == (not case.abstain)
    assert len({case.id for case in cases}) == len(cases)
    assert len({case.question for case in cases}) == len(cases)


def test_questions_without_an_answer_ask_for_what_stands_nowhere(cases: tuple[Case, ...]) -> None:
    twins = of(cases, "unanswerable")
    assert any(
        re.fullmatch(r"What is the “(?:Net sales|Research costs)” for 20\d\d\?", twin) for twin in twins
    )
    for twin in twins:
        for year in re.findall(r"\b20\d\d\b", twin):
            assert year not in MANUAL


def test_a_question_with_two_answers_is_not_drafted() -> None:
    table = "| part | width |\n|---|---|\n| Seal ring | {} cm |\n"
    question = "What is the “width” of Seal ring?"
    one, other = read(table.format(3)), read(table.format(4), "b.md")
    assert question in of(draft_cases([one], n=9), "answerable")
    assert question not in of(draft_cases([one, other], n=9), "answerable")


def test_figures_of_several_documents_are_asked_for_by_the_documents_name() -> None:
    table = "| Item | 2022 |\n|---|---|\n| Net sales | {} |\n"
    two = [read(table.format(7), "alpha_corp.md"), read(table.format(8), "beta_corp.md")]
    found = of(draft_cases(two, n=9), "answerable")
    assert found["According to alpha corp, what is the “Net sales” for 2022?"].expected == "7"
    assert found["According to beta corp, what is the “Net sales” for 2022?"].expected == "8"


def test_the_same_documents_give_the_same_drafts_and_another_seed_others(cases: tuple[Case, ...]) -> None:
    assert draft_cases([read(MANUAL)], n=100) == cases
    few = [draft_cases([read(MANUAL)], n=6, seed=seed) for seed in (0, 1, 2)]
    assert len(set(few)) > 1
    assert all(len(drawn) <= 6 for drawn in few)


def test_nothing_to_ask_gives_nothing() -> None:
    assert draft_cases([read("Hello\n")], n=9) == ()
    assert draft_cases([], n=9) == ()


lines = st.lists(
    st.lists(
        st.sampled_from(
            [
                "The",
                "a",
                "pump",
                "is",
                "opened",
                "when",
                "1987",
                "two",
                "in",
                "by",
                "Seal:",
                "has",
                "lines",
                "a.b",
                "\t",
                "of",
                "{}",
            ]
        )
    )
    .map(" ".join)
    .map(lambda line: line + "."),
    max_size=8,
)


@settings(deadline=None)
@given(lines)
def test_any_text_can_be_drafted_from_and_every_span_stands_in_it(text: list[str]) -> None:
    document = read("\n\n".join(["Some words", *text]), "a.txt")
    for case in draft_cases([document], n=50):
        assert all(span.quote in document.text for span in case.spans)


def test_the_command_writes_cases_that_can_be_run_and_names_what_it_could_not_read(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from citewell.cli import app
    from citewell.evaluation.cases import load_cases

    folder = tmp_path / "manuals"
    folder.mkdir()
    (folder / "pump.md").write_text(MANUAL)
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    out = tmp_path / "drafts.jsonl"
    command = ["eval", "draft", str(folder), "--n", "20", "--home", str(tmp_path / "none")]
    made = CliRunner().invoke(app, [*command, "--out", str(out)])
    assert made.exit_code == 1
    assert "broken.pdf" in made.output
    assert "not yet reviewed" in made.output
    cases = load_cases(out)
    assert cases
    assert {span.document for case in cases for span in case.spans} == {"manuals/pump.md"}
    (folder / "broken.pdf").unlink()
    (folder / "pump.md").write_text("Hello\n")
    nothing = CliRunner().invoke(app, command)
    assert nothing.exit_code == 2
    assert "no questions could be drafted from 1 document" in nothing.output


@pytest.mark.parametrize("n", [1, 3, 8, 13, 58])
def test_no_more_cases_are_drafted_than_were_asked_for(n: int) -> None:
    assert len(draft_cases([read(MANUAL)], n=n)) <= n
