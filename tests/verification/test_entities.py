"""Names in a claim that the evidence lacks."""

from __future__ import annotations

import pytest

from citewell.verification.entities import missing_names, names

HELD = [
    ("Nike sold shares.", "NIKE, Inc. sold shares."),
    ("According to WHO, it spread.", "The World Health Organization said so."),
    ("The World Health Organization said so.", "WHO said so."),
    ("Barack Obama spoke.", "Obama spoke."),
    ("Crayola shifted its focus.", "crayola shifted its focus"),
    ("Beyoncé sang.", "Beyonce sang."),
    ("Nike's revenue", "revenue of Nike"),
    ("Actually, However, the firm grew on Monday in May.", "the firm grew"),
]
MISSING = [
    ("Apple and Google grew.", "Apple grew.", ("Google",)),
    ("Michelle Obama spoke.", "Barack Obama spoke.", ("Michelle Obama",)),
    ("He moved to Bank of America.", "He moved to Citi.", ("Bank of America",)),
    ("It treats COVID-19.", "It treats influenza.", ("COVID-19",)),
    ("The French team won.", "The Spanish team won.", ("French",)),
    ("Adidas sold it.", "Nike sold it.", ("Adidas",)),
]


@pytest.mark.parametrize(("claim", "evidence"), HELD)
def test_an_alias_holds_the_name(claim: str, evidence: str) -> None:
    assert missing_names(claim, evidence) == ()


@pytest.mark.parametrize(("claim", "evidence", "missing"), MISSING)
def test_a_missing_name_is_named(claim: str, evidence: str, missing: tuple[str, ...]) -> None:
    assert missing_names(claim, evidence) == missing


def test_text_in_capitals_has_no_names() -> None:
    assert names("NET REVENUES AND COST OF SALES") == ()
