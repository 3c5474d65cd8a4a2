"""Dates as people write them, found in text as calendar parts.

In: text. Out: :class:`Moment` values with offsets, in order, never overlapping: a day, a month of a
year, a day of a month, a year said to be one ("in 2018", "FY18"), a decade. A bare "2018" without
a word that makes it a year is left to :mod:`citewell.verification.quantities`.
"5/6/2018" is kept as both of its readings. Knows nothing about verdicts.
"""

from __future__ import annotations

import re

from citewell.core.records import Record
from citewell.core.stretches import with_free

Parts = tuple[int | None, int | None, int | None]

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul",
            "august aug", "september sept sep", "october oct", "november nov", "december dec",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip


class Moment(Record, frozen=True, kw_only=True):
    """``readings`` are (year, month, day) with None for what is not said; more than one when the
    order of day and month is open. ``decade`` marks "the 1990s"; a year before Christ is negative."""

    start: int
    end: int
    readings: tuple[Parts, ...]
    decade: bool = False


_MONTH = "(?P<{0}>" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")\b\.?"
_M = _MONTH.format("m")
_D = r"(?P<d>\d{1,2})(?:st|nd|rd|th)?\b"
_Y = r"(?P<y>(?:1[0-9]|20)\d\d)(?!\d|[.,]\d|\s?%)"
_DASH = r"[-\u2010\u2011\u2012\u2013\u2014/]"

# Tried in this order at every position; the first that matches wins.
_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        ("iso", r"\b(?P<y>\d{4})([-/.])(?P<n>\d{1,2})\2(?P<d>\d{1,2})(?![\d%])"),
        ("slash", r"(?<![\d./-])(?P<a>\d{1,2})([/.-])(?P<b>\d{1,2})\2(?P<y>\d{4}|\d\d)(?![\d%/])(?!\.\d)"),
        ("month day year", rf"\b{_M}\s+(?:the\s+)?{_D},?\s+(?:of\s+)?{_Y}"),
        ("day month year", rf"(?<![\d.,$])\b{_D}(?:\s+of)?[\s-]+{_M},?[\s-]+(?:of\s+)?{_Y}"),
        ("month year", rf"\b{_M}(?:\s+of|,)?[\s-]+{_Y}"),
        ("month day", rf"\b{_M}\s+(?:the\s+)?{_D}(?![,.]?\d|\s?%)"),
        ("day month", rf"(?<![\d.,$])\b{_D}(?:\s+of)?[\s-]+{_M}(?!\w)"),
        ("season", rf"\b(?P<y>(?:1[89]|20)\d\d){_DASH}(?P<z>\d\d)\b(?!{_DASH}\d)"),
        ("fiscal short", r"\bF(?:Y|iscal(?:\s+year)?)\s?['\u2019]?(?P<s>\d\d)\b(?![,.]?\d)"),
        ("fiscal", rf"\b(?:FY|CY)\s?-?{_Y}"),
        ("quarter", r"\b(?:[1-4]Q|Q[1-4]|[12]H|H[12])\s?['\u2019]?(?P<s>\d\d)\b(?!\d)"),
        ("decade", r"\b(?P<y>(?:1[0-9]|20)\d0)\s?['\u2019]?s\b"),
        ("decade short", r"(?:['\u2019]|\bthe\s)(?P<s>[2-9]0)['\u2019]?s\b"),
        ("era", r"\b(?P<y>\d{1,4})\s?(?P<era>BCE?|B\.C\.(?:E\.)?|CE|AD|A\.D\.)(?!\w)"),
        ("era first", r"\b(?P<era>AD)\s?(?P<y>\d{1,4})\b"),
        (
            "said year",
            r"\b(?:in|since|until|till|during|year|years|fiscal|calendar|season|early|late|mid|circa|c\.|"
            r"spring|summer|autumn|winter|quarter(?:\s+of)?|ended|ending|class\s+of)[\s-]+"
            rf"{_Y}(?!{_DASH}?\d)(?!\s+(?:[a-z]+\s+)?"
            r"(?:people|persons|employees|stores|units|shares|votes|members|students|players|points|"
            r"dollars|euros|pounds|miles|km|kg|men|women|patients|participants)\b)",
        ),
        ("years", rf"(?<![\d.,$])\b(?P<y>(?:1[89]|20)\d\d)\s?{_DASH}\s?(?P<z>(?:1[89]|20)\d\d)\b(?![.,]\d)"),
    )
)  # fmt: skip

# "may" and "march" are words of their own: without a year they are months only when capitalised.
_ALSO_WORDS = {"may", "march", "mar", "sec"}


def moments(text: str) -> tuple[Moment, ...]:
    """Every date in ``text``; a range of years gives its two ends."""
    taken: list[Moment] = []
    for name, pattern in _PATTERNS:
        taken = with_free(
            taken, (moment for match in pattern.finditer(text) for moment in _read(name, match))
        )
    return tuple(taken)


def agree(claimed: Moment, found: Moment) -> bool:
    """``found`` says at least what ``claimed`` says: "May 31, 2018" holds "May 2018", not the reverse."""
    if claimed.decade:
        return any(
            a[0] is not None and b[0] is not None and a[0] // 10 == b[0] // 10
            for a in claimed.readings
            for b in found.readings
        )
    if found.decade:
        return False
    return any(
        all(x is None or x == y for x, y in zip(a, b, strict=True))
        for a in claimed.readings
        for b in found.readings
    )


def _read(name: str, match: re.Match[str]) -> list[Moment]:
    groups = match.groupdict()
    month = MONTHS[groups["m"].lower()] if groups.get("m") else None
    if month and not groups.get("y") and groups["m"].lower() in _ALSO_WORDS and groups["m"][0].islower():
        return []
    year = int(groups["y"]) if groups.get("y") else None
    if groups.get("s"):
        short = int(groups["s"])
        year = 1900 + short if short >= 50 or name == "decade short" else 2000 + short
        if name == "decade short" and short < 30:
            year = 2000 + short
    if groups.get("era", "") and groups["era"][0].upper() == "B" and year is not None:
        year = -year
    day = int(groups["d"]) if groups.get("d") else None
    start, end = match.span()
    if name in {"said year", "era first"}:
        start = match.start("y")
    if name == "quarter":
        start = match.start("s")
    if name == "slash":
        return _slashed(match)
    if name == "iso":
        month = int(groups["n"])
    if name == "years":
        return [
            Moment(start=match.start(g), end=match.end(g), readings=((int(groups[g]), None, None),))
            for g in ("y", "z")
        ]
    if name == "season" and year is not None:
        last = year - year % 100 + int(groups["z"])
        if last != year + 1 and not year < last <= year + 20:
            return []
        return [
            Moment(start=match.start("y"), end=match.end("y"), readings=((year, None, None),)),
            Moment(start=match.start("z"), end=match.end("z"), readings=((last, None, None),)),
        ]
    if (day is not None and not 1 <= day <= 31) or (month is not None and not 1 <= month <= 12):
        return []
    decade = name.startswith("decade")
    return [Moment(start=start, end=end, readings=((year, month, day),), decade=decade)]


def _slashed(match: re.Match[str]) -> list[Moment]:
    a, b, year = int(match["a"]), int(match["b"]), int(match["y"])
    if len(match["y"]) == 2:
        if match[2] != "/":  # "3.2.1" and "10-15-20" are not dates
            return []
        year += 1900 if year >= 50 else 2000
    readings = tuple(
        (year, month, day)
        for month, day in dict.fromkeys(((a, b), (b, a)))
        if 1 <= month <= 12 and 1 <= day <= 31
    )
    return [Moment(start=match.start(), end=match.end(), readings=readings)] if readings else []
