"""Is a claim a whole sentence of its source, with nothing around it that changes its meaning? Exact code.

In: a claim and a text. Out: whether the text asserts the claim, word for word. Questions, speech, items of a
list with a lead-in, sentences under a heading that may negate them ("Do not take it") and sentences that
the next one may retract ("This rule was withdrawn.") are not assertions; a negative result is not evidence
against the claim. Independent of models: anything doubtful is left to the entailer.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from citewell.core.sentences import blanked, line_span, next_on_line, sentence_spans
from citewell.questions.quantity import moments
from citewell.verification.lexicon import HEDGES, NEGATIONS
from citewell.verification.verbatim import LEAST_WORDS, find_all
from citewell.verification.words import content_words, is_doubtful, is_finite, words_of

_LIST_MARK = (
    r"(?:[-*#>\u2022\u2023\u25e6\u25aa\u00b7\u2013\u2014]+\s+"
    r"|\(?(?:\d{1,3}[.)]|(?:[a-z]|[ivxlc]{1,5})\))\s+)"
)
_MARKUP = r"(?P<marks>[\"'`\u201c\u201d\u2018\u2019\u00ab\u00bb()\[\]*_]*)"
_QUOTES = re.compile("[\"'`\u201c\u201d\u2018\u2019\u00ab\u00bb]")
_AROUND = " \t.!\"'\u201c\u201d\u2018\u2019\u00ab\u00bb"
_SINGLE_OPENS = re.compile(r"(?<!\w)['\u2018](?=\w)(?!(?:s|t|d|m|re|ve|ll|em|n)\b)", re.IGNORECASE)
_SINGLE_CLOSES = re.compile(r"(?<=\S)['\u2019](?!\w)")
_OPENS = re.compile(rf"\s*{_LIST_MARK}*{_MARKUP}\s*", re.IGNORECASE)
_CLOSES = re.compile(rf"\s*[.!]?\s*{_MARKUP}\s*[.!]?")
_GOES_ON = re.compile(r"[,;](?:\s+(?:and|or))?$", re.IGNORECASE)
_ITEM = re.compile(_LIST_MARK, re.IGNORECASE)
# A list without line breaks ("any of the following is a default: The borrower fails to pay. ...").
_LED = re.compile(rf":\s+(?:{_LIST_MARK})?([A-Z][^.!?]*)")
_HEADING = re.compile(
    r"#{1,6}\s+(.*\w.*)|(?:\*\*|__)(.*\w.*)(?:\*\*|__)|([A-Z0-9\"'\u201c\u2018(][^\t]*[\w)\]?])"
)
"""A marked heading, a line all in bold, or a short line without a full stop."""
_HEADING_WORDS, _HEADING_LONGEST = 12, 200
_LABEL_WORDS = 3  # "Key results:" over a list does not change its meaning
_UNTRUE = (
    r"satir\w+|parod(?:y|ies)|hoax\w*|retract\w+|myths?|misconceptions?|fallac\w+|fiction\w*|rumou?rs?|alleg\w+|"
    r"false\w*|untrue|wrong|drafts?|superseded|obsolete|outdated|deprecated|repealed|deleted|withdrawn|cancel+ed|"
    r"revoked|rescinded|rejected|reversed|hypothe\w+|suppos(?:e[ds]?|ing|itions?)|imagin(?:e[ds]?|ary|ing)"
)
_DENIES = re.compile(rf"\b(?:{_UNTRUE})\b", re.IGNORECASE)
# Words of a heading, a note or the next sentence that make a text untrue, outdated, hypothetical, intended
# or conditional.
_TURNS = re.compile(
    rf"\b(?:{_UNTRUE}|except\w*|exclu\w+|former\w*|expired|scenarios?|assum\w+|objectives?|goals?|"
    r"examples?|if|unless|until|only|according to|of the following|"
    r"(?:patients|people|persons|adults|children|women|men|customers|users|members|employees|tenants|"
    r"students|applicants|those) (?:with\w*|who|in|on|under|over|aged|from))\b|n['\u2019]t\b",
    re.IGNORECASE,
)
_ASIDE_WORDS = 5  # a longer question or "Not ..." is a statement of its own
_SPEAKS_OF_IT = re.compile(
    r"\W*(?:this|that|these|those|the (?:above|foregoing|statement|opposite|contrary|reverse))\b",
    re.IGNORECASE,
)
_OF_ALL = re.compile(
    r"\b(?:statements?|sentences?|points?|claims?|paragraphs?|everything|nothing|all)(?: said)? above\b|"
    r"\babove (?:statements?|sentences?|points?|claims?|paragraphs?|text)\b",
    re.IGNORECASE,
)
_POSES = re.compile(r"\W*(?:suppos|assum|imagin|hypothes|pretend)\w*\b", re.IGNORECASE)
NOTE_MARK = re.compile(r"\[\^\w{1,20}\]")
_RAISED_MARK = r"[\u00b9\u00b2\u00b3\u2070-\u2079]{1,3}"
_MARKS = re.compile(rf"{NOTE_MARK.pattern}|{_RAISED_MARK}")
_NOTE = re.compile(rf"^(?:({NOTE_MARK.pattern}):|({_RAISED_MARK}) )(.*)$", re.MULTILINE)
_MOST_PLACES = 20  # maximum occurrences of a claim examined in one text; the rest is left to the entailer
_MOST_LINES = 50  # maximum lines searched backwards, from an item to its lead-in


def stands_whole(claim: str, text: str, sections: Sequence[str] = ()) -> bool:
    """Whether ``claim`` is a whole sentence of ``text``, word for word except for surrounding marks.
    ``sections`` are the headings over the text, including distant ones."""
    bare = claim.strip().rstrip(".!").rstrip()
    if len(bare.split()) < LEAST_WORDS or bare.rstrip("\"'\u201d\u2019)").endswith("?"):
        return False
    if qualifying_headings(sections, bare):
        return False
    return any(_stated(text, start, end) for start, end in find_all(bare, text)[:_MOST_PLACES])


def copies_sentence(claim: str, text: str) -> bool:
    """Whether ``claim`` is a sentence of ``text`` in its own words, whatever the text says of it."""
    bare = claim.strip(_AROUND)
    return any(text[start:end].strip(_AROUND) == bare for start, end in sentence_spans(text))


def qualifying_headings(sections: Sequence[str], claim: str) -> list[str]:
    """Headings that may change the meaning of the text below and that ``claim`` does not include."""
    said = set(content_words(claim))
    return [name for name in sections if _turns(name) and not set(content_words(name)) <= said]


def _stated(text: str, start: int, end: int) -> bool:
    spans = sentence_spans(text)
    first = max((a for a, _ in spans if a <= start), default=0)
    last = min((b for _, b in spans if b >= end), default=len(text))
    opens, closes = _OPENS.fullmatch(text[first:start]), _CLOSES.fullmatch(text[end:last])
    if not opens or not closes or not _paired(opens["marks"], closes["marks"]):
        return False
    if _GOES_ON.search(text[first:last]) or not _balanced(text[first:last]):
        return False
    begin, stop = line_span(text, first)
    told = _QUOTES.search(opens["marks"]) and _QUOTES.search(closes["marks"])
    if told and (text[begin:first].strip() or text[last:stop].strip()):
        return False  # text next to a quotation attributes it to somebody
    return not _introduced(text, first) and not any(_remarks(text, first, last, text[start:end]))


def remark_on(text: str, start: int, end: int, sections: Sequence[str] = ()) -> tuple[str, bool]:
    """The words by which ``text`` or a heading over it takes back its own ``[start, end)``, and whether they
    are a heading's; "" if there are none. Conditions and limits take nothing back."""
    said = text[start:end]
    last = min((b for _, b in sentence_spans(text) if b >= end), default=end)
    above = [(name, True) for name in reversed(qualifying_headings(sections, said))]
    found = (one for one in (*above, *_remarks(text, start, last, said)) if _DENIES.search(one[0]))
    return next(found, ("", False))


def _remarks(text: str, first: int, last: int, claim: str) -> Iterator[tuple[str, bool]]:
    """What qualifies the sentence, and whether it is a heading."""
    found = (
        (_turned_by_heading(text, first, claim), True),
        (_taken_back(text, first, last), False),
        (_turned_by_note(text, first, last), False),
    )
    return ((words, heading) for words, heading in found if words)


def _paired(opening: str, closing: str) -> bool:
    """Whether brackets and emphasis close as they opened; a final asterisk alone is a footnote mark."""
    left, right = _QUOTES.sub("", opening), _QUOTES.sub("", closing)
    return left.translate(str.maketrans("([", ")]"))[::-1] == right


def _balanced(text: str) -> bool:
    """Whether all quotations are closed; a mark after a digit is inches, one before "s" an apostrophe."""
    straight = re.sub(r'(?<=\d)"', "", text).count('"')
    return (
        straight % 2 == 0
        and len(_SINGLE_OPENS.findall(text)) <= len(_SINGLE_CLOSES.findall(text))
        and text.count("\u201c") == text.count("\u201d")
        and text.count("\u00ab") == text.count("\u00bb")
    )


def _introduced(text: str, first: int) -> bool:
    """Whether the sentence is part of a speech or a list, or has a lead-in above it ("It is a myth that:").

    A list may have lost its marks, so one-sentence lines count as items, up to a heading.
    """
    begin, stop = line_span(text, first)
    line, ahead = text[begin:stop].strip(), text[begin:first]
    if not _balanced(ahead) or any(map(_has_verb, _LED.findall(ahead))):
        return True
    begun = bool(ahead.strip())  # what the line above leads into is an earlier sentence of this line
    for above in itertools.islice(_lines_above(text, begin), _MOST_LINES):
        if above.endswith(":"):
            # For a table row, only a lead-in that negates matters.
            return _turns(above) or ("\t" not in line and len(above.split()) > _LABEL_WORDS)
        if _GOES_ON.search(above) and (_ITEM.match(line) or not begun):
            return True
        if not _is_item(line) or not _is_item(above):
            return False
    return False


def _turned_by_heading(text: str, first: int, claim: str) -> str:
    """The nearest heading, or a marked one above it, that negates, restricts or marks as outdated the text
    below where ``claim`` does not say so; "" if there is none."""
    begin, stop = line_span(text, first)
    line = text[begin:stop].strip()
    inner = 0  # the marks of the innermost heading so far
    for above in itertools.islice(_lines_above(text, begin), _MOST_LINES):
        marks = len(above) - len(above.lstrip("#"))
        if (name := _heading(above, line)) and (not inner or 0 < marks < inner):
            if qualifying_headings([name], claim):
                return name
            if marks <= 1:
                return ""
            inner = marks
        line = above
    return ""


def _heading(line: str, below: str) -> str:
    """The heading's words, or "": a plain line is not one if the line below continues it or it is an item."""
    found = _HEADING.fullmatch(line) if len(line) <= _HEADING_LONGEST else None
    if not found:
        return ""
    marked = found[1] or found[2]
    plain = len(line.split()) <= _HEADING_WORDS and not below[:1].islower() and not _ITEM.match(line)
    return str(marked or (line if plain else ""))


def _turns(words: str) -> bool:
    words = blanked(words, moments(words))  # the month of May hedges nothing
    return bool(_TURNS.search(words)) or not (HEDGES | NEGATIONS).isdisjoint(words_of(words))


def _taken_back(text: str, first: int, last: int) -> str:
    """The next sentence on the line if it ends, limits or questions this one, a later one about all above it,
    or an earlier one that supposes it; "" if there is none."""
    spans = sentence_spans(text)
    after = next_on_line(text, last)
    behind = text[slice(*after)] if after else ""
    aside = len(behind.split()) <= _ASIDE_WORDS
    if (aside or _SPEAKS_OF_IT.match(behind)) and _turns(behind):
        return behind
    if aside and behind.rstrip("\"')\u201d").endswith("?"):
        return behind
    at = bisect_left(spans, (first, first))
    later = (text[a:b] for a, b in spans[at + 1 : at + 1 + _MOST_LINES])
    if of_all := next((said for said in later if _OF_ALL.search(said) and _turns(said)), ""):
        return of_all
    return _posed(text, spans[max(0, at - _MOST_LINES) : at])


def _turned_by_note(text: str, first: int, last: int) -> str:
    """The footnote of the sentence ("[^1]", or "¹" before the first note so marked) that would turn it if it
    were a heading; "" if there is none."""
    marks = set(_MARKS.findall(text, first, last))
    for note in _NOTE.finditer(text, last) if marks else ():
        if (mark := note[1] or note[2]) in marks:
            if _turns(note[3]):
                return note[3].strip()
            marks -= {mark} if note[2] else set()  # the next page counts its notes from ¹ again
    return ""


def _posed(text: str, before: Sequence[tuple[int, int]]) -> str:
    """The sentence in ``before``, in the same section, that makes what follows a supposition ("Imagine the
    following."); "" if there is none."""
    below = ""
    for start, end in reversed(before):
        said = text[start:end].strip()
        if _heading(said, below):
            return ""
        if _POSES.match(said):
            return said
        below = said
    return ""


def _lines_above(text: str, line: int) -> Iterator[str]:
    """The non-blank lines before the one that begins at ``line``, nearest first."""
    while line > 0:
        begin = text.rfind("\n", 0, line - 1) + 1
        if above := text[begin : line - 1].strip():
            yield above
        line = begin


def _is_item(line: str) -> bool:
    """Whether the line has a list mark, or is a single sentence or row and not a heading."""
    heading = line[-1].isalnum() and line[0].isupper() and not _has_verb(line)
    return bool(_ITEM.match(line)) or (not heading and len(sentence_spans(line)) == 1)


def _has_verb(text: str) -> bool:
    return any(is_finite(word) and not is_doubtful(word) for word in words_of(text))
