"""Where a sentence is cut, and where it must not be."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.verification.claims import split_sentence

CUT = [
    (
        "Apple bought Beats in 2014 and sold its stake in ARM.",
        ["Apple bought Beats in 2014.", "Apple sold its stake in ARM."],
    ),
    (
        "Revenue was $5 million and profit was $2 million.",
        ["Revenue was $5 million.", "Profit was $2 million."],
    ),
    (
        "According to the documents, sales were $5 and costs were $3.",
        ["According to the documents, sales were $5.", "Costs were $3."],
    ),
    (
        "Sales were $5 per share and costs were $3 per share.",
        ["Sales were $5 per share.", "Costs were $3 per share."],
    ),
    (
        "In 2018, Nike bought Converse and sold Umbro.",
        ["In 2018, Nike bought Converse.", "In 2018, Nike sold Umbro."],
    ),
    ("Nike paid $5; Adidas paid $6.", ["Nike paid $5.", "Adidas paid $6."]),
    (
        "Nike, which was founded in 1964, reported revenue of $5.",
        ["Nike was founded in 1964.", "Nike reported revenue of $5."],
    ),
    (
        "The plant was built in 1990 and acquired by Shell in 2001.",
        ["The plant was built in 1990.", "The plant was acquired by Shell in 2001."],
    ),
    (
        "The report was published in May, and the workers were fired.",
        ["The report was published in May.", "The workers were fired."],
    ),
    (
        "Acme opened stores located in Ohio, and Beta sold hats.",
        ["Acme opened stores located in Ohio.", "Beta sold hats."],
    ),
    (
        "In the placebo arm, 12 patients died and 3 patients were lost to follow-up.",
        ["In the placebo arm, 12 patients died.", "In the placebo arm, 3 patients were lost to follow-up."],
    ),
    (
        "In 2023, revenue was $5 million, and profit was $1 million.",
        ["In 2023, revenue was $5 million.", "In 2023, profit was $1 million."],
    ),
    (
        "In 2023 revenue was $5 million; profit was $1 million.",
        ["In 2023 revenue was $5 million.", "In 2023 profit was $1 million."],
    ),
    (
        "On May 5, 2020, in Texas, Acme sold Beta, and Gamma bought Delta.",
        ["On May 5, 2020, in Texas, Acme sold Beta.", "On May 5, 2020, in Texas, Gamma bought Delta."],
    ),
    (
        "Excluding China, sales rose 5%, but costs fell 3%.",
        ["Excluding China, sales rose 5%.", "Excluding China, costs fell 3%."],
    ),
    (
        "For children under 12, the dose is 5 mg and the maximum dose is 20 mg.",
        ["For children under 12, the dose is 5 mg.", "For children under 12, the maximum dose is 20 mg."],
    ),
    (
        "Possibly, Acme owns Beta, and Gamma owns Delta.",
        ["Possibly, Acme owns Beta.", "Possibly, Gamma owns Delta."],
    ),
    (
        "However, revenue was $5 million, and profit was $1 million.",
        ["However, revenue was $5 million.", "Profit was $1 million."],
    ),
    (
        "Apple, Google and Microsoft sold shoes, and Nike sold hats.",
        ["Apple, Google and Microsoft sold shoes.", "Nike sold hats."],
    ),
    (
        "Over 500 people worked there in May, and 20 people were fired in June.",
        ["Over 500 people worked there in May.", "20 people were fired in June."],
    ),
    (
        "The plant only makes tyres, and is closed on Sundays.",
        ["The plant only makes tyres.", "The plant is closed on Sundays."],
    ),
    (
        "He was rushed to hospital but died from massive bleeding.",
        ["He was rushed to hospital.", "He died from massive bleeding."],
    ),
    (
        "Sales rose 5% to $3 million, while costs decreased 2%.",
        ["Sales rose 5% to $3 million.", "Costs decreased 2%."],
    ),
]
WHOLE = [
    "According to Reuters, the plant closed in May and the workers were fired.",
    "The plant closed in May, according to Reuters; the workers were fired.",
    "In the view of the board, sales fell in May and costs rose.",
    "In the view of the board sales fell in May, and costs rose.",
    "Sales fell in May in the board's opinion, and costs rose.",
    "Per Reuters, the plant closed in May and the workers were fired.",
    "The plant closed in May per Reuters and the workers were fired.",
    "The company denied that sales fell and that costs rose.",
    "He said that sales fell and costs rose.",
    "If rates rise, debt falls and equity grows.",
    "Sales of shoes and apparel were $5.",
    "The firm sells shoes and related services.",
    "Revenue rose between 2018 and 2019.",
    "Apple, Google, and Microsoft reported earnings.",
    "In 2013, White recorded and produced an album.",
    "He did not win the race and lost his sponsor.",
    "Both Nike and Adidas grew in 2018.",
    "Nike and Adidas had revenue of $5 and $6, respectively.",
    'He wrote "it rains and it pours" in May.',
    "The firm that sells shoes and owns Converse grew.",
    "Sales rose because Nike opened stores and Adidas closed some.",
    "Acme sold Beta, which makes tyres, in 2019.",
    "Smith sold the house to Jones, who lives in Paris, for $5 million.",
    "In the placebo arm, doctors used Placebex, which was tolerated well.",
    "The fee is waived, and the deposit is returned if the guest cancels.",
    "The plant closed in May and the workers were fired, according to Reuters.",
    "The plant closed in May, and the workers were fired, the company said.",
    "Acme, a supplier of Nike, paid bribes, critics say.",
    "Revenue was $5 and profit was $2 in 2018 and 2019, respectively.",
    "Few patients had fever and were treated.",
    "Revenue was $5 million in 2023 and profit was $1 million.",
    "Revenue was $5 million and profit was $1 million in 2023.",
    "Sales in France rose 5%, and costs fell 3%.",
    "12 patients died and 3 patients were lost to follow-up in the placebo arm.",
    "Acme had 500 stores in 2019 and earned $5 million.",
    "Some areas have additional formal and informal rules which include procedures.",
    "It has 500 stores in China, India and Japan.",
    "Most stores are in China, India and Japan.",
    "It operates only in China and Japan.",
    "Acme sold three units to Beta, Gamma and Delta.",
    "The group consists of Acme, Beta and Gamma.",
    "The largest markets are China, India and Japan.",
    "On January 1, 2009, Popeye left copyright in most countries, but remains under it in Texas.",
    "People were told to lock their doors and windows after packages were thrown over the wall.",
    "The driver has created an exhibition and book from pictures he has taken.",
    "It is a commercial, economic, and financial embargo imposed by Rome on Gaul.",
    "Dean won Best Actor at the Eindhoven Film Festival and Hyperwave Film Awards for his work.",
    "The club had a record of 13 (achieved in 2015) and a position of 12 (achieved in 2014).",
    "The wards were closed and the nurses were sent home, the minister for health and care has said.",
    "Smith testified he had seen the car, and the jury was told.",
    "They live in the Atlantic, Indian, and Pacific Oceans.",
    "Context can shape our beliefs about the world and our previous experiences with it.",
    "The actors were given less, meaning Ann and Bob had their salaries reduced.",
    "He was good in 2016, and his speed and dynamism has been missed.",
    "It was a disaster \u2013 thousands and thousands of lives were lost.",
    "He questioned the sense behind the war and that behind being called up.",
    "It is possible Acme lied, and Beta paid bribes.",
    "It appears Acme lied, and Beta paid bribes.",
    "Had Acme paid, the debt was settled, and the lien was released.",
    "Possibly Acme owns Beta, and Gamma owns Delta.",
    "Only in Texas, the fee is waived, and the deposit is returned.",
    "To raise cash, Acme sold Beta, and Gamma sold Delta.",
    "For $5 million, Acme sold Beta, and Gamma sold Delta.",
    "With 500 stores, Acme sells shoes, and Beta sells hats.",
    "In 2019, Acme sold Beta, and Gamma is the largest unit.",
    "In 2019, Acme sold Beta, and Gamma bought Delta in 2021.",
    "In 2018, Nike bought Converse and later sold Umbro.",
    "In 2018, Nike bought Converse and sold Umbro in 2020.",
    "In 2019 Acme, which makes tyres, sold Beta.",
    "Only Acme, which makes tyres, sold Beta.",
    "Critics allege Acme lied, and Beta paid bribes.",
    "Critics say: Acme lied, and Beta paid bribes.",
    "Analysts estimate revenue was $5 million, and profits were $1 million.",
    "Acme announced it had closed the plant, and the workers were fired.",
    "The study shows sales fell, and costs rose.",
    "The board warned sales were falling; costs were rising.",
    "Regulators found Acme had lied, and Beta was fined.",
    "There is evidence Acme lied, and Beta paid bribes.",
]


@pytest.mark.parametrize(("sentence", "parts"), CUT)
def test_joined_statements_are_taken_apart(sentence: str, parts: list[str]) -> None:
    assert [part.text for part in split_sentence(sentence)] == parts


@pytest.mark.parametrize("sentence", WHOLE)
def test_nothing_is_cut_out_of_a_scope(sentence: str) -> None:
    assert [part.text for part in split_sentence(sentence)] == [sentence]


_WORDS = st.sampled_from(
    [
        "Nike",
        "Adidas",
        "which",
        "who",
        "sold",
        "bought",
        "and",
        ",",
        ";",
        "but",
        "was",
        "were",
        "the",
        "a",
        "CEO",
        "of",
        "in",
        "2018",
        "China",
        "India",
        "it",
        "company",
        "said",
        "if",
        "not",
        "grew",
        "is",
        "(see",
        ")",
        "$5",
    ]
)


@given(st.lists(_WORDS, min_size=1, max_size=25).map(" ".join))
def test_the_stretches_cover_the_sentence_in_order(sentence: str) -> None:
    parts = split_sentence(sentence)
    assert parts[0].start == 0
    assert parts[-1].end == len(sentence)
    for left, right in itertools.pairwise(parts):
        assert left.end == right.start
    assert all(part.text.strip() for part in parts)
