"""The span that supports a claim: exact offsets, 3 to 30 tokens where the text allows."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.core.records import Cell, Row
from citewell.core.sentences import token_spans
from citewell.verification.binding import bind, fit_span

TEXT = (
    "The company was founded in 1962 and is based in Oregon. Capital expenditures for the fiscal "
    "year ended May 31, "
    "2018 were approximately $1,577 million, reflecting investments in distribution centers, "
    "corporate facilities and "
    "stores around the world, including those in China and Mexico. Dividends were paid. It has 500 stores."
)


def test_a_sentence_of_the_claims_words_is_chosen() -> None:
    bound = bind("It was founded in 1962.", TEXT)
    ((start, end),) = bound
    assert TEXT[start:end] == "The company was founded in 1962 and is based in Oregon."


def test_a_long_sentence_is_cut_around_the_decisive_words() -> None:
    bound = bind("Capital expenditures were $1,577 million in fiscal 2018.", TEXT)
    ((start, end),) = bound
    assert "1,577 million" in TEXT[start:end]
    assert len(token_spans(TEXT[start:end])) <= 30


def test_a_word_for_word_claim_is_bound_where_it_stands() -> None:
    bound = bind("Dividends were paid.", TEXT)
    assert [TEXT[a:b] for a, b in bound] == ["Dividends were paid"]


def test_two_sentences_that_are_needed_together_are_both_cited() -> None:
    bound = bind("The company founded in 1962 has 500 stores.", TEXT)
    quotes = [TEXT[a:b] for a, b in bound]
    assert len(quotes) == 2
    assert "1962" in quotes[0]
    assert "500 stores" in quotes[1]


def test_a_cell_is_cited_with_its_rows_label() -> None:
    text = "Net revenue\t1,577\t1,373\nCosts\t900\t800"
    rows = (
        Row(
            start=0,
            end=23,
            label="Net revenue",
            cells=(Cell(start=12, end=17, head="2018"), Cell(start=18, end=23, head="2017")),
        ),
        Row(
            start=24,
            end=37,
            label="Costs",
            cells=(Cell(start=30, end=33, head="2018"), Cell(start=34, end=37, head="2017")),
        ),
    )
    bound = bind("Net revenue was 1,373 in 2017.", text, rows=rows)
    assert [text[a:b] for a, b in bound] == ["Net revenue", "1,373"]


def test_no_word_in_common_is_no_span() -> None:
    assert bind("Zebras gallop.", TEXT) == ()


@settings(deadline=None, max_examples=50)
@given(st.lists(st.sampled_from([*TEXT.split(), "\n", "x.", "2018"]), min_size=1, max_size=120), st.data())
def test_spans_lie_inside_their_range_and_keep_to_thirty_tokens(
    words: list[str], data: st.DataObject
) -> None:
    text = " ".join(words)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    claim = " ".join(data.draw(st.lists(st.sampled_from(TEXT.split()), min_size=1, max_size=15)))
    bound = bind(claim, text, start=start, end=end)
    for low, high in bound:
        assert start <= low < high <= end
        assert len(token_spans(text[low:high])) <= 30


def test_a_short_span_is_widened_inside_its_line() -> None:
    text = "Paid in full today.\nNext line"
    start, end = fit_span(text, 0, 4, "Paid", 3, 30)
    assert text[start:end].startswith("Paid in full")
    assert "\n" not in text[start:end]


def test_a_sentence_that_adds_no_support_is_not_cited_beside_the_one_that_does() -> None:
    text = (
        "Second-quarter sales of the group grew 6.3% to $25.5 billion. The weather was fine. Other factors "
        "can be found in the annual report of Kelp & Kelp for the quarter."
    )
    claim = "Kelp & Kelp's second-quarter sales grew 6.3% to $25.5 billion, its annual report says."
    loose = bind(claim, text)
    judged = bind(claim, text, score=lambda texts: [0.9 if "$25.5 billion" in t else 0.1 for t in texts])
    assert len(loose) == 2
    assert [text[a:b] for a, b in judged] == [text[: text.index(" The weather")]]
