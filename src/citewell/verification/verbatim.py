"""Is a quote in its source, word for word, and is a claim one of its sentences? Exact, never fuzzy.

In: a quote and sources, or a claim and a text. Out: spans of the original text, or the name of the failure;
whether the claim stands there as a whole statement. Before comparing, both sides are folded: Unicode
compatibility forms (ligatures, full-width), white space runs to one space, quotation marks and dashes to one
kind each, soft hyphens and zero-width characters away; but a raised figure after a digit stays raised. Every
folded character remembers where it stood, so a match is a span of the original. Letter case counts. An
ellipsis in a quote splits it into parts of at least three words that must follow each other in one sentence or
table row, with no word left out that turns the rest. Knows nothing about models: whatever leaves a doubt is
for the entailer.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from citewell.core.records import Failure, Record
from citewell.core.sentences import sentence_spans
from citewell.verification.lexicon import HEDGES, NEGATIONS
from citewell.verification.words import content_words, is_doubtful, is_finite, words_of

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
"""In each part of a quote that leaves words out: fewer can be found anywhere."""
TURNING = frozenset(
    str.split("not no none nor neither never cannot former formerly except excluding without unless n't")
)
"""Words that no quote may leave out: it would say the opposite of its source."""


class Folded(Record, frozen=True, kw_only=True):
    """``offsets[i]`` is where folded character i begins in the original, ``ends[i]`` where it ends."""

    text: str
    offsets: array[int]
    ends: array[int]


class Located(Record, frozen=True, kw_only=True):
    """``spans``: one for each part of the quote, in order. ``failure`` is None when all were found;
    ``found_in`` names the source that holds a misattributed quote or the parts of a spliced one."""

    spans: tuple[tuple[int, int], ...] = ()
    failure: Failure | None = None
    found_in: tuple[str, ...] = ()
    reason: str = ""


@lru_cache(maxsize=64)
def fold(text: str) -> Folded:
    """``text`` as it is compared, with the way back."""
    letters: list[str] = []
    offsets, ends = array("L"), array("L")
    for start, end in _clusters(text):
        folded = text[start:end]
        # "5,120" with a footnote's raised 2 is not 5,1202, and ten to the sixth is not 106.
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
    return Folded(text="".join(letters), offsets=offsets, ends=ends)


def find_verbatim(quote: str, source: str) -> tuple[int, int] | None:
    """The first place of ``quote`` in ``source``, as original offsets; whole words only."""
    hits = find_all(quote, source)
    return hits[0] if hits else None


def find_all(quote: str, source: str) -> tuple[tuple[int, int], ...]:
    """Every place of ``quote`` in ``source``, at word borders and none over another, as original offsets."""
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


def locate(quote: str, cited: str, sources: Mapping[str, str], *, near: int | None = None) -> Located:
    """Find ``quote`` in ``sources[cited]``; when it is not there, say how it fails.

    Parts around an ellipsis must all be there, in order, in one sentence or table row. ``near`` prefers the
    occurrence nearest to that offset. Fabricated: in no source. Misattributed: whole in another source.
    Spliced: its words are stitched from several places, or its parts are too short, or stand in another
    order, in several sentences or in several sources.
    """
    parts = [part for part in _ELLIPSIS.split(quote) if part.strip(_MARKS + ".,;:")]
    if not parts:
        return Located(failure=Failure.FABRICATED, reason="the quote is empty")
    home = sources.get(cited)
    if home is not None:
        spans = _together(parts, home, near)
        if spans:
            return Located(spans=spans)
    others = tuple(name for name, text in sources.items() if name != cited and _together(parts, text, None))
    if others:
        return Located(
            failure=Failure.MISATTRIBUTED, found_in=others,
            reason=f"the quote is not in {cited} but in {', '.join(others)}",
        )  # fmt: skip
    elided = len(parts) > 1 and home is not None and all(find_all(part, home) for part in parts)
    holders = (cited,) if elided else _stitched(parts, cited, sources)
    if holders:
        return Located(
            failure=Failure.SPLICED, found_in=holders,
            reason="the words of the quote are in the source, but not together as quoted",
        )  # fmt: skip
    return Located(failure=Failure.FABRICATED, reason="no source contains the quoted words")


def _together(parts: list[str], text: str, near: int | None) -> tuple[tuple[int, int], ...]:
    """The span of each part: of the only one, or of all in one sentence or table row, in order."""
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
    """Where the sentence ends that holds ``[start, end)``; 0 when none does. No sentence goes over a line."""
    head = text.rfind("\n", 0, start) + 1
    tail = text.find("\n", start)
    spans = sentence_spans(text[head : len(text) if tail < 0 else tail])
    return next((head + b for a, b in spans if head + a <= start and end <= head + b), 0)


def _stitched(parts: list[str], cited: str, sources: Mapping[str, str]) -> tuple[str, ...]:
    """Sources that together hold the quote as runs of words.

    Runs of at least three words, or of half the quote when it is shorter, must cover it all: a
    quote with one foreign word is fabricated, not spliced.
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
    low, high = 0, len(words) - position
    while low < high:
        middle = (low + high + 1) // 2
        run = _bare(" ".join(words[position : position + middle]))
        if run and f" {run} " in text:
            low = middle
        else:
            high = middle - 1
    return low


def _bare(text: str) -> str:
    """Without punctuation at word ends, so that a cut at a comma is seen as a cut."""
    return " ".join(word for word in (token.strip(".,;:!?\"'()[]") for token in text.split()) if word)


def _border(text: str, position: int) -> bool:
    """No word or number is cut at ``position``."""
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
    """A character with the marks that combine with it: they are normalised together."""
    if text.isascii():
        return [(index, index + 1) for index in range(len(text))]
    clusters: list[tuple[int, int]] = []
    for index, letter in enumerate(text):
        if clusters and unicodedata.combining(letter):
            clusters[-1] = (clusters[-1][0], index + 1)
        else:
            clusters.append((index, index + 1))
    return clusters


_LIST_MARK = (
    r"(?:[-*#>\u2022\u2023\u25e6\u25aa\u00b7\u2013\u2014]+\s+"
    r"|\(?(?:\d{1,3}[.)]|(?:[a-z]|[ivxlc]{1,5})\))\s+)"
)
_MARKUP = r"(?P<marks>[\"'`\u201c\u201d\u2018\u2019\u00ab\u00bb()\[\]*_]*)"
_QUOTES = re.compile("[\"'`\u201c\u201d\u2018\u2019\u00ab\u00bb]")
_SINGLE_OPENS = re.compile(r"(?<!\w)['\u2018](?=\w)(?!(?:s|t|d|m|re|ve|ll|em|n)\b)", re.IGNORECASE)
_SINGLE_CLOSES = re.compile(r"(?<=\S)['\u2019](?!\w)")
_OPENS = re.compile(rf"\s*{_LIST_MARK}*{_MARKUP}\s*", re.IGNORECASE)
_CLOSES = re.compile(rf"\s*[.!]?\s*{_MARKUP}\s*[.!]?")
_GOES_ON = re.compile(r"[,;](?:\s+(?:and|or))?$", re.IGNORECASE)
_ITEM = re.compile(_LIST_MARK, re.IGNORECASE)
# A list that lost its lines ("any of the following is a default: The borrower fails to pay. ...").
_LED = re.compile(rf":\s+(?:{_LIST_MARK})?([A-Z][^.!?]*)")
_HEADING = re.compile(
    r"#{1,6}\s+(.*\w.*)|(?:\*\*|__)(.*\w.*)(?:\*\*|__)|([A-Z0-9\"'\u201c\u2018(][^\t]*[\w)\]?])"
)
"""Marked, bold as a whole, or a short line without a stop."""
_HEADING_WORDS, _HEADING_LONGEST = 12, 200
_LABEL_WORDS = 3  # "Key results:" over a list says nothing of it
# Words of a heading that make what stands under it untrue, not so yet or any more, a wish or a case.
_TURNS = re.compile(
    r"\b(?:except\w*|exclu\w+|myths?|misconceptions?|fallac\w+|fiction\w*|rumou?rs?|alleg\w+|false\w*|untrue|"
    r"wrong|drafts?|former\w*|superseded|obsolete|outdated|deprecated|repealed|deleted|withdrawn|cancel+ed|revoked|"
    r"rescinded|expired|rejected|hypothe\w+|scenarios?|assum\w+|objectives?|goals?|examples?|if|unless|until|"
    r"according to|(?:patients|people|persons|adults|children|women|men|customers|users|members|employees|tenants|"
    r"students|applicants|those) (?:with\w*|who|in|on|under|over|aged|from))\b|n['\u2019]t\b",
    re.IGNORECASE,
)
_ASIDE_WORDS = 5  # a longer question or "Not ..." says something of its own
_TAKEN_BACK = re.compile(
    r"\W*(?:this|that|these|those|the (?:above|foregoing|statement))\b.*\b(?:only|false|untrue|wrong|incorrect|myth|lie|"
    r"delet\w+|revers\w+|repeal\w+|supersed\w+|revok\w+|withdr\w+|rescind\w+|overturn\w+|cancel\w+|expir\w+|laps\w+|"
    r"ended|ceas\w+|except|unless|no longer|appl(?:y|ies)|not (?:true|so|valid|hold|the case))\b",
    re.IGNORECASE | re.DOTALL,
)
_TAKES = re.compile(
    r"\W*(?:not|none|no|only|false|true|untrue|wrong|except|unless|otherwise|provided|the (?:opposite|contrary|reverse))\b",
    re.IGNORECASE,
)
_POSES = re.compile(r"\W*(?:suppos|assum|imagin|hypothes|pretend)\w*\b", re.IGNORECASE)
_MOST_PLACES = 20  # of a claim in one text: what does not stand in the first ones is for the entailer
_MOST_LINES = 50  # looked back over, from an item to the words that lead up to it


def stands_whole(claim: str, text: str, sections: Sequence[str] = ()) -> bool:
    """``claim`` is a whole sentence of ``text``, word for word but for marks around it. ``sections`` are the
    headings over the text, also those that stand far above it.

    Questions, speech, items of a list with words that lead up to it, what stands under a heading that may turn
    it ("Do not take it") and what the sentence behind may take back ("This rule was withdrawn.") state nothing
    by themselves. "No" says nothing against the claim.
    """
    bare = claim.strip().rstrip(".!").rstrip()
    if len(bare.split()) < LEAST_WORDS or bare.rstrip("\"'\u201d\u2019)").endswith("?"):
        return False
    if turning(sections, bare):
        return False
    return any(_stated(text, start, end) for start, end in find_all(bare, text)[:_MOST_PLACES])


def turning(sections: Sequence[str], claim: str) -> list[str]:
    """Those headings that may turn what stands under them, and of which ``claim`` says nothing."""
    said = set(content_words(claim))
    return [name for name in sections if _heading_turns(name) and not set(content_words(name)) <= said]


def _stated(text: str, start: int, end: int) -> bool:
    spans = sentence_spans(text)
    first = max((a for a, _ in spans if a <= start), default=0)
    last = min((b for _, b in spans if b >= end), default=len(text))
    opens, closes = _OPENS.fullmatch(text[first:start]), _CLOSES.fullmatch(text[end:last])
    if not opens or not closes or not _paired(opens["marks"], closes["marks"]):
        return False
    if _GOES_ON.search(text[first:last]) or not _balanced(text[first:last]):
        return False
    begin, stop = _line(text, first)
    told = _QUOTES.search(opens["marks"]) and _QUOTES.search(closes["marks"])
    if told and (text[begin:first].strip() or text[last:stop].strip()):
        return False  # what stands beside a quotation says that somebody said it
    return not (
        _introduced(text, first)
        or _turned_by_heading(text, first, text[start:end])
        or _taken_back(text, first, last)
    )


def _line(text: str, place: int) -> tuple[int, int]:
    stop = text.find("\n", place)
    return text.rfind("\n", 0, place) + 1, stop if stop >= 0 else len(text)


def _paired(opening: str, closing: str) -> bool:
    """Brackets and emphasis close as they opened: an asterisk at the end alone is a footnote's."""
    left, right = _QUOTES.sub("", opening), _QUOTES.sub("", closing)
    return left.translate(str.maketrans("([", ")]"))[::-1] == right


def _balanced(text: str) -> bool:
    """No quotation is open at its end; a mark behind a digit is inches, one before "s" an apostrophe."""
    straight = re.sub(r'(?<=\d)"', "", text).count('"')
    return (
        straight % 2 == 0
        and len(_SINGLE_OPENS.findall(text)) <= len(_SINGLE_CLOSES.findall(text))
        and text.count("\u201c") == text.count("\u201d")
        and text.count("\u00ab") == text.count("\u00bb")
    )


def _introduced(text: str, first: int) -> bool:
    """The sentence is part of a speech or a list, or the words above it lead up to it ("It is a myth that:").

    A list may have lost its marks, so lines of one sentence count as its items, up to a heading.
    """
    begin, stop = _line(text, first)
    line, ahead = text[begin:stop].strip(), text[begin:first]
    if not _balanced(ahead) or any(map(_has_verb, _LED.findall(ahead))):
        return True
    for above in itertools.islice(_lines_above(text, begin), _MOST_LINES):
        if above.endswith(":"):
            # A row of a table is turned by a denial above it only.
            return _heading_turns(above) or ("\t" not in line and len(above.split()) > _LABEL_WORDS)
        if _GOES_ON.search(above):
            return True
        if not _is_item(line) or not _is_item(above):
            return False
    return False


def _turned_by_heading(text: str, first: int, claim: str) -> bool:
    """The nearest heading, or a marked one that it stands under, denies, dates back or narrows what stands
    under it, and ``claim`` does not say so; or an item stands right under words with a verb that lead up to
    it."""
    begin, stop = _line(text, first)
    line = text[begin:stop].strip()
    right_above = bool(_ITEM.match(line))
    inner = 0  # the marks of the innermost heading so far
    for above in itertools.islice(_lines_above(text, begin), _MOST_LINES):
        marks = len(above) - len(above.lstrip("#"))
        if (name := _heading(above, line)) and (not inner or 0 < marks < inner):
            turns = turning([name], claim) or (not inner and right_above and _leads(name))
            if turns and not set(content_words(name)) <= set(content_words(claim)):
                return True
            if marks <= 1:
                return False
            inner = marks
        right_above = right_above and bool(_ITEM.match(above))
        line = above
    return False


def _heading(line: str, below: str) -> str:
    """Its words, or "": a plain line is none where the one below goes on with it, or where it is an item."""
    found = _HEADING.fullmatch(line) if len(line) <= _HEADING_LONGEST else None
    if not found:
        return ""
    marked = found[1] or found[2]
    plain = len(line.split()) <= _HEADING_WORDS and not below[:1].islower() and not _ITEM.match(line)
    return str(marked or (line if plain else ""))


def _leads(name: str) -> bool:
    """It says something of what follows ("Any of the following is a default"), and asks nothing."""
    asks = name.endswith("?") or re.match(r"\W*(?:how|what|why|where)\b", name, re.IGNORECASE)
    return _has_verb(name) and not asks


def _heading_turns(name: str) -> bool:
    return bool(_TURNS.search(name)) or not (HEDGES | NEGATIONS).isdisjoint(words_of(name))


def _taken_back(text: str, first: int, last: int) -> bool:
    """In the same paragraph a sentence behind ends it, limits it or asks, or one before it poses it."""
    spans = sentence_spans(text)
    behind = next((text[a:b] for a, b in spans if a >= last and "\n" not in text[last:a]), "")
    before = next((text[a:b] for a, b in reversed(spans) if b <= first and "\n\n" not in text[b:first]), "")
    at = bisect_left(spans, (first, first))
    posed = _posed(text, spans[max(0, at - _MOST_LINES) : at])
    aside = len(behind.split()) <= _ASIDE_WORDS and (
        behind.rstrip("\"')\u201d").endswith("?") or _TAKES.match(behind)
    )
    return bool(aside or _TAKEN_BACK.match(behind) or _POSES.match(before) or posed)


def _posed(text: str, before: Sequence[tuple[int, int]]) -> bool:
    """A short sentence among those ``before``, in the same section, poses all that follows ("Imagine the
    following.")."""
    below = ""
    for start, end in reversed(before):
        said = text[start:end].strip()
        if _heading(said, below):
            return False
        if len(said.split()) <= _ASIDE_WORDS and _POSES.match(said):
            return True
        below = said
    return False


def _lines_above(text: str, line: int) -> Iterator[str]:
    """The lines before the one that begins at ``line`` and that hold something, nearest first."""
    while line > 0:
        begin = text.rfind("\n", 0, line - 1) + 1
        if above := text[begin : line - 1].strip():
            yield above
        line = begin


def _is_item(line: str) -> bool:
    """It has a list's mark, or is one sentence or row by itself and no heading."""
    heading = line[-1].isalnum() and line[0].isupper() and not _has_verb(line)
    return bool(_ITEM.match(line)) or (not heading and len(sentence_spans(line)) == 1)


def _has_verb(text: str) -> bool:
    return any(is_finite(word) and not is_doubtful(word) for word in words_of(text))
