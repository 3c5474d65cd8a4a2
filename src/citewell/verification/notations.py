"""What a text says in other signs than digits, said in digits: "Phase III", "tenfold", "noon", "one in five".

In: text, and what the claim counts one of. Out: the text with each such notation as a number that
:mod:`citewell.verification.quantities` reads. The offsets are not those of the text, and some readings are
loose ("the three months ended December 31" is one company's fourth quarter and another's first), so what is
read here may hold a number of a claim and never denies one. Knows no verdicts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache

from citewell.verification.units import ONES, TENS, UNITS

_COUNT = "|".join(sorted((*ONES, *TENS), key=len, reverse=True))
_NUMBER = rf"(?:{_COUNT}|\d{{1,3}}(?:,\d{{3}}){{1,4}}|\d{{1,9}})"
_UNIT = "|".join(sorted((word for word in UNITS if len(word) > 2 and word.islower()), key=len, reverse=True))
_OFTEN = (
    r"(?= (?:(?:an?|per|each|every|in an?) (?:hour|day|night|week|fortnight|month|quarter|year)|"
    r"hourly|daily|nightly|weekly|monthly|quarterly|yearly|annually))"
)
_ROMAN = r"(?=[IVX])X{0,3}(?:IX|IV|V?I{0,3})(?![\w-])"
NUMBERED = (
    "phase", "type", "section", "article", "chapter", "part", "volume", "class", "stage", "grade", "level",
    "title", "schedule", "appendix", "annex", "tier", "category", "war",
)  # fmt: skip
"""What bears its number behind it."""
_QUARTERS = {"march": 1, "june": 2, "september": 3, "december": 4}
_RATE_ROW = re.compile(
    r"^(?P<label>(?![^\t\n:]{0,80}(?:per share|exchange rate))"
    r"[^\t\n:]{0,80}\b(?:rate|margin|share|yield|percentage)\b[^\t\n:]{0,80})(?P<cells>(?:\t|: ).*)$",
    re.IGNORECASE | re.MULTILINE,
)
_BARE = re.compile(r"(?<![\w.,$€£%])\(?[-\u2212]?\d+(?:\.\d+)?\)?(?![\w.,%)])")


@lru_cache(maxsize=64)  # asked for each number of a claim about a premise, which may be a whole source
def in_digits(text: str, things: frozenset[str] = frozenset()) -> str:
    """``things`` are words of which the claim says "1": "a tablet" is one where the claim counts tablets."""
    for pattern, said in _NOTATIONS:
        text = pattern.sub(said, text)
    if things:
        text = re.sub(
            rf"\b(?:an?|one)(?= (?:{'|'.join(map(re.escape, sorted(things)))})\b)", "1", text, flags=re.I
        )
    return text


def _count(word: str) -> int:
    word = word.lower().replace(",", "")
    return int(word) if word.isdigit() else ONES.get(word, TENS.get(word, 0))


def _arabic(found: re.Match[str]) -> str:
    def value(roman: str) -> int:
        worth = [{"I": 1, "V": 5, "X": 10}[letter] for letter in roman]
        return sum(-a if a < b else a for a, b in zip(worth, (*worth[1:], 0), strict=True))

    return found["noun"] + re.sub(r"\b[IVX]+\b", lambda roman: str(value(roman.group())), found["run"])


def _share(found: re.Match[str]) -> str:
    part, whole = _count(found["part"]), _count(found["whole"])
    year = found["joint"].lower() == "in" and whole >= 1000
    if year or not 0 < part < whole:
        return found.group()
    return f"{(Decimal(100) * part / whole).quantize(Decimal('0.0001')).normalize():f}%"


def _percents(row: re.Match[str]) -> str:
    return row["label"] + _BARE.sub(r"\g<0>%", row["cells"])


_NOTATIONS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (
        re.compile(
            rf"\b(?P<noun>(?i:{'|'.join(NUMBERED)})s?[ -])"
            rf"(?P<run>{_ROMAN}(?:(?:, |/|-|–| and | or | to ){_ROMAN})*)"
        ),
        _arabic,
    ),
    (
        re.compile(rf"\b({_COUNT})-?fold\b", re.I),
        lambda found: f"{_count(found[1])} fold, {_count(found[1])} times",
    ),
    (re.compile(rf"\bonce{_OFTEN}", re.I), "1 time"),
    (re.compile(rf"\btwice(?:(?= as )|{_OFTEN})", re.I), "2 times"),
    (re.compile(rf"\bthrice(?:(?= as )|{_OFTEN})", re.I), "3 times"),
    (re.compile(r"\b(?:noon|midday)\b", re.I), "12:00"),
    (re.compile(r"\bmidnight\b", re.I), "0:00"),
    (re.compile(r"\b(?:wholly|fully)[- ]own(?:s|ed)\b", re.I), "100% owned"),
    (re.compile(r"\b(?:doubled|doubling)\b", re.I), "increased 100%"),
    (re.compile(r"\b(?:tripled|tripling|trebled)\b", re.I), "increased 200%"),
    (re.compile(r"\b(?:halved|halving)\b", re.I), "decreased 50%"),
    (
        re.compile(
            rf"\b(?P<part>{_NUMBER}) (?P<joint>in|of|out of)(?: every| the| a total of)? "
            rf"(?P<whole>{_NUMBER})\b(?!%|[.,]\d)",
            re.I,
        ),
        _share,
    ),
    (
        re.compile(rf"\bthree months end(?:ed|ing) ({'|'.join(_QUARTERS)}) 3[01]\b", re.I),
        lambda found: f"Q{_QUARTERS[found[1].lower()]}",
    ),
    (re.compile(rf"\bhalf an? (?={_UNIT}\b)", re.I), "0.5 "),
    (re.compile(rf"(?<!times )(?<!once )(?<!twice )\b(?:an?|one) (?=(?:{_UNIT})\b)", re.I), "1 "),
    (_RATE_ROW, _percents),
)
