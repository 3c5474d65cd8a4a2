"""What must be worked out for a question: the formula it spells out, or the one its ratio is known by.

In: a question. Out: :class:`Working` values: a name and an expression over line items in periods, no number
of any document. A formula is taken only when every word of it is understood; otherwise nothing is worked
out. Knows nothing about passages or cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from citewell.matching.asking import asking_sentences
from citewell.matching.expressions import (
    MINUS,
    OVER,
    PLUS,
    POWER,
    TIMES,
    Leaf,
    Node,
    Tree,
)
from citewell.matching.line_items import RATIOS, formulae_in, items_in, statement_spans
from citewell.matching.periods import Period, periods_in
from citewell.matching.questions import Ask, Wanted, operands, read_question
from citewell.records import Record


class Working(Record, frozen=True, kw_only=True):
    """``tree`` has leaves "item, FY2022" and plain numbers. ``percent``: how the result is written;
    ``places``: decimals asked for, None where nothing is asked. Of several with one ``what`` the first whose
    items are all found is meant."""

    what: str
    tree: Tree
    percent: bool = False
    places: int | None = None


MOST_NESTED = 6
MAX_BESIDE_RATIO = 4
# "Adjusted EBITDA" is the company's own figure; it is not worked out from the statements' lines.
_OTHER_MEASURE = frozenset(("adjusted", "non", "organic", "core", "normalised", "normalized", "comparable"))
_ANSWERED_BY_VALUES = (Ask.NUMBER, Ask.YES_NO, Ask.TEXT)
_PLACES = (
    (re.compile(r"\b(?:two|2) decimals?\b|\bnearest hundredth|\bhundredths?\b", re.I), 2),
    (re.compile(r"\b(?:one|1) decimals?\b|\bnearest tenth|\btenths?\b", re.I), 1),
    (re.compile(r"\b(?:three|3) decimals?\b|\bnearest thousandth", re.I), 3),
    (re.compile(r"\bnearest (?:whole|integer|percent)\b|\bwhole (?:number|percent)", re.I), 0),
)
_PERCENT = re.compile(r"\bpercent(?:s|ages?)?\b|(?<!\w)%", re.I)
_GROWTH = re.compile(
    r"\b(?:growth|grow|grew|grown|year[- ]over[- ]year|yoy|percent(?:age)? (?:change|increase|decrease)|"
    r"(?:change|increase|decrease|decline)d? (?:\w+ ){0,6}?(?:percents?|percentage|%))",
    re.I,
)
_CAGR = re.compile(r"\bcagr\b|\bcompound(?:ed)? annual growth", re.I)
_DIFFERENCE = re.compile(
    r"\bdifference (?:between|in)\b|\bhow much (?:more|less|higher|lower|larger|smaller)\b|\bby how much\b|"
    r"\bhow much (?:did|has|have)\b.{0,80}\b(?:change|increase|decrease|grow|rise|fall|drop|decline)d?\b",
    re.I | re.S,
)
_AS_SHARE = re.compile(r"\bas an? (?:%|percent(?:age)?|share|fraction|proportion) (?:of|to)\b", re.I)
_DEFINED = re.compile(
    r"(?:\bdefine\s+(?:the\s+)?(?P<a>[^.:?]{2,80}?)\s+as:?"
    r"|(?P<b>[\w &%/'’-]{2,80}?)\s*(?:\([^)]*\)\s*)?\bis defined as:?)"
    r"\s*(?P<body>.+?)(?=[.?!](?:\s+[A-Z]|\s*$)|$)",
    re.I | re.S,
)
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


def workings(question: str) -> tuple[Working, ...]:
    """What ``question`` needs worked out; () when nothing is, or when a formula is not wholly understood."""
    whole = " ".join(question.split())
    main, wanted = read_question(" ".join(asking_sentences(whole))), read_question(whole)
    periods = main.periods or wanted.periods
    if not periods or not worked_out(main, wanted):
        return ()
    defined = dict(_definitions(whole))
    try:
        found = _asked(wanted, main, defined, periods)
    except _NotUnderstoodError:
        return ()
    places = next((count for pattern, count in _PLACES if pattern.search(whole)), None)
    percent = bool(_PERCENT.search(whole))
    return tuple(
        Working(what=what, tree=tree, percent=percent or (by_nature and places is None), places=places)
        for what, tree, by_nature in found
    )


def worked_out(main: Wanted, wanted: Wanted) -> bool:
    """Whether ``main``, what ``wanted`` asks, is a ratio, a mean or a change of items that the tables know,
    or items over several periods: its answer stands nowhere, its operands do."""
    if wanted.periods and _defined_name(main, dict(_definitions(wanted.question))):
        return True
    if _OTHER_MEASURE.intersection(main.words):
        return False
    named = is_ratio(main) and main.ask in _ANSWERED_BY_VALUES and len(main.words) <= MAX_BESIDE_RATIO
    if not (named or (main.by_cell and not main.words)) or not operands(wanted):
        return False
    if not wanted.periods and not (is_ratio(main) and main.names):
        return False  # "What is a quick ratio?" asks for words
    ratio = is_ratio(main) or is_ratio(wanted)
    several = len(main.periods) > 1 or len(operands(main)) > 1
    return ratio or several or main.changes or main.average


def is_ratio(wanted: Wanted) -> bool:
    """Whether a ratio of several items is named."""
    return any(len(RATIOS[mention.name.lower()].of) > 1 for mention in wanted.formulae)


class _NotUnderstoodError(Exception):
    """Some word of a formula is not known: it is not guessed."""


def _asked(
    wanted: Wanted, main: Wanted, defined: Mapping[str, str], periods: Sequence[Period]
) -> list[tuple[str, Tree, bool]]:
    """(what it is called, the calculation, whether it is a percentage by nature)."""
    name = _name(wanted, main, defined)
    if not name:
        return _of_items(main, periods)
    percent = name in RATIOS and RATIOS[name].percent
    found: list[tuple[str, Tree, bool]] = []
    for form in (defined[name],) if name in defined else RATIOS[name].forms:
        if main.average and len(periods) > 1 and not re.search(r"\baverage\b", form, re.I):
            years = each_year(periods)
            mean = _over(_sum([_Reading(form, year, defined).tree() for year in years]), len(years))
            found.append((f"average {name}, {years[0].name} to {years[-1].name}", mean, percent))
            continue
        found += [
            (f"{name}, {period.name}", _Reading(form, period, defined).tree(), percent)
            for period in (_with_year_before(periods) if main.changes else periods)
        ]
    return found


def _name(wanted: Wanted, main: Wanted, defined: Mapping[str, str]) -> str:
    """The quantity that the question wants: one that it defines and asks for, else a known ratio."""
    if name := _defined_name(main, defined):
        return name
    for mention in main.formulae or wanted.formulae:
        if RATIOS[mention.name.lower()].forms:
            return mention.name.lower()
    return ""


def _defined_name(main: Wanted, defined: Mapping[str, str]) -> str:
    asked = (name for name in defined if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", main.question, re.I))
    return next(asked, "")


def _of_items(main: Wanted, periods: Sequence[Period]) -> list[tuple[str, Tree, bool]]:
    """A share of two items, growth, a yearly rate, a difference or a mean of one item."""
    names = list(dict.fromkeys(mention.name for mention in main.items))
    share = _AS_SHARE.search(main.question)
    if share and len(main.items) == 2 and main.items[0].start < share.start() < main.items[1].start:
        one, other = (mention.name for mention in main.items)
        years = each_year(periods) if main.average else list(periods)
        parts = [_node(OVER, _leaf(one, year), _leaf(other, year)) for year in years]
        what = f"{one} as a share of {other}"
        if main.average and len(parts) > 1:
            return [
                (f"average {what}, {years[0].name} to {years[-1].name}", _over(_sum(parts), len(parts)), True)
            ]
        return [(f"{what}, {year.name}", part, True) for year, part in zip(years, parts, strict=True)]
    if len(names) != 1:
        return []
    (item,) = names
    if main.average and len(periods) > 1:
        years = each_year(periods)
        mean = _over(_sum([_leaf(item, year) for year in years]), len(years))
        return [(f"average {item}, {years[0].name} to {years[-1].name}", mean, False)]
    pair = _with_year_before(periods) if len(periods) == 1 else sorted(periods, key=_when)
    if len(pair) != 2:
        return []
    first, last = (_leaf(item, period) for period in pair)
    span = f"{item}, {pair[0].name} to {pair[1].name}"
    if _CAGR.search(main.question):
        years_between = pair[1].year - pair[0].year
        root = _node(OVER, Leaf(text="1"), Leaf(text=str(years_between)))
        grown = _node(POWER, _node(OVER, last, first), root)
        return (
            [(f"yearly growth of {span}", _node(MINUS, grown, Leaf(text="1")), True)] if years_between else []
        )
    if _GROWTH.search(main.question):
        return [(f"growth of {span}", _node(OVER, _node(MINUS, last, first), first), True)]
    if _DIFFERENCE.search(main.question):
        return [(f"change of {span}", _node(MINUS, last, first), False)]
    return []


def _definitions(question: str) -> Iterator[tuple[str, str]]:
    for match in _DEFINED.finditer(question):
        name = " ".join((match["a"] or match["b"] or "").split()).strip().lower()
        for start in ("question: ", "the "):
            name = name.rpartition(start)[2] if start in name[:40] else name
        yield name, match["body"]


# --- reading a formula --------------------------------------------------------------------------


class _Reading:
    """One pass over the parts of a formula: items, periods, numbers, operators and brackets."""

    def __init__(self, text: str, period: Period, defined: Mapping[str, str], depth: int = 0) -> None:
        if depth > MOST_NESTED:
            raise _NotUnderstoodError
        self._period, self._defined, self._depth = period, defined, depth
        self._parts = _parts(text, defined)
        self._at = 0

    def tree(self) -> Tree:
        tree = self._sum()
        if self._at != len(self._parts):
            raise _NotUnderstoodError
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
            tree = _node(sign, tree, self._product())
        return tree

    def _product(self) -> Tree:
        tree = self._operand()
        while self._peek() in (("sign", TIMES), ("sign", OVER)):
            sign = str(self._take()[1])
            tree = _node(sign, tree, self._operand())
        return tree

    def _operand(self) -> Tree:
        kind, value = self._peek()
        if kind == "number":
            self._take()
            return Leaf(text=str(value))
        if kind == "open":
            self._take()
            tree = self._sum()
            if self._take()[0] != "close":
                raise _NotUnderstoodError
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
                    raise _NotUnderstoodError
                how = str(value)
            elif kind == "period":
                assert isinstance(value, Period)  # noqa: S101 - by construction
                periods.append(value)
            else:
                (names if kind == "item" else refs).append(str(value))
        if len(names) + len(refs) != 1:
            raise _NotUnderstoodError
        if refs:
            if how or periods:
                raise _NotUnderstoodError
            form = self._defined.get(refs[0]) or RATIOS[refs[0]].forms[0]
            return _Reading(form, self._period, self._defined, self._depth + 1).tree()
        return _term(how, names[0], sorted(periods, key=_when) or [self._period])


def _term(how: str, item: str, periods: list[Period]) -> Tree:
    if how:
        pair = _with_year_before(periods) if len(periods) == 1 else periods
        if len(pair) != 2:
            raise _NotUnderstoodError
        first, last = (_leaf(item, period) for period in pair)
        if how == "average":
            return _over(_node(PLUS, first, last), 2)
        return _node(MINUS, last, first)
    if len(periods) != 1:
        raise _NotUnderstoodError
    return _leaf(item, periods[0])


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
            raise _NotUnderstoodError


def _without_empty(parts: list[tuple[str, object]]) -> list[tuple[str, object]]:
    """Without brackets that hold nothing: "(from the cash flow statement)"."""
    kept: list[tuple[str, object]] = []
    for part in parts:
        if part[0] == "close" and kept and kept[-1][0] == "open":
            kept.pop()
        else:
            kept.append(part)
    return kept


# --- small pieces -------------------------------------------------------------------------------


def _leaf(item: str, period: Period) -> Leaf:
    return Leaf(text=f"{item}, {period.name}")


def _node(sign: str, left: Tree, right: Tree) -> Tree:
    return Node(sign=sign, left=left, right=right)


def _sum(trees: Sequence[Tree]) -> Tree:
    total = trees[0]
    for tree in trees[1:]:
        total = _node(PLUS, total, tree)
    return total


def _over(tree: Tree, count: int) -> Tree:
    return _node(OVER, tree, Leaf(text=str(count)))


def _when(period: Period) -> tuple[int, int, int]:
    return period.year, period.quarter or 0, period.month or 0


def each_year(periods: Sequence[Period]) -> list[Period]:
    """Two years and those between them; anything else in its order."""
    ordered = sorted(periods, key=_when)
    first, last = ordered[0], ordered[-1]
    if len(ordered) != 2 or first.quarter or last.quarter or last.year - first.year > 10:
        return ordered
    return [Period(year=year) for year in range(first.year, last.year + 1)]


def year_before(period: Period) -> Period:
    """The same quarter or day one year earlier."""
    return Period(
        year=period.year - 1, quarter=period.quarter, month=period.month, day=period.day, months=period.months
    )


def _with_year_before(periods: Sequence[Period]) -> list[Period]:
    return [year_before(periods[0]), periods[0]] if len(periods) == 1 else sorted(periods, key=_when)


def leaf_of(text: str) -> tuple[str, str]:
    """(item, period name) of a leaf; ("", "") of a plain number."""
    item, _, period = text.rpartition(", ")
    # "May 31, 2018" has the comma inside.
    if period.isdigit() and len(period) == 4 and ", " in item:
        item, _, day = item.rpartition(", ")
        period = f"{day}, {period}"
    return (item, period) if item else ("", "")
