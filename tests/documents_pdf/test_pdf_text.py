"""What a reader of the PDF reads: paragraphs, pages, columns, headings, and the position of each line."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from citewell.core.identity import hash_bytes, hash_text
from citewell.core.records import Document
from citewell.documents.pdf.glyphs import PageWords, PdfWord
from citewell.documents.pdf.layout import read_lines
from citewell.documents.pdf.writing import PdfWriter

LONG = "The company makes paper and sells it to printers in every country of the continent and"


def quoted(document: Document, text: str) -> int:
    start = document.text.find(text)
    assert start >= 0, document.text
    return start


def page_of(document: Document, offset: int) -> int:
    return next(page.number for page in document.pages if page.start <= offset < page.end)


def test_visual_lines_become_one_line_a_paragraph(pdf: Any) -> None:
    """Lines are joined by a space, paragraphs are separated."""
    sheet = pdf.page()
    sheet.say(50, 740, LONG).say(50, 728, "to nobody else.").say(50, 700, "A second paragraph stands apart.")
    document = pdf.read()
    assert document.text == f"{LONG} to nobody else.\nA second paragraph stands apart.\n"
    assert document.version == hash_bytes(pdf.bytes())
    assert document.text_hash == hash_text(document.text)


def test_a_hyphen_at_the_line_end_goes_only_when_the_word_is_seen_whole(pdf: Any) -> None:
    """ "opera-|tions" is mended because "operations" occurs; "long-|term" stays hyphenated."""
    sheet = pdf.page()
    sheet.say(50, 740, "Income from operations rose in the year, and so did the income from foreign opera-")
    sheet.say(50, 728, "tions, while we repaid a good part of what the company had borrowed as long-")
    sheet.say(50, 716, "term debt.")
    text = pdf.read().text
    assert "foreign operations, while" in text
    assert "long-term debt" in text


def test_each_line_has_its_box(pdf: Any) -> None:
    """The box of a quote's line is the place on the page where its words are printed."""
    sheet = pdf.page()
    sheet.say(72, 600, LONG).say(72, 588, "to nobody else.")
    document = pdf.read()
    start = quoted(document, "to nobody else")
    box = next(box for box in document.boxes if box.start <= start < box.end)
    assert document.text[box.start : box.end] == "to nobody else."
    assert abs(box.x0 - 72) < 2
    assert 60 < box.x1 - box.x0 < 90
    assert 580 < box.y0 < 588 < 594 < box.y1 < 600


def test_pages_are_physical_and_a_sentence_over_the_border_is_joined(pdf: Any) -> None:
    """Footers and page numbers do not end up inside the sentence; the border is at the page break."""
    for number in range(1, 6):
        sheet = pdf.page()
        sheet.say(50, 770, "Annual Report").say(300, 30, str(number + 2))
        sheet.say(50, 740, "continues here and ends." if number > 1 else "It begins.")
        sheet.say(
            50, 700, "A sentence that begins on one page of the report and, as long sentences often do,"
        )
    document = pdf.read()
    assert "as long sentences often do, continues here and ends." in document.text
    assert page_of(document, quoted(document, "continues here")) == 2
    assert document.text.count("Annual Report") == 1
    assert [page.number for page in document.pages] == [1, 2, 3, 4, 5]
    assert any("'#' x5" in note and "'Annual Report' x4" in note for note in document.notes)


def test_pages_cover_the_text(pdf: Any) -> None:
    """Every offset lies on exactly one page."""
    for _ in range(3):
        pdf.page().say(50, 700, "Some words.")
    document = pdf.read()
    assert document.pages[0].start == 0
    assert document.pages[-1].end == len(document.text)
    assert all(a.end == b.start for a, b in zip(document.pages, document.pages[1:], strict=False))


def test_two_columns_are_read_one_after_the_other(pdf: Any) -> None:
    """The left column ends before the right one begins; a line across both stays in its place."""
    sheet = pdf.page()
    sheet.say(
        50, 760, "A heading that runs across the whole of the page from the left edge to the right edge"
    )
    left = ["In the left column every line is full of", "words that belong together and go on to"]
    right = ["On the right another story is told and it", "has nothing at all to do with the first"]
    for index in range(8):
        sheet.say(50, 730 - 12 * index, left[index % 2]).say(320, 729 - 12 * index, right[index % 2])
    sheet.say(50, 600, "Below, one line again runs across the whole of the page from the left to the right.")
    text = pdf.read().text
    assert text.index("A heading that") < text.index("left column") < text.index("On the right")
    assert text.rindex("words that belong") < text.index("On the right")
    assert text.rindex("has nothing") < text.index("Below, one line")


def test_headings_make_a_path(pdf: Any) -> None:
    """The filings' own wording orders the sections, whatever the typeface."""
    sheet = pdf.page()
    sheet.say(50, 760, "PART II", bold=True)
    sheet.say(50, 730, "Item 8. Financial Statements and Supplementary Data", bold=True)
    sheet.say(50, 700, "CONSOLIDATED STATEMENTS OF CASH FLOWS", bold=True)
    sheet.say(50, 680, "Cash is king, as everybody knows.")
    sheet.say(50, 650, "Item 9. Changes in Accountants", bold=True)
    sheet.say(50, 630, "There were none to be reported.")
    document = pdf.read()
    paths = [section.path for section in document.sections]
    item8 = "Item 8. Financial Statements and Supplementary Data"
    assert ("PART II", item8, "CONSOLIDATED STATEMENTS OF CASH FLOWS") in paths
    assert paths[-1] == ("PART II", "Item 9. Changes in Accountants")
    cash = next(section for section in document.sections if section.path[-1].startswith("CONSOLIDATED"))
    assert "Cash is king" in document.text[cash.start : cash.end]
    assert "There were none" not in document.text[cash.start : cash.end]


def test_a_double_space_after_a_full_stop_is_a_space(pdf: Any) -> None:
    """In typescript and justified text it is wider than many a gap between columns."""
    pdf.page().say(50, 700, "Rent is owed on the first day.  It is paid in advance.", raw="3 Tw")
    assert "first day. It is paid" in pdf.read().text


def test_a_paragraph_of_two_lines_set_wide_apart_is_one(pdf: Any) -> None:
    """The condition after the line break is part of the sentence."""
    sheet = pdf.page()
    for top in (740, 660):
        sheet.say(
            50, top, "The buyer may take the racks on condition that they take delivery of all of them before"
        )
        sheet.say(50, top - 26, "the end of the first quarter.")
    assert pdf.read().text.count("all of them before the end of the first quarter.\n") == 2


def test_a_running_foot_does_not_part_a_paragraph_of_two_pages(pdf: Any) -> None:
    """Its last occurrence stays: after the text, not in it."""
    for number in (1, 2):
        sheet = pdf.page()
        sheet.say(50, 740, "goes on over the page." if number > 1 else "It begins.").say(
            50, 30, "Lower Mill lease"
        )
        sheet.say(50, 200, "A sentence that begins on the one page of the lease and, as sentences do,")
    text = pdf.read().text
    assert "as sentences do, goes on over the page." in text
    assert text.endswith("Lower Mill lease\n")
    assert text.count("Lower Mill lease") == 1


def test_a_paragraph_goes_on_in_the_next_column(pdf: Any) -> None:
    sheet = pdf.page()
    for index in range(8):
        sheet.say(50, 730 - 12 * index, "In the left column every line is full of")
        sheet.say(320, 730 - 12 * index, "words that belong together and go on to")
    assert "full of words that belong" in pdf.read().text


def test_numbered_clauses_are_headings_by_their_numbers(pdf: Any) -> None:
    """In body type: alone on a line, numbered in sequence, with lines below. Steps are not headings."""
    sheet = pdf.page()
    lines = ["6. Repairs", LONG, "to nobody else.", "7. Break clause", "7.1 Notice", LONG, "to nobody else."]
    lines += ["8. Costs", "What to do:", "1. Open the valve", "2. Close the valve", "3. Wait", "That is all."]
    for index, line in enumerate(lines):
        sheet.say(50, 740 - 16 * index, line)
    paths = [section.path for section in pdf.read().sections]
    assert paths == [("6. Repairs",), ("7. Break clause",), ("7. Break clause", "7.1 Notice"), ("8. Costs",)]


def test_a_footnotes_number_does_not_join_the_figure(pdf: Any) -> None:
    """12,345 with a superscript 6 is not 123,456."""
    sheet = pdf.page()
    sheet.say(50, 700, "We sold 12,345").say(118, 704, "6", size=6).say(
        124, 700, "tons of paper in the year."
    )
    assert "12,345⁶ tons" in pdf.read().text


@pytest.mark.parametrize(
    ("figure", "end", "mark", "shown"), [("12,345", 118, "1,2", "12,345¹,²"), ("10", 100, "-6", "10⁻⁶")]
)
def test_marks_of_several_characters_do_not_join_the_figure(
    pdf: Any, figure: str, end: int, mark: str, shown: str
) -> None:
    sheet = pdf.page()
    sheet.say(50, 700, f"We sold {figure}").say(end, 704, mark, size=6)
    sheet.say(end + 12, 700, "tons of paper in the year.")
    assert f"{shown} tons" in pdf.read().text


def test_an_accent_set_as_a_piece_of_its_own_joins_its_letter() -> None:
    """The text as a whole is NFC, and the rectangles of what follows stay in place."""

    def word(
        text: str, x0: float, x1: float, base: float, *, spaced: bool = True, size: float = 10
    ) -> PdfWord:
        return PdfWord(text, x0, x1, base, size, False, False, spaced, 0)

    words = [
        word("The", 50, 66, 700),
        word("cafe", 69, 88, 700),
        word("\u0301", 85, 88, 700, spaced=False, size=8),
        word("closed.", 91, 120, 700),
        word("Soon.", 50, 80, 650),
    ]
    lines = read_lines(PageWords(612, 792, words, Counter(), []), 1)
    written = PdfWriter([lines], {}).run([(612, 792)])
    assert written.text == "The caf\u00e9 closed.\nSoon.\n"
    assert [written.text[box.start : box.end] for box in written.boxes] == written.text.splitlines()


def test_turned_pages_are_read_as_displayed(pdf: Any) -> None:
    """A page rotated by 90 degrees is wide, and its boxes are where the reader sees the words."""
    sheet = pdf.page(extra="/Rotate 90")
    sheet.draw("BT /F1 10 Tf 0 1 -1 0 100 50 Tm (Words that run up the unturned page.) Tj ET")
    document = pdf.read()
    assert document.text == "Words that run up the unturned page.\n"
    assert (document.pages[0].width, document.pages[0].height) == (792, 612)
    box = document.boxes[0]
    assert abs(box.x0 - 50) < 3
    assert abs(box.y0 - 510) < 5


def test_the_crop_box_is_the_page(pdf: Any) -> None:
    """Boxes are measured from the corner of the displayed area."""
    pdf.page(extra="/CropBox [100 100 500 700]").say(150, 400, "Cropped on all sides.")
    document = pdf.read()
    assert (document.pages[0].width, document.pages[0].height) == (400, 600)
    assert abs(document.boxes[0].x0 - 50) < 2
    assert abs(document.boxes[0].y0 - 298) < 3


@pytest.mark.parametrize(
    ("box", "x", "y"),
    [("0 0 595 842", 50, 810), ("0 0 842 595", 700, 300), ("-400 -400 195 442", -380, -350)],
)
def test_a_page_inherits_its_box(pdf: Any, box: str, x: int, y: int) -> None:
    """If taken for US Letter, an A4 page would lose its top, and a landscape page its right side."""
    pdf.inherited, pdf.box = True, box
    pdf.page().say(x, y, "Read whole.")
    document = pdf.read()
    assert document.text == "Read whole.\n"
    left, bottom, right, top = map(float, box.split())
    assert (document.pages[0].width, document.pages[0].height) == (right - left, top - bottom)
    assert document.boxes[0].x0 == pytest.approx(x - left, abs=2)


def test_a_paper_that_mentions_a_form_is_no_form(pdf: Any) -> None:
    """It keeps its own dates, and a date in its text is not when it was published."""
    sheet = pdf.page().say(50, 740, "Record keeping policy", size=16)
    sheet.say(50, 700, "On 3 May 2021 we read our Form 10-K again, as the auditors had asked us to.")
    sheet.say(50, 660, "Effective: 1 March 2026").say(50, 620, "Valid until: 31 December 2027")
    document = pdf.read()
    assert document.published_at is None or document.published_at.guess
    assert document.effective_at.value == "2026-03-01"
    assert document.expires_at.value == "2027-12-31"
    assert document.title.value == "Record keeping policy"


def test_a_form_without_its_period_has_no_date_of_its_own(pdf: Any) -> None:
    """Such as that of the law under which it is filed."""
    sheet = pdf.page().say(200, 740, "FORM 10-K/A (Amendment No. 1)").say(50, 700, "Acme Paper Inc.")
    sheet.say(50, 680, "(Exact name of registrant as specified in its charter)")
    sheet.say(50, 640, "Filed under the law as amended on 6 June 1934 and later.")
    document = pdf.read()
    assert document.title.value == "Acme Paper Inc. Form 10-K/A"
    assert document.published_at is None or document.published_at.guess


def test_an_appendix_in_larger_type_is_no_page_of_headings(pdf: Any) -> None:
    """An exhibit bound into a report may be set larger than the report throughout."""
    for _ in range(3):
        sheet = pdf.page()
        for at in range(20):
            sheet.say(50, 740 - 11 * at, LONG, size=9)
    sheet = pdf.page()
    sheet.say(50, 750, "Plan History", size=11, bold=True)
    lines = [f"Company Plan {at}, Part {at} which the Board of the Company has adopted" for at in range(8)]
    for at, line in enumerate(lines):
        sheet.say(50, 720 - 13 * at, line, size=11)
    document = pdf.read()
    assert " ".join(lines) in document.text
    assert [section.path[-1] for section in document.sections if section.path] == ["Plan History"]


def test_capitals_in_the_middle_of_a_sentence_are_no_heading(pdf: Any) -> None:
    sheet = pdf.page()
    lines = [
        "The buyer should read this. THE BUYER UNDERSTANDS THAT WITH RESPECT TO CLAIMS UNDER THIS LETTER",
        "ARBITRATION REPLACES THE RIGHT OF THE BUYER AND OF THE SELLER TO SUE OR TO TAKE ANY PART IN A",
        "LAWSUIT.",
    ]
    for at, line in enumerate(lines):
        sheet.say(50, 740 - 12 * at, line)
    document = pdf.read()
    assert document.text == " ".join(lines) + "\n"
    assert not [section for section in document.sections if section.path]


def test_an_item_goes_on_under_its_own_words(pdf: Any) -> None:
    """However short its lines are, and whatever letter the next begins with."""
    sheet = pdf.page()
    sheet.say(50, 740, f"{LONG} these are its policies:")
    sheet.say(60, 720, "- Recoverability of Current").say(67, 708, "Assets")
    sheet.say(60, 690, "- Pension").say(67, 678, "Valuations").say(50, 660, LONG)
    assert pdf.read().text.split("\n")[1:3] == ["- Recoverability of Current Assets", "- Pension Valuations"]


def test_lettered_headings_are_headings(pdf: Any) -> None:
    sheet = pdf.page()
    sheet.say(50, 740, "(A) Eligibility", bold=True).say(50, 722, f"{LONG} to nobody else.")
    sheet.say(60, 700, "(i) Hired Before June", bold=True).say(50, 682, f"{LONG} to nobody else.")
    names = [section.path[-1] for section in pdf.read().sections if section.path]
    assert names == ["(A) Eligibility", "(i) Hired Before June"]


def test_a_centred_heading_of_several_lines_is_one(pdf: Any) -> None:
    sheet = pdf.page()
    lines = "RULES 13 AND 15 OF", "OF RULES 15 AND 13", "AND OF RULES 13 15"  # of the same width
    for at, line in enumerate(lines):
        sheet.say(250, 740 - 12 * at, line, bold=True)
    sheet.say(50, 690, f"{LONG} to nobody else.")
    names = [section.path[-1] for section in pdf.read().sections if section.path]
    assert names == [" ".join(lines)]


@pytest.mark.parametrize("rise", [3, 5])
def test_a_footnotes_mark_stays_in_its_sentence_and_before_its_note(pdf: Any, rise: int) -> None:
    """However high it is set; its note is a paragraph of its own that begins with it."""
    sheet = pdf.page()
    sheet.say(50, 740, "We repair a pump for two years").say(183, 740 + rise, "1", size=8)
    sheet.say(190, 740, "if it was used as the manual says.")
    sheet.say(50, 106 + 0.8 * rise, "1", size=6)
    sheet.say(55, 106, "Five years where our own staff installed it.", size=8)
    assert pdf.read().text == (
        "We repair a pump for two years¹ if it was used as the manual says.\n"
        "¹ Five years where our own staff installed it.\n"
    )


@pytest.mark.parametrize(
    ("foot", "top", "one"),
    [
        (LONG, "Port Hamburg has asked for more of it.", True),
        (LONG[:70], "Port Hamburg has asked for more of it.", False),  # room was left for "Port"
        (LONG, "2. Remove the cover.", False),
    ],
)
def test_a_full_line_goes_on_over_the_page(pdf: Any, foot: str, top: str, one: bool) -> None:
    """Whatever letter the next page begins with, unless a list goes on there."""
    pdf.page().say(50, 84, LONG + ".").say(50, 60, foot)
    pdf.page().say(50, 740, top)
    assert (f"{foot} {top}" in pdf.read().text) is one


def test_a_firms_name_over_many_titles_is_part_of_none(pdf: Any) -> None:
    titles = "Store count", "Sales count", "Staff count"
    for title in titles:
        sheet = pdf.page()
        sheet.say(270, 600, "Harbour Inc", bold=True).say(270, 588, title, bold=True)
        sheet.say(50, 550, f"{LONG} to nobody else.")
    names = [section.path[-1] for section in pdf.read().sections if section.path]
    assert [name for name in names if name != "Harbour Inc"] == list(titles)
