"""Editions and amendments, with the embedded models: what is in force answers; the rest is disclosed."""

from __future__ import annotations

from datetime import UTC, datetime
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


LEASE = """# Lease Agreement

Signed on 3 May 2021

4.1 The rent is 1,200 euros a month, payable on the first working day.

## 5. Break clause

The tenant may end the lease after two years by six months' written notice.
"""
AMENDMENT = """# Amendment No. 1 to the Lease Agreement

Signed on 10 February 2026

With effect from 1 March 2026, clause 4.1 of the Lease Agreement is replaced by the following:

4.1 The rent is 1,400 euros a month, payable on the first working day.

Clause 5 (Break clause) is deleted.
"""
RENT, BREAK = "How much is the rent a month?", "When can the tenant end the lease?"


class Clock:
    """Fixed at a day after the amendment."""

    def now(self) -> datetime:
        return datetime(2026, 6, 1, tzinfo=UTC)


@pytest.mark.slow
def test_an_amendment_is_answered_disclosed_dated_and_rechecked(tmp_path: Path) -> None:
    (tmp_path / "lease.md").write_text(LEASE)
    (tmp_path / "change.md").write_text(AMENDMENT)
    with citewell.open(tmp_path / "home", clock=Clock()) as kb:
        kb.ingest(tmp_path / "lease.md")
        before = kb.ask(BREAK)
        assert "after two years" in before.text
        assert before.decision is not Decision.ABSTAIN
        kb.ingest(tmp_path / "change.md")
        rent, ended, then = kb.ask(RENT), kb.ask(BREAK), kb.ask(RENT, as_of="2025-06-01")
        (rechecked,) = [one for one in kb.audit.recheck() if one.request_id == before.request_id]
        assert kb.log.check().ok, kb.log.check()
        kb.withdraw("change.md")
        again = kb.ask(BREAK)
        assert kb.log.check().ok, kb.log.check()
    shown = [claim.text for claim in rent.claims if claim.shown]
    assert any("1,400" in text for text in shown)
    assert not any("1,200" in text for text in shown)
    assert "Not in force since 2026-03-01: “4.1 The rent is 1,200 euros" in rent.text
    assert not any("after two years" in claim.text for claim in ended.claims if claim.shown)
    assert "deleted by “Clause 5 (Break clause) is deleted.” (change.md, 2026-02-10)" in ended.text
    assert any("1,200" in claim.text for claim in then.claims if claim.shown)
    assert rechecked.counts == {"CHANGED": 1}
    assert not rechecked.holds
    assert not again.conflicts
    assert "after two years" in again.text


@pytest.mark.slow
def test_the_monthly_rent_after_an_amendment_is_answered(tmp_path: Path) -> None:
    (tmp_path / "lease.md").write_text(LEASE)
    (tmp_path / "change.md").write_text(AMENDMENT)
    with citewell.open(tmp_path / "home", clock=Clock()) as kb:
        kb.ingest(tmp_path / "lease.md")
        kb.ingest(tmp_path / "change.md")
        answer = kb.ask("What is the monthly rent?")
    assert any("1,400" in claim.text for claim in answer.claims if claim.shown)
