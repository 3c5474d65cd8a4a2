"""Does a table's cell state a claim's value: sign, currency, unit and scale too?

In: the value, a cell, the words over and beside it, and the words around the table. Out: yes or no. What the
cell leaves out ("5,120") the nearest words that declare it give ("2021 ($m)", else "($ in millions)"); where
those declare two things, nothing is sure. An amount without a currency may be dollars and nothing else. Knows
nothing about rows and columns.
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache

from citewell.matching.scales import context_scales
from citewell.verification.numbers import Match, check_numbers
from citewell.verification.quantities import Form, Quantity, extract_quantities
from citewell.verification.units import CENTS, CURRENCIES

_SCALES = {Decimal(1): "", Decimal(10**3): "thousand", Decimal(10**6): "million", Decimal(10**9): "billion"}
_MINUS = "-\u2212\u2012\u2013"
_BARE = re.compile(
    r"[\s()*\u2020\u2021\u00b9\u00b2\u00b3\u2070-\u2079]*"
)  # brackets of a minus, marks of notes
_MONEY = re.compile(
    r"(?P<other>\b(?:Canadian|Australian|Kong|Zealand|Singapore|Taiwan) )?"
    r"(?P<name>(?<![A-Za-z.])[A-Za-z.]{0,6}[$€£¥₹₩₽]|[A-Za-z]+)"
)
_UNKNOWN = "of another country"
# Where a unit is written: "Dose (mg)", "Weight, kg", "Hours".
_UNIT_PLACES = (
    re.compile(r"[(\[](?:in )?([^()\[\]]+)[)\]]"),
    re.compile(r"(?:^|, )([^,\n]+)$", re.MULTILINE),
)
_PERCENT = re.compile(r"%|\bper ?cent(?:age)?\b", re.IGNORECASE)
_PER_SHARE = re.compile(r"\bper (?:\w+ ){0,2}share\b", re.IGNORECASE)


def states(cell: str, place: str, around: str, value: Quantity) -> bool:
    """``place`` is the row's label and, a line below, the column's head; ``around`` what stands around
    the table, with the table's own text."""
    found = [q for q in extract_quantities(cell) if q.form not in {Form.DATE, Form.ORDINAL, Form.TIME}]
    if len(found) != 1 or found[0].hedge or cell.count("(") != cell.count(")"):
        return False
    (own,) = found
    if not _BARE.fullmatch(cell[: own.start] + cell[own.end :]):
        return False  # "5,120 (estimated)", "- 5", "5:1"
    written = _in_full(own, place, around)
    checks, stated = check_numbers(value.text.lstrip(_MINUS), written), extract_quantities(written)
    if len(checks) != 1 or len(stated) != 1 or checks[0].match not in {Match.EQUAL, Match.ROUNDED}:
        return False
    kind = (Form.NUMBER if stated[0].form is Form.YEAR else stated[0].form, stated[0].unit)
    claimed = (value.form, value.unit)
    same = kind == claimed or (kind == (Form.NUMBER, "") and claimed == (Form.MONEY, "USD"))
    # "Net loss 12" and "Net loss (12)" are both a loss of 12; "Net income (12)" is no income.
    label = re.sub(r"\(.*?\)", "", place.partition("\n")[0]).strip()
    said = extract_quantities(f"{label} was 1")[-1]
    return same and (_negative(value) == _negative(own) or (_negative(value) and _negative(said)))


def _in_full(own: Quantity, place: str, around: str) -> str:
    """The cell's number as a sentence would write it ("5,120 million USD"); "" where that is not sure."""
    number = own.text.lstrip(_MINUS)
    bare = own.form in {Form.NUMBER, Form.YEAR} and not own.unit
    if not bare and own.form is not Form.MONEY:
        return number
    scales = frozenset({Decimal(1)})
    if not own.scaled and not _PER_SHARE.search(place):
        scales = _scales(place) or _scales(around) or scales
    if bare and (unit := _unit(number, place)):
        return unit if scales == {1} or "%" in unit else ""
    currencies = _currencies(place) or _currencies(around) if bare else frozenset()
    if len(scales) > 1 or len(currencies) > 1 or _UNKNOWN in currencies:
        return ""
    return " ".join(part for part in (number, *(_SCALES[scale] for scale in scales), *currencies) if part)


@lru_cache(maxsize=64)  # asked of each cell about the words around one table
def _scales(text: str) -> frozenset[Decimal]:
    return frozenset(context_scales(text)) - {Decimal(1)}


@lru_cache(maxsize=64)
def _currencies(text: str) -> frozenset[str]:
    found = set()
    for match in _MONEY.finditer(text):
        name = match["name"].lower()
        code = "" if name in CENTS else CURRENCIES.get(name) or CURRENCIES.get(name[-1])
        if code:
            found.add(_UNKNOWN if match["other"] else code)
    return frozenset(found)


def _unit(number: str, place: str) -> str:
    """``number`` with the unit that the label or the head writes out whole, or ""."""
    for unit in (unit for pattern in _UNIT_PLACES for unit in pattern.findall(place)):
        written = f"{number} {unit}"
        found = extract_quantities(written)
        if (
            found
            and found[0].text == written
            and found[0].form is not Form.MONEY
            and (found[0].unit or found[0].form in {Form.PERCENT, Form.POINTS})
        ):
            return written
    return f"{number}%" if _PERCENT.search(place) else ""


def _negative(quantity: Quantity) -> bool:
    return quantity.value < 0 or quantity.brackets or quantity.sign < 0 or quantity.direction < 0
