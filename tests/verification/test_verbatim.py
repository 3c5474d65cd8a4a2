"""Quotes are found exactly or fail by name."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.core.records import Failure
from citewell.verification.verbatim import find_all, find_verbatim, locate

SOURCES = {
    "a": "The company said: net sales increased 5%\n"
    "in fiscal 2018, to $1,577 million. It de\u00adnied fraud.",
    "c": "The bridge opened in 1932. The toll was low, and the toll was abolished in 1958.\n"
    "Ada Stone, engineer\t54 years of age\tBoard of the bridge",
    "b": "Other text about the \ufb01rm\u2019s plan \u2013 to expand into Asia by 2020.",
}


@pytest.mark.parametrize(
    ("quote", "source", "spans"),
    [
        ("net sales increased 5% in fiscal 2018", "a", ["net sales increased 5%\nin fiscal 2018"]),
        ("It denied fraud.", "a", ["It de\u00adnied fraud."]),
        ("firm's plan - to expand", "b", ["\ufb01rm\u2019s plan \u2013 to expand"]),
        ("\u201cnet sales increased\u201d", "a", ["net sales increased"]),
        ("The toll was \u2026 abolished in 1958.", "c", ["The toll was", "abolished in 1958."]),
        ("The toll was low [...] was abolished in", "c", ["The toll was low", "was abolished in"]),
        ("Ada Stone, engineer ... Board of the", "c", ["Ada Stone, engineer", "Board of the"]),
        ("... opened in 1932 ...", "c", ["opened in 1932"]),
    ],
)
def test_a_quote_is_found_where_it_stands(quote: str, source: str, spans: list[str]) -> None:
    found = locate(quote, source, SOURCES)
    assert found.failure is None
    assert [SOURCES[source][start:end] for start, end in found.spans] == spans


@pytest.mark.parametrize(
    ("quote", "source", "failure"),
    [
        ("profits exploded in Asia", "a", Failure.FABRICATED),
        ("net sales increased 6%", "a", Failure.FABRICATED),
        ("to expand into Asia", "a", Failure.MISATTRIBUTED),
        ("net sales to $1,577 million", "a", Failure.SPLICED),
        ("fiscal 2018 \u2026 net sales", "a", Failure.SPLICED),
        ("opened in ... 1958", "c", Failure.SPLICED),
        ("1958 ... The bridge opened in", "c", Failure.SPLICED),
        ("The bridge opened in ... abolished in 1958", "c", Failure.SPLICED),
        ("The toll was ... in 1958", "c", Failure.SPLICED),
        ("was abolished in 1958 ... Board of the bridge", "c", Failure.SPLICED),
        ("The toll was ... abolished in 1958", "a", Failure.MISATTRIBUTED),
        ("The toll was ... abolished in 1959", "c", Failure.FABRICATED),
        ("net sales increased 5% to expand into Asia", "a", Failure.SPLICED),
        ("577 million", "a", Failure.FABRICATED),
        ("ales increased", "a", Failure.FABRICATED),
        ("Net Sales Increased", "a", Failure.FABRICATED),
        ("", "a", Failure.FABRICATED),
        ("net sales", "nowhere", Failure.MISATTRIBUTED),
    ],
)
def test_a_failure_has_a_name(quote: str, source: str, failure: Failure) -> None:
    found = locate(quote, source, SOURCES)
    assert found.failure is failure
    assert found.spans == ()
    assert found.reason


@pytest.mark.parametrize(
    ("quote", "source", "found"),
    [
        ("5,1202 tons", "sold 5,120² tons", False),
        ("5,120² tons", "sold 5,120² tons", True),
        ("106 tons", "10⁶ tons", False),
        ("1023 tons", "10²³ tons", False),
        ("51⁄2 percent", "5½ percent", False),
        ("CO2 fell", "the CO₂ fell", True),
        ("of 3 m2", "of 3 m² and", True),
    ],
)
def test_a_raised_figure_is_no_digit_of_the_one_before(quote: str, source: str, found: bool) -> None:
    assert (find_verbatim(quote, source) is not None) is found


def test_the_occurrence_nearest_to_the_given_place_is_taken() -> None:
    text = "yes it is. no. yes it is."
    assert locate("yes it is", "t", {"t": text}, near=15).spans == ((15, 24),)


_WORDS = st.lists(st.text(alphabet="abcdeé\ufb01üñ", min_size=1, max_size=6), min_size=3, max_size=20)


@given(_WORDS, st.data())
def test_any_run_of_words_is_found_and_its_span_reads_the_same(words: list[str], data: st.DataObject) -> None:
    source = "  ".join(words)
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first + 1, len(words)))
    quote = " ".join(words[first:last])
    found = find_verbatim(quote, source)
    assert found is not None
    there = " ".join(source[found[0] : found[1]].split())
    assert unicodedata.normalize("NFKC", there) == unicodedata.normalize("NFKC", quote)


@given(st.text(max_size=40), st.text(max_size=80))
def test_spans_lie_inside_the_source(quote: str, source: str) -> None:
    for start, end in find_all(quote, source):
        assert 0 <= start < end <= len(source)


@pytest.mark.parametrize(
    "source",
    [
        "The company shall not be liable for damages.",
        "The company shall, unless it agreed otherwise, be liable for damages.",
        "The company shall (it hasn't before) be liable for damages.",
    ],
)
def test_no_quote_leaves_out_what_turns_it(source: str) -> None:
    assert (
        locate("The company shall ... be liable for damages", "a", {"a": source}).failure is Failure.SPLICED
    )
    plain = "The company shall in every case be liable for damages."
    assert locate("The company shall ... be liable for damages", "a", {"a": plain}).failure is None
