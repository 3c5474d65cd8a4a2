"""Does the source hold every number that the claim writes in digits?

In: claim, premise and the text around it. Out: the first number that is neither written there, nor rounded,
nor the sum, difference or share of what is, or a name that stands there with other digits or is told by
digits that are not there, or "". A small entailer passes "season 1" under a text that names no season.
Tables are left out, since true claims about them count and compare; so are numbers in words ("two brothers"),
since people count. Exact code; knows no model and no threshold.
"""

from __future__ import annotations

import re
from itertools import combinations

from citewell.verification.dates import MONTHS
from citewell.verification.kinds import source_kind
from citewell.verification.lexicon import STOP
from citewell.verification.notations import in_digits
from citewell.verification.numbers import Match, check_numbers
from citewell.verification.opposing import worked_out
from citewell.verification.quantities import Form, Quantity, extract_quantities

# A name of few letters and two digits, or with three digits, is told by them: 4 training claims with one that
# no source has are unsupported and 3 supported, of the second sort 3 and none.
_SHORT, _FEW, _MANY = 3, 2, 3
_SHARE = 0.01  # "two thirds" is 66 % as well as 67 %
_MOST = 40  # dates of a premise that are tried against each other
_NAME = re.compile(r"[^\W\d_]-$")  # COVID-19 is a name
_NUMBERED = re.compile(
    r"\b(?P<letters>[A-Z][^\W\d_]*)(?P<joint>[-\u2010\u2011 ]?)(?P<digits>\d+)\b(?![.,:]\d|%)"
)
_NUMBERING = re.compile(r"(?<![\w.,$-])(?P<digits>\d+)(?P<letters>[^\W\d_]{2,})\b")
# "Level 1 and 3", "T2-4"
_RUN = r"s?[-\u2010\u2011 ]?(\d+(?:\s*(?:[-\u2010-\u2015,/&]|and|or|to|through)\s*\d+)*)\b"
# Words that open a sentence or stand before a date or an amount, and are no part of a name.
_NO_NAMES = STOP | MONTHS.keys() | {"until", "since", "between", "after", "before", "about", "over", "under"}


def unwritten_number(claim: str, premise: str, context: str = "") -> str:
    """The number as the claim writes it. ``context`` is text around the premise: a title, column heads; not
    the question, which is no source."""
    if not any(character.isdigit() for character in claim) or source_kind(premise) == "table":
        return ""
    around = f"{context}\n{premise}" if context else premise
    if other := _renumbered(claim, around):
        return other
    for n, check in enumerate(check_numbers(claim, premise, context)):
        if (
            check.match is Match.ABSENT
            and any(character.isdigit() for character in check.quantity.text)
            and not _NAME.search(claim[: check.quantity.start])
            and not (context and check_numbers(claim, around)[n].holds)
            and not _in_another_form(check.quantity, claim, around)
        ):
            return check.quantity.text
    return ""


def _renumbered(claim: str, text: str) -> str:
    """A name whose letters the text has with other digits only ("VH4" for "VH1", "79ers" for "49ers"), or
    that is told by digits which are not there. Quarters and fiscal years are quantities, and compared so."""
    quantities = extract_quantities(claim)
    text = f"{text}\n{in_digits(text)}"
    for name in (*_NUMBERED.finditer(claim), *_NUMBERING.finditer(claim)):
        letters, digits = name["letters"], name["digits"]
        if letters.lower() in _NO_NAMES or any(q.start <= name.start() < q.end for q in quantities):
            continue
        before = name.re is _NUMBERED
        runs = re.findall(
            rf"\b{re.escape(letters)}{_RUN}" if before else rf"\b(\d+){re.escape(letters)}\b", text
        )
        if runs and not any(_among(int(digits), run) for run in runs):
            return name.group()
        if not runs and before and _told_by_number(name) and not re.search(rf"(?<!\d){digits}(?!\d)", text):
            return name.group()
    return ""


def _told_by_number(name: re.Match[str]) -> bool:
    """One of many of its kind: "F-35", "Uranium-235". For COVID-19 a text may say "the virus"."""
    long = len(name["digits"]) >= (_FEW if len(name["letters"]) <= _SHORT else _MANY)
    return name["joint"] not in ("", " ") and long


def _among(number: int, run: str) -> bool:
    """In a list ("1 and 3") or within a range ("4-6") of numbers."""
    held = [int(digits) for digits in re.findall(r"\d+", run)]
    ranged = not re.search(r"[,/&]|and|or", run)
    return number in held or (ranged and min(held) <= number <= max(held))


def _in_another_form(claimed: Quantity, claim: str, text: str) -> bool:
    """In another form ("season 2", "the second season"), or to be worked out from what is there."""
    found = extract_quantities(text)
    years = [year for quantity in found for year in _years(quantity)][:_MOST]
    if claimed.form is Form.ORDINAL and claim[claimed.end :].lstrip(" -").lower().startswith("centur"):
        return any((year - 1) // 100 + 1 == claimed.value for year in years)
    if claimed.unit == "months" and claimed.value % 12 == 0:
        span = claimed.value // 12
        if any(abs(abs(a - b) - span) <= 1 for a, b in combinations(years, 2)):
            return True
    same = {Form.NUMBER, Form.ORDINAL, Form.YEAR, Form.MONEY}
    for quantity in found:
        if claimed.form in same and quantity.form in same and claimed.value == quantity.value:
            return True
        if claimed.form is Form.ORDINAL and quantity.moment and claimed.value in _days(quantity):
            return True
        shares = {Form.PERCENT, Form.FRACTION}
        if (
            claimed.form in shares
            and quantity.form in shares
            and abs(_share(claimed) - _share(quantity)) <= _SHARE
        ):
            return True
    return worked_out(claimed, text)


def _years(quantity: Quantity) -> list[int]:
    if quantity.moment:
        return [year for year, _, _ in quantity.moment.readings if year is not None]
    return [int(quantity.value)] if quantity.form is Form.YEAR else []


def _days(quantity: Quantity) -> set[int]:
    readings = quantity.moment.readings if quantity.moment else ()
    return {day for _, _, day in readings if day is not None}


def _share(quantity: Quantity) -> float:
    return float(quantity.value) / (100 if quantity.form is Form.PERCENT else 1)
