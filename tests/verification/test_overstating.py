"""Claims that say more than their source."""

from __future__ import annotations

import pytest

from citewell.verification.overstating import find_overstatement
from citewell.verification.words import content_words

MORE = [
    ("Some users like it.", "All users like it.", "“some”"),
    ("The branches in Bergen lend skis.", "All branches lend skis.", "“all”"),
    ("A pass is required for drugs.", "All drugs require a pass.", "“all”"),
    ("A pass is sometimes required there.", "A pass is always required there.", "“always”"),
    ("The pump ran in the tests.", "The pump never failed in the tests.", "“never”"),
    ("Fasting may lower blood sugar.", "Fasting lowers blood sugar.", "“may”"),
    ("The council may approve the bridge in May.", "The council approved the bridge in May.", "“may”"),
    ("Members may bring one guest.", "Members are required to bring one guest.", "“may”"),
    ("The regulator may allow the merger.", "The regulator allowed the merger.", "“may”"),
    ("The group intends to lease two ships.", "The group leases two ships.", "“intend"),
    (
        "Lake Vik is among the deepest of the region.",
        "Lake Vik is the deepest of the region.",
        "“the deepest”",
    ),
    ("It is one of the oldest mills in Sweden.", "It is the oldest mill in Sweden.", "“the oldest”"),
]
NO_MORE = [
    ("Every user likes it.", "All users like it."),
    ("The pump did not fail.", "The pump never failed."),
    ("She was a pilot.", "She was a pilot after all."),
    ("Fasting may lower blood sugar.", "Fasting may lower blood sugar in adults."),
    ("The mill, which may be sold, is in Lund.", "The mill is in Lund."),
    ("In May 2019 the mill closed.", "The mill closed in May 2019."),
    ("May sales rose 5%.", "Sales rose 5% in May."),
    ("You may cancel within 14 days.", "You have the right to cancel within 14 days."),
    ("Members may bring one guest.", "Members are allowed to bring one guest."),
    ("Tickets may be refunded in June.", "Tickets are permitted to be refunded in June."),
    ("Customers may not resell tickets.", "Customers must not resell tickets."),
    ("Customers may not resell tickets.", "Reselling tickets is prohibited for customers."),
    ("Tenants may sublet only with consent.", "Tenants need consent to sublet."),
    ("It is one of the oldest mills and the oldest mill in Lund.", "It is the oldest mill in Lund."),
    ("Lund, by the sea, has one of the oldest mills.", "Lund has one of the oldest mills."),
    ("Two of the five pumps broke down.", "Two pumps broke down."),
    ("", "All users like it."),
]


@pytest.mark.parametrize(("evidence", "claim", "named"), MORE)
def test_what_a_claim_says_beyond_its_source_is_named(evidence: str, claim: str, named: str) -> None:
    assert named in find_overstatement(claim, evidence)


@pytest.mark.parametrize(("evidence", "claim"), NO_MORE)
def test_the_same_in_other_words_is_no_more(evidence: str, claim: str) -> None:
    assert find_overstatement(claim, evidence) == ""


@pytest.mark.parametrize("evidence", [row[0] for row in (*MORE, *NO_MORE) if content_words(row[0])])
def test_no_sentence_says_more_than_itself(evidence: str) -> None:
    assert find_overstatement(evidence, evidence) == ""
