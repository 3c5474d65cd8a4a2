"""Third-party data sets become cases and answers that our own commands read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from citewell.core.config import Config
from citewell.core.errors import UsageError
from citewell.evaluation.cases import FORMATS, load_answers, load_cases, read_format
from citewell.evaluation.running import evaluate_recorded
from citewell.knowledge.assembly import Assembly

RAGAS = [
    {
        "user_input": "Who built the bridge?",
        "retrieved_contexts": ["Ann Lee built the bridge.", "It opened in 1901."],
        "response": "Ann Lee [1].",
        "reference": "Ann Lee",
    },
    {"user_input": "When did it open?", "reference": "1901"},
]
DEEPEVAL = [
    {
        "input": "Who built the bridge?",
        "actual_output": "Ann Lee.",
        "expected_output": "Ann Lee",
        "retrieval_context": ["Ann Lee built the bridge."],
    }
]


def lines(path: Path, records: list[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def write(tmp_path: Path, name: str) -> Path:
    if name == "ragas":
        return lines(tmp_path / "ragas.jsonl", RAGAS)
    path = tmp_path / f"{name}.json"
    path.write_text(json.dumps(DEEPEVAL))
    return path


def test_ragas_and_deepeval_bring_answers_where_there_are_any(tmp_path: Path) -> None:
    ragas = read_format("ragas", write(tmp_path, "ragas"))
    assert [case.expected for case in ragas.cases] == ["Ann Lee", "1901"]
    assert len(ragas.answers) == 1
    deepeval = read_format("deepeval", write(tmp_path, "deepeval"))
    assert deepeval.cases[0].question == "Who built the bridge?"
    assert deepeval.answers[0]["answer"] == "Ann Lee."


def test_an_empty_answer_is_a_refusal_and_a_missing_one_is_none(tmp_path: Path) -> None:
    said: list[dict[str, object]] = [{"response": ""}, {"response": None}, {}]
    path = lines(
        tmp_path / "said.jsonl", [{"user_input": f"Who is {n}?", **one} for n, one in enumerate(said)]
    )
    found = read_format("ragas", path)
    assert [(line["id"], line["answer"]) for line in found.answers] == [("ragas-00001", "")]
    answers = lines(tmp_path / "answers.jsonl", list(found.answers))
    recorded, _ = load_answers(answers)
    run = evaluate_recorded(recorded, "", found.cases[:1], Assembly(tmp_path / "none", Config()))
    assert (run.cases[0].answered, run.cases[0].error) == (False, "")


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_written_is_what_our_commands_read(tmp_path: Path, name: str) -> None:
    from citewell.cli import app

    path, out, answers = write(tmp_path, name), tmp_path / "cases.jsonl", tmp_path / "answers.jsonl"
    has_answers = bool(read_format(name, path).answers)
    options = ["--answers", str(answers)] if has_answers else []
    made = CliRunner().invoke(
        app,
        ["eval", "import", name, str(path), "--out", str(out), *options],
    )
    assert made.exit_code == 0, made.output
    cases = load_cases(out)
    assert len(cases) >= 1
    if has_answers:
        recorded, _ = load_answers(answers)
        assert not any(one.problem for one in recorded.values())
        assert set(recorded) <= {case.id for case in cases}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("ragas", json.dumps(DEEPEVAL), "has no 'user_input'; it has 'input'"),
        ("deepeval", "not json", "is not JSON"),
        ("ragas", "[]", "contains no ragas cases"),
        ("ragas", '["text"]', "Expected `object`"),
        ("ragas", '[{"user_input": [{"content": "hi"}]}]', "is a conversation"),
        (
            "ragas",
            '[{"user_input": "a", "response": "b", "retrieved_contexts": [1]}]',
            "retrieved_contexts: Expected",
        ),
        ("deepeval", "[" * 100_000, "an array of JSON objects"),
        ("nonsense", "{}", "one of ragas, deepeval"),
    ],
)
def test_a_wrong_file_is_one_error_that_says_what_it_should_be(
    tmp_path: Path, name: str, content: str, said: str
) -> None:
    path = tmp_path / "file.json"
    path.write_text(content)
    with pytest.raises(UsageError, match=said):
        read_format(name, path)


def test_two_records_of_one_id_are_refused(tmp_path: Path) -> None:
    path = lines(tmp_path / "r.jsonl", [{"id": "1", "user_input": "a"}, {"id": "1", "user_input": "b"}])
    with pytest.raises(UsageError, match="more than one record '1'"):
        read_format("ragas", path)
