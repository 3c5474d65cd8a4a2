"""Is a quote in its source, word for word? Exact, never fuzzy.

In: a quote and sources. Out: spans of the original text, or the name of the failure. Before comparison, both
sides are folded: Unicode compatibility forms (ligatures, full-width) are normalised, white space runs become
one space, quotation marks and dashes one kind each, soft hyphens and zero-width characters are removed; but a
superscript after a digit is kept. Every folded character keeps its original offset, so a match is a span
of the original. Case-sensitive. An ellipsis splits a quote into parts of at least three words, which must
occur in order in one sentence or table row, with no omitted word that reverses the meaning. No models.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_left
from collections.abc import Mapping
from functools import lru_cache

from citewell.core.records import Failure, Record
from citewell.core.sentences import line_span, sentence_spans

_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"), "-")
_SINGLE = dict.fromkeys(map(ord, "\u2018\u2019\u201a\u201b\u2032\u02bc\u00b4`"), "'")
_DOUBLE = dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb"), '"')
_GONE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"), None)
_TABLE: dict[int, str | None] = {**_DASHES, **_SINGLE, **_DOUBLE, **_GONE}
_ELLIPSIS = re.compile(
    r"(?:(?<!\s)\s+)?(?:\[\s*(?:\.{3,}|…)\s*\]|\(\s*(?:\.{3,}|…)\s*\)|\.(?:\s?\.){2,}|…)\s*"
)
_MARKS = " \"'"
LEAST_WORDS = 3
"""Minimum words in each part of a quote with omissions: fewer can be found anywhere."""
TURNING = frozenset(
    str.split("not no none nor neither never cannot former formerly except excluding without unless n't")
)
"""Words that no quote may omit: it could then say the opposite of its source."""


class FoldedText(Record, frozen=True, kw_only=True):
    """``offsets[i]`` is the original start of folded character i, ``ends[i]`` its end."""

    text: str
    offsets: array[int]
    ends: array[int]


class QuoteLocation(Record, frozen=True, kw_only=True):
    """``spans``: one for each part of the quote, in order. ``failure`` is None if all were found;
    ``found_in`` names the sources that contain a misattributed quote or the parts of a spliced one."""

    spans: tuple[tuple[int, int], ...] = ()
    failure: Failure | None = None
    found_in: tuple[str, ...] = ()
    reason: str = ""


@lru_cache(maxsize=64)
def fold(text: str) -> FoldedText:
    """``text`` in the form used for comparison, with offsets into the original."""
    letters: list[str] = []
    offsets, ends = array("L"), array("L")
    for start, end in _clusters(text):
        folded = text[start:end]
        # "5,120" with a superscript footnote mark 2 is not 5,1202, and ten to the sixth is not 106.
        if not (letters and letters[-1].isdigit() and unicodedata.category(folded[0]) == "No"):
            folded = unicodedata.normalize("NFKC", folded).translate(_TABLE)
        for letter in folded:
            if letter.isspace():
                if letters and letters[-1] == " ":
                    ends[-1] = end
                    continue
                letter = " "
            letters.append(letter)
            offsets.append(start)
            ends.append(end)
    return FoldedText(text="".join(letters), offsets=offsets, ends=ends)


def find_verbatim(quote: str, source: str) -> tuple[int, int] | None:
    """The first occurrence of ``quote`` in ``source``, as original offsets; whole words only."""
    hits = find_all(quote, source)
    return hits[0] if hits else None


def find_all(quote: str, source: str) -> tuple[tuple[int, int], ...]:
    """All non-overlapping occurrences of ``quote`` in ``source`` at word boundaries, as original offsets."""
    needle = fold(quote).text.strip(_MARKS)
    if not needle:
        return ()
    hay = fold(source)
    hits = []
    position = hay.text.find(needle)
    while position >= 0:
        end = position + len(needle)
        hit = _border(hay.text, position) and _border(hay.text, end)
        if hit:
            hits.append((hay.offsets[position], hay.ends[end - 1]))
        position = hay.text.find(needle, end if hit else position + 1)
    return tuple(hits)


def locate(quote: str, cited: str, sources: Mapping[str, str], *, near: int | None = None) -> QuoteLocation:
    """Find ``quote`` in ``sources[cited]``; if it is not there, state how it fails.

    Parts around an ellipsis must all occur, in order, in one sentence or table row. ``near`` prefers the
    occurrence nearest to that offset. Fabricated: in no source. Misattributed: whole in another source.
    Spliced: its words are stitched from several places, or its parts are too short, in another order, in
    several sentences or in several sources, or omit a word of TURNING.
    """
    parts = [part for part in _ELLIPSIS.split(quote) if part.strip(_MARKS + ".,;:")]
    if not parts:
        return QuoteLocation(failure=Failure.FABRICATED, reason="the quote is empty")
    home = sources.get(cited)
    if home is not None:
        spans = _together(parts, home, near)
        if spans:
            return QuoteLocation(spans=spans)
    others = tuple(name for name, text in sources.items() if name != cited and _together(parts, text, None))
    if others:
        return QuoteLocation(
            failure=Failure.MISATTRIBUTED, found_in=others,
            reason=f"the quote is not in {cited} but in {', '.join(others)}",
        )  # fmt: skip
    elided = len(parts) > 1 and home is not None and all(find_all(part, home) for part in parts)
    holders = (cited,) if elided else _stitched(parts, cited, sources)
    if holders:
        return QuoteLocation(
            failure=Failure.SPLICED, found_in=holders,
            reason="the words of the quote are in the source, but not together as quoted",
        )  # fmt: skip
    return QuoteLocation(failure=Failure.FABRICATED, reason="no source contains the quoted words")


def _together(parts: list[str], text: str, near: int | None) -> tuple[tuple[int, int], ...]:
    """The span of each part: of a single part, or of all in one sentence or table row, in order; else ()."""
    hits = [find_all(part, text) for part in parts]
    firsts = sorted(hits[0], key=lambda hit: abs(hit[0] - near)) if near is not None else hits[0]
    if len(parts) == 1:
        return tuple(firsts[:1])
    if any(len(part.split()) < LEAST_WORDS for part in parts):
        return ()
    for first in firsts:
        stop = _sentence_end(text, *first)
        spans = [first]
        for later in hits[1:]:
            place = bisect_left(later, (spans[-1][1], 0))
            if place == len(later) or later[place][1] > stop:
                break
            if _turns(text[spans[-1][1] : later[place][0]]):
                break
            spans.append(later[place])
        if len(spans) == len(parts):
            return tuple(spans)
    return ()


def _turns(left_out: str) -> bool:
    words = re.findall(r"\w+(?:'\w+)?", fold(left_out).text.lower())
    return any(word in TURNING or word.endswith("n't") for word in words)


def _sentence_end(text: str, start: int, end: int) -> int:
    """End of the sentence that contains ``[start, end)``; 0 if none. No sentence extends past its line."""
    head, tail = line_span(text, start)
    spans = sentence_spans(text[head:tail])
    return next((head + b for a, b in spans if head + a <= start and end <= head + b), 0)


def _stitched(parts: list[str], cited: str, sources: Mapping[str, str]) -> tuple[str, ...]:
    """Sources that together contain the quote as runs of words; () if they do not.

    Runs of at least three words, or half of a shorter quote, must cover it all: a
    quote with one word from no source is fabricated, not spliced.
    """
    words = fold(" ".join(parts)).text.split()
    order = [cited, *(name for name in sources if name != cited)]
    texts = [(name, " " + _bare(fold(sources[name]).text) + " ") for name in order if name in sources]
    holders: list[str] = []
    position = 0
    least = min(3, max(1, len(words) // 2))
    while position < len(words):
        best_length, best_name = 0, ""
        for name, text in texts:
            length = _longest(words, position, text)
            if length > best_length:
                best_length, best_name = length, name
        remaining = len(words) - position
        if best_length == 0 or best_length < min(least, remaining):
            return ()
        if best_name not in holders:
            holders.append(best_name)
        position += best_length
    return tuple(holders)


def _longest(words: list[str], position: int, text: str) -> int:
    def lacks(length: int) -> bool:
        run = _bare(" ".join(words[position : position + length]))
        return not run or f" {run} " not in text

    return bisect_left(range(1, len(words) - position + 1), True, key=lacks)


def _bare(text: str) -> str:
    """Strip punctuation at word ends, so that a cut at a comma is recognised as a cut."""
    return " ".join(word for word in (token.strip(".,;:!?\"'()[]") for token in text.split()) if word)


def _border(text: str, position: int) -> bool:
    """Whether ``position`` cuts no word or number."""
    if position in (0, len(text)):
        return True
    left, right = text[position - 1], text[position]
    if left.isalnum() and right.isalnum():
        return False
    # "1.577" does not contain the quote "577", nor "1,577" the quote "1".
    before, after = text[max(0, position - 2) : position], text[position : position + 2]
    if left in ".," and right.isdigit() and len(before) == 2 and before[0].isdigit():
        return False
    return not (right in ".," and left.isdigit() and len(after) == 2 and after[1].isdigit())


def _clusters(text: str) -> list[tuple[int, int]]:
    """Spans of each character with its combining marks, which are normalised together."""
    if text.isascii():
        return [(index, index + 1) for index in range(len(text))]
    clusters: list[tuple[int, int]] = []
    for index, letter in enumerate(text):
        if clusters and unicodedata.combining(letter):
            clusters[-1] = (clusters[-1][0], index + 1)
        else:
            clusters.append((index, index + 1))
    return clusters
