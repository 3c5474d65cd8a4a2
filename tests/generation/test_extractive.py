"""The embedded writer quotes cells and sentences; what it computes from them it calls an inference."""

from __future__ import annotations

import string
from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.core.ports import Candidate, GenerationRequest
from citewell.core.records import Draft, Kind, Maker, Passage
from citewell.generation import ExtractiveGenerator
from citewell.generation.extractive import CELL, ROW
from citewell.models.onnx.reading import OnnxReader
from citewell.questions.aspects import split_aspects

YEARS = ["Year Ended December 31, 2022", "Year Ended December 31, 2021", "Year Ended December 31, 2020"]


@pytest.fixture(scope="module")
def writer() -> ExtractiveGenerator:
    return ExtractiveGenerator(OnnxReader())


def write(writer: ExtractiveGenerator, question: str, *passages: Passage) -> Draft:
    return writer.generate(
        GenerationRequest(question=question, aspects=split_aspects(question), passages=passages)
    )


def exact(draft: Draft, *passages: Passage) -> None:
    """Claims are exact spans of the draft, and quotes exact spans of their chunk."""
    by_id = {passage.chunk.chunk_id: passage.chunk for passage in passages}
    for claim in draft.claims:
        assert draft.text[claim.start : claim.end] == claim.text
        if claim.reasoning:
            continue
        left = claim.text
        for quote in claim.quotes:
            assert quote.text in left
            left = left.replace(quote.text, "", 1)
        for quote in claim.quotes:
            chunk = by_id[quote.source]
            assert quote.start is not None
            assert quote.end is not None
            at = slice(quote.start - chunk.start_offset, quote.end - chunk.start_offset)
            assert chunk.content[at] == quote.text


@pytest.fixture
def cash_flows(pages) -> Passage:
    return pages.table(
        [
            ("Cash flows from operating activities:", []),
            ("Net income", ["1,200", "1,100", "900"]),
            ("Depreciation and amortization", ["310", "300", "280"]),
            ("Net cash provided by operating activities", ["1,950", "1,700", "1,400"]),
            ("Purchases of property, plant and equipment", ["(577)", "(520)", "(498)"]),
            ("Proceeds from sale of property and equipment", ["12", "9", "4"]),
        ],
        YEARS,
        base=4_000,
    )


@pytest.fixture
def balance(pages) -> Passage:
    return pages.table(
        [
            ("Cash and cash equivalents", ["$ 410", "$ 395"]),
            ("Inventories, net", ["222", "201"]),
            ("Total current assets", ["1,010", "980"]),
            ("Property, plant and equipment, net", ["2,300", "2,250"]),
            ("Accounts payable", ["305", "290"]),
            ("Total current liabilities", ["700", "650"]),
        ],
        ["December 31, 2022", "December 31, 2021"],
        table="Consolidated Balance Sheets",
        base=9_000,
    )


@pytest.fixture
def income(pages) -> Passage:
    return pages.table(
        [
            ("Revenue from products", ["3,000", "2,800"]),
            ("Total revenues", ["3,600", "3,300"]),
            ("Cost of sales", ["2,100", "1,990"]),
            ("Operating income", ["640", "600"]),
            ("Diluted earnings per share", ["$2.40", "$2.20"]),
        ],
        ["2022", "2021"],
        table="Consolidated Statements of Operations",
        units="In millions, except per share data",
        base=6_000,
    )


@pytest.mark.parametrize(
    ("question", "label", "cell"),
    [
        (
            "What is the FY2021 capital expenditure amount of Acme?",
            "Purchases of property, plant and equipment",
            "(520)",
        ),
        ("How much capex did Acme have in 2022?", "Purchases of property, plant and equipment", "(577)"),
        ("What was the revenue of Acme in FY2021?", "Total revenues", "3,300"),
        ("What were Acme's COGS in FY2022?", "Cost of sales", "2,100"),
        ("What is Acme's year end FY2021 net PP&E?", "Property, plant and equipment, net", "2,250"),
        ("What is the FY2022 diluted EPS of Acme?", "Diluted earnings per share", "$2.40"),
        ("How much inventory did Acme hold as of December 31, 2021?", "Inventories, net", "201"),
        ("What was Acme's net income in FY2020?", "Net income", "900"),
    ],
)
def test_a_value_is_its_row_and_its_column(
    writer, cash_flows, balance, income, question: str, label: str, cell: str
) -> None:
    draft = write(writer, question, cash_flows, balance, income)
    exact(draft, cash_flows, balance, income)
    assert [quote.text for quote in draft.claims[0].quotes] == [label, cell]
    assert len(draft.claims) == 1
    assert draft.missing == ()
    assert draft.deterministic


def test_the_frame_says_the_column_the_units_and_the_page(writer, cash_flows) -> None:
    draft = write(writer, "What is the FY2021 capex of Acme?", cash_flows)
    lead = draft.text[: draft.claims[0].start]
    assert "“Year Ended December 31, 2021”" in lead
    assert "In millions" in lead
    assert "Consolidated Statements of Cash Flows, page 7" in lead


@pytest.mark.parametrize(
    ("before", "frame"),
    [
        ("", "Shops: Visitors of "),
        ("Branches: ", "Shops › Branches: Visitors of "),
        ("Branches (in hundreds): ", "Shops › Branches: Visitors (in hundreds) of "),
        ("(in hundreds): ", "Shops: Visitors (in hundreds) of "),
        ("Shops: ", "Shops: Visitors of "),
    ],
)
def test_brackets_in_a_head_are_not_the_units_of_the_table(writer, pages, before: str, frame: str) -> None:
    table = pages.table(
        [("Namur", ["233", "4400", "9"])], ["Revenue", "Visitors", "Margin (%)"], title="Shops"
    )
    context = f"Shops\n{before}Revenue | Visitors | Margin (%)"
    chunk = msgspec.structs.replace(table.chunk, context=context, section_path=(), page=None)
    table = msgspec.structs.replace(table, chunk=chunk)
    assert write(writer, "How many visitors did Namur have?", table).text == f"{frame}Namur: 4400"


def test_another_year_is_missing_and_not_filled_from_the_nearest(writer, cash_flows) -> None:
    draft = write(writer, "What is the FY2019 capex of Acme?", cash_flows)
    assert draft.claims == ()
    assert draft.missing == ("What is the FY2019 capex of Acme?",)
    assert draft.text == ""


def test_another_company_is_missing(writer, cash_flows) -> None:
    draft = write(writer, "What is the FY2022 capex of Globex?", cash_flows)
    assert draft.claims == ()
    assert draft.missing


def test_one_companys_question_is_not_answered_from_anothers_filing(writer, pages) -> None:
    other = pages.table(
        [("Capital expenditures", ["(999)"])],
        ["2022"],
        document_id="reports/GLOBEX_2022_10K.pdf",
        title="Globex Inc. 10-K 2022",
        version="sha256:globex",
    )
    mine = pages.table([("Additions to property and equipment", ["(577)"])], ["2022"])
    draft = write(writer, "What is the FY2022 capex of Acme?", other, mine)
    assert draft.claims[0].quotes[1].text == "(577)"


def test_a_ratio_is_worked_out_behind_its_operands(writer, balance) -> None:
    draft = write(writer, "What is the FY2022 working capital ratio of Acme?", balance)
    *operands, result = draft.claims
    assert [claim.quotes[-1].text for claim in operands] == ["1,010", "700"]
    assert {claim.kind for claim in operands} == {Kind.CITED}
    assert len({claim.aspect for claim in operands}) == 2
    assert result.kind is Kind.INFERENCE
    assert result.text == "working capital ratio, FY2022: 1,010 ÷ 700 = 1.44"
    assert result.reasoning == "total current assets, FY2022 ÷ total current liabilities, FY2022"
    assert {quote.text for quote in result.quotes} >= {"Total current assets", "1,010", "700"}
    assert draft.missing == ()
    assert draft.text[result.start : result.end] == result.text


def test_a_difference_keeps_the_unit_of_its_operands(writer, balance) -> None:
    draft = write(writer, "What is the FY2022 net working capital of Acme?", balance)
    assert draft.claims[-1].text == "net working capital, FY2022: 1,010 − 700 = 310"
    assert draft.text.splitlines()[-1].startswith("worked out from the cited values (In millions): ")


def test_an_average_takes_the_year_before(writer, balance, cash_flows, income) -> None:
    question = "What is the FY2022 fixed asset turnover of Acme? Round to one decimal place."
    draft = write(writer, question, balance, cash_flows, income)
    assert draft.claims[-1].text == "fixed asset turnover, FY2022: 3,600 ÷ ((2,250 + 2,300) ÷ 2) = 1.6"


def test_yes_or_no_stays_with_the_reader(writer, income) -> None:
    draft = write(writer, "Did the operating margin of Acme improve in FY2022?", income)
    assert [claim.text.partition(":")[0] for claim in draft.claims if claim.reasoning] == [
        "operating margin, FY2021",
        "operating margin, FY2022",
    ]
    assert draft.missing


def test_nothing_is_worked_out_across_scales(writer, pages) -> None:
    heads = ["December 31, 2022"]
    one = pages.table([("Total current assets", ["1,010"])], heads, table="Consolidated Balance Sheets")
    other = pages.table(
        [("Total current liabilities", ["700,000"])],
        heads,
        table="Consolidated Balance Sheets",
        units="In thousands",
        base=9_000,
    )
    draft = write(writer, "What is the FY2022 working capital ratio of Acme?", one, other)
    assert len(draft.claims) == 2
    assert not any(claim.reasoning for claim in draft.claims)
    assert draft.missing


def test_a_missing_operand_is_named(writer, balance) -> None:
    draft = write(writer, "What is the FY2022 return on assets of Acme?", balance)
    assert "total assets of Acme, FY2022" in draft.missing


def test_the_named_statement_is_preferred(writer, cash_flows, pages) -> None:
    income = pages.table(
        [("Net income", ["1,201"])],
        ["Year Ended December 31, 2022"],
        table="Consolidated Statements of Income",
        base=20_000,
    )
    question = "According to the income statement, what is the FY2022 net income of Acme?"
    assert write(writer, question, cash_flows, income).claims[0].quotes[1].text == "1,201"


def test_a_quarter_is_not_the_year(writer, pages) -> None:
    table = pages.table(
        [("Total revenues", ["900", "1,750"])],
        ["Three Months Ended June 30, 2022", "Six Months Ended June 30, 2022"],
        table="Consolidated Statements of Income",
    )
    assert write(writer, "What was Acme's revenue in FY2022?", table).claims == ()
    second = write(writer, "What was Acme's revenue in Q2 2022?", table)
    assert second.claims[0].quotes[1].text == "900"


def test_two_values_under_one_head_are_trusted_to_none(writer, pages) -> None:
    table = pages.table([("Total revenues", ["$1", "81"])], ["2022", "2022"])
    assert write(writer, "What was Acme's revenue in FY2022?", table).claims == ()


def test_which_is_highest_gives_every_compared_value(writer, pages) -> None:
    table = pages.table(
        [("Total net revenue", ["$12,517", "$14,605", "$(473)"])],
        ["Consumer 2022", "Investment 2022", "Corporate 2022"],
        table="Segment results",
    )
    draft = write(writer, "Which of Acme's segments had the lowest net revenue in 2022?", table)
    assert [claim.quotes[1].text for claim in draft.claims] == ["$12,517", "$14,605", "$(473)"]


def test_a_row_of_an_asked_year_answers_by_its_heads(writer, pages) -> None:
    table = pages.table(
        [("2023", ["1,648", "883"]), ("2024", ["1,097", "862"])],
        ["Pension benefits", "Health care"],
        table="Expected payments to retirees",
    )
    draft = write(writer, "What pension benefits are expected to be paid to retirees of Acme in 2024?", table)
    exact(draft, table)
    assert draft.claims[0].text == "2024 – Pension benefits: 1,097; Health care: 862"


PROSE = (
    "The X1 was introduced in March 2019. It weighs 240 grams without its battery. The case is made of "
    "steel. Retailers sell it in two colours."
)


def test_a_sentence_is_quoted_whole_with_the_one_its_pronoun_needs(writer, pages) -> None:
    passage = pages.text(PROSE, base=77)
    draft = write(writer, "How many grams does the X1 weigh without its battery?", passage)
    exact(draft, passage)
    assert draft.claims[0].text == (
        "The X1 was introduced in March 2019. It weighs 240 grams without its battery."
    )


def test_nothing_that_answers_gives_no_claim(writer, pages) -> None:
    draft = write(writer, "Who chairs the audit committee of the foundation?", pages.text(PROSE))
    assert draft.claims == ()
    assert draft.missing


def test_a_sentence_about_another_ship_is_no_answer(writer, pages) -> None:
    passage = pages.text(
        "The ferry Alcyon leaves at 07:15 from pier 3. The ferry Triton leaves at 09:40 from pier 5.\n"
        "Children under 6 travel free.\n"
        "The captain of the Alcyon is Mara Dietz. Her deputy is Jon Faber."
    )
    assert write(writer, "Who is the captain of the Triton?", passage).claims == ()
    (claim,) = write(writer, "Who is the captain of the Alcyon?", passage).claims
    assert claim.text == "The captain of the Alcyon is Mara Dietz."


def test_headings_questions_and_fragments_are_no_answers(writer, pages) -> None:
    passage = pages.text("Restarting the server\nHow do I restart it?\nrestart the server now please")
    assert write(writer, "How do I restart the server?", passage).claims == ()


def test_an_example_that_repeats_the_question_is_no_answer_to_it(writer, pages) -> None:
    passage = pages.text(
        "What the tour prints:\n$ tool ask 'What did Kelp earn in fiscal year 2031?' and then it says "
        "0.7 [1] at once."
    )
    assert write(writer, "What did Kelp earn in fiscal year 2031?", passage).claims == ()


def test_passages_below_the_threshold_or_set_aside_are_not_read(writer, pages) -> None:
    question = "When was the X1 introduced?"
    passage = pages.text(PROSE)
    assert write(writer, question, passage).claims
    for hidden in (
        msgspec.structs.replace(passage, relevant=False),
        msgspec.structs.replace(passage, set_aside="poison"),
    ):
        draft = write(writer, question, hidden)
        assert draft.claims == ()
        assert draft.missing == (question,)


def test_a_claim_that_failed_stays_out_of_the_stricter_retry(writer, cash_flows) -> None:
    question = "What is the FY2022 capex of Acme?"
    first = write(writer, question, cash_flows)
    again = writer.generate(
        GenerationRequest(
            question=question,
            aspects=(question,),
            passages=(cash_flows,),
            strict=tuple(claim.text for claim in first.claims),
        )
    )
    assert again.claims == ()
    assert again.missing == (question,)
    assert "stricter" in again.notes[0]


def test_the_same_request_gives_the_same_draft(writer, cash_flows, balance, income) -> None:
    question = "What are the FY2022 revenue and inventories of Acme?"
    one = write(writer, question, cash_flows, balance, income)
    assert one == write(ExtractiveGenerator(OnnxReader()), question, cash_flows, balance, income)
    assert one.claims


def test_the_maker_names_the_writer_its_frames_and_its_extractor(writer) -> None:
    assert writer.maker.name.startswith("citewell-extractive/")
    assert OnnxReader().maker.name in writer.maker.name
    assert writer.maker.prompt_hash.startswith("sha256:")


def test_frames_hold_no_word_of_their_own_but_column() -> None:
    own = {
        word.strip(string.punctuation + "“”")
        for prompt in (CELL, ROW)
        for word in prompt.text.split()
        if "$" not in word
    }
    assert own - {""} <= {"column"}


LABELS = (
    st.text(alphabet=string.ascii_letters + " ,()&-’éß", min_size=1, max_size=40).map(str.strip).filter(bool)
)
VALUES = st.from_regex(r"\(?\$?\d{1,3}(,\d{3}){0,2}\)?", fullmatch=True)


@settings(deadline=None, max_examples=25)  # the model reads each example
@given(
    rows=st.lists(st.tuples(LABELS, st.lists(VALUES, min_size=1, max_size=3)), min_size=1, max_size=6),
    base=st.integers(min_value=0, max_value=10_000),
    prose=st.text(max_size=200),
)
def test_offsets_are_exact_for_any_table_and_text(writer, pages, rows, base: int, prose: str) -> None:
    table = pages.table([("Total revenues", ["10", "9", "8"]), *rows], YEARS, base=base)
    text = pages.text(prose + " The total of Acme was 15 in 2022.", title="Acme notes")
    for question in ("What was Acme's revenue in FY2021?", "What was the total of Acme in 2022?"):
        exact(write(writer, question, table, text), table, text)


@pytest.mark.parametrize(
    ("question", "cell"),
    [
        ("What was Acme's deferred revenue in FY2022?", None),
        ("What was Acme's revenue from products in FY2022?", "3,000"),
        ("What was Acme's domestic revenue in FY2022?", None),
        ("What was Acme's basic EPS in FY2022?", None),
    ],
)
def test_a_word_beside_the_item_must_stand_by_the_value(
    writer, income, question: str, cell: str | None
) -> None:
    claims = write(writer, question, income).claims
    assert [claim.quotes[-1].text for claim in claims] == ([cell] if cell else [])


def test_a_gross_margin_needs_gross_profit_or_the_cost(writer, income) -> None:
    draft = write(writer, "What is the FY2022 gross margin of Acme?", income)
    assert [claim.quotes[0].text for claim in draft.claims[:2]] == ["Cost of sales", "Total revenues"]
    assert draft.claims[-1].reasoning == "(revenue, FY2022 − cost of revenue, FY2022) ÷ revenue, FY2022"
    assert draft.missing == ()


def test_several_values_that_are_asked_for_leave_nothing_open(writer, income) -> None:
    draft = write(writer, "What were the revenue and operating income of Acme in FY2022?", income)
    assert [claim.quotes[1].text for claim in draft.claims] == ["3,600", "640"]
    assert draft.missing == ()


def test_margins_over_time_give_every_year(writer, income) -> None:
    draft = write(writer, "Are the operating margins of Acme historically consistent?", income)
    assert [claim.quotes[1].text for claim in draft.claims] == ["640", "600", "3,600", "3,300"]


@pytest.mark.parametrize("reaching", [False, True])
def test_a_row_of_the_asked_quarter_is_quoted_with_it_and_no_other(writer, pages, reaching: bool) -> None:
    table = pages.table(
        [("Lyon", ["Q1", "14"]), ("" if reaching else "Lyon", ["Q2", "19"]), ("Turin", ["Q2", "27"])],
        ["Quarter", "Inspections"],
        title="Lift inspections",
        table="Lift inspections",
        base=9,
    )
    if reaching:
        first, second, third = table.chunk.rows
        second = msgspec.structs.replace(second, label="Lyon", label_start=first.start)
        chunk = msgspec.structs.replace(table.chunk, rows=(first, second, third))
        table = msgspec.structs.replace(table, chunk=chunk)
    draft = write(writer, "How many inspections did Lyon have in Q2?", table)
    exact(draft, table)
    assert [claim.text for claim in draft.claims] == ["Lyon, Q2: 19"]


def test_a_row_that_holds_less_of_what_is_asked_is_left_out(writer, pages) -> None:
    fees = pages.table(
        [("Up to 8 m", ["12", "18", "7", "11"]), ("8 to 12 m", ["19", "27", "10", "15"])],
        ["Summer Members", "Summer Guests", "Winter Members", "Winter Guests"],
        title="Harbour tariff",
        table="Berth fees",
        units="In euros",
    )
    draft = write(writer, "What is the summer guest fee for a berth of 8 to 12 m?", fees)
    assert [claim.text for claim in draft.claims] == ["8 to 12 m: 27"]
    shops = pages.table([("Namur", ["4400"])], ["Visitors"], title="Shops", table="Shops")
    loaves = pages.table(
        [("Namur", ["70"])], ["Loaves"], title="Bakery", table="Bakery", document_id="b", version="sha256:b"
    )
    draft = write(writer, "How many visitors did Namur have?", shops, loaves)
    assert [claim.text for claim in draft.claims] == ["Namur: 4400"]


class Denies:
    """An answer check that takes what names the subject for an answer, and one that says ``words`` for a
    "No."."""

    maker = Maker(name="denies")
    border = least = 0.5

    def __init__(self, words: str = "racing") -> None:
        self.words = words

    def answers(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        return [0.9 if "racing" in text else 0.1 for text, _ in pairs]

    def weigh(self, question: str, candidates: Sequence[Candidate]) -> list[float]:
        return self.answers([(candidate.text, question) for candidate in candidates])

    def says(self, question: str, text: str) -> str:
        return "No." if self.words in text else ""


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("is racing damage covered", "No."),
        ("Is damage by racing covered?", "No."),
        ("What is not covered?", "Damage by grounding, racing or hire is not covered."),
    ],
)
def test_yes_or_no_comes_first_where_it_is_asked(pages, question: str, first: str) -> None:
    passage = pages.text(
        "The hull is covered for five years. Damage by grounding, racing or hire is not covered."
    )
    draft = write(ExtractiveGenerator(OnnxReader(), check=Denies()), question, passage)
    claim, last = draft.claims[0], draft.claims[-1]
    assert claim.text == first
    assert last.text == "Damage by grounding, racing or hire is not covered."
    assert claim.quotes == last.quotes
    assert draft.text[claim.start : claim.end] == claim.text
    assert claim.fragment is (first == "No.")


def test_the_sentence_that_decides_is_quoted_with_the_one_it_speaks_of(pages) -> None:
    passage = pages.text(
        "It was proposed to cover racing. The plan was rejected. Hire is covered.\nThe plan was rejected."
    )
    draft = write(ExtractiveGenerator(OnnxReader(), check=Denies("rejected")), "Is racing covered?", passage)
    said, *quoted = draft.claims
    assert said.text == "No."
    assert [claim.text for claim in quoted] == ["It was proposed to cover racing.", "The plan was rejected."]
    assert said.quotes == tuple(quote for claim in quoted for quote in claim.quotes)
