"""A whole run on a small home and on recorded answers: the figures, isolated failures, reproducibility."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import citewell
from citewell.audit import EntryKind
from citewell.core.config import Config
from citewell.core.errors import UsageError
from citewell.core.records import Case, CaseSpan
from citewell.evaluation.cases import load_answers
from citewell.evaluation.results import Run, read_run, write_run
from citewell.evaluation.running import evaluate_home, evaluate_recorded
from citewell.knowledge.assembly import Assembly
from citewell.knowledge.home import KnowledgeBase

NIKE = """# Annual report 2023

Nike was founded in 1964 by Bill Bowerman and Phil Knight in Eugene, Oregon.

## Revenue

Revenue was 51,217 million dollars in fiscal year 2023, ten percent more than the year before.
"""
SECRET = "# Plan\n\nThe secret plan of Nike is to open forty stores in Lisbon in 2031.\n"
FOUNDED = CaseSpan(document="reports/nike.md", quote="founded in 1964 by Bill Bowerman and Phil Knight")
CASES = (
    Case(id="who", question="Who founded Nike?", expected="Bill Bowerman and Phil Knight", spans=(FOUNDED,)),
    Case(
        id="revenue",
        question="What was the revenue of Nike in fiscal year 2023?",
        expected="$51,217 million",
        spans=(CaseSpan(document="reports/nike.md", quote="Revenue was 51,217 million dollars"),),
    ),
    Case(id="moon", question="Which planet does the crew of the ship visit?", abstain="nowhere said"),
    Case(
        id="plan",
        question="How many stores will Nike open in Lisbon?",
        expected="forty",
        groups=("board",),
    ),
    Case(id="unlabelled", question="Where was Nike founded?"),
    Case(
        id="slip",
        question="Who founded Nike Inc.?",
        spans=(CaseSpan(document="reports/nike.md", quote="xyz"),),
    ),
)


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    folder = tmp_path_factory.mktemp("evaluated")
    (folder / "reports").mkdir()
    (folder / "reports" / "nike.md").write_text(NIKE)
    (folder / "plan.md").write_text(SECRET)
    with citewell.open(folder / "home") as made:
        made.ingest(folder / "reports")
        made.ingest(folder / "plan.md", acl=["board"])
        yield made


@pytest.fixture(scope="module")
def made(kb: KnowledgeBase) -> Run:
    return evaluate_home(kb, CASES)


def untimed(run: Run) -> bytes:
    return msgspec.json.encode(msgspec.structs.replace(run, timings=run.timings.__class__()))


def value(run: Run, name: str) -> tuple[float | None, int, int]:
    result = run.measure(name)
    assert result is not None
    return result.value, result.n, result.unscored


def test_a_run_says_how_good_the_answers_are(made: Run) -> None:
    outcomes = {outcome.id: outcome for outcome in made.cases}
    assert outcomes["who"].right is True
    assert outcomes["who"].claims[0].citations[0].quote in NIKE
    assert outcomes["revenue"].right is True
    assert outcomes["moon"].decision == "ABSTAIN"
    assert outcomes["moon"].right is True
    assert value(made, "alce_recall")[0] == 1.0
    assert value(made, "relevant_in_top_5") == (1.0, 2, 3)
    assert made.key.top_k == 5
    assert value(made, "recall@10") == (None, 0, 5)
    assert value(made, "wrongly_answered") == (0.0, 1, 1)


def test_every_figure_names_its_maker_and_its_n(kb: KnowledgeBase, made: Run) -> None:
    for result in made.measures:
        assert result.maker
        assert (result.n == 0) == (result.value is None)
    assert "citewell-verifier/1 + citewell-entailer-2 & citewell-judge-1" in {
        result.maker for result in made.measures
    }
    assert made.key.model.startswith("citewell-extractive")
    assert made.key.index == kb.parts.index.version()
    assert made.key.judge.startswith("citewell-verifier/1 + citewell-entailer-2 & citewell-judge-1 sha256:")
    assert any(maker.hash for maker in made.makers)


def test_a_case_is_asked_with_its_groups(made: Run) -> None:
    (plan,) = (outcome for outcome in made.cases if outcome.id == "plan")
    assert "plan.md" in {found.document_id for found in plan.passages}
    others = [outcome for outcome in made.cases if outcome.id != "plan"]
    assert all(found.document_id != "plan.md" for outcome in others for found in outcome.passages)


def test_a_span_that_stands_nowhere_is_unscored_with_its_reason(made: Run) -> None:
    (slip,) = (outcome for outcome in made.cases if outcome.id == "slip")
    assert slip.right is None
    assert "does not hold" in slip.scores["nDCG@10"].reason


def test_a_run_repeats_but_for_its_timings(kb: KnowledgeBase, made: Run) -> None:
    again = evaluate_home(kb, CASES)
    assert untimed(again) == untimed(made)
    assert {t.request_id for t in again.timings.cases.values()}.isdisjoint(
        t.request_id for t in made.timings.cases.values()
    )


def test_a_run_is_in_the_log_and_its_requests_can_be_looked_up(kb: KnowledgeBase, made: Run) -> None:
    entries = [e for e in kb.parts.log.entries(EntryKind.EVALUATION) if e.hash == made.timings.entry]
    assert len(entries) == 1
    body = kb.parts.log.body(entries[0])
    assert body["cases"] == made.key.cases
    assert {one["name"] for one in body["measures"]} == {result.name for result in made.measures}
    timing = made.timings.cases["who"]
    assert kb.audit.record(timing.request_id).user == "evaluation"
    assert {stage.name for stage in timing.stages} >= {"retrieval", "gate", "verification"}
    assert kb.log.check().ok


def test_a_file_is_read_as_it_was_written(made: Run, tmp_path: Path) -> None:
    write_run(made, tmp_path / "deep" / "run.json")
    assert read_run(tmp_path / "deep" / "run.json") == made
    (tmp_path / "other.json").write_text('{"measures": []}')
    with pytest.raises(UsageError, match="not a result of"):
        read_run(tmp_path / "other.json")


def test_a_failing_case_is_unscored_and_the_others_go_on(kb: KnowledgeBase) -> None:
    run = evaluate_home(kb, (Case(id="long", question="x" * 100_000), CASES[0]))
    assert run.cases[0].error.startswith("UsageError")
    assert run.cases[1].right is True
    assert value(run, "coverage") == (1.0, 1, 1)
    assert run.cases[0].scores["coverage"].reason == run.cases[0].error
    # What the documented `assert outcome.right, outcome.why` prints.
    assert run.cases[0].why == run.cases[0].error


def test_nobody_is_called_about_a_question_that_nobody_asked(kb: KnowledgeBase, tmp_path: Path) -> None:
    called = tmp_path / "called"
    with citewell.open(kb.home, config=Config(escalate=f"sh -c 'touch {called}'")) as calling:
        evaluate_home(calling, CASES[2:3])
        assert not called.exists()
        calling.ask(CASES[2].question)
    assert called.exists()


# --- recorded answers -------------------------------------------------------------------------------


def recorded(tmp_path: Path, cases: tuple[Case, ...], *lines: Any, kb: KnowledgeBase | None = None) -> Run:
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
    answers, digest = load_answers(path)
    assembly = kb.parts if kb else Assembly(tmp_path / "none", Config())
    return evaluate_recorded(answers, digest, cases, assembly, kb)


SOURCE = {"id": "reports/nike.md", "text": NIKE}
OTHER = {"id": "other.md", "text": "The lamp of the lighthouse is lit at dusk."}


def test_any_systems_answers_are_judged(tmp_path: Path) -> None:
    right = {
        "id": "who",
        "answer": "Nike was founded in 1964 by Bill Bowerman and Phil Knight in Eugene, Oregon [1].",
        "sources": [SOURCE, OTHER],
        "confidence": 0.9,
    }
    wrong = {
        "id": "moon",
        "answer": "The crew visits Mars [2].",
        "sources": [SOURCE, OTHER],
    }
    run = recorded(tmp_path, CASES[:3], right, wrong)
    by = {outcome.id: outcome for outcome in run.cases}
    assert by["who"].right is True
    assert by["moon"].right is False
    assert by["revenue"].error.startswith("UsageError: no answer was recorded")
    assert value(run, "alce_recall") == (0.5, 2, 1)
    assert value(run, "wrongly_answered") == (1.0, 1, 1)
    assert value(run, "relevant_in_top_5") == (1.0, 1, 1)
    assert value(run, "brier_confidence") == (pytest.approx(0.01), 1, 2)
    assert run.key.answers.startswith("sha256:")


def test_a_refusal_in_words_is_a_refusal(tmp_path: Path) -> None:
    said = {"id": "moon", "answer": "I could not find this in the documents.", "sources": [OTHER]}
    run = recorded(tmp_path, CASES[2:3], said)
    assert run.cases[0].answered is False
    assert value(run, "wrongly_answered") == (0.0, 1, 0)


def test_a_span_in_no_source_was_not_retrieved(tmp_path: Path) -> None:
    lines = [{"id": "who", "answer": "It was lit [1].", "sources": [OTHER]}]
    lines += [{"id": "revenue", "answer": "It was lit [1].", "sources": [OTHER, SOURCE]}]
    run = recorded(tmp_path, CASES[:2], *lines)
    assert [case.scores["recall@10"].points for case in run.cases] == [((0.0,),), ((1.0,),)]


def test_a_recorded_run_names_a_configuration_that_the_log_holds(kb: KnowledgeBase, tmp_path: Path) -> None:
    config = msgspec.structs.replace(
        kb.config, gate=msgspec.structs.replace(kb.config.gate, max_no_answer=0.3)
    )
    with KnowledgeBase(Assembly(kb.home, config)) as other:
        run = recorded(tmp_path, CASES[:1], {"id": "who", "answer": "x [1].", "sources": [OTHER]}, kb=other)
        sealed = [other.parts.log.body(e) for e in other.parts.log.entries(EntryKind.CONFIGURATION)]
    assert run.key.config in {body["config_hash"] for body in sealed}


@pytest.mark.parametrize("source", [NIKE, {"id": "chunk-7", "text": NIKE}])
def test_sources_without_the_ids_of_the_cases_documents_say_nothing_about_retrieval(
    tmp_path: Path, source: Any
) -> None:
    """The right passage under an id of its own is not a miss, and citing it is not a wrong answer."""
    spanned = msgspec.structs.replace(CASES[0], expected="")
    said = {"id": "who", "answer": "Nike was founded in 1964 by Bill Bowerman [1].", "sources": [source]}
    run = recorded(tmp_path, (spanned,), said)
    for name in ("precision@5", "recall@5", "relevant_in_top_5", "right_outcome"):
        assert value(run, name) == (None, 0, 1)
    assert "has the id of a document" in run.cases[0].scores["recall@5"].reason


def test_what_cites_nothing_is_not_cited_for_it(tmp_path: Path) -> None:
    """Both claims are in the source, one cites it: ALCE's recall is one half; without citations zero."""
    first, second = "Nike was founded in 1964 in Eugene.", "The lamp of the lighthouse is lit at dusk."
    half = {"id": "who", "answer": f"{first[:-1]} [1]. {second}", "sources": [first, second]}
    none = {"id": "revenue", "answer": first, "sources": [first]}
    run = recorded(tmp_path, CASES[:2], half, none)
    found = {case.id: {name: score.points for name, score in case.scores.items()} for case in run.cases}
    assert found["who"]["alce_recall"] == ((0.5,),)
    assert found["who"]["alce_precision"] == ((1.0,),)
    assert sorted(found["who"]["citation_recall"]) == [(0.0,), (1.0,)]
    assert found["revenue"]["alce_recall"] == found["revenue"]["alce_precision"] == ((0.0,),)
    assert found["revenue"]["citation_precision"] == ()
    assert found["revenue"]["hallucination_gap"] == ((0.0,),)  # it is supported, although uncited


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["nonsense"], "line 1 is not JSON"),
        (["[1]"], "line 1 is not a JSON object"),
        (['{"answer": "x", "sources": []}'], "line 1 names no case"),
        (['{"id": "a", "answer": "", "sources": []}'] * 2, "line 2: a second answer to 'a'"),
    ],
)
def test_a_file_that_is_no_answers_file_says_so(tmp_path: Path, lines: list[str], told: str) -> None:
    with pytest.raises(UsageError) as caught:
        recorded(tmp_path, CASES[:1], *lines)
    assert told in str(caught.value)


def test_answers_that_an_editor_began_with_a_mark_are_read(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text("\ufeff" + json.dumps({"id": "who", "answer": "x", "sources": []}), encoding="utf-8")
    assert set(load_answers(path)[0]) == {"who"}


def test_a_decision_is_read_in_any_case(tmp_path: Path) -> None:
    run = recorded(
        tmp_path, CASES[2:3], {"id": "moon", "answer": "No.", "sources": [], "decision": "abstain"}
    )
    assert (run.cases[0].error, run.cases[0].answered) == ("", False)


def test_a_confidence_is_a_probability(tmp_path: Path) -> None:
    run = recorded(tmp_path, CASES[:1], {"id": "who", "answer": "x", "sources": [], "confidence": 7})
    assert "<= 1.0" in run.cases[0].error


def test_a_line_of_another_form_costs_its_case_alone(tmp_path: Path) -> None:
    run = recorded(tmp_path, CASES[:1], {"id": "who", "answr": "x", "sources": []})
    assert "did you mean answer?" in run.cases[0].error
