"""How a long premise becomes windows: nothing needed is lost, and the same text gives the same windows."""

from __future__ import annotations

from citewell.models.onnx.windows import WindowRule, is_table

RULE = WindowRule()
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
    assert is_table(rows)
    assert any("2023" in window and "Item 47\t4700" in window for window in windows)


def test_a_sentence_without_end_is_cut_but_not_lost() -> None:
    words = " ".join(f"word{n}" for n in range(900))
    assert any("word899" in window for window in RULE.windows(words, "There is a word899."))
