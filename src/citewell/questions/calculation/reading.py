"""Parse calculations from words: a formula, or a request about rows that a question names by label.

In: "365 * average inventory between FY2018 and FY2019 / COGS" with the period asked for, or "What is
the change in Appliances from 2018 to 2019?". Out: trees. The first unknown word in a formula raises
:class:`NotArithmetic`: nothing is guessed. Labels are extracted by fixed patterns; whether a table has such a
row is checked elsewhere, and only a row with this label will do. Independent of passages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise

from citewell.questions.calculation.arithmetic import (
    MAX_LEAVES,
    MINUS,
    OVER,
    PLUS,
    TIMES,
    Node,
    NotArithmetic,
    NumberLeaf,
    Tree,
    built,
    filled,
    leaf,
    mean,
    need,
)
from citewell.questions.calculation.items import RATIOS, named_in
from citewell.questions.periods import Period, ordered, periods_in, with_year_before, years_meant

MOST_NESTED = 6
Calculation = tuple[str, Tree, bool]
"""Its name, the tree, whether it is a percentage by nature."""


# --- a formula read into a tree -------------------------------------------------------------------

_SIGNS = {
    "divided by": OVER, "over": OVER, "multiplied by": TIMES, "times": TIMES, "less": MINUS, "minus": MINUS,
    "subtracting": MINUS, "plus": PLUS, "/": OVER, "÷": OVER, "*": TIMES, "×": TIMES, "x": TIMES, "-": MINUS,
    "–": MINUS, "−": MINUS, "+": PLUS,
}  # fmt: skip
_HOW = {"average": "average", "avg": "average", "mean": "average", "change": "change", "increase": "change"}
# Words that do not affect the calculation.
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
_OPERAND = ("how", "item", "formula", "period")


def formula(
    text: str, period: Period, defined: Mapping[str, str], depth: int = 0, left: list[int] | None = None
) -> Tree:
    """The tree of a formula of items, periods, numbers, operators and brackets; ``period`` is the default.
    Raises :class:`NotArithmetic` for an unknown word rather than guess."""
    need(depth <= MOST_NESTED)
    # One budget for the formula and all definitions it uses, which may refer to each other many times.
    left = [MAX_LEAVES] if left is None else left
    operands: list[Tree | str] = []
    for kind, parts in groupby(_parts_of(text, defined), lambda part: part[0] in _OPERAND or part[0]):
        found = list(parts)
        left[0] -= len(found) if kind in ("number", "open") else kind is True
        need(left[0] >= 0)
        if kind is True:
            operands.append(_item(found, period, defined, depth, left))
        else:
            operands += [
                NumberLeaf(text=str(value)) if kind == "number" else str(value) for _, value in found
            ]
    return built(operands)


def _item(
    parts: Sequence[Part], period: Period, defined: Mapping[str, str], depth: int, left: list[int]
) -> Tree:
    """An item or a named formula with its periods: "average inventory between FY2018 and FY2019"."""
    how, names, refs, named = ([value for kind, value in parts if kind == wanted] for wanted in _OPERAND)
    need(len(how) <= 1 and len(names) + len(refs) == 1)
    if refs:
        need(not how and not named)
        name = str(refs[0])
        form = defined.get(name) or RATIOS[name].forms[0]
        return formula(form, period, defined, depth + 1, left)
    periods = ordered([one for one in named if isinstance(one, Period)]) or [period]
    item = str(names[0])
    if not how:
        need(len(periods) == 1)
        return leaf(item, periods[0])
    pair = [leaf(item, one) for one in with_year_before(periods)]
    need(len(pair) == 2)
    return mean(pair) if how[0] == "average" else Node(sign=MINUS, left=pair[1], right=pair[0])


def _parts_of(text: str, defined: Mapping[str, str]) -> list[Part]:
    """The parts of ``text``, in order; raises NotArithmetic for an unknown word."""
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
            # Brackets left empty are dropped: "(from the cash flow statement)".
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
            yield ("open", "(") if word in "([" else ("close", ")")
        elif bare in _SIGNS:
            yield "sign", _SIGNS[bare]
        elif bare in _HOW:
            yield "how", _HOW[bare]
        elif word not in ",:;" and bare not in _FILLER:
            raise NotArithmetic(f"{word!r} is not understood")


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
# Words before a period: "the fiscal years ended", then before those the preposition, and nothing further.
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


def find_calculations(asked: str, periods: Sequence[Period]) -> list[Calculation]:
    """(name, tree, whether a percentage by nature) for ``asked``; [] if no pattern or period is found."""
    kind, a, b = _read(asked, periods)
    if not a or (len(periods) > 1 and _words_between(asked, periods)):
        return []
    years = ordered(list({period.name: period for period in periods}.values()))
    if kind in _OVER_TIME:
        return over_time(kind, a, years)
    if kind == "mean":
        return _means(a, years_meant(asked, years))
    return of_two(kind, a, b, years) if b else []


def labels_in(asked: str, periods: Sequence[Period]) -> tuple[str, ...]:
    """The labels in ``asked`` if it matches one of the patterns."""
    return tuple(label for label in _read(asked, periods)[1:] if label)


def _read(asked: str, periods: Sequence[Period]) -> tuple[str, str, str]:
    """(kind, a, b) of the first matching pattern; empty strings if none matches."""
    bare = _without_periods(asked, periods) if periods else ""
    for kind, pattern in _PATTERNS:
        if match := pattern.match(bare):
            found = match.groupdict()
            return kind, _label(found["a"]), _label(found.get("b") or "")
    return "", "", ""


def over_time(kind: str, item: str, periods: Sequence[Period]) -> list[Calculation]:
    """The "change", "growth" or "yearly growth" of ``item`` between two periods; [] for others. A single
    period is preceded by the year before."""
    pair = with_year_before(periods)
    form, percent = _OVER_TIME[kind]
    if len(pair) != 2 or ("years" in form and pair[0].year >= pair[1].year):
        return []
    first, last = pair
    years = NumberLeaf(text=str(last.year - first.year))
    tree = filled(form, first=leaf(item, first), last=leaf(item, last), years=years)
    return [(f"{kind} of {item}, {first.name} to {last.name}", tree, percent)]


_OVER_TIME = {
    "change": ("last − first", False),
    "growth": ("(last − first) ÷ first", True),
    "yearly growth": ("(last ÷ first) ^ (1 ÷ years) − 1", True),
}
_OF_TWO = {
    "difference": ("a − b", "{a} less {b}", False),
    "ratio": ("a ÷ b", "{a} to {b}", False),
    "share": ("a ÷ b", "{a} as a share of {b}", True),
    "sum": ("a + b", "{a} and {b}", False),
}
"""Formula, name, whether it is a percentage by nature."""


def of_two(kind: str, a: str, b: str, periods: Sequence[Period]) -> list[Calculation]:
    """The "difference", "ratio", "share" or "sum" of two items in each period."""
    form, called, percent = _OF_TWO[kind]
    what = called.format(a=a, b=b)
    return [
        (f"{what}, {period.name}", filled(form, a=leaf(a, period), b=leaf(b, period)), percent)
        for period in periods
    ]


def _means(a: str, periods: Sequence[Period]) -> list[Calculation]:
    """The mean of one row over the periods, or of two rows in the only one."""
    items = [(a, period) for period in periods]
    if len(periods) == 1:
        one, _, other = a.partition(" and ")
        items = [(_label(one), periods[0]), (_label(other), periods[0])] if other else []
    what = f"average {'of ' if len(periods) == 1 else ''}{a}, {', '.join(p.name for p in periods)}"
    return [(what, mean([leaf(item, period) for item, period in items]), False)] if items else []


def _without_periods(asked: str, periods: Sequence[Period]) -> str:
    """The words of ``asked`` without its periods and the words that introduce them."""
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
    """Whether content words occur between two periods: "vans in 2019 and cars in 2018" has one for each."""
    told = sorted(periods, key=lambda period: period.start)
    between = " ".join(asked[one.end : other.start] for one, other in pairwise(told))
    words = re.findall(r"[^\W\d_]+", between.lower())
    return any(word not in _LEADING and word not in _OF_PERIOD for word in words)


def _drop_lead(kept: list[str]) -> None:
    """Remove words from the end of ``kept`` that only introduce a period."""
    while kept and kept[-1].strip("(),.").lower() in _OF_PERIOD:
        kept.pop()
    while kept and (kept[-1].strip("(),.").lower() in _LEADING or not kept[-1].strip("(),.")):
        kept.pop()


def _label(words: str) -> str:
    bare = " ".join(_PARENTHESIS.sub(" ", words).split())
    bare = _LEAD.sub("", bare.strip(" ,.?\"'“”")).strip(" ,.?\"'“”")
    fits = bare and not set("\x00()") & set(bare) and len(bare.split()) <= MOST_WORDS
    return bare if fits and re.search(r"[A-Za-z]", bare) else ""
