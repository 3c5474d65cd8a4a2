"""What is worked out of rows that a question names: "the change in Appliances from 2018 to 2019".

In: the asking part of a question, its periods. Out: calculations whose leaves are "label, FY2019". The words
are cut out by fixed patterns; whether any table has such a row is asked elsewhere, and only a row with
exactly this label will do. Knows nothing about passages.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from citewell.questions.calculation.expressions import MINUS, OVER, Tree
from citewell.questions.calculation.named import (
    change,
    growth,
    leaf,
    mean,
    node,
    ordered,
    total,
    with_year_before,
    years_meant,
)
from citewell.questions.periods import Period

MOST_WORDS = 12
_ASK = (
    r"^(?:what|how much|how many)\s+(?:is|was|are|were)\s+the\s+(?:(?:overall|absolute|annual|nominal)\s+)?"
)
_MOVE = r"(?:change|increase|decrease|growth|decline|rise|fall)"
_EITHER_WAY = rf"{_MOVE}(?:\s*/\s*\(?{_MOVE}\)?|\s*\({_MOVE}\)|\s+or\s+{_MOVE})?(?:\s+rate)?"
_PERCENT = r"(?:percentage|percent|%)"
# (kind, pattern): `a` and `b` are labels.
_PATTERNS = tuple(
    (kind, re.compile(pattern, re.I))
    for kind, pattern in (
        ("growth", rf"{_ASK}{_PERCENT}\s+{_EITHER_WAY}\s+(?:in|of|for)\s+(?P<a>.+)$"),
        ("growth", rf"{_ASK}growth\s+rate\s+(?:in|of|for)\s+(?P<a>.+)$"),
        ("growth", rf"^(?:by\s+)?(?:what|how\s+much)\s+{_PERCENT}\s+did\s+(?P<a>.+?)\s+{_MOVE}$"),
        ("change", rf"{_ASK}(?:{_EITHER_WAY}|difference)\s+(?:in|of|for)\s+(?P<a>.+)$"),
        ("change", rf"^(?:by\s+)?how\s+much\s+did\s+(?P<a>.+?)\s+{_MOVE}(?:\s+by)?$"),
        ("difference", rf"{_ASK}difference\s+between\s+(?P<a>.+?)\s+and\s+(?P<b>.+)$"),
        ("mean", rf"{_ASK}average\s+(?:of\s+)?(?P<a>.+)$"),
        ("ratio", rf"{_ASK}ratio\s+(?:of|between)\s+(?P<a>.+?)\s+(?:to|and)\s+(?P<b>.+)$"),
        ("share", rf"{_ASK}(?P<a>.+?)\s+as\s+an?\s+(?:{_PERCENT}|share|proportion)\s+of\s+(?P<b>.+)$"),
        (
            "share",
            rf"^what\s+(?:{_PERCENT}|share|proportion)\s+of\s+(?P<b>.+?)\s+(?:is|was|are|were)\s+(?P<a>.+)$",
        ),
        ("sum", rf"{_ASK}(?:sum|total)\s+of\s+(?P<a>.+?)\s+and\s+(?P<b>.+)$"),
    )
)
# Words that lead up to a period: "for the fiscal years ended", then the preposition, and no further.
_OF_PERIOD = frozenset(str.split("the both fiscal years year ended ending end period respectively"))
_LEADING = frozenset(
    str.split("""
        in for of as at on during between from to and over versus vs through until compared with - – /
    """)
)
_AFTER = frozenset(("year-end", "respectively"))
_PARENTHESIS = re.compile(r"\([^()]*\)")
_LEAD = re.compile(
    r"^(?:(?:the|its|their|total\s+amount\s+of|amounts?\s+(?:of|for)|values?\s+(?:of|for)|annual|"
    r"(?:the\s+)?company(?:'s|’s)?)\s+)+|^[A-Z][\w&.]*(?:'s|’s)\s+",
    re.I,
)


def labelled(asked: str, periods: Sequence[Period]) -> list[tuple[str, Tree, bool]]:
    """(what, tree, whether a percentage by nature) of ``asked``; [] where no pattern fits or no period is."""
    kind, a, b = _read(asked, periods)
    if not a or (len(periods) > 1 and _words_between(asked, periods)):
        return []
    years = ordered(_distinct(periods))
    return _made(kind, a, b, years_meant(asked, years) if kind == "mean" else years)


def labels_in(asked: str, periods: Sequence[Period]) -> tuple[str, ...]:
    """The labels that ``asked`` names where it is of one of the patterns."""
    return tuple(label for label in _read(asked, periods)[1:] if label)


def _read(asked: str, periods: Sequence[Period]) -> tuple[str, str, str]:
    """(kind, a, b) of the first pattern that fits, empty where none does."""
    bare = _without_periods(asked, periods) if periods else ""
    for kind, pattern in _PATTERNS:
        if match := pattern.match(bare):
            found = match.groupdict()
            return kind, _label(found["a"]), _label(found.get("b") or "")
    return "", "", ""


def _made(kind: str, a: str, b: str, periods: list[Period]) -> list[tuple[str, Tree, bool]]:
    last = periods[-1]
    pair = with_year_before(periods)
    if kind in ("growth", "change"):
        if len(pair) != 2:
            return []
        span = f"{a}, {pair[0].name} to {pair[1].name}"
        worked = (growth if kind == "growth" else change)(a, pair[0], pair[1])
        return [(f"{kind} of {span}", worked, kind == "growth")]
    if kind == "mean" and len(periods) > 1:
        parts = [leaf(a, period) for period in periods]
        return [(f"average {a}, {', '.join(period.name for period in periods)}", mean(parts), False)]
    if kind == "mean":
        one, _, other = a.partition(" and ")
        both = [leaf(_label(one), last), leaf(_label(other), last)]
        return [(f"average of {a}, {last.name}", mean(both), False)] if other else []
    if not b:
        return []
    called = _CALLED[kind].format(a=a, b=b)
    return [(f"{called}, {period.name}", _two(kind, a, b, period), kind == "share") for period in periods]


_CALLED = {
    "difference": "{a} less {b}",
    "ratio": "{a} to {b}",
    "share": "{a} as a share of {b}",
    "sum": "{a} and {b}",
}


def _two(kind: str, a: str, b: str, period: Period) -> Tree:
    one, other = leaf(a, period), leaf(b, period)
    if kind == "sum":
        return total([one, other])
    return node(MINUS if kind == "difference" else OVER, one, other)


def _without_periods(asked: str, periods: Sequence[Period]) -> str:
    """The words of ``asked`` without its periods and what leads up to them."""
    text = asked
    for period in sorted(periods, key=lambda p: -p.start):
        text = f"{text[: period.start]} \x00 {text[period.end :]}"
    kept: list[str] = []
    gone = False
    for word in text.split():
        if word.startswith("\x00"):
            _drop_lead(kept)
            gone = True
        elif not (gone and (word.strip("(),.?").lower() in _AFTER or not any(map(str.isalnum, word)))):
            kept.append(word)
            gone = False
    return " ".join(kept).strip(" ?.,(")


def _words_between(asked: str, periods: Sequence[Period]) -> bool:
    """Words of their own between two periods: "vans in 2019 and cars in 2018" gives each its own."""
    told = sorted(periods, key=lambda period: period.start)
    between = " ".join(asked[one.end : other.start] for one, other in pairwise(told))
    words = re.findall(r"[^\W\d_]+", between.lower())
    return any(word not in _LEADING and word not in _OF_PERIOD for word in words)


def _drop_lead(kept: list[str]) -> None:
    """Takes the words off the end of ``kept`` that only lead up to a period."""
    while kept and kept[-1].strip("(),.").lower() in _OF_PERIOD:
        kept.pop()
    while kept and (kept[-1].strip("(),.").lower() in _LEADING or not kept[-1].strip("(),.")):
        kept.pop()


def _label(words: str) -> str:
    bare = " ".join(_PARENTHESIS.sub(" ", words).split())
    bare = _LEAD.sub("", bare.strip(" ,.?\"'“”")).strip(" ,.?\"'“”")
    fits = bare and not set("\x00()") & set(bare) and len(bare.split()) <= MOST_WORDS
    return bare if fits and re.search(r"[A-Za-z]", bare) else ""


def _distinct(periods: Sequence[Period]) -> list[Period]:
    return list({period.name: period for period in periods}.values())
