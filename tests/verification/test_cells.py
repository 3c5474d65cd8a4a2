"""A true number in the wrong row or under the wrong year makes a false claim."""

from __future__ import annotations

import pytest

from citewell.core.config import Chunking
from citewell.core.records import Passage
from citewell.documents.chunking import chunk_document
from citewell.documents.reading import read_bytes
from citewell.verification.cells import place_numbers, proven_by_cells
from citewell.verification.evidence import EvidenceText, as_evidence, lines_of, passage_evidence

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
    assert proven_by_cells("Net revenue in 2018 was $1,577 million.", as_evidence(TABLE)) is not None


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
    assert proven_by_cells(claim, as_evidence(TABLE)) is None


SALES = (
    "($ in millions)\t2021\t2020\nSales\t5,120\t4,800\nCost of sales\t3,000\t2,900\n"
    "Revenue (note 3)\t6,000\t5,500\nPatents, net\t70\t60\nNet income (loss)\t95\t(312)\n"
    "Net loss from discontinued operations\t12\t(10)\nEarnings per share\t1.23\t(2.50)\n"
    "Margin (%)\t12.9\t11.5\n"
    "Due from related parties\t41\t40\nDeferred tax\t8\t9\nPatient visits (thousands)\t150\t140"
)
TRIAL = (
    "Arm\tPatients\tDose (mg)\tWeight, kg\tTime\nDrug A\t118\t50\t72\t24 hours\n"
    "Drug A high\t121\t100\t70\t2 (3)\n"
    "Patients without relapse\t30\t\t\t\nPatients not eligible\t17\t\t\t"
)


@pytest.mark.parametrize(
    ("claim", "table"),
    [
        ("Sales were $5,120 million in 2021.", SALES),
        ("In 2020, sales amounted to $4.8 billion.", SALES),
        ("The cost of sales was $3,000 million in 2021.", SALES),
        ("Revenue was $6,000 million in 2021.", SALES),
        ("Revenue (note 3) was $6,000 million in 2021.", SALES),
        ("Patent, net, was $70 million in 2021.", SALES),
        ("Net income was $95 million in 2021.", SALES),
        ("Net income (loss) was -$312 million in 2020.", SALES),
        ("Net loss from discontinued operations was $12 million in 2021.", SALES),
        ("Earnings per share were $1.23 in 2021.", SALES),
        ("The margin was 12.9% in 2021.", SALES),
        ("Drug A had 118 patients.", TRIAL),
        ("The dose of Drug A was 50 mg.", TRIAL),
        ("The weight of Drug A was 72 kg.", TRIAL),
        ("The time for Drug A was 24 hours.", TRIAL),
        # a scale in the spellings of reports
        ("Revenue was \u20ac900 million in 2023.", "(EUR million)\t2023\nRevenue\t900"),
        ("Revenue was \u00a3900 thousand.", "\t\u00a3'000\nRevenue\t900"),
        ("Revenue was \u20b9900 crore.", "(\u20b9 in crore)\nRevenue\t900"),
        # counts
        ("Stores in Germany were 120.", "\tRevenue ($m)\tStores\nGermany\t900\t120"),
        ("Net sales were \u20ac5,120 million.", "Net sales\t\u20ac5,120 million"),
    ],
)
def test_a_cell_proves_a_claim_that_names_its_place_and_states_its_value(claim: str, table: str) -> None:
    assert proven_by_cells(claim, as_evidence(table)) is not None


@pytest.mark.parametrize(
    ("claim", "table"),
    [
        # the row or column is only half named
        ("Sales were $3,000 million in 2021.", SALES),
        ("Tax was $8 million in 2021.", SALES),
        ("Loss from discontinued operations was $12 million in 2021.", SALES),
        ("Due to related parties were $41 million in 2021.", SALES),
        ("Drug A had 121 patients.", TRIAL),
        ("Patients with relapse were 30.", TRIAL),
        ("Patients eligible were 17.", TRIAL),
        ("Sales were $4,900 in 2021.", "\t2021 Actual\t2021 Budget\nSales\t5,120\t4,900"),
        ("Sales in 2021 were $5,120.", "\tThree months ended June 30, 2021\nSales\t5,120"),
        ("Sales were $5,120.", "\t2021\nSales\t5,120"),
        ("Loans from Beta to Acme were $5.", "Loans from Acme to Beta\t5"),
        # another cell has the same labels
        ("Sales were $5,120.", "Sales\t5,120\t4,800"),
        ("Sales were $9 in 2021.", "\t2021\nGermany\t\nSales\t9\nFrance\t\nSales\t7"),
        # two values may have been swapped
        ("Sales were $4,800 million in 2021 and $5,120 million in 2020.", SALES),
        # another sign, currency, unit or scale
        ("Net income was $312 million in 2020.", SALES),
        ("Net income was $312.", "Net income\t(312"),
        ("Net income was $312.", "Net income\t(\t312\t)"),
        ("Net loss was $95 million in 2021.", SALES),
        ("Net income was a loss of $95 million in 2021.", SALES),
        ("Net loss from discontinued operations in 2020 was -$10 million.", SALES.replace("(10)", "10")),
        ("Sales were \u20ac5,120 million in 2021.", SALES),
        ("Sales were $5,120 in 2021.", SALES),
        ("Sales were 5,120 in 2021.", SALES),
        ("Sales were \u20ac5,120 million in 2021.", SALES.replace("$ ", "")),
        ("Sales were US$5,120 in 2021.", "(Canadian dollars)\t2021\nSales\t5,120"),
        ("Sales were $5,120 in 2021.", "\t2021\t2020\nCosts\t\u20ac3,000\t\u20ac2,900\nSales\t5,120\t4,800"),
        ("Patient visits were 150 in 2021.", SALES),
        ("The margin was 12.9 in 2021.", SALES),
        ("The dose of Drug A was 50 kg.", TRIAL),
        ("The dose of Drug A was 50 g.", TRIAL),
        ("The dose of Drug A was 50.", TRIAL),
        ("The weight of Drug A was 72 mg.", TRIAL),
        ("The time for Drug A high was 2.", TRIAL),
        ("The dose was 50 mg.", "\tDose (mg per day)\nDose\t50"),
        # a scale that does not apply, or is not understood
        ("Revenue was $900 in 2023.", "Results in $ million\n\t2023\nRevenue\t900"),
        ("Revenue was \u20ac900 in 2023.", "(EUR million)\t2023\nRevenue\t900"),
        ("Revenue was \u20ac900 in 2023.", "Mrd. EUR\t2023\nRevenue\t900"),
        ("Clerks were 1,200 million.", "Amounts in millions, except clerks\nSales\t900\nClerks\t1,200"),
        ("Diluted was $5.61 million.", "($ in millions, except per share data)\nSales\t900\nDiluted\t5.61"),
        ("Stores in Germany were $120 million.", "\tRevenue ($m)\tStores\nGermany\t900\t120"),
        ("Germany was $4 thousand.", "Number of stores (in thousands)\nGermany\t4"),
        # a count is not money
        ("Smokers were $120 for men.", "Study population\n\tMen\tWomen\nSmokers\t120\t90"),
        ("Smokers were $120 for men.", "A grant of $5 was paid.\n\tMen\tWomen\nSmokers\t120\t90"),
        ("Phones were $900.", "Sales in units\nPhones\t900"),
        ("Europe was $21.", "share of total (%)\nEurope\t21"),
        ("The weight in Germany was $5.", "\tPrice ($)\tWeight\nGermany\t900\t5"),
        # not a statement, or one that refers to another
        ("Sales will be $5,120 million in 2021.", SALES),
        ("Sales could have been $5,120 million in 2021.", SALES),
        ("Were sales $5,120 million in 2021?", SALES),
        ("Its sales were $5,120 million in 2021.", SALES),
        ("Sales were $5,120 million from 2021.", SALES),
        ("Sales were to come to $5,120 million in 2021.", SALES),
        # another cell has the same place
        ("Sales were $5,120 million in 2021.", "($ in millions)\t2021\nSales\t5,120\nSales\t3,000"),
        # a cell that says more
        ("Sales were $5,120 in 2021.", "\t2021\nSales\t5,120 (estimated)"),
        ("Sales were $5,120 in 2021.", "\t2021\nSales\t~5,120"),
        ("The change was 5%.", "Change\t\u2013 5%"),
        ("The change was 5%.", "Change\t\u25bc5%"),
        ("The ratio was 5.", "Ratio\t5:1"),
        ("The version is 1.2.", "Version\t1.2.3"),
    ],
)  # fmt: skip
def test_a_cell_of_another_place_or_value_proves_nothing(claim: str, table: str) -> None:
    assert proven_by_cells(claim, as_evidence(table)) is None


@pytest.mark.parametrize(
    ("claim", "proven"),
    [
        ("Sales in Germany were $4,000 million in 2022.", False),
        ("Sales in Germany were $4,000 million in December 2021.", False),
        ("Sales in Germany were $4,000 million in the fourth quarter of 2021.", False),
        ("Sales in Germany and France were $4,000 million in 2021.", False),
        ("Annual sales Germany were $4,000 million in 2021.", False),
    ],
)
def test_a_title_lends_words_but_no_other_place_or_time(claim: str, proven: bool) -> None:
    lines = lines_of("\t2021\nGermany\t4,000\nFrance\t3,000")
    context = "Contoso annual report, December 31, 2022 \u203a Sales in Germany and France, fourth quarter"
    evidence = EvidenceText(
        text="Germany\t4,000\nFrance\t3,000", context=f"{context} ($ in millions): 2021", lines=lines
    )
    assert (proven_by_cells(claim, evidence) is not None) is proven


def test_a_column_may_say_what_in_another_table_a_row_does() -> None:
    table = (
        "Consumer Health\tPharmaceutical\tMedTech\nAs reported\t5.4%\t3.1%\t12.9%\n"
        "Sales by segment\nMedTech\t$7,788\t$6,898\nPharmaceutical\t$13,731\t$13,317\n"
    )
    lines = lines_of(table)
    assert lines[0].cells == (("5.4%", "Consumer Health"), ("3.1%", "Pharmaceutical"), ("12.9%", "MedTech"))
    assert not place_numbers("MedTech sales grew 12.9%.", lines)[0].misplaced
    assert "As reported" in place_numbers("Pharmaceutical sales grew 12.9%.", lines)[0].misplaced


SALES = "\t2022\t2021\nNet sales\t46,710\t44,538\nCost of sales\t25,231\t24,576\nNet income\t6,046\t5,727"


@pytest.mark.parametrize(
    ("claim", "stands_in"),
    [
        ("Cost of sales was 46,710 in 2022.", "Net sales"),
        ("Net income was 46,710 in 2022.", "Net sales"),
        ("Net sales were 6,046 in 2022.", "Net income"),
    ],
)
def test_a_value_of_a_row_that_shares_a_word_is_misplaced(claim: str, stands_in: str) -> None:
    (placed,) = place_numbers(claim, lines_of(SALES))
    assert f"in the row “{stands_in}”" in placed.misplaced


@pytest.mark.parametrize(
    "claim",
    [
        "Net sales were 46,710 in 2022.",
        "Sales were 46,710 in 2022.",
        "Cost of sales was 25,231, and net sales were 46,710 in 2022.",
        "Income of 6,046 was reported for 2022.",
    ],
)
def test_a_value_of_the_row_that_is_meant_is_not(claim: str) -> None:
    assert not any(placed.misplaced for placed in place_numbers(claim, lines_of(SALES)))


def _proven(claim: str, source: str) -> bool:
    """By any passage of a text, or of a file if the source begins with its kind ("csv:", "md:")."""
    kind, _, body = source.partition(":")
    if kind not in {"csv", "md"}:
        return proven_by_cells(claim, as_evidence(source)) is not None
    document = read_bytes(body.encode(), document_id=f"q.{kind}")
    passages = [Passage(chunk=chunk, relevant=True) for chunk in chunk_document(document, Chunking())]
    return any(proven_by_cells(claim, passage_evidence(one, document.text)) for one in passages)


UNIT = "($ in millions)"
YEARS = f"{UNIT}\n\t2023\t2022\nRevenue\t210\t190"
MD_YEARS = f"| {UNIT} | 2023 | 2022 |\n|---|---|---|\n| Revenue | 210 | 190 |\n"
REVENUE = "Revenue was $210 million in 2023."
PROFIT = "Pre-tax profit was $7 million in 2023."


@pytest.mark.parametrize(
    ("claim", "source", "proven"),
    [
        # a head above the years
        (REVENUE, YEARS, True),
        (REVENUE, YEARS.replace("\t2023", "\tYear ended June 30,\n\t2023"), True),
        (REVENUE, YEARS.replace("\t2023", "\tThree months ended June 30,\n\t2023"), False),
        (REVENUE, YEARS.replace("\t2023", "\tThree months ended June 30,\n(unaudited)\t2023"), False),
        (REVENUE, YEARS.replace("\t2023", "Three months ended June 30,\n\t2023"), False),
        (REVENUE, "\tThree months\tSix months\n\t2023\t2022\t2023\t2022\nRevenue ($m)\t210\t1\t2\t3", False),
        (REVENUE, 'csv:,"Three months ended June 30,",\n,2023,2022\nRevenue ($m),210,190\n', False),
        (REVENUE, 'csv:"Three months ended June 30,",,\n,2023,2022\nRevenue ($m),210,190\n', False),
        (REVENUE, f"md:Three months ended June 30,\n\n{MD_YEARS}", False),
        # a section
        (PROFIT, f"{YEARS}\nDiscontinued operations\t\t\nPre-tax profit\t7\t6", False),
        (PROFIT, f"{YEARS}\nPro forma, unaudited\nPre-tax profit\t7\t6", False),
        (PROFIT, f"csv:{UNIT},2023,2022\nRevenue,210,190\nAsia,,\nPre-tax profit,7,6\n", False),
        (PROFIT, f"md:{MD_YEARS}| Asia | | |\n| Pre-tax profit | 7 | 6 |\n", False),
        ("Orders were $90 million.", f"{YEARS}\nAsia\nOrders\t90", False),
        ("Orders were $90 million.", f"{YEARS}\n\nAsia\nOrders\t90", False),
        ("Sales in Asia were $90 million in 2023.", f"{YEARS}\nAsia\nSales\t90", True),
        ("Sales were $90 million in 2023.", f"{YEARS}\nNet sales:\nSales\t90\nAsia\nSales\t80", False),
        # a title
        (REVENUE, f"Budget\n{YEARS}", False),
        (REVENUE, f"Pro forma results, unaudited\n\n{YEARS}", False),
        (REVENUE, f"Results as first published\n{YEARS}", False),
        (REVENUE, f"csv:Forecast for 2023,,\n{UNIT},2023,2022\nRevenue,210,190\nCosts,5,6\n", False),
        (REVENUE, f"md:# Budget\n\n{MD_YEARS}", False),
        ("Revenue was 21% in 2025.", "Change from prior year\n\t2025\nRevenue\t21%", False),
        ("Revenue was $210 million in the 2023 budget.", f"Budget\n{YEARS}", True),
        ("The budget for Revenue was $210 million in 2023.", f"md:# Budget and results\n\n{MD_YEARS}", False),
        # a mark that the text explains
        ("Basic is \u20ac9.", "Basic\t\u20ac9*", False),
        ("Basic is \u20ac9.", "Basic\t\u20ac9*\n\n* for the first six months, then 15", False),
        ("Basic is \u20ac9.", "Basic (1)\t\u20ac9\n(1) for the first six months, then 15", False),
        ("Basic is \u20ac9.", "Basic\t\u20ac9\u00b9\n(1) for the first six months, then 15", False),
        (
            "The price of Basic is \u20ac9.",
            'csv:Name,Price (\u20ac)\nBasic,9*\nPro,19\n\n"* for the first six months, then 15"\n',
            False,
        ),
    ],
)  # fmt: skip
def test_what_stands_over_and_under_a_cell_is_part_of_what_it_says(
    claim: str, source: str, proven: bool
) -> None:
    assert _proven(claim, source) is proven
