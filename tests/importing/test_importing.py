"""Other people's data sets become cases and answers that our own commands read."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from citewell.core.config import Config
from citewell.core.errors import UsageError
from citewell.documents.reading import read_bytes
from citewell.evaluation.cases import load_answers, load_cases
from citewell.evaluation.importing import FORMATS, read_format
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


def beir(folder: Path) -> Path:
    lines(
        folder / "corpus.jsonl",
        [
            {"_id": "d/1", "title": "Bridges", "text": "Ann Lee built the bridge.\nIt opened in 1901."},
            {"_id": "d2", "title": "", "text": "Ferries are slow."},
        ],
    )
    lines(folder / "queries.jsonl", [{"_id": "q1", "text": "Who built it?"}, {"_id": "q2", "text": "Why?"}])
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\nq1\td/1\t2\nq1\td2\t0\nq2\td2\t0\n"
    )
    return folder


def write(tmp_path: Path, name: str) -> Path:
    made = {
        "beir": lambda: beir(tmp_path / "set"),
        "ragas": lambda: lines(tmp_path / "ragas.jsonl", RAGAS),
    }
    if name in made:
        return made[name]()
    path = tmp_path / f"{name}.json"
    path.write_text(json.dumps(DEEPEVAL))
    return path


def test_beir_judges_whole_documents_under_the_ids_that_ingest_gives(tmp_path: Path) -> None:
    found = read_format("beir", write(tmp_path, "beir"), folder="bridges")
    (case,) = found.cases
    assert (case.id, case.question) == ("q1", "Who built it?")
    (span,) = case.spans
    assert span.document == "bridges/d_1.txt"
    text = read_bytes(found.documents[span.document].encode(), document_id=span.document).text
    assert span.quote == text
    assert set(found.documents) == {"bridges/d_1.txt", "bridges/d2.txt"}


def test_a_gzipped_set_reads_like_a_plain_one(tmp_path: Path) -> None:
    plain = beir(tmp_path / "plain")
    packed = tmp_path / "packed"
    (packed / "qrels").mkdir(parents=True)
    for name in ("corpus.jsonl", "queries.jsonl"):
        (packed / f"{name}.gz").write_bytes(gzip.compress((plain / name).read_bytes()))
    (packed / "qrels" / "test.tsv").write_bytes((plain / "qrels" / "test.tsv").read_bytes())
    assert read_format("beir", plain) == read_format("beir", packed)


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
    recorded, _ = load_answers(answers, found.cases)
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
        recorded, _ = load_answers(answers, cases)
        assert not any(one.problem for one in recorded.values())
        assert set(recorded) <= {case.id for case in cases}


def test_documents_are_written_under_the_ids_of_the_spans(tmp_path: Path) -> None:
    from citewell.cli import app

    out, folder = tmp_path / "cases.jsonl", tmp_path / "bridges"
    command = [
        "eval",
        "import",
        "beir",
        str(write(tmp_path, "beir")),
        "--out",
        str(out),
        "--documents",
        str(folder),
    ]
    assert CliRunner().invoke(app, command).exit_code == 0
    for case in load_cases(out):
        for span in case.spans:
            assert (tmp_path / span.document).is_file()
    again = CliRunner().invoke(app, command)
    assert again.exit_code == 2
    assert "not empty" in again.output


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
        ("beir", "{}", "has no corpus.jsonl"),
        ("nonsense", "{}", "one of ragas, deepeval, beir"),
    ],
)
def test_a_wrong_file_is_one_error_that_says_what_it_should_be(
    tmp_path: Path, name: str, content: str, said: str
) -> None:
    path = tmp_path / "file.json"
    path.write_text(content)
    with pytest.raises(UsageError, match=said):
        read_format(name, path)


@pytest.mark.parametrize("score", ["\u00b2", "--1", "1.5", ""])
def test_a_judgement_that_is_no_number_is_one_error(tmp_path: Path, score: str) -> None:
    folder = beir(tmp_path / "set")
    (folder / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\nq1\td2\t{score}\n")
    with pytest.raises(UsageError, match="cannot be read as qrels"):
        read_format("beir", folder)


def test_a_field_without_an_end_is_one_error(tmp_path: Path) -> None:
    folder = beir(tmp_path / "set")
    (folder / "qrels" / "test.tsv").write_text('query-id\tcorpus-id\tscore\n"' + "x" * 200_000)
    with pytest.raises(UsageError, match="cannot be read as qrels"):
        read_format("beir", folder)


def test_two_records_of_one_id_are_refused(tmp_path: Path) -> None:
    path = lines(tmp_path / "r.jsonl", [{"id": "1", "user_input": "a"}, {"id": "1", "user_input": "b"}])
    with pytest.raises(UsageError, match="more than one record '1'"):
        read_format("ragas", path)


def test_a_name_of_the_set_cannot_leave_its_folder(tmp_path: Path) -> None:
    folder = beir(tmp_path / "set")
    lines(folder / "corpus.jsonl", [{"_id": "../../etc/x", "text": "Bad."}, {"_id": "d/1", "text": "Good."}])
    assert set(read_format("beir", folder).documents) == {"beir/_.._etc_x.txt", "beir/d_1.txt"}
