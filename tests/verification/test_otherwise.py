"""What the source says in the claim's place: another direction, doer, year, place or rate; an exception."""

from __future__ import annotations

import pytest

from citewell.verification.otherwise import told_otherwise

REPORT = (
    "Acme reported revenue of $4.2 billion for fiscal 2023, up 12% from $3.75 billion in fiscal 2022. "
    "Operating income fell to $310 million from $402 million. Debt was $1.1 billion and $1.3 billion at the "
    "end of 2023 and 2022, respectively. Some 30,000 customers visit a store each day."
)
LEASE = (
    "The tenant shall give the landlord sixty days' notice. The security deposit shall be returned within "
    "thirty days. Liability is capped at the fees paid, except in cases of gross negligence."
)
QUARTERS = (
    "Net sales for the third quarter of 2022 were $812.4 million compared to $790.1 million for the third "
    "quarter of 2021."
)


@pytest.mark.parametrize(
    ("claim", "premise", "instead"),
    [
        ("Acme's operating income rose in fiscal 2023.", REPORT, "fell"),
        ("Revenue in fiscal 2022 was $4.2 billion.", REPORT, "$3.75 billion"),
        ("Debt was $1.3 billion at the end of 2023.", REPORT, "$1.1 billion"),
        ("Net sales were $790.1 million in the third quarter of 2022.", QUARTERS, "$812.4 million"),
        ("Some 30,000 customers visit a store every week.", REPORT, "each day"),
        ("Interest is 5% per year.", "Interest accrues at 5% per month.", "per month"),
        ("Sales were higher than in the prior year.", "Sales fell to $3 million.", "fell"),
        ("Sales were higher than in 2022.", "Sales fell to $3 million.", "fell"),
        ("Sales grew 5%.", "Sales growth in the year was -5%.", "growth"),
        ("The landlord must give the tenant sixty days' notice.", LEASE, "other way round"),
        ("The landlord pays for repairs.", "The tenant shall pay for repairs.", "of “tenant”"),
        ("Sellers pay a fee of 3%.", "Buyers pay a fee of 3%.", "of “buyers”"),
        ("Fees are borne by the lender.", "Fees are borne by the borrower in every case.", "of “borrower”"),
        ("The deposit must be returned within 60 days.", LEASE, "thirty days"),
        (
            "Liability is capped at the fees paid, including cases of gross negligence.",
            LEASE,
            "except in cases of gross negligence",
        ),
    ],
)
def test_what_the_source_says_instead_is_named(claim: str, premise: str, instead: str) -> None:
    assert instead in told_otherwise(claim, premise)


@pytest.mark.parametrize(
    ("claim", "premise"),
    [
        ("Acme's operating income fell.", REPORT),
        ("Revenue in fiscal 2022 was $3.75 billion.", REPORT),
        ("Revenue rose from $3.75 billion in fiscal 2022 to $4.2 billion in fiscal 2023.", REPORT),
        ("Debt fell from $1.3 billion in 2022 to $1.1 billion in 2023.", REPORT),
        ("Net sales were $790.1 million in the third quarter of 2021.", QUARTERS),
        ("Some 30,000 customers visit a store daily.", REPORT),
        ("The tenant must give the landlord 60 days' notice.", LEASE),
        ("The deposit must be returned within 30 days.", LEASE),
        ("Liability is capped, except in cases of gross negligence.", LEASE),
        ("Sales declined 5%.", "Sales growth in the year was negative 5%."),
        ("Sales grew.", "Sales growth rose from -5% to 3%."),
        ("Interest is 5% per year.", "Interest accrues at 5%, compounded monthly."),
        ("The plan costs $120 a year.", "The plan costs $120, billed monthly."),
        ("Profit fell.", "Profit fell in the spring and rose in the autumn."),
        (
            "Sales in Europe were higher than in Asia.",
            "Sales in Europe fell to $6 million, in Asia to $4 million.",
        ),
        ("Sales may rise.", "Sales fell."),
        ("The renter pays for repairs.", "The tenant pays for repairs."),
        ("The tenant is paid by the landlord.", "The landlord pays the tenant."),
        ("The landlord does not pay for repairs.", "The tenant pays for repairs."),
        ("Return the keys to the landlord.", "The tenant must return the keys."),
        ("The seller received $5 million.", "The buyer paid $5 million."),
        (
            "The landlord pays for repairs.",
            "The tenant pays for repairs. The landlord pays for repairs of the roof.",
        ),
        ("The dog was chased by the cat.", "The cat chased the dog."),
        ("", REPORT),
        ("Acme's revenue rose.", ""),
    ],
)
def test_what_the_source_says_too_is_not_held_against_the_claim(claim: str, premise: str) -> None:
    assert told_otherwise(claim, premise) == ""


GROUPS = (
    "After 24 weeks HbA1c fell by 1.2 points with drug A and by 0.3 points with placebo."
    " Nausea occurred in 18% of patients on drug A and 6% on placebo. Sales rose 5% in Europe and 3% in Asia."
)


@pytest.mark.parametrize(
    ("claim", "instead"),
    [
        ("HbA1c fell by 1.2 points with placebo.", "0.3"),
        ("Nausea occurred in 6% of patients on drug A.", "18%"),
        ("In Asia, sales rose 5%.", "3%"),
    ],
)
def test_a_value_of_another_group_is_told(claim: str, instead: str) -> None:
    assert f"“{instead}” for this" in told_otherwise(claim, GROUPS)


@pytest.mark.parametrize(
    "claim",
    [
        "HbA1c fell by 1.2 points with drug A.",
        "Sales rose 5% in Europe.",
        "In Asia sales rose less than 5%.",
        "Sales rose 5% in Europe, more than in Asia.",
        "European sales rose 5%, ahead of Asia.",
        "European sales rose 5%, unlike those in Asia.",
        "Sales rose 5%.",
    ],
)
def test_a_value_of_its_own_group_is_not(claim: str) -> None:
    assert told_otherwise(claim, GROUPS) == ""


def test_a_value_that_stands_elsewhere_too_is_nobodys_alone() -> None:
    text = "Sales rose 5% in Europe and 3% in Asia. In Asia, costs and sales rose 5% a year later."
    assert told_otherwise("Sales rose 5% in Asia.", text) == ""
