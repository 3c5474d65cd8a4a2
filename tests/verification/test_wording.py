"""The model reads the claim's numbers and offices as the source writes them."""

from __future__ import annotations

import pytest

from citewell.verification.wording import as_written


@pytest.mark.parametrize(
    ("claim", "premise", "read"),
    [
        ("It is due in 30 days.", "Payment is due within thirty days.", "It is due in thirty days."),
        (
            "Revenue was 4,200 million dollars.",
            "Revenue came to $4.2 billion.",
            "Revenue was $4.2 billion.",
        ),
        ("Dee Lee is the chief executive.", "CEO Dee Lee resigned.", "Dee Lee is the CEO."),
        ("It fell in Q3 2022.", "It fell in the third quarter of 2022.", "It fell in third quarter 2022."),
    ],
)
def test_equal_things_are_read_in_the_sources_spelling(claim: str, premise: str, read: str) -> None:
    assert as_written(claim, premise) == read


@pytest.mark.parametrize(
    ("claim", "premise"),
    [
        ("It is due in 60 days.", "Payment is due within thirty days."),  # another value
        ("It opened in the 1950s.", "It opened in 1959."),  # agrees, and is not the same
        ("It weighs 5 kg.", "It weighs 5 kg."),
        ("Half of them left.", "50% of them left."),
        ("Dee Lee is the CEO.", "The CEO is Dee Lee; a chief executive may delegate."),
        ("Nothing here.", ""),
    ],
)
def test_the_rest_stays_as_it_is(claim: str, premise: str) -> None:
    assert as_written(claim, premise) == claim
