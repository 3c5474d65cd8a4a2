"""Amendments and editions: what a formal statement supersedes, and what it leaves alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.core.config import Sources
from citewell.core.records import Document, Standing, Supersession
from citewell.documents.evidence.sqlite import SqliteEvidence
from citewell.documents.reading import read_bytes
from citewell.documents.statements import read_statements
from citewell.documents.supersession import declare_replacement, resolve, speaks_for

LEASE = """# Lease Agreement, 12 Mill Lane

Signed on 3 May 2021

4.1 The rent is 1,200 euros a month.

4.2 The deposit is three months' rent. It bears no interest.

## 5. Break clause

The tenant may end the lease after two years.

(a) Notice is given in writing.

(b) Notice is given to the landlord's agent.

## 6. Repairs

The landlord repairs the roof.
"""
OTHER = "# Car Park Licence\n\n4.1 A space costs 40 euros.\n\n## 5. Break clause\n\nNone.\n"
AMENDMENT = "# Amendment No. 1 to the Lease Agreement\n\nSigned on 10 February 2026\n\n{}\n"


def papers(**texts: str) -> dict[str, Document]:
    ids = {name: f"{name.replace('_', '-')}.md" for name in texts}
    return {ids[name]: read_bytes(text.encode(), document_id=ids[name]) for name, text in texts.items()}


def found(
    documents: dict[str, Document], given: list[tuple[str, str]] | None = None
) -> tuple[dict[str, tuple[Standing, str, str]], list[str]]:
    """What is finally superseded: its words -> why, from when, by what; and the notes."""
    all_, notes = resolve(
        [read_statements(one) for one in documents.values()], given or [], documents.__getitem__
    )
    told = {
        _words(documents, one): (one.standing, one.from_date, one.by)
        for one in all_
        if one.standing is not Standing.EARLY
    }
    return told, [note for _, note in notes]


def _words(documents: dict[str, Document], one: Supersession) -> str:
    return " ".join(documents[one.what].text[one.start : one.end].split())


@pytest.mark.parametrize(
    ("statement", "words", "standing", "from_date"),
    [
        (
            "Clause 4.1 is deleted.",
            "4.1 The rent is 1,200 euros a month.",
            Standing.DELETED,
            "2026-02-10",
        ),
        (
            "With effect from 1 March 2026, clause 4.1 of the Lease Agreement is replaced by the "
            "following:\n\n4.1 The rent is 1,400 euros a month.",
            "4.1 The rent is 1,200 euros a month.",
            Standing.REPLACED,
            "2026-03-01",
        ),
        (
            "2. Section 6 of the Lease shall read: The tenant repairs the roof.",
            "6. Repairs The landlord repairs the roof.",
            Standing.REPLACED,
            "2026-02-10",
        ),
        (
            "In clause 4.2, the words “three months' rent” are replaced by “4,000 euros”.",
            "4.2 The deposit is three months' rent.",
            Standing.REPLACED,
            "2026-02-10",
        ),
        (
            "Clause 5(b) is hereby deleted as of 5 May 2026.",
            "(b) Notice is given to the landlord's agent.",
            Standing.DELETED,
            "2026-05-05",
        ),
        (
            "The section “Repairs” is deleted in its entirety.",
            "6. Repairs The landlord repairs the roof.",
            Standing.DELETED,
            "2026-02-10",
        ),
    ],
)
def test_a_formal_statement_supersedes_its_clause_alone(
    statement: str, words: str, standing: Standing, from_date: str
) -> None:
    documents = papers(lease=LEASE, parking=OTHER, amendment=AMENDMENT.format(statement))
    assert found(documents) == ({words: (standing, from_date, "amendment.md")}, [])


@pytest.mark.parametrize(
    "statement",
    [
        "Clause 5 is deleted if the tenant agrees.",
        "The parties discussed whether clause 5 is deleted.",
        "Clause 5 was never amended.",
        "The landlord replaces the boiler.",
    ],
)
def test_what_is_no_whole_statement_supersedes_nothing(statement: str) -> None:
    assert found(papers(lease=LEASE, amendment=AMENDMENT.format(statement))) == ({}, [])


@pytest.mark.parametrize("name", ["9.4", "5(c)"])
def test_a_clause_that_is_not_there_is_noted(name: str) -> None:
    told, notes = found(papers(lease=LEASE, amendment=AMENDMENT.format(f"Clause {name} is deleted.")))
    assert told == {}
    assert notes == [f"nothing in this home matches what this names: “Clause {name} is deleted.”"]


def test_a_later_amendment_overtakes_an_earlier_one() -> None:
    first = AMENDMENT.format("Clause 4.1 shall read: The rent is 1,400 euros.")
    second = first.replace("No. 1", "No. 2").replace("2026", "2027").replace("1,400", "1,500")
    told, _ = found(papers(lease=LEASE, one=first, two=second))
    assert told["Clause 4.1 shall read: The rent is 1,400 euros."] == (
        Standing.REPLACED,
        "2027-02-10",
        "two.md",
    )


POLICY = """# Travel Policy

{}

Hotel rooms cost at most {} euros a night. Trains are booked in second class. Receipts are handed in.
"""


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Effective: 1 January 2024", "Effective: 1 January 2026"),
        ("Version: 1.9", "Version: 1.10"),
        ("Date: 1 January 2024", "This policy replaces the Travel Policy of 2024."),
    ],
)
def test_the_older_of_two_editions_is_superseded(older: str, newer: str) -> None:
    told, _ = found(papers(old=POLICY.format(older, 120), new=POLICY.format(newer, 150)))
    ((words, (standing, _, by)),) = told.items()
    assert "120 euros" in words
    assert (standing, by) == (Standing.EDITION, "new.md")


def test_reports_of_two_years_are_no_editions() -> None:
    report = "# Annual Report {}\n\nPublished: 1 March {}\n\nRevenue rose. Costs fell. Nobody was hired.\n"
    assert found(papers(a=report.format(2023, 2024), b=report.format(2024, 2025))) == ({}, [])


def test_papers_of_one_title_that_say_other_things_are_no_editions() -> None:
    head = "# Price List\n\nEffective: 1 January {}\n\n"
    one = head.format(2025) + "Apples, pears, plums, cherries and quinces by the crate.\n"
    two = head.format(2026) + "Steel girders, copper pipes, valves, welding and paint.\n"
    assert found(papers(a=one, b=two)) == ({}, [])


def test_an_older_paper_does_not_replace_a_newer_one() -> None:
    old = POLICY.format("Effective: 1 January 2020\n\nThis policy replaces the Travel Policy.", 90)
    told, _ = found(papers(old=old, new=POLICY.format("Effective: 1 January 2026", 150)))
    assert [by for _, _, by in told.values()] == ["new.md"]


def test_a_title_in_a_list_is_no_statement() -> None:
    paper = "# Policy that is superseded\n\nText.\n"
    assert found(papers(paper=paper, contents="# Contents\n\n- Policy that is superseded\n")) == ({}, [])


def test_anybody_may_say_that_a_paper_is_withdrawn_by_its_whole_title() -> None:
    text = "# Notice\n\nThe {} is hereby withdrawn.\n"
    policy = POLICY.format("Date: 1 January 2024", 120).replace("Travel Policy", "Northwind Travel Policy")
    assert found(papers(old=policy, notice=text.format("Travel Policy"))) == ({}, [])
    told, _ = found(papers(old=policy, notice=text.format("Northwind Travel Policy of 2024")))
    assert [by for _, _, by in told.values()] == ["notice.md"]


def test_a_document_expires_the_day_after_its_last() -> None:
    told, _ = found(papers(offer="# Offer\n\nValid until: 31 December 2025\n\nTyres cost 99 euros.\n"))
    assert [(standing, day) for standing, day, _ in told.values()] == [(Standing.EXPIRED, "2026-01-01")]


def test_front_matter_and_people_name_what_is_superseded() -> None:
    new = "---\nsupersedes: old-note.md, lost.md\n---\n\nThe gate opens at seven.\n"
    documents = papers(old_note="The gate opens at eight.\n", new=new, other="The gate is green.\n")
    told, notes = found(documents, given=[("new.md", "other.md")])
    assert set(told) == {"The gate opens at eight.", "The gate is green."}
    assert notes == ["no document in this home matches the “lost.md” that it supersedes"]


@pytest.mark.parametrize(
    ("by", "what", "ranks", "counts"),
    [
        ("papers/change.md", "papers/lease.md", (), True),
        ("change.md", "lease.md", (), True),
        ("uploads/change.md", "papers/lease.md", (), False),
        ("uploads/change.md", "papers/lease.md", ("papers/=1",), False),
        ("uploads/change.md", "papers/lease.md", ("uploads/=1",), True),
        ("papers/change.md", "papers/lease.md", ("papers/drafts/=-1", "papers/change.md=-1"), False),
        ("uploads/paired.md", "papers/lease.md", (), True),
        ("uploads/paired.md", "papers/lease.md", ("papers/=1",), False),
    ],
)
def test_a_document_speaks_for_its_own_source_or_a_lower_rank_or_as_a_person_said(
    tmp_path: Path, by: str, what: str, ranks: tuple[str, ...], counts: bool
) -> None:
    said = Supersession(
        standing=Standing.DELETED, what=what, what_version="v1", start=0, end=9, by=by, by_version="v2"
    )
    with SqliteEvidence(tmp_path / "evidence.sqlite") as evidence:
        declare_replacement(evidence, "uploads/paired.md", ["papers/lease.md"])
        assert speaks_for(evidence, Sources(ranks=ranks).rank)(said) is counts


def test_a_title_that_retires_its_document_is_believed_of_that_document_alone() -> None:
    old = "# Staff handbook, edition 2022 (superseded by the edition 2024)\n\nHoliday: 24 days.\n"
    new = "# Staff handbook, edition 2024\n\nHoliday: 26 days. Meals: 32 euros. Trains: second class.\n"
    gone = "# WITHDRAWN: Dress code\n\nTies are worn.\n"
    about = "# Guide to withdrawn coins: where to change them\n\nBanks change them.\n"
    told, _ = found(papers(old=old, new=new, gone=gone, about=about))
    assert {words.split("\n")[0][:20]: (standing, by) for words, (standing, _, by) in told.items()} == {
        "Staff handbook, edit": (Standing.EDITION, "new.md"),
        "WITHDRAWN: Dress cod": (Standing.EDITION, ""),
    }
