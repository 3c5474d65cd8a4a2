"""A true number in the wrong row or under the wrong year makes a false claim."""

from __future__ import annotations

import pytest

from citewell.verification.cells import place_numbers, proven_by_cells
from citewell.verification.evidence import lines_of

TABLE = "(In millions)\t2018\t2017\nNet revenue\t1,577\t1,373\nCost of sales\t900\t800"
LINES = lines_of(TABLE)
UNITS = "(In millions)"


@pytest.mark.parametrize(
    ("claim", "misplaced"),
    [
        ("Net revenue was $1,577 million in 2018.", ""),
        ("Net revenue was $1,577 million in 2017.", "under"),
        ("Cost of sales was $1,577 million in 2018.", "row"),
        ("Cost of sales was 800 in 2017.", ""),
        ("Net revenue grew from 1,373 in 2017 to 1,577 in 2018.", ""),
    ],
)
def test_a_number_is_at_its_place_or_it_is_said_where_it_stands(claim: str, misplaced: str) -> None:
    placements = place_numbers(claim, LINES, UNITS)
    assert placements
    assert all(misplaced in p.misplaced for p in placements)
    assert bool(misplaced) == any(p.misplaced for p in placements)


def test_a_cell_proves_a_claim_that_says_nothing_else() -> None:
    assert proven_by_cells("Net revenue in 2018 was $1,577 million.", LINES, UNITS) is not None


@pytest.mark.parametrize(
    "claim",
    [
        "Net revenue in 2018 was $1,577 million because of strong demand.",
        "Net revenue in 2018 was not $1,577 million.",
        "Net revenue in 2017 was $1,577 million.",
        "Net revenue in 2018 was $1,578 million.",
        "Net revenue was high.",
    ],
)
def test_a_cell_does_not_prove_more_than_it_says(claim: str) -> None:
    assert proven_by_cells(claim, LINES, UNITS) is None


def test_a_column_may_say_what_in_another_table_a_row_does() -> None:
    table = (
        "Consumer Health\tPharmaceutical\tMedTech\nAs reported\t5.4%\t3.1%\t12.9%\n"
        "Sales by segment\nMedTech\t$7,788\t$6,898\nPharmaceutical\t$13,731\t$13,317\n"
    )
    lines = lines_of(table)
    assert lines[0].cells == (("5.4%", "Consumer Health"), ("3.1%", "Pharmaceutical"), ("12.9%", "MedTech"))
    assert not place_numbers("MedTech sales grew 12.9%.", lines)[0].misplaced
    assert "As reported" in place_numbers("Pharmaceutical sales grew 12.9%.", lines)[0].misplaced
