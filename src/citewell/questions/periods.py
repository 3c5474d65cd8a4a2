"""Periods as named in questions, column heads and prose: FY2018, Q2 2023, "as of May 31, 2018".

In: text. Out: :class:`Period` values with their offsets; how well a column head matches a requested
period under a company's fiscal calendar. Independent of tables, passages and questions.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from citewell.core.records import Record
from citewell.core.sentences import with_free

MONTHS = str.split("""
    january february march april may june july august september october november december
""")
_MONTH = "|".join(f"{name}|{name[:3]}\\.?" for name in MONTHS) + r"|sept\.?"
EARLY = 5  # a fiscal year that ends by May may be named after the year it began in
_YEAR = r"(?:19|20)\d\d"
_ORDINAL = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}
_COUNTS = {"three": 3, "six": 6, "nine": 9, "twelve": 12, "3": 3, "6": 6, "9": 9, "12": 12}
_WEEKS = {"13": 3, "14": 3, "26": 6, "27": 6, "39": 9, "40": 9, "52": 12, "53": 12}
_WEEKS |= {
    "thirteen": 3,
    "fourteen": 3,
    "twenty-six": 6,
    "thirty-nine": 9,
    "fifty-two": 12,
    "fifty-three": 12,
}

_FORMS = [
    # Q2 2023, Q2 of FY2024, Q2'2023, Q22023, second quarter of fiscal 2022
    re.compile(
        rf"\b(?:Q(?P<q>[1-4])|(?P<qo>{'|'.join(_ORDINAL)})[ -]quarter)(?:\s*of)?(?:\s*the)?\s*(?:,|-)?\s*"
        rf"(?:FY|fiscal(?:\s+year)?)?\s*['’]?(?P<y>{_YEAR}|\d\d\b)",
        re.I,
    ),
    # 2022 Q2, 2021Q1, FY22 Q3, fiscal 2023 second quarter
    re.compile(
        rf"(?:(?:\bFY|\bfiscal(?:\s+year)?)\s*|(?<![\d.,$]))(?P<y>{_YEAR}|(?<=FY)\d\d)\s*"
        rf"(?:Q(?P<q>[1-4])\b|(?P<qo>{'|'.join(_ORDINAL)})[ -]quarter\b)",
        re.I,
    ),
    # May 31, 2018; 31 May 2018
    re.compile(rf"\b(?P<m>{_MONTH})\s+(?P<d>[0-3]?\d)(?:st|nd|rd|th)?\s*,?\s+(?P<y>{_YEAR})\b", re.I),
    re.compile(rf"\b(?P<d>[0-3]?\d)\s+(?P<m>{_MONTH})\s*,?\s+(?P<y>{_YEAR})\b", re.I),
    re.compile(rf"\b(?P<y>{_YEAR})-(?P<mn>[01]\d)-(?P<d>[0-3]\d)\b"),
    re.compile(rf"\b(?P<m>{_MONTH})\s+(?P<y>{_YEAR})\b", re.I),
    # FY2018, FY18, FY'18, fiscal 2018
    re.compile(
        rf"(?:\bFY|\bfiscal(?:\s+years?)?)\s*['’]?(?P<y>{_YEAR}|(?<=FY)\d\d|(?<=FY['’])\d\d)(?!\d)", re.I
    ),
    re.compile(rf"(?<![\d.,$€£#/-])(?P<y>{_YEAR})(?![\d,.]\d|\d|%)"),
]
_SPAN = re.compile(
    rf"\b(?:(?P<n>{'|'.join(_COUNTS)})[\s-]+months?"
    rf"|(?P<w>{'|'.join(sorted(_WEEKS, reverse=True))})[\s-]+weeks?"
    r"|(?P<year>(?:fiscal\s+)?years?)|(?P<quarter>quarters?(?:ly\s+period)?))\s+end(?:ed|ing)\b",
    re.I,
)
_CHANGE = re.compile(r"change|\bvs\.?\b|versus|variance|increase|decrease|growth|\bover\b|compared", re.I)


class Period(Record, frozen=True, kw_only=True):
    """``months`` is the length of a span (3, 6, 9, 12), None for an instant or if not stated.

    ``month`` and ``day`` are those of its last day, if named; ``start`` and ``end`` are offsets in the text.
    """

    year: int
    quarter: int | None = None
    month: int | None = None
    day: int | None = None
    months: int | None = None
    start: int = 0
    end: int = 0

    @property
    def name(self) -> str:
        """``FY2018``, ``Q2 FY2018`` or the date, such as ``May 31, 2018``: self-contained in an aspect."""
        if self.month is not None:
            day = f" {self.day}," if self.day else ""
            return f"{MONTHS[self.month - 1].capitalize()}{day} {self.year}"
        return f"Q{self.quarter} FY{self.year}" if self.quarter else f"FY{self.year}"


class Calendar(Record, frozen=True, kw_only=True):
    """A company's fiscal year: the month it ends in, and its number minus the calendar year of that end.

    ``offset`` is -1 if the year that ends in January 2023 is called fiscal 2022.
    """

    end_month: int = 12
    offset: int = 0

    def fiscal(self, year: int, month: int) -> tuple[int, int]:
        """(fiscal year, quarter) of a month."""
        ahead = (month - self.end_month) % 12
        fiscal_year = year + (1 if month > self.end_month else 0)
        return fiscal_year + self.offset, 4 if ahead == 0 else (ahead + 2) // 3


def periods_in(text: str) -> tuple[Period, ...]:
    """Every period named in ``text``, in order, none inside another."""
    flat = text.replace("_", " ")
    taken: list[Period] = []
    for form in _FORMS:
        taken = with_free(taken, map(_period, form.finditer(flat)))
    spans = [(match.end(), _length(match)) for match in _SPAN.finditer(flat)]
    return tuple(_with_length(found, spans) for found in taken)


def _period(match: re.Match[str]) -> Period:
    groups = match.groupdict()
    year = int(groups["y"])
    quarter = int(groups["q"]) if groups.get("q") else _ORDINAL.get((groups.get("qo") or "").lower())
    month: int | None = None
    if groups.get("m"):
        prefix = groups["m"].lower()[:3]
        month = next(n for n, name in enumerate(MONTHS, 1) if name.startswith(prefix))
    elif groups.get("mn"):
        month = min(max(int(groups["mn"]), 1), 12)
    day = int(groups["d"]) if groups.get("d") else None
    return Period(
        year=year + 2000 if year < 100 else year,
        quarter=quarter,
        month=month,
        day=day,
        months=3 if quarter else None,
        start=match.start(),
        end=match.end(),
    )


def _length(match: re.Match[str]) -> int:
    if match["n"]:
        return _COUNTS[match["n"].lower()]
    if match["w"]:
        return _WEEKS[match["w"].lower()]
    return 12 if match["year"] else 3


def _with_length(found: Period, spans: Sequence[tuple[int, int]]) -> Period:
    """ "Three months ended March 31, 2022 and 2021": a span applies to every date after it."""
    before = bisect_right(spans, found.start, key=lambda span: span[0])
    if not before or found.quarter:
        return found
    return replace(found, months=spans[before - 1][1])


def calendar_of(names: Iterable[str], heads: Iterable[str]) -> Calendar:
    """The fiscal calendar implied by a document's own names (title, id) and its newest column.

    "2024Q2" with the newest column July 29, 2023 has a fiscal year that ends in January 2024. Without a
    named period or a dated column, it is the calendar year.
    """
    named = [found for name in names for found in periods_in(name)]
    own = next((found for found in named if found.month is None), None)
    # "For the fiscal year ended January 28, 2023" in a title states it explicitly.
    told = next((found for found in named if found.month is not None and found.months == 12), None)
    dates = [found for head in heads for found in periods_in(head) if found.month is not None]
    if own is None or own.quarter is None:
        dates = [found for found in dates if found.months in (None, 12)]
    newest = told or max(dates, key=lambda found: (found.year, found.month or 0), default=None)
    if newest is None or newest.month is None or (own is None and told is None):
        return Calendar()
    quarter = own.quarter if own is not None and told is None else None
    end_month = (newest.month - 1 + 3 * (4 - (quarter or 4))) % 12 + 1
    if own is None:
        return Calendar(end_month=end_month)
    year, _ = Calendar(end_month=end_month).fiscal(newest.year, newest.month)
    gap = own.year - year
    # A year end just past the month (a 52-week year ending on January 1) or an old document: no offset.
    return Calendar(end_month=end_month, offset=gap) if gap in (-1, 0) else Calendar()


def head_covers(head: str, asked: Period, calendar: Calendar) -> float:
    """How well a column under ``head`` matches the requested period: 1 exact, lower if inferred, 0 not."""
    found = periods_in(head)
    if not found or _CHANGE.search(head):
        return 0.0
    if len({(period.year, period.quarter) for period in found}) > 1:
        return 0.0
    return covers(found[-1], asked, calendar)


def covers(found: Period, asked: Period, calendar: Calendar) -> float:
    """How well ``found`` matches the requested period (see :func:`head_covers`)."""
    if asked.month is not None and found.month is not None:
        same = (asked.year, asked.month) == (found.year, found.month)
        return 1.0 if same and (None in (asked.day, found.day) or asked.day == found.day) else 0.0
    if found.month is None:
        return _named(found, asked) or _by_custom(found, asked, calendar)
    year, quarter = calendar.fiscal(found.year, found.month)
    if asked.quarter is not None:
        if (year, quarter) != (asked.year, asked.quarter):
            return 0.0
        return {3: 1.0, None: 0.95}.get(found.months, 0.3)
    if found.months not in (None, 12):
        return 0.0
    if year == asked.year:
        # A date within the year (a quarter's end) is not the year's end.
        return 1.0 if quarter == 4 else 0.4
    return 0.5 if found.year == asked.year and quarter == 4 else 0.0


def _by_custom(found: Period, asked: Period, calendar: Calendar) -> float:
    """A weak match, for prose: a year ending in January 2023 is "fiscal 2022" to some, FY2023 to others."""
    one_less = found.year == asked.year - 1 and calendar.end_month <= EARLY
    # Its fourth quarter ends with the year.
    same = found.quarter == asked.quarter or (asked.quarter is None and found.quarter == 4)
    return 0.3 if one_less and same else 0.0


def _named(found: Period, asked: Period) -> float:
    if found.year != asked.year:
        return 0.0
    if asked.quarter == found.quarter:
        return 0.0 if asked.quarter is None and found.months in (3, 6, 9) else 1.0
    if asked.quarter is not None and found.quarter is None:
        # A bare year in a quarterly table ("Three months ended March 31" above "2021").
        return {None: 0.4, 3: 0.8}.get(found.months, 0.0)
    return 0.0


# --- several periods ------------------------------------------------------------------------------

MOST_YEARS = 10
_RANGE = re.compile(
    r"\d\s*(?:[-–—]|to|through|until)\s*(?:FY?|fiscal(?: year)?|Q\d)?\s*\d"
    r"|\b(?:\d|two|three|four|five)[- ]years?\b",
    re.I,
)


def ordered(periods: Sequence[Period]) -> list[Period]:
    """Sorted, earliest first."""
    return sorted(periods, key=lambda p: (p.year, p.quarter or 0, p.month or 0, p.day or 0))


def year_before(period: Period) -> Period:
    """The same quarter or day one year earlier."""
    return replace(period, year=period.year - 1, start=0, end=0)


def with_year_before(periods: Sequence[Period]) -> list[Period]:
    """The periods to compare, earliest first; a single one is preceded by the year before."""
    return [year_before(periods[0]), periods[0]] if len(periods) == 1 else ordered(periods)


def years_meant(asked: str, periods: Sequence[Period]) -> list[Period]:
    """ "FY2015 - FY2017" and "3 year average" include the years between; "2015 and 2017" does not."""
    years = ordered(periods)
    first, last = years[0], years[-1]
    plain = all(p.quarter is None and p.month is None for p in years)
    if len(years) != 2 or not plain or last.year - first.year > MOST_YEARS or not _RANGE.search(asked):
        return years
    return [Period(year=year) for year in range(first.year, last.year + 1)]
