"""Dates and editions are read from labels, not from running text."""

from __future__ import annotations

import pytest

from citewell.core.config import Chunking
from citewell.core.records import Document
from citewell.documents.chunking import chunk_document
from citewell.documents.reading import read_bytes


def read(text: str) -> Document:
    return read_bytes(text.encode(), document_id="a.md")


def dates(text: str) -> dict[str, str]:
    document = read(text)
    names = ("published_at", "effective_at", "expires_at", "signed_at", "edition")
    return {name: found.value for name in names if (found := getattr(document, name)) is not None}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Effective: 1 March 2026", {"effective_at": "2026-03-01"}),
        ("Effective as of 1 July 2025", {"effective_at": "2025-07-01"}),
        (
            "Version: 2.1\nEffective: 1 March 2026\nOwner: HR",
            {"edition": "2.1", "effective_at": "2026-03-01"},
        ),
        ("Version 2.0 | Effective: 1 March 2026 | HR", {"edition": "2.0", "effective_at": "2026-03-01"}),
        (
            "Valid from 1 January 2026 to 31 December 2026",
            {"effective_at": "2026-01-01", "expires_at": "2026-12-31"},
        ),
        ("Prices valid until 31 March 2026", {"expires_at": "2026-03-31"}),
        ("Signed on 3 May 2021", {"signed_at": "2021-05-03"}),
        ("Issued: 12 July 2025", {"published_at": "2025-07-12"}),
        (
            "| Version | Effective date |\n|---|---|\n| 4 | 2 May 2020 |",
            {"edition": "4", "effective_at": "2020-05-02"},
        ),
        ("The tenant may leave once the offer valid until 3 May 2021 has ended.", {}),
        ("Write “Valid until: 31 December 2025” on the offer.", {}),
        ("Interest of 5 % is due if the loan is not repaid by 3 May 2021.", {}),
    ],
)
def test_a_label_says_what_a_date_means(text: str, expected: dict[str, str]) -> None:
    assert dates(f"# Some paper\n\n{text}\n\nMore text follows here.\n") == expected


def test_front_matter_comes_before_the_first_page() -> None:
    text = "---\neffective: 2026-02-01\nexpires: 2027-01-31\nversion: 7\n---\n\nEffective: 1 May 1999\n"
    assert dates(text) == {"effective_at": "2026-02-01", "expires_at": "2027-01-31", "edition": "7"}
    found = read(text).effective_at
    assert found is not None
    assert found.origin == "front matter"


def test_a_date_out_of_running_text_is_a_guess_and_orders_nothing() -> None:
    document = read("# Lease\n\nThe tenant may end the lease as of 3 May 2024 if the shop is closed.\n")
    assert document.published_at is not None
    assert document.published_at.guess
    assert document.dated == ""
    # What --since filters by.
    assert [chunk.published_at for chunk in chunk_document(document, Chunking())] == [""]
