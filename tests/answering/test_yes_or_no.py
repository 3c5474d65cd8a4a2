"""Yes or no first, with the embedded models; the word is a claim like any other."""

from __future__ import annotations

from pathlib import Path

import pytest

import citewell
from citewell.core.records import Status

WARRANTY = """# Warranty terms for new boats

The hull is covered for five years from delivery, engines for two years. Damage by grounding, racing or hire
is not covered. Claims must be made in writing within 30 days of noticing the fault.

# Staff handbook

Dogs are welcome in the office but not in the spray shop. Overtime is approved by the foreman beforehand.
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "word", "quote"),
    [
        ("is racing damage covered", "No.", "racing or hire"),
        ("Are dogs allowed in the office?", "Yes.", "Dogs are welcome"),
    ],
)
def test_the_word_comes_first_verified_and_with_its_quote(
    tmp_path: Path, question: str, word: str, quote: str
) -> None:
    (tmp_path / "papers.md").write_text(WARRANTY)
    with citewell.open(tmp_path / "home") as kb:
        kb.ingest(tmp_path / "papers.md")
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
