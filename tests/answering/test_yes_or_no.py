"""Yes or no first, with the embedded models; the word is a claim like any other."""

from __future__ import annotations

from pathlib import Path

import pytest

import citewell
from citewell.core.records import Status

WARRANTY = """# Warranty terms for new boats

The hull is covered for five years from delivery, engines for two years. Damage by grounding, racing or hire
is not covered. Claims must be made in writing within 30 days of noticing the fault.
"""
HANDBOOK = """# Staff handbook

## Holidays

Everybody has 27 days of paid leave a year. Up to 5 days may be carried over until 31 March. Leave of more
than two weeks needs the consent of Marta Quill.
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "word", "quote"),
    [
        ("is racing damage covered", "No.", "racing or hire"),
        ("Can I carry over unused leave?", "Yes.", "Up to 5 days"),
    ],
)
def test_the_word_comes_first_verified_and_with_its_quote(
    tmp_path: Path, question: str, word: str, quote: str
) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "warranty.md").write_text(WARRANTY)
    (papers / "handbook.md").write_text(HANDBOOK)
    with citewell.open(tmp_path / "home") as kb:
        kb.ingest(papers)
        answer = kb.ask(question)
        assert kb.log.check().ok
    first = answer.claims[0]
    assert first.text == word
    assert first.verdict.status is Status.VERIFIED
    assert quote in " ".join(first.citations[0].quote.split())
    assert answer.text.startswith(word)


@pytest.mark.slow
def test_a_bare_word_of_any_answer_is_checked_against_the_question() -> None:
    def status(word: str) -> Status:
        report = citewell.verify(f"{word} [1]", [WARRANTY], question="Is racing damage covered?")
        return report.claims[0].verdict.status

    assert status("No.") is Status.VERIFIED
    assert status("Yes.") is not Status.VERIFIED
