"""How a long premise becomes windows: nothing needed is lost, and the same text gives the same windows."""

from __future__ import annotations

import os
import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from citewell.models.onnx.windows import WindowRule

RULE = WindowRule()
MOST = 1 + RULE.groups + RULE.singles
FILLER = "The weather was mild and the harbour was calm that week. " * 40


def test_one_sentence_is_one_window() -> None:
    assert RULE.windows("Nike was founded in 1964.", "Nike is old.") == ("Nike was founded in 1964.",)


def test_no_text_gives_no_window() -> None:
    assert RULE.windows(" \n ", "Anything.") == ()


def test_evidence_at_the_end_of_a_long_premise_is_in_a_window() -> None:
    premise = FILLER + "The treaty was signed in Ghent in 1814."
    assert any("Ghent" in window for window in RULE.windows(premise, "The treaty was signed in Ghent."))


def test_evidence_that_stands_apart_is_put_side_by_side() -> None:
    premise = "Ada Lovelace wrote the first program. " + FILLER + "Her program computed Bernoulli numbers."
    windows = RULE.windows(premise, "Ada Lovelace wrote a program that computed Bernoulli numbers.")
    assert any("Ada Lovelace" in window and "Bernoulli" in window for window in windows)


def test_windows_are_short_and_distinct() -> None:
    windows = RULE.windows(
        FILLER + "The treaty was signed in Ghent in 1814.", "The treaty was signed in Ghent."
    )
    assert len(set(windows)) == len(windows)
    assert all(len(window) <= 2 * RULE.longest for window in windows)


def test_a_table_row_keeps_its_title_and_column_names() -> None:
    rows = "\n".join(f"Item {n}\t{n * 100}\t{n * 90}" for n in range(1, 60))
    windows = RULE.windows(f"Balance sheet\nItem\t2023\t2022\n{rows}", "Item 47 was 4700 in 2023.")
    assert any("2023" in window and "Item 47\t4700" in window for window in windows)


def test_a_sentence_without_end_is_cut_but_not_lost() -> None:
    words = " ".join(f"word{n}" for n in range(900))
    assert any("word899" in window for window in RULE.windows(words, "There is a word899."))


TERMS = (
    "The supplier delivers the services that are set out in the order form and in its annexes, with the care "
    "of a professional of the trade. The customer pays each invoice within thirty days of its receipt. "
    "The customer may terminate for convenience after the second year. "
    "The liability of the supplier is limited to the fees that were paid."
)


def test_a_paragraph_above_short_records_is_no_title() -> None:
    premise = f"{TERMS}\nTerm: four years\nLaw: England\nCourt: London"
    windows = RULE.windows(premise, "The customer may terminate after the second year.")
    assert any("may terminate for convenience after the second year" in window for window in windows)


def test_the_caption_next_to_the_rows_stands_above_them_not_the_paragraph_before() -> None:
    rows = "\n".join(f"Item {n}\t{n * 100}\t{n * 90}" for n in range(1, 60))
    windows = RULE.windows(f"{TERMS}\nFees in euros\nItem\t2023\t2022\n{rows}", "Item 47 was 4700 in 2023.")
    assert any(w.startswith("Fees in euros Item\t2023\t2022\n") and "Item 47\t4700" in w for w in windows)


def test_long_column_names_stand_whole_above_a_row() -> None:
    names = [f"Revenue from contracts with customers in the year {year}" for year in range(2019, 2024)]
    head = "\t".join(["", *names])
    rows = "\n".join(f"Item {n}\t" + "\t".join(str(n * k) for k in range(100, 105)) for n in range(1, 40))
    windows = RULE.windows(f"Segments\n{head}\n{rows}", "Item 7 had revenue of 728 in 2023.")
    assert any("the year 2022" in w and "the year 2023" in w and "Item 7\t" in w for w in windows)
    assert len(windows) <= MOST


def test_column_names_too_long_for_one_window_are_spread_over_some() -> None:
    names = "\t".join(f"The column that is called number {k}" for k in range(40))
    rows = "\n".join(f"Item {n}\t{n * 100}" for n in range(1, 40))
    windows = RULE.windows(f"{names}\n{rows}", "Item 7 was 700 in the column called number 38.")
    assert any("called number 38" in window and "Item 7\t700" in window for window in windows)
    assert len(windows) <= RULE.heads * MOST
    assert all(len(window) <= 2 * RULE.longest for window in windows)


WORD = st.text("bcdfgklmnprt", min_size=3, max_size=9)
CELL = st.lists(WORD, min_size=1, max_size=6).map(" ".join)
PROSE = st.lists(st.lists(WORD, min_size=3, max_size=25).map(lambda w: " ".join(w).capitalize() + "."),
                 min_size=1, max_size=6).map(" ".join)  # fmt: skip
RECORD = st.tuples(CELL, CELL).map(": ".join)
ROW = st.lists(CELL, min_size=2, max_size=30).map("\t".join)
PREMISE = st.tuples(
    st.lists(PROSE | CELL, max_size=4), st.lists(ROW, max_size=12) | st.lists(RECORD, max_size=12)
).map(lambda parts: "\n".join([*parts[0], *parts[1]]))


@given(PREMISE, st.data())
def test_whatever_word_is_asked_for_some_window_holds_it(premise: str, data: st.DataObject) -> None:
    words = premise.replace(":", " ").replace(".", " ").split()
    if not words:
        return
    word = data.draw(st.sampled_from(words))
    windows = RULE.windows(premise, word)
    assert any(word in window for window in windows)
    assert len(windows) <= RULE.heads * MOST


def test_a_cut_tells_how_much_of_the_premise_its_windows_hold() -> None:
    lines = [f"The harbour master wrote entry {n} of the log on a calm day." for n in range(60)]
    lines[41] = "The firm's founder stepped down."
    part = RULE.cut("\n".join(lines), "The CEO resigned.")
    assert not any("founder" in window for window in part.windows)
    assert (part.read, part.units) == (1, 60)
    whole = RULE.cut("\n".join(lines[40:44]), "The CEO resigned.")
    assert (whole.read, whole.units) == (4, 4)


def test_column_names_in_no_window_are_not_told_as_read() -> None:
    names = "\t".join(f"The column that is called number {k}" for k in range(90))
    cut = RULE.cut(f"{names}\nItem 1\t7\nItem 2\t8", "Item 1 was 7.")
    assert cut.read < cut.units


def test_another_process_cuts_alike() -> None:
    """Sets order words differently there, and sums over them must not show it."""
    again = (
        "from tests.models.test_windows import RULE, TERMS\n"
        "words = TERMS.split()\n"
        "for n in range(60):\n"
        "    lines = [' '.join(words[k:] + words[:k]) for k in range(n, n + 12)]\n"
        "    print(RULE.windows('\\n'.join(lines), TERMS))"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", again],
            env=os.environ | {"PYTHONHASHSEED": str(seed), "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in (1, 2)
    }
    assert len(texts) == 1
