"""Document text never controls the terminal, and the exit code is the verdict."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.cli import printing
from citewell.cli.answers import print_answer
from citewell.cli.ingest import tell
from citewell.core.errors import CitewellError, LogError, UsageError
from citewell.core.records import (
    Answer,
    Claim,
    ConfidenceReport,
    Conflict,
    Decision,
    Kind,
    Maker,
    Measure,
    Status,
    Verdict,
)
from citewell.documents.ingesting import FileOutcome, IngestReport

NONE = Measure(value=None, n=0)


def claim(status: Status) -> Claim:
    verdict = Verdict(status=status, reason="r", maker=Maker(name="m"))
    return Claim(text="t", kind=Kind.CITED, answer_start=0, answer_end=1, verdict=verdict)


def answer(decision: Decision, *statuses: Status) -> Answer:
    report = ConfidenceReport(
        retrieval_score=NONE,
        coverage_score=NONE,
        entailment_score=NONE,
        consistency_score=NONE,
        weights={},
        overall=None,
        hallucination_gap=NONE,
        decision=decision,
    )
    return Answer(
        request_id="req_1",
        session_id="ses_1",
        question="q",
        text="t",
        claims=tuple(map(claim, statuses)),
        passages=(),
        confidence=report,
        decision=decision,
    )


@given(st.text(st.characters(codec="utf-8")))
def test_no_control_character_survives(text: str) -> None:
    shown = printing.visible(text)
    assert all(character.isprintable() or character in "\n\t" or ord(character) > 0x9F for character in shown)
    assert "\x1b" not in shown
    assert "\u202e" not in shown


def test_ordinary_text_is_left_alone() -> None:
    text = "Café [bold]50 %[/bold] — 日本語 👍\n\tcell"
    assert printing.visible(text) == text


def test_escape_sequences_are_written_out(capsys: pytest.CaptureFixture[str]) -> None:
    printing.say("\x1b]0;owned\x07 \x9b31m")
    assert capsys.readouterr().out == "\\x1b]0;owned\\x07 \\x9b31m\n"


def test_json_means_the_same_and_obeys_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"text": "a\x1b[2J\x9b\u202eb\n"}
    printing.say_json(value)
    out = capsys.readouterr().out
    assert json.loads(out) == value
    assert "\x9b" not in out
    assert "\u202e" not in out


def test_an_error_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    printing.say_error(CitewellError("it\nbroke", hint="mend\nit"))
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "error: it broke: mend it\n"


@pytest.mark.parametrize(
    ("decision", "statuses", "code"),
    [
        (Decision.ANSWER, [Status.VERIFIED], 0),
        (Decision.PARTIAL, [Status.VERIFIED, Status.UNSUPPORTED], 3),
        (Decision.ABSTAIN, [], 4),
        (Decision.ABSTAIN, [Status.CONTRADICTED], 5),
        (Decision.PARTIAL, [Status.VERIFIED, Status.BROKEN], 5),
    ],
)
def test_exit_code_of_an_answer(decision: Decision, statuses: list[Status], code: int) -> None:
    assert printing.code_of_answer(answer(decision, *statuses)) == code


@pytest.mark.parametrize(
    ("statuses", "code"),
    [
        ([Status.VERIFIED, Status.VERIFIED], 0),
        ([Status.VERIFIED, Status.UNSUPPORTED], 3),
        ([Status.UNCHECKED], 3),
        ([], 3),
        ([Status.UNSUPPORTED, Status.BROKEN], 5),
        ([Status.CONTRADICTED], 5),
    ],
)
def test_exit_code_of_claims(statuses: list[Status], code: int) -> None:
    assert printing.code_of_claims(map(claim, statuses)) == code


@pytest.mark.parametrize(
    ("error", "code"), [(UsageError("u"), 2), (LogError("l"), 1), (CitewellError("c"), 1)]
)
def test_exit_code_of_an_error(error: CitewellError, code: int) -> None:
    assert printing.code_of(error) == code


def test_a_file_of_which_text_is_missing_is_told_apart_from_notes(capsys: pytest.CaptureFixture[str]) -> None:
    """However many files have notes."""
    outcomes = [
        FileOutcome(path=f"{n}.pdf", document_id=f"{n}.pdf", status="added", message="a note")
        for n in range(30)
    ]
    lost = FileOutcome(
        path="lost.pdf",
        document_id="lost.pdf",
        status="added",
        message="characters are missing",
        incomplete=(3,),
    )
    tell(IngestReport(files=(*outcomes, lost), index_version="i"))
    told = capsys.readouterr().err
    assert "incomplete: lost.pdf: characters are missing" in told
    assert "10 more files have notes" in told


def test_an_answer_is_printed_in_the_words_of_the_pages(capsys: pytest.CaptureFixture[str]) -> None:
    conflict = Conflict(about="the year", sides=())
    given = answer(Decision.ABSTAIN, Status.UNSUPPORTED)
    print_answer(msgspec.structs.replace(given, conflicts=(conflict,), missing=("who built it",)))
    told = capsys.readouterr().out
    for words in ("no supporting passage found", "Sources disagree: the year", "Open: who built it"):
        assert words in told
    assert "\nNot answered.\n" in told
    assert "ABSTAIN" not in told
