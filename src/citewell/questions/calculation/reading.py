"""Calculations read from words: a formula, and what is asked of rows that a question names by their labels.

In: "365 * average inventory between FY2018 and FY2019 / COGS" with the period it is asked for, or "What is
the change in Appliances from 2018 to 2019?". Out: trees. At the first word of a formula whose meaning is not
known it is :class:`NotUnderstoodError`: nothing is guessed. Labels are cut out by fixed patterns; whether any
table has such a row is asked elsewhere, and only a row with exactly this label will do. Knows nothing about
passages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from citewell.questions.calculation.arithmetic import (
    MAX_LEAVES,
    MINUS,
    OVER,
    PLUS,
    TIMES,
    Leaf,
    Tree,
    change,
    growth,
    leaf,
    mean,
    node,
)
from citewell.questions.calculation.items import RATIOS, named_in
from citewell.questions.periods import Period, ordered, periods_in, with_year_before, years_meant

MOST_NESTED = 6
MOST_BRACKETS = 20
Calculation = tuple[str, Tree, bool]
"""What it is called, the tree, whether it is a percentage by nature."""


# --- a formula read into a tree -------------------------------------------------------------------

_SIGNS = {
    "divided by": OVER, "over": OVER, "multiplied by": TIMES, "times": TIMES, "less": MINUS, "minus": MINUS,
    "subtracting": MINUS, "plus": PLUS, "/": OVER, "÷": OVER, "*": TIMES, "×": TIMES, "x": TIMES, "-": MINUS,
    "–": MINUS, "−": MINUS, "+": PLUS,
}  # fmt: skip
_HOW = {"average": "average", "avg": "average", "mean": "average", "change": "change", "increase": "change"}
# Words that change nothing of what is to be calculated.
_FILLER = frozenset(
    str.split("""
        a an the of in for from to between and at as on by year years end ended fiscal total unadjusted
        reported consolidated company companys its net ending balance balances both
    """)
)
_PART = re.compile(
    r"(?P<words>divided by|multiplied by)|(?P<number>\d+(?:\.\d+)?)|(?P<word>[A-Za-z&%$][\w&%’'.]*)"
    r"|(?P<sign>[-+*/÷×–−])|(?P<paren>[()\[\]])|(?P<other>\S)",
    re.I,
)
Part = tuple[str, object]


class NotUnderstoodError(Exception):
    """Some word of a formula is not known: it is not guessed."""


class Formula:
    """One pass over the parts of a formula: items, periods, numbers, operators and brackets."""

    def __init__(
        self,
        text: str,
        period: Period,
        defined: Mapping[str, str],
        depth: int = 0,
        left: list[int] | None = None,
    ) -> None:
        _need(depth <= MOST_NESTED)
        self._period, self._defined, self._depth = period, defined, depth
        self._parts = _parts_of(text, defined)
        self._open = self._at = 0
        # One budget for the formula and all that it names: definitions may name each other many times.
        self._left = [MAX_LEAVES] if left is None else left

    def tree(self) -> Tree:
        tree = self._chain((PLUS, MINUS))
        _need(self._at == len(self._parts))
        return tree

    def _peek(self) -> Part:
        return self._parts[self._at] if self._at < len(self._parts) else ("end", "")

    def _take(self) -> Part:
        part = self._peek()
        self._at += 1
        return part

    def _chain(self, signs: tuple[str, str]) -> Tree:
        """Sums of products of operands, from the left."""
        sums = PLUS in signs
        tree = self._chain((TIMES, OVER)) if sums else self._operand()
        while self._peek()[0] == "sign" and self._peek()[1] in signs:
            sign = str(self._take()[1])
            tree = node(sign, tree, self._chain((TIMES, OVER)) if sums else self._operand())
        return tree

    def _operand(self) -> Tree:
        kind, value = self._peek()
        self._left[0] -= 1
        _need(self._left[0] >= 0)
        if kind == "number":
            self._take()
            return Leaf(text=str(value))
        if kind == "open":
            self._take()
            self._open += 1
            _need(self._open <= MOST_BRACKETS)
            tree = self._chain((PLUS, MINUS))
            _need(self._take()[0] == "close")
            return tree
        return self._item()

    def _item(self) -> Tree:
        """An item or a named formula with its periods: "average inventory between FY2018 and FY2019"."""
        found: dict[str, list[object]] = {"how": [], "item": [], "formula": [], "period": []}
        while self._peek()[0] in found:
            kind, value = self._take()
            found[kind].append(value)
        how, names, refs = found["how"], found["item"], found["formula"]
        _need(len(how) <= 1 and len(names) + len(refs) == 1)
        if refs:
            _need(not how and not found["period"])
            name = str(refs[0])
            form = self._defined.get(name) or RATIOS[name].forms[0]
            return Formula(form, self._period, self._defined, self._depth + 1, self._left).tree()
        named = [period for period in found["period"] if isinstance(period, Period)]
        periods, item = ordered(named) or [self._period], str(names[0])
        if not how:
            _need(len(periods) == 1)
            return leaf(item, periods[0])
        pair = with_year_before(periods)
        _need(len(pair) == 2)
        first, last = pair
        return (
            mean([leaf(item, first), leaf(item, last)]) if how[0] == "average" else change(item, first, last)
        )


def _need(understood: bool) -> None:
    if not understood:
        raise NotUnderstoodError


def _parts_of(text: str, defined: Mapping[str, str]) -> list[Part]:
    """What ``text`` is made of, in order; raises where a word is not understood."""
    spans: list[tuple[int, int, str, object]] = [
        (m.start(), m.end(), "formula", name)
        for name in defined
        for m in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.I)
    ]
    named = named_in(text)
    for start, end, kind, value in (
        *((period.start, period.end, "period", period) for period in periods_in(text)),
        *((item.start, item.end, "item", item.name) for item in named.items),
        *((one.start, one.end, "formula", one.name) for one in named.formulae if RATIOS[one.name].forms),
        *((start, end, "filler", "") for start, end in named.places),
    ):
        if all(end <= a or b <= start for a, b, _, _ in spans):
            spans.append((start, end, kind, value))
    spans.sort()
    parts: list[Part] = []
    at = 0
    for start, end, kind, value in [*spans, (len(text), len(text), "filler", "")]:
        for part in [*_between(text[at:start]), *([] if kind == "filler" else [(kind, value)])]:
            # Brackets that hold nothing are left out: "(from the cash flow statement)".
            if part[0] == "close" and parts and parts[-1][0] == "open":
                parts.pop()
            else:
                parts.append(part)
        at = end
    return parts


def _between(text: str) -> Iterator[Part]:
    for match in _PART.finditer(text):
        word = match.group().lower()
        bare = word.strip(".'’") if match["word"] else word
        if match["number"]:
            yield "number", word
        elif match["paren"]:
            yield ("open" if word in "([" else "close"), ""
        elif bare in _SIGNS:
            yield "sign", _SIGNS[bare]
        elif bare in _HOW:
            yield "how", _HOW[bare]
        elif word not in ",:;" and bare not in _FILLER:
            raise NotUnderstoodError


# --- rows by their labels -------------------------------------------------------------------------

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


def labelled(asked: str, periods: Sequence[Period]) -> list[Calculation]:
    """(what, tree, whether a percentage by nature) of ``asked``; [] where no pattern fits or no period is."""
    kind, a, b = _read(asked, periods)
    if not a or (len(periods) > 1 and _words_between(asked, periods)):
        return []
    years = ordered(list({period.name: period for period in periods}.values()))
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


def _made(kind: str, a: str, b: str, periods: list[Period]) -> list[Calculation]:
    last = periods[-1]
    pair = with_year_before(periods)
    if kind in ("growth", "change"):
        if len(pair) != 2:
            return []
        span = f"{a}, {pair[0].name} to {pair[1].name}"
        worked = (growth if kind == "growth" else change)(a, pair[0], pair[1])
        return [(f"{kind} of {span}", worked, kind == "growth")]
    if kind == "mean":
        items = [(a, period) for period in periods]
        if len(periods) == 1:
            one, _, other = a.partition(" and ")
            items = [(_label(one), last), (_label(other), last)] if other else []
        what = f"average {'of ' if len(periods) == 1 else ''}{a}, {', '.join(p.name for p in periods)}"
        return [(what, mean([leaf(item, period) for item, period in items]), False)] if items else []
    if not b:
        return []
    sign, called = _OF_TWO[kind]
    return [
        (
            f"{called.format(a=a, b=b)}, {period.name}",
            node(sign, leaf(a, period), leaf(b, period)),
            kind == "share",
        )
        for period in periods
    ]


_OF_TWO = {
    "difference": (MINUS, "{a} less {b}"),
    "ratio": (OVER, "{a} to {b}"),
    "share": (OVER, "{a} as a share of {b}"),
    "sum": (PLUS, "{a} and {b}"),
}


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
