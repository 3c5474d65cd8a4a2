"""Does a table cell state a claim's value, including its sign, currency, unit and scale?

In: the value, a cell, its row label and column head, and the text around the table. Out: yes or no. What the
cell omits ("5,120") is taken from the nearest declaration ("2021 ($m)", else "($ in millions)"); if that
declares two things, is not understood, or may not apply to this row ("Employees" under "in millions"), the
answer is no. A scaled amount without a currency can match only dollars; a bare number is not money unless a
currency is declared. Independent of row and column layout.
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache

from citewell.questions.quantity import CENTS, CURRENCIES, Quantity, QuantityForm
from citewell.questions.scales import context_scales, excepted, unread_scales
from citewell.verification.numbers import Match, check_numbers
from citewell.verification.quantities import extract_quantities

_SCALES = {
    Decimal(1): "", Decimal(10**3): "thousand", Decimal(10**5): "lakh", Decimal(10**6): "million",
    Decimal(10**7): "crore", Decimal(10**9): "billion", Decimal(10**12): "trillion",
}  # fmt: skip
_MINUS = "-\u2212\u2012\u2013"
_BARE = re.compile(r"[\s()]*")  # brackets mark a negative amount
_RAISED = re.compile(r"[\u00b9\u00b2\u00b3\u2070-\u2079]")  # footnote marks
_MONEY = re.compile(
    r"(?P<other>\b(?:Canadian|Australian|Kong|Zealand|Singapore|Taiwan) )?"
    r"(?P<name>(?<![A-Za-z.])[A-Za-z.]{0,6}[$€£¥₹₩₽]|[A-Za-z]+)"
)
_UNKNOWN = "of another country"
# Places where a unit is written: "Dose (mg)", "Weight, kg", "Hours".
_UNIT_PLACES = (
    re.compile(r"[(\[](?:in )?([^()\[\]]+)[)\]]"),
    re.compile(r"(?:^|, )([^,\n]+)$", re.MULTILINE),
)
_PERCENT = re.compile(r"%|\bper ?cent(?:age)?\b", re.IGNORECASE)
_PER_SHARE = re.compile(r"\bper (?:\w+ ){0,2}share\b", re.IGNORECASE)
_EACH = re.compile(r"\bper\b|\bprices?\b|\beach\b", re.IGNORECASE)


def cell_states_value(cell: str, place: str, around: str, value: Quantity) -> bool:
    """Whether ``cell`` states ``value``. ``place`` is the row label and, on the next line, the column
    head; ``around`` is the text around the table plus the table's own text."""
    found = [
        q
        for q in extract_quantities(cell)
        if q.form not in {QuantityForm.DATE, QuantityForm.ORDINAL, QuantityForm.TIME}
    ]
    if len(found) != 1 or found[0].hedged or cell.count("(") != cell.count(")"):
        return False
    (own,) = found
    if not _BARE.fullmatch(cell[: own.start] + cell[own.end :]) or _RAISED.search(cell):
        return False  # "5,120 (estimated)", "- 5", "5:1", "9*"
    written = _in_full(own, place, around)
    checks, stated = check_numbers(value.text.lstrip(_MINUS), written), extract_quantities(written)
    if len(checks) != 1 or len(stated) != 1 or checks[0].match not in {Match.EQUAL, Match.ROUNDED}:
        return False
    kind = (QuantityForm.NUMBER if stated[0].form is QuantityForm.YEAR else stated[0].form, stated[0].unit)
    claimed = (value.form, value.unit)
    same = kind == claimed or (
        (kind, claimed) == ((QuantityForm.NUMBER, ""), (QuantityForm.MONEY, "USD"))
        and (bool(_PER_SHARE.search(place)) or (stated[0].scaled))
    )
    return same and _negative(value) == _negative(own)


def with_scale(cell: str, place: str, around: str, value: Quantity) -> str:
    """The cell's value with its scale, if ``value`` is the same figure without the declared scale
    ("$900" for 900 under "$ in millions"); else ""."""
    found = extract_quantities(cell)
    if len(found) != 1 or abs(found[0].value) != abs(value.value) or _EACH.search(place):
        return ""
    written = _in_full(found[0], place, around)
    full = extract_quantities(written)
    return written if len(full) == 1 and full[0].scaled and not found[0].scaled else ""


def declares_unit(head: str) -> bool:
    """Whether ``head`` declares a scale or currency for its own column."""
    return bool(_scales(head) is None or _scales(head) or _currencies(head))


def _in_full(own: Quantity, place: str, around: str) -> str:
    """The cell's number as a sentence would write it ("5,120 million USD"); "" if uncertain."""
    number = own.text.lstrip(_MINUS)
    bare = own.form in {QuantityForm.NUMBER, QuantityForm.YEAR} and not own.unit
    if not bare and own.form is not QuantityForm.MONEY:
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
    """What 1 in the cell stands for; None if uncertain."""
    if own.scaled or _PER_SHARE.search(place):
        return Decimal(1)
    declared = _scales(place)
    if declared is not None and not declared:
        declared = _scales(around)
        # A row exempt from the scale (per-share data) may not say so ("Diluted"), but its cents show it.
        if "." in own.text and any(excepted(around)):
            return None
    if declared is None or len(declared) > 1:
        return None
    return next(iter(declared), Decimal(1))


@lru_cache(maxsize=64)  # called for every cell with the same text around its table
def _scales(text: str) -> frozenset[Decimal] | None:
    """Scales that ``text`` declares; None if one is not understood."""
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
    """``number`` with the unit that the label or head spells out, or ""."""
    for unit in (unit for pattern in _UNIT_PLACES for unit in pattern.findall(place)):
        written = f"{number} {unit}"
        found = extract_quantities(written)
        if (
            found
            and found[0].text == written
            and found[0].form is not QuantityForm.MONEY
            and (found[0].unit or found[0].form in {QuantityForm.PERCENT, QuantityForm.POINTS})
        ):
            return written
    return f"{number}%" if _PERCENT.search(place) else ""


def _negative(quantity: Quantity) -> bool:
    return quantity.value < 0 or quantity.brackets
