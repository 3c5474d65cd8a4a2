"""A printed amount as it is calculated with, and written again.

In: the text of a cell, a line item. Out: a decimal. Brackets and a minus are negative; but what is
paid out is printed in brackets in one filing and without them in the next, and counts as its size.
Knows nothing about scales: operands of one calculation must share theirs.
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal

PAID_OUT = frozenset(
    (
        "capital expenditures", "dividends paid", "share repurchases", "cost of revenue", "interest expense",
        "research and development", "selling, general and administrative", "depreciation and amortization",
    )
)  # fmt: skip
_MONEY = r"(?:(?:US|HK|C|A|NZ|S)?[$€£¥₹]|USD|EUR|GBP|CHF)"
_CELL = re.compile(
    rf"\s*+(?P<first>{_MONEY})?\s*+(?P<minus>[(−–-])?\s*+(?P<then>{_MONEY})?\s*+"
    r"(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)\s*+\)?\s*+(?:\([a-z]\)|\*+)?\s*+"
)


def printed_amount(text: str, item: str) -> Decimal | None:
    """The number that ``text`` is, with currency and a footnote's mark at most; None for anything else:
    words, a percentage, several numbers, digits in groups that are none."""
    match = _CELL.fullmatch(text)
    if match is None:
        return None
    value = Decimal(match["digits"].replace(",", ""))
    return -value if match["minus"] and item not in PAID_OUT else value


def currency(text: str) -> str:
    """The currency that a cell prints, "" for none: statements print it in the first and the last row."""
    match = _CELL.fullmatch(text)
    mark = (match["first"] or match["then"] or "") if match else ""
    return "$" if mark in ("US$", "USD") else mark


def written(value: Decimal, *, percent: bool = False, places: int | None = None) -> str:
    """``value`` with thousands marked, a true minus, at ``places`` decimals (None: as many as it has)."""
    shown = value * 100 if percent else value
    if places is not None:
        shown = shown.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)
    text = f"{abs(shown):,f}"
    return ("−" if shown < 0 else "") + text + ("%" if percent else "")


def read(text: str) -> Decimal | None:
    """What :func:`written` wrote, a percentage at its worth; None for anything else."""
    match = re.fullmatch(r"(−?)(\d[\d,]*(?:\.\d+)?)(%?)", text.strip())
    if not match:
        return None
    value = Decimal(match[2].replace(",", "")) * (-1 if match[1] else 1)
    return value / 100 if match[3] else value
