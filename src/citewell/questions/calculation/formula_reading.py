"""A formula in words or signs, read into a tree: "365 * average inventory between FY2018 and FY2019 / COGS".

In: the text of a formula, the period it is asked for, other formulae by name. Out: the tree, or
:class:`NotUnderstoodError` at the first word whose meaning is not known: nothing is guessed. Knows nothing
about questions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from citewell.questions.calculation.expressions import MAX_LEAVES, MINUS, OVER, PLUS, TIMES, Leaf, Tree
from citewell.questions.calculation.named import change, leaf, mean, node, ordered, with_year_before
from citewell.questions.line_items import RATIOS, formulae_in, items_in, statement_spans
from citewell.questions.periods import Period, periods_in

MOST_NESTED = 6
MOST_BRACKETS = 20
_WORDS = {
    "divided by": OVER, "over": OVER, "multiplied by": TIMES, "times": TIMES, "less": MINUS, "minus": MINUS,
    "subtracting": MINUS, "plus": PLUS, "average": "average", "avg": "average", "mean": "average",
    "change": "change", "increase": "change",
}  # fmt: skip
_SIGNS = {
    "/": OVER,
    "÷": OVER,
    "*": TIMES,
    "×": TIMES,
    "x": TIMES,
    "-": MINUS,
    "–": MINUS,
    "−": MINUS,
    "+": PLUS,
}
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


class NotUnderstoodError(Exception):
    """Some word of a formula is not known: it is not guessed."""


class Reading:
    """One pass over the parts of a formula: items, periods, numbers, operators and brackets."""

    def __init__(
        self,
        text: str,
        period: Period,
        defined: Mapping[str, str],
        depth: int = 0,
        left: list[int] | None = None,
    ) -> None:
        if depth > MOST_NESTED:
            raise NotUnderstoodError
        self._period, self._defined, self._depth = period, defined, depth
        self._parts = _parts(text, defined)
        self._open = 0
        # One budget for the formula and all that it names: definitions may name each other many times.
        self._left = [MAX_LEAVES] if left is None else left
        self._at = 0

    def tree(self) -> Tree:
        tree = self._sum()
        if self._at != len(self._parts):
            raise NotUnderstoodError
        return tree

    def _peek(self) -> tuple[str, object]:
        return self._parts[self._at] if self._at < len(self._parts) else ("end", "")

    def _take(self) -> tuple[str, object]:
        part = self._peek()
        self._at += 1
        return part

    def _sum(self) -> Tree:
        tree = self._product()
        while self._peek() in (("sign", PLUS), ("sign", MINUS)):
            sign = str(self._take()[1])
            tree = node(sign, tree, self._product())
        return tree

    def _product(self) -> Tree:
        tree = self._operand()
        while self._peek() in (("sign", TIMES), ("sign", OVER)):
            sign = str(self._take()[1])
            tree = node(sign, tree, self._operand())
        return tree

    def _operand(self) -> Tree:
        kind, value = self._peek()
        self._left[0] -= 1
        if self._left[0] < 0:
            raise NotUnderstoodError
        if kind == "number":
            self._take()
            return Leaf(text=str(value))
        if kind == "open":
            self._take()
            self._open += 1
            if self._open > MOST_BRACKETS:
                raise NotUnderstoodError
            tree = self._sum()
            if self._take()[0] != "close":
                raise NotUnderstoodError
            return tree
        return self._item()

    def _item(self) -> Tree:
        """An item or a named formula with its periods: "average inventory between FY2018 and FY2019"."""
        how = ""
        names: list[str] = []
        refs: list[str] = []
        periods: list[Period] = []
        while self._peek()[0] in ("how", "item", "formula", "period"):
            kind, value = self._take()
            if kind == "how":
                if how:
                    raise NotUnderstoodError
                how = str(value)
            elif kind == "period":
                assert isinstance(value, Period)  # noqa: S101 - by construction
                periods.append(value)
            else:
                (names if kind == "item" else refs).append(str(value))
        if len(names) + len(refs) != 1:
            raise NotUnderstoodError
        if refs:
            if how or periods:
                raise NotUnderstoodError
            form = self._defined.get(refs[0]) or RATIOS[refs[0]].forms[0]
            return Reading(form, self._period, self._defined, self._depth + 1, self._left).tree()
        return _term(how, names[0], ordered(periods) or [self._period])


def _term(how: str, item: str, periods: list[Period]) -> Tree:
    if how:
        pair = with_year_before(periods)
        if len(pair) != 2:
            raise NotUnderstoodError
        first, last = pair
        return mean([leaf(item, first), leaf(item, last)]) if how == "average" else change(item, first, last)
    if len(periods) != 1:
        raise NotUnderstoodError
    return leaf(item, periods[0])


@lru_cache(maxsize=256)
def _known(text: str) -> tuple[tuple[int, int, str, object], ...]:
    """(start, end, kind, value) of items and periods in ``text``."""
    found: list[tuple[int, int, str, object]] = [(p.start, p.end, "period", p) for p in periods_in(text)]
    found += [(m.start, m.end, "item", m.name) for m in items_in(text)]
    return tuple(found)


def _parts(text: str, defined: Mapping[str, str]) -> list[tuple[str, object]]:
    """What ``text`` is made of, in order; raises where a word is not understood."""
    spans: list[tuple[int, int, str, object]] = [
        (m.start(), m.end(), "formula", name)
        for name in defined
        for m in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.I)
    ]
    for start, end, kind, value in (
        *_known(text),
        *(
            (m.start, m.end, "formula", m.name.lower())
            for m in formulae_in(text)
            if RATIOS[m.name.lower()].forms
        ),
        *((start, end, "filler", "") for start, end in statement_spans(text)),
    ):
        if all(end <= a or b <= start for a, b, _, _ in spans):
            spans.append((start, end, kind, value))
    spans.sort()
    parts: list[tuple[str, object]] = []
    at = 0
    for start, end, kind, value in [*spans, (len(text), len(text), "filler", "")]:
        parts += _between(text[at:start])
        parts += [] if kind == "filler" else [(kind, value)]
        at = end
    return _without_empty(parts)


def _between(text: str) -> Iterator[tuple[str, object]]:
    for match in _PART.finditer(text):
        word = match.group().lower()
        if match["words"]:
            yield "sign", _WORDS[word]
        elif match["number"]:
            yield "number", match.group()
        elif match["sign"] or word == "x":
            yield "sign", _SIGNS[word]
        elif match["paren"]:
            yield ("open" if word in "([" else "close"), ""
        elif match["word"] and word.strip(".'’") in _WORDS:
            meant = _WORDS[word.strip(".'’")]
            yield ("sign" if meant in (OVER, TIMES, MINUS, PLUS) else "how"), meant
        elif match.group() not in ",:;" and word.strip(".'’") not in _FILLER:
            raise NotUnderstoodError


def _without_empty(parts: list[tuple[str, object]]) -> list[tuple[str, object]]:
    """Without brackets that hold nothing: "(from the cash flow statement)"."""
    kept: list[tuple[str, object]] = []
    for part in parts:
        if part[0] == "close" and kept and kept[-1][0] == "open":
            kept.pop()
        else:
            kept.append(part)
    return kept
