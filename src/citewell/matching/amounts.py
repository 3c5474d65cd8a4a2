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
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?|\.\d+")
_NEGATIVE = re.compile(r"[(−–-]\s*(?:[$€£¥]|USD)?\s*$")


def amount(text: str, item: str) -> Decimal | None:
    """The one number of ``text``; None where there is none or several, or it is a percentage."""
    found = list(_NUMBER.finditer(text))
    if len(found) != 1 or "%" in text:
        return None
    value = Decimal(found[0].group().replace(",", ""))
    negative = item not in PAID_OUT and bool(_NEGATIVE.search(text[: found[0].start()]))
    return -value if negative else value


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
