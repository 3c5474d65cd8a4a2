"""A table answers what none of its rows says, with the embedded models."""

from __future__ import annotations

from pathlib import Path

import pytest

import citewell
from citewell.core.records import Decision, Proof

PLANS = """Plan,Price (EUR),Storage (GB),Support
Basic,9,10,mail
Pro,15,100,phone
Team,29,50,phone
Max,49,500,on site
Custom,on request,-,by agreement
"""
SERVICES = """# Our services

We repair and calibrate scales of every make. Send them to the workshop in Graz.

| Service | Lead time (days) | Fee (EUR) |
|---|---|---|
| Calibration | 5 | 80 |
| Repair | 12 | 140 |
| Express repair | 2 | 260 |

## How to reach us

The workshop is open from Monday to Friday. Parcels are accepted until noon, and lorries only by appointment.
"""


@pytest.mark.slow
def test_rows_are_compared_and_every_cell_is_cited(tmp_path: Path) -> None:
    (tmp_path / "plans.csv").write_text(PLANS)
    (tmp_path / "services.md").write_text(SERVICES)
    with citewell.open(tmp_path / "home") as kb:
        kb.ingest(tmp_path / "plans.csv")
        kb.ingest(tmp_path / "services.md")
        for question, told in (
            ("Which plan is the cheapest?", "Basic, 9 (9 < 15 < 29 < 49)"),
            ("Which is cheaper, Basic or Pro?", "Basic, 9 (9 < 15)"),
            (
                "which plans cost less than 20 euros",
                "2 of 5 rows have Price (EUR) of less than 20 euros: Basic 9, Pro 15",
            ),
            (
                "How many plans have at least 100 GB?",
                "2 of 5 rows have Storage (GB) of at least 100 GB: Pro 100, Max 500",
            ),
            ("which service has the shortest lead time", "Express repair, 2 (2 < 5 < 12)"),
        ):
            answer = kb.ask(question)
            assert answer.decision is Decision.ANSWER, (question, answer.text)
            (result,) = [claim for claim in answer.claims if claim.verdict.proof is Proof.COMPUTED]
            assert told in result.text
            if "plan" in question:
                assert "1 row has no single value: Custom" in result.text
                assert {c.quote for c in result.citations} >= {"Basic", "Pro", "Team", "Max"}
