"""``ask``, ``verify`` and the record they leave, end to end with the embedded models."""

from __future__ import annotations

import json

import pytest

from citewell.core.records import Answer, AuditRecord

ASKED = "When was Nike founded and by whom?"
BRIDGE = "# The bridge over the Tagus\n\nThe bridge over the Tagus was opened in {year} by the president."
BRIDGE_ASKED = "In which year was the bridge over the Tagus opened?"


@pytest.fixture(scope="module")
def answered(home, tmp_path_factory):  # type: ignore[no-untyped-def]
    """One answer as printed by ``--json``; asked once per module."""
    from typer.testing import CliRunner

    from citewell.cli import app

    words = ["--home", str(home), "ask", ASKED, "--user", "alice", "--session", "ses_t", "--json"]
    return CliRunner().invoke(app, words)


def test_json_alone_is_on_standard_output(answered) -> None:  # type: ignore[no-untyped-def]
    import msgspec

    answer = msgspec.json.decode(answered.stdout, type=Answer)
    assert answered.exit_code == 0
    assert answer.decision == "ANSWER"
    assert "1964" in answer.text
    assert all(claim.verdict.status == "VERIFIED" for claim in answer.claims)


def test_every_quote_is_the_source(run, home, answered) -> None:  # type: ignore[no-untyped-def]
    citations = [c for claim in json.loads(answered.stdout)["claims"] for c in claim["citations"]]
    assert citations
    for citation in citations:
        shown = run("--home", home, "documents", "show", citation["document_id"], "--json")
        text = json.loads(shown.stdout)["text"]
        assert text[citation["start"] : citation["end"]] == citation["quote"]


def test_the_record_is_found_shown_and_checked(run, home, answered) -> None:  # type: ignore[no-untyped-def]
    import msgspec

    answer = json.loads(answered.stdout)
    shown = run("--home", home, "audit", "show", answer["request_id"], "--json")
    record = msgspec.json.decode(shown.stdout, type=AuditRecord)
    assert record.user == "alice"
    assert record.shown_response == answer["text"]
    by_user = run("--home", home, "audit", "query", "--user", "alice", "--since", "1d", "--json")
    found = json.loads(by_user.stdout)
    assert [item["request_id"] for item in found["records"]] == [answer["request_id"]]
    assert found["next"] == ""
    citing = run(
        "--home", home, "audit", "query", "--document", "reports/nike.md", "--status", "all-verified"
    )
    assert answer["request_id"] in citing.stdout
    assert json.loads(run("--home", home, "audit", "check", "--json").stdout)["findings"] == []


def test_the_trace_of_a_session(run, home, answered) -> None:  # type: ignore[no-untyped-def]
    result = run("--home", home, "trace", "ses_t", "--json")
    (trace,) = json.loads(result.stdout)["traces"]
    assert trace["query"] == ASKED
    assert {"retrieval", "gate", "generation", "verification"} <= {stage["name"] for stage in trace["stages"]}
    assert run("--home", home, "trace", "ses_none").exit_code == 0


def test_replay_gives_the_same_bits(run, home, answered) -> None:  # type: ignore[no-untyped-def]
    request = json.loads(answered.stdout)["request_id"]
    result = run("--home", home, "audit", "replay", request, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["same"]


def test_the_printed_answer_names_state_span_decision_and_record(run, home) -> None:  # type: ignore[no-untyped-def]
    result = run("--home", home, "ask", ASKED)
    assert result.exit_code == 0, result.output
    for words in ("1964", "verified verbatim", "reports/nike.md", "Answered.", "entailment", "record"):
        assert words in result.stdout


def test_what_no_document_says_is_an_abstention(run, home) -> None:  # type: ignore[no-untyped-def]
    result = run("--home", home, "ask", "Who won the chess olympiad in Lisbon in 1953?")
    assert result.exit_code == 4
    assert "Open: Who won the chess olympiad" in result.stdout
    assert "Not answered." in result.stdout


def test_an_empty_question_is_a_usage_error(run, home) -> None:  # type: ignore[no-untyped-def]
    result = run("--home", home, "ask", "  ")
    assert (result.exit_code, result.stdout) == (2, "")


def test_over_leaves_no_store_behind(run, tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "bridge.txt").write_text(BRIDGE.format(year=1966))
    result = run("ask", BRIDGE_ASKED, "--over", "bridge.txt")
    assert result.exit_code == 0, result.output
    assert "1966" in result.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["bridge.txt"]


def test_over_what_cannot_be_read_is_an_error_and_no_abstention(run, tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(50))
    for path in ("nope", "picture.png", "."):
        result = run("ask", BRIDGE_ASKED, "--over", path)
        assert (result.exit_code, result.stdout) == (1, ""), result.output
        assert "no document could be read" in result.stderr


def test_a_narrowing_that_means_nothing_is_a_usage_error(run, home) -> None:  # type: ignore[no-untyped-def]
    for words, why in (
        (("--since", "yesterday"), "write a date such as 2026-11-21"),
        (("--document", "nope"), "no document with that id"),
    ):
        for command in ("ask", "search"):
            result = run("--home", home, command, ASKED, *words)
            assert (result.exit_code, result.stdout) == (2, "")
            assert why in result.stderr


def test_over_tells_what_was_left_out_of_a_file(run, tmp_path) -> None:  # type: ignore[no-untyped-def]
    page = f"<!doctype html><p>{BRIDGE.format(year=1966)}</p><p>The bridge is <s>closed</s> open.</p>"
    (tmp_path / "bridge.html").write_text(page)
    result = run("ask", BRIDGE_ASKED, "--over", "bridge.html")
    assert "struck-out elements left out: 1" in result.stderr


def test_a_citation_of_the_past_survives_a_new_version(run, tmp_path) -> None:  # type: ignore[no-untyped-def]
    source = tmp_path / "bridge.txt"
    source.write_text(BRIDGE.format(year=1966))
    run("ingest", "bridge.txt")
    first = json.loads(run("ask", BRIDGE_ASKED, "--json").stdout)
    source.write_text(BRIDGE.format(year=1967))
    assert "1 updated" in run("ingest", "bridge.txt").stdout
    second = json.loads(run("ask", BRIDGE_ASKED, "--json").stdout)
    assert "1966" in first["text"]
    assert "1967" in second["text"]
    assert run("audit", "check").exit_code == 0
    assert run("audit", "replay", first["request_id"]).exit_code == 0


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("The bridge opened in 1966 [1].", 0),
        ("The bridge opened in 1966 [1]. It was painted by seven sailors from Porto [1].", 3),
        ("The bridge opened in 1966 [7].", 5),
    ],
)
def test_verify_files(run, tmp_path, answer, code) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "answer.txt").write_text(answer)
    (tmp_path / "source.md").write_text("# Bridges\n\nThe bridge opened in 1966 and is painted red.")
    result = run("verify", "--answer", "answer.txt", "--source", "source.md", "--json")
    assert result.exit_code == code, result.output
    assert set(json.loads(result.stdout)) == {"claims", "supported", "hallucination_gap", "report", "notes"}
    assert not (tmp_path / ".citewell").exists()


def test_verify_lines(run, tmp_path) -> None:  # type: ignore[no-untyped-def]
    line = {"id": "a", "answer": "The bridge opened in 1966 [1].", "sources": ["The bridge opened in 1966."]}
    (tmp_path / "in.jsonl").write_text(json.dumps(line) + "\n\nnonsense\n" + json.dumps(line | {"id": "b"}))
    result = run("verify", "--jsonl", "in.jsonl")
    assert result.exit_code == 2
    assert [json.loads(out)["id"] for out in result.stdout.splitlines()] == ["a", "b"]
    assert result.stderr.startswith("line 3: ")


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_verify_without_a_line_is_no_pass(run, tmp_path, text) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "in.jsonl").write_text(text)
    result = run("verify", "--jsonl", "in.jsonl")
    assert (result.exit_code, result.stdout) == (3, "")
    assert "nothing to check" in result.stderr


def test_verify_names_the_source_that_cannot_be_read(run, tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "answer.txt").write_text("The bridge opened in 1966 [1].")
    (tmp_path / "good.txt").write_text("The bridge opened in 1966.")
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "folder").mkdir()
    for bad, why in (
        ("empty.txt", "the file is empty"),
        ("folder", "it is a folder: name a regular file"),
        ("nope", "no such file"),
    ):
        result = run("verify", "--answer", "answer.txt", "--source", "good.txt", "--source", bad)
        assert result.exit_code == 2, result.output
        assert result.stderr.startswith(f"error: {bad}: ")
        assert why in result.stderr
        assert "folder of files" not in result.stderr


@pytest.mark.parametrize("words", [[], ["--answer", "none.txt"], ["--answer", "none.txt", "--source", "x"]])
def test_verify_without_anything_to_verify(run, words) -> None:  # type: ignore[no-untyped-def]
    result = run("verify", *words)
    assert (result.exit_code, result.stdout) == (2, "")


def test_a_pass_that_cannot_be_assembled_is_on_record(run, home, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("CITEWELL_EXTRACTOR", "nonsense")
    result = run("--home", home, "ask", ASKED, "--user", "carol")
    assert (result.exit_code, result.stdout) == (1, "")
    monkeypatch.delenv("CITEWELL_EXTRACTOR")
    found = json.loads(run("--home", home, "audit", "query", "--user", "carol", "--json").stdout)
    (record,) = found["records"]
    assert record["failure_reason"] == "assembly_failed"
    assert "nonsense" in record["error"]
    assert record["shown_response"] == ""
