"""Scale declarations for numbers ("(In millions, except per share data)", "£'000", "CHF m"), and multi-line
column heads ("Three months ended June 30," above "2023" is one head).

In: a table's title, heads, a sentence. Out: factors, or the words that declare them; their stated
exceptions; and whether any words look like a scale but were not understood. A scale word that belongs to a
number ("5 million") declares nothing. Does not read numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import lru_cache

_WORDS = {
    "thousand": 10**3, "lakh": 10**5, "lac": 10**5, "million": 10**6, "crore": 10**7, "billion": 10**9,
    "trillion": 10**12,
}  # fmt: skip
_SHORT = {"mn": 10**6, "mln": 10**6, "mio": 10**6, "bn": 10**9, "bln": 10**9, "tn": 10**12}
_BESIDE_MONEY = {"k": 10**3, "m": 10**6, "mm": 10**6, "cr": 10**7, "b": 10**9}
_FACTORS = {"000": 1000, **_WORDS, **_SHORT, **_BESIDE_MONEY}

_SIGN = r"[a-z.]{0,4}[$€£¥₹₩₽]"
_CODE = r"(?:USD|EUR|GBP|JPY|CNY|RMB|INR|CHF|CAD|AUD|HKD|SGD|NZD|SEK|NOK|DKK|KRW|RUB|BRL|MXN|ZAR|PLN|TWD)"
_NAME = r"(?:(?:u\.?s\.? )?dollars?|euros?|pounds?(?: sterling)?|yen|yuan|rupees?|francs?|Rs\.?)"
_MONEY = rf"(?:{_SIGN}|\b{_CODE}\b|\b{_NAME})"
_LONG = rf"(?:(?:{'|'.join(_WORDS)})s?|(?:{'|'.join(_SHORT)})(?!\w)\.?)"
_ZEROS = r"['\u2018\u2019`]?000(?:['\u2018\u2019]?s)?"
_ANY = rf"(?:{_LONG}|{_ZEROS}|{'|'.join(_BESIDE_MONEY)})(?![\w-]|[.,]\d)"
_NO_NUMBER = r"(?<!\d)(?:(?<!\d[ \u00a0-])|(?<=\b(?:19|20)\d\d ))"  # "2023 £m" is a head
_DECLARED = re.compile(
    "|".join(
        (
            r"\b(?:in|of|amounts?|values?|figures?)\s+(?P<plural>thousands|millions|billions|000s)\b",
            rf"\bin\s+(?P<alone>(?:{_LONG}|{_ZEROS})(?![\w-]|[.,]\d))",
            rf"{_NO_NUMBER}(?<![\w$€£¥₹]){_MONEY}\s?(?:in\s)?\s?(?P<behind>{_ANY})",
            rf"(?:\bin\s|[(\[]\s?|,\s|^|\t)(?P<before>{_ANY})\s?(?:of\s)?{_MONEY}(?=\s*(?:[)\],;:\t]|$))",
            rf"[(\[](?:in\s)?(?P<bracketed>{_LONG}|{_ZEROS}|[mk])[)\]]",
        )
    ),
    re.IGNORECASE | re.MULTILINE,
)
_LIKE = re.compile(
    rf"{_NO_NUMBER}(?:\b{_LONG}(?!\w)|(?<!\d[.,]){_ZEROS}\b|{_MONEY}\s?(?:[kmbt]|mm|cr|tsd|mrd)\b|"
    rf"\b(?:tsd|mrd)\b|\b(?:[kmbt]|mm)\s?(?:[$€£¥₹₩₽](?!\s?\d)|{_CODE}\b))",
    re.IGNORECASE,
)
_EXCEPT = re.compile(
    r"\b(?:except(?:ing|ions?)?|exclud(?:es?|ing)|unless|other than|apart from)\b([^)\]\n\t]*)", re.IGNORECASE
)


@lru_cache(maxsize=256)  # called for every claim, on texts that may be whole sources
def context_scales(text: str) -> frozenset[Decimal]:
    """1 and the scales that ``text`` declares: 10**6 for "(In millions, except per share data)"."""
    return frozenset({Decimal(1), *(Decimal(_factor(match)) for match in _DECLARED.finditer(text))})


@lru_cache(maxsize=256)
def declared_units(text: str) -> str:
    """The words of ``text`` that declare a scale, such as "In millions"; "" if there are none."""
    found = [match.group() for match in _DECLARED.finditer(text)]
    return "\n".join(dict.fromkeys(found))


def unread_scales(text: str) -> bool:
    """Whether ``text`` has words that look like a scale, but neither declare a known one nor belong to a
    number: "Mrd. EUR", "several million"."""
    return bool(_LIKE.search(_DECLARED.sub(" ", text)))


def excepted(text: str) -> Iterator[str]:
    """The exceptions in lines that declare a scale, such as "per share data"; "" if left unspecified."""
    for line in text.split("\n"):
        if _DECLARED.search(line):
            yield from (match[1] for match in _EXCEPT.finditer(line))


def _factor(match: re.Match[str]) -> int:
    # Ignoring case, the pattern also matches a dotless "i", a dotted capital "I" and a long "s".
    word = (match[match.lastgroup or 0] or "").casefold().replace("\u0131", "i").replace("\u0307", "")
    word = word.strip(".'\u2018\u2019`s")
    return _FACTORS[word.replace("'", "").replace("\u2019", "")]


# --- heads of several lines ------------------------------------------------------------------------


_LONGEST_HEAD = 300
"""Characters of all heads of a row together, where every column gets them."""


def joined_heads(rows: Sequence[Sequence[str]]) -> list[str]:
    """One head per column, from a table's head rows; the first cell of each is over the labels.

    A head above others applies to the columns it spans, or to all if it is alone. If its span is unclear,
    every column gets all such heads, so that none is taken for the complete head."""
    width = max((len(row) for row in rows), default=0)
    levels = [*(_spread(row, width) for row in rows[:-1]), *rows[-1:]]
    columns = [[row[c] for row in levels if c < len(row) and row[c]] for c in range(width)]
    return [" ".join(dict.fromkeys(column)) for column in columns]


def _spread(row: Sequence[str], width: int) -> list[str]:
    """Repeat each head over the columns it spans; a merged cell leaves all but one of them empty."""
    filled = [column for column in range(1, width) if column < len(row) and row[column]]
    spread = [*row, *[""] * (width - len(row))]
    if not filled or len(filled) == width - 1:
        return spread
    everything = " ".join(row[column] for column in filled)[:_LONGEST_HEAD]
    if len(filled) == 1:
        last_of_many = filled[0] == width - 1 > 2
        return spread if last_of_many else [spread[0], *[everything] * (width - 1)]
    if filled == list(range(1, len(filled) + 1)):  # two heads over four columns, set side by side
        return [spread[0], *[everything] * (width - 1)]
    spread[1 : filled[0]] = [everything] * (filled[0] - 1)
    for column in range(filled[0], width):
        spread[column] = spread[column] or spread[column - 1]
    return spread
