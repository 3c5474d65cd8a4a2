"""Does a table's cell state a claim's value: sign, currency, unit and scale too?

In: the value, a cell, the words over and beside it, and the words around the table. Out: yes or no. What the
cell leaves out ("5,120") the nearest words that declare it give ("2021 ($m)", else "($ in millions)"); where
those declare two things, are not understood, or may not be meant for this row ("Employees" under "in
millions"), nothing is sure. A scaled amount without a currency may be dollars and nothing else; a bare number
is no money unless a currency is declared. Knows nothing about rows and columns.
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache

from citewell.questions.scales import context_scales, excepted, unread_scales
from citewell.verification.numbers import Match, check_numbers
from citewell.verification.quantities import extract_quantities
from citewell.verification.quantity import CENTS, CURRENCIES, Form, Quantity

_SCALES = {
    Decimal(1): "", Decimal(10**3): "thousand", Decimal(10**5): "lakh", Decimal(10**6): "million",
    Decimal(10**7): "crore", Decimal(10**9): "billion", Decimal(10**12): "trillion",
}  # fmt: skip
_MINUS = "-\u2212\u2012\u2013"
_BARE = re.compile(r"[\s()]*")  # brackets of a minus
_RAISED = re.compile(r"[\u00b9\u00b2\u00b3\u2070-\u2079]")  # a note's
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
_EACH = re.compile(r"\bper\b|\bprices?\b|\beach\b", re.IGNORECASE)


def states(cell: str, place: str, around: str, value: Quantity) -> bool:
    """``place`` is the row's label and, a line below, the column's head; ``around`` what stands around
    the table, with the table's own text."""
    found = [q for q in extract_quantities(cell) if q.form not in {Form.DATE, Form.ORDINAL, Form.TIME}]
    if len(found) != 1 or found[0].hedged or cell.count("(") != cell.count(")"):
        return False
    (own,) = found
    if not _BARE.fullmatch(cell[: own.start] + cell[own.end :]) or _RAISED.search(cell):
        return False  # "5,120 (estimated)", "- 5", "5:1", "9*"
    written = _in_full(own, place, around)
    checks, stated = check_numbers(value.text.lstrip(_MINUS), written), extract_quantities(written)
    if len(checks) != 1 or len(stated) != 1 or checks[0].match not in {Match.EQUAL, Match.ROUNDED}:
        return False
    kind = (Form.NUMBER if stated[0].form is Form.YEAR else stated[0].form, stated[0].unit)
    claimed = (value.form, value.unit)
    same = kind == claimed or (
        (kind, claimed) == ((Form.NUMBER, ""), (Form.MONEY, "USD"))
        and (bool(_PER_SHARE.search(place)) or (stated[0].scaled))
    )
    return same and _negative(value) == _negative(own)


def with_scale(cell: str, place: str, around: str, value: Quantity) -> str:
    """What the cell holds in full, where ``value`` is its figure without the scale that is surely meant
    ("$900", of 900 under "$ in millions"); else ""."""
    found = extract_quantities(cell)
    if len(found) != 1 or abs(found[0].value) != abs(value.value) or _EACH.search(place):
        return ""
    written = _in_full(found[0], place, around)
    full = extract_quantities(written)
    return written if len(full) == 1 and full[0].scaled and not found[0].scaled else ""


def declares(head: str) -> bool:
    """Whether ``head`` says in what its own column is counted."""
    return bool(_scales(head) is None or _scales(head) or _currencies(head))


def _in_full(own: Quantity, place: str, around: str) -> str:
    """The cell's number as a sentence would write it ("5,120 million USD"); "" where that is not sure."""
    number = own.text.lstrip(_MINUS)
    bare = own.form in {Form.NUMBER, Form.YEAR} and not own.unit
    if not bare and own.form is not Form.MONEY:
        return number
    scale = _scale(own, place, around)
    if bare and (unit := _unit(number, place)):
        return unit if scale == 1 or "%" in unit else ""
    currencies: frozenset[str] = frozenset()
    if bare:
        currencies = _currencies(place)
        if not currencies and (scale != 1 or _PER_SHARE.search(place)):
            currencies = _currencies(around)
    if scale is None or len(currencies) > 1 or _UNKNOWN in currencies:
        return ""
    return " ".join(part for part in (number, _SCALES[scale], *currencies) if part)


def _scale(own: Quantity, place: str, around: str) -> Decimal | None:
    """What 1 in the cell stands for; None where that is not sure."""
    if own.scaled or _PER_SHARE.search(place):
        return Decimal(1)
    declared = _scales(place)
    if declared is not None and not declared:
        declared = _scales(around)
        # What is excepted of shares may stand in a row that does not say so ("Diluted"), but shows its cents.
        if "." in own.text and any(excepted(around)):
            return None
    if declared is None or len(declared) > 1:
        return None
    return next(iter(declared), Decimal(1))


@lru_cache(maxsize=64)  # asked of each cell about the words around one table
def _scales(text: str) -> frozenset[Decimal] | None:
    """Those that ``text`` declares; None where some of it is not understood."""
    return None if unread_scales(text) else context_scales(text) - {Decimal(1)}


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
    return quantity.value < 0 or quantity.brackets
