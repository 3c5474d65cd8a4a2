"""Two editions of one paper, with the embedded models: the older is told with the newer."""

from __future__ import annotations

from pathlib import Path

import pytest

import citewell
from citewell.core.records import Decision

MEALS = "Employees who travel are paid a meal allowance of {} euros a day. Receipts are not needed.\n"
CARS = """
The company car pool is run by Facilities. Cars are booked a week ahead, are returned with a full tank, and
the logbook is signed by the driver. Damage is reported on the same day, and whoever lends the keys on answers
for it. Private trips are not allowed, nor are trips abroad without the consent of the head of Facilities.
"""
NOTE = "# Note {0}\n\nThe canteen on floor {0} serves soup. The stairs are cleaned on day {0}.\n"


@pytest.mark.slow
def test_an_older_edition_is_told_with_the_newer(tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "2023.md").write_text(f"# Travel policy, edition of 2023\n\n{MEALS.format(45)}{CARS}")
    (papers / "2025.md").write_text(f"# Travel policy, edition of 2025\n\n{MEALS.format(60)}")
    for number in range(6):
        (papers / f"note{number}.md").write_text(NOTE.format(number))
    with citewell.open(tmp_path / "home") as kb:
        kb.ingest(papers)
        answer = kb.ask("What is the meal allowance per day?")
    (conflict,) = answer.conflicts
    assert {side.document_id for side in conflict.sides} == {"papers/2023.md", "papers/2025.md"}
    assert answer.decision is Decision.PARTIAL
    assert "45 euros" in answer.text
    assert "60 euros" in answer.text
