"""What exact code alone may call verbatim, and what it must leave to the entailer."""

from __future__ import annotations

import pytest

from citewell.verification.standing import remark_on, stands_whole


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Smokers are eligible for the discount.", "Non-smokers are eligible for the discount."),
        ("Compliance with this clause is a material breach.",
         "Non-compliance with this clause is a material breach."),
        ("Tenants are covered by the Act.", "Sub-tenants are covered by the Act."),
        ("The product is gluten.", "The product is gluten-free."),
        ("5% growth was reported.", "-5% growth was reported."),
        ("5% growth was reported.", "\u22125% growth was reported."),
        ("The price was 5.", "The price was 5\u20ac."),
        ("Data is unlimited here.", "Data is unlimited here.*"),
    ],
)  # fmt: skip
def test_a_word_or_a_figure_cut_in_two_is_no_statement(claim: str, source: str) -> None:
    assert not stands_whole(claim, source)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The landlord may terminate the lease.",
         "Where the tenant is in arrears, the landlord may terminate the lease."),
        ("The fee is refunded.", "When the course is cancelled, the fee is refunded."),
        ("The fee is refunded.", "Once a refund is granted, and the form is signed, the fee is refunded."),
        ("The fee is refunded.", "As long as the form is signed, the fee is refunded."),
        ("The maximum dose is 10 mg per day.", "For children under 12, the maximum dose is 10 mg per day."),
        ("Mortality was 12%.", "In the placebo arm, mortality was 12%."),
        ("Revenue was $5 million.", "In 2019, revenue was $5 million."),
        ("Revenue was $5 million.", "At Beta Corp, revenue was $5 million."),
        ("The tenancy is monthly.", "Absent a written agreement, the tenancy is monthly."),
        ("The judge was biased.", "In the appellant's submission, the judge was biased."),
        ("The judge was biased.", "The witness testified that he lied, and the judge was biased."),
        ("Revenue was $5 million.", "In 2019 costs rose, and revenue was $5 million."),
        ("Beta has closed.", "The firm that owned Acme, and Beta has closed."),
        ("Costs fell in May.", "Costs rise when it rains, and costs fell in May."),
    ],
)  # fmt: skip
def test_what_stands_before_may_turn_a_statement(claim: str, source: str) -> None:
    assert not stands_whole(claim, source)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The drug is safe.", "The drug is safe, though not in children under six."),
        ("All items are returnable.", "All items are returnable, save for sale items."),
        ("Growth was 5%.", "Growth was 5%, before restatement to 2%."),
        ("The judge awarded $5 million.", "The judge awarded $5 million, but that was reversed on appeal."),
        ("The judge awarded $5 million.", "The judge awarded $5 million, and the award was reversed."),
        ("The supplier is liable for loss.",
         "The supplier is liable for loss; provided, however, that such liability is capped."),
        ("The tenant pays the rates.", "The tenant pays the rates; this clause has been deleted."),
        ("The tenant pays the rates.", "The tenant pays the rates; the opposite is true."),
        ("The tenant pays the rates.", "The tenant pays the rates; or does it."),
        ("Entry is free.", "Entry is free, while stocks last."),
        ("Sales were $5 million.", "Sales were $5 million, and costs were $6 million, respectively."),
    ],
)  # fmt: skip
def test_what_stands_behind_may_turn_a_statement(claim: str, source: str) -> None:
    assert not stands_whole(claim, source)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The reserves are fully funded.", 'Smith told the board: "The reserves are fully funded."'),
        ("The reserves are fully funded.", 'Smith wrote "The reserves are fully funded."'),
        ("The reserves are fully funded.", "\u201cThe reserves are fully funded.\u201d Smith said so."),
        ("The reserves are fully funded.",
         'Smith told the board: "We did well. The reserves are fully funded. Costs fell."'),
        ("The reserves are fully funded.", '"The reserves are fully funded. Costs fell," said Smith.'),
        ("The reserves are fully funded.",
         "Smith told the board: \u2018We did well. The reserves are fully funded.\u2019"),
        ("The policy covers flood damage.", "Common myths\nThe policy covers flood damage."),
        ("He is guilty of fraud.", "The prosecution's case: he is guilty of fraud."),
        ("The policy covers flood damage.", "Myth: the policy covers flood damage. Fact: it does not."),
        ("The warranty covers water damage.", "The warranty covers water damage? No."),
        ("Does the warranty cover damage?", "Does the warranty cover damage?"),
        ("The warranty covers water damage.", "The warranty covers water damage, and it lasts, right?"),
    ],
)  # fmt: skip
def test_a_report_a_myth_and_a_question_state_nothing(claim: str, source: str) -> None:
    assert not stands_whole(claim, source)


WARRANTY = (
    "We do not warrant that:\n- the service is free of errors;\n- the data will be secure at all times;"
)
DEFAULTS = (
    "Each of the following would be an Event of Default:\n"
    "The Borrower fails to pay.\nThe Borrower becomes insolvent.\nThe Guarantor has died.\n"
)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The service is free of errors.", WARRANTY),
        ("The data will be secure at all times.", WARRANTY),
        ("The data will be secure at all times.", WARRANTY.replace("- ", "")),
        ("The Borrower fails to pay.", DEFAULTS),
        ("The Guarantor has died.", DEFAULTS.replace("\n", " ")),
        ("The Guarantor has died.", DEFAULTS),
        ("The Guarantor has died.", "(b) the Borrower becomes insolvent; or\n(c) the Guarantor has died."),
        (
            "The data will be secure.",
            "We do not warrant that: 1. The site is free. 2. The data will be secure.",
        ),
        ("The policy covers fire.", "Myths:\n- The policy covers floods.\n- The policy covers fire."),
    ],
)
def test_an_item_is_no_better_than_the_words_that_lead_up_to_it(claim: str, source: str) -> None:
    assert not stands_whole(claim, source)


@pytest.mark.parametrize(
    "source",
    [
        "Revenue was $5 million.",
        "Revenue was $5 million",
        "- Revenue was $5 million.",
        "\u2022 Revenue was $5 million",
        "(b) Revenue was $5 million.",
        "**Revenue was $5 million.**",
        "\u201cRevenue was $5 million.\u201d",
        "(Revenue was $5 million.)",
        "Costs fell. Revenue was $5 million. It rose.",
        "The year was good: costs fell.\nRevenue was $5 million. It rose.",
        "Highlights:\n- Costs fell.\n- Revenue was $5 million.",
        "We do not warrant that:\n- the data will be secure.\n\nResults\nRevenue was $5 million.",
        "The tenants' rent rose; Nike's did not. The firm 's costs fell. Revenue was $5 million.",
        "Three units grew: Acme, Beta and Gamma. Revenue was $5 million.",
        'The pipe is 12" wide. Revenue was $5 million.',
    ],
)
def test_a_whole_sentence_stays_proven(source: str) -> None:
    assert stands_whole("Revenue was $5 million.", source)


@pytest.mark.parametrize(
    "sentence",
    [
        "In 2019, revenue was $5 million, though not in France.",
        "\u201cCitewell\u201d is a tool.",
        'The pipe is 12" wide.',
        "Smith told the board: \u201cThe reserves are fully funded.\u201d",
        "We do not warrant that:\n- the data will be secure.",
        "Net revenue\t1,577\t1,373",
        "The plan has: a) one part, b) another (small) part.",
    ],
)
def test_a_sentence_said_whole_with_all_that_turns_it_is_proven(sentence: str) -> None:
    assert stands_whole(sentence, f"Costs rose in the year.\n{sentence}\nIt was so.")


def test_words_that_lead_up_to_sentences_may_open_the_text() -> None:
    text = "If either occurs: The borrower fails to pay. The lender loses its licence."
    assert not stands_whole("The lender loses its licence.", text)


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        (
            "You have severe liver disease.",
            "## Do not take Norvetal\n- You are pregnant.\n- You have severe liver disease.",
        ),
        ("Your skin turns yellow.", "## Tell your doctor if\n- Your skin turns yellow."),
        (
            "The tenant sublets the flat without consent.",
            "Any of the following is a default\n(a) The tenant sublets the flat without consent.",
        ),
        ("Damage by frost is insured.", "## What is not covered\n- Damage by frost is insured."),
        ("The vaccine causes infertility.", "# Myths about the vaccine\n\nThe vaccine causes infertility."),
        ("Notice is thirty days.", "Superseded version (valid until 2021)\nNotice is thirty days."),
        ("The dose is 25 mg.", "### Patients with kidney disease\nThe dose is 25 mg."),
        ("The sea rises by a metre.", "**Scenario B (2040)**\n\nThe sea rises by a metre."),
        (
            "The store opens at 8 on Sundays.",
            "The store opens at 8 on Sundays. This rule was withdrawn in June.",
        ),
        ("The lamp is waterproof.", "The lamp is waterproof. That is false."),
        ("Delivery is free.", "Delivery is free. This applies only to orders over 50 euros."),
        ("The drug is safe.", "1. The drug is safe. (False)"),
        ("The hose is too short.", "The hose is too short. What can I do?"),
        ("Demand falls by half.", "Suppose prices double. Demand falls by half."),
        ("The well is dry.", "# Common false rumours\n\n## The well\n\nThe well is dry."),
        ("The well is dry.", "Imagine the following. The pump fails. The well is dry."),
        ("The well is dry.", "# A game\n\nImagine the following.\n\nThe pump fails.\n\nThe well is dry."),
        ("The well is dry.[^1]", "The well is dry.[^1]\n\nIt is old.\n\n[^1]: Rejected by the board."),
        ("The well is dry.¹", "The well is dry.¹\nIt is old.\n¹ Rejected by the board.\n"),
        ("The well¹ is dry.", "The well¹ is dry. It is old.²\n¹ Rejected by the board.\n² See page 3.\n"),
    ],
)
def test_what_stands_around_a_sentence_may_turn_it(claim: str, text: str) -> None:
    assert not stands_whole(claim, text)


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("The dose is 25 mg.", "### Dosage\nThe dose is 25 mg."),
        ("Rent is paid monthly.", "4. Rent\n\nRent is paid monthly. It is sent to the landlord."),
        ("Net sales rose.", "Results of operations\nNet sales rose. This was the third rise in a row."),
        ("Files are read by content.", "### Documents\n\n- Pages are kept.\n- Files are read by content."),
        ("Files are read by content.", "## How files are read\n\n- Files are read by content."),
        ("Drafts are kept for a week.", "## Drafts\n\nDrafts are kept for a week."),
        ("Revenue rose by 5%.", "Revenue rose by 5%. No dividends were paid in that year."),
        ("Revenue rose by 5%.", "Revenue rose by 5%. Do you want to know more about it?"),
        ("The rule is new.", "The rule is new. It applies to all adults."),
        ("It opened in 1932.", "When did it open?\nIt opened in 1932."),
        ("It opened in 1932.", "It opened in 1932.\nWhen did it close?"),
        (
            "The well is dry.[^1]",
            "The well is dry.[^1]\n\nIt is old.[^2]\n\n[^1]: See page 3.\n[^2]: Rejected.",
        ),
        ("The well is dry.¹", "The well is dry.¹\n¹ See page 3.\nIt is old.¹\n¹ Rejected by the board.\n"),
        ("The well is dry.", "# Wells\n\n## Myths\n\nIt sings.\n\n## Facts\n\nThe well is dry."),
        ("The well is dry.", "# A game\n\nImagine the following.\n\n# Facts\n\nThe well is dry."),
    ],
)
def test_a_plain_heading_or_sentence_turns_nothing(claim: str, text: str) -> None:
    assert stands_whole(claim, text)


@pytest.mark.parametrize(
    ("sections", "whole"),
    [
        (("Harlow", "Common false rumours", "The well"), False),
        (("Common false rumours",), False),
        (("Harlow", "The well"), True),
        (("Dry wells", "The well is dry unless it rains"), False),
    ],
)
def test_headings_far_above_a_sentence_may_turn_it(sections: tuple[str, ...], whole: bool) -> None:
    assert stands_whole("The well is dry.", "The well is dry.", sections) == whole


def test_the_month_of_a_date_in_a_heading_hedges_nothing() -> None:
    for heading in ("Signed on 3 May 2021", "Minutes of May 2026", "Dated 1st May"):
        assert stands_whole(
            "The rent is 1,200 euros.", f"# {heading}\n\nThe rent is 1,200 euros.", (heading,)
        )
    assert not stands_whole("The rent rises.", "# What may come\n\nThe rent rises.", ("What may come",))


def test_a_greeting_introduces_no_list() -> None:
    mail = "Hello Ines,\nthe meeting accepted it. The arena has ordered 60 kegs for the opening.\nGudrun"
    assert stands_whole("The arena has ordered 60 kegs for the opening.", mail)
    listed = "The tenant,\n(a) having paid,\n(b) leaves. The lease ends at once on notice."
    assert not stands_whole("The lease ends at once on notice.", listed)


@pytest.mark.parametrize(
    ("source", "words", "heading"),
    [
        ("Common false rumours\nThe dam was built in 1931.", "Common false rumours", True),
        ("The Herald (satire)\nThe dam was built in 1931.", "The Herald (satire)", True),
        ("The dam was built in 1931[^1].\n[^1]: Rejected by the board.", "Rejected by the board.", False),
        ("The dam was built in 1931. This is wrong.", "This is wrong.", False),
        ("Imagine a town. The dam was built in 1931.", "Imagine a town.", False),
        ("The dam was built in 1931.\nRetracted. All statements above are wrong.",
         "All statements above are wrong.", False),
        ("The dam\nThe dam was built in 1931. It holds.", "", False),
        ("If it rains\nThe dam was built in 1931. Not for swimming.", "", False),
        ("The building plan\nThe dam was built in 1931.", "", False),
    ],
)  # fmt: skip
def test_what_a_source_says_of_its_own_sentence(source: str, words: str, heading: bool) -> None:
    said = "The dam was built in 1931"
    at = source.index(said)
    assert remark_on(source, at, at + len(said)) == (words, heading)
