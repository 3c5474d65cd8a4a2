"""The calculation a question needs: the formula it spells out, or the standard one for its ratio.

In: a question. Out: :class:`Working` values: a name and an expression over line items in periods, without
numbers from documents. A formula ("365 * average inventory between FY2018 and FY2019 / COGS") is used only if
every word of it is understood; otherwise nothing is calculated. Independent of passages and cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from citewell.core.records import Record
from citewell.questions.calculation.arithmetic import (
    NotArithmetic,
    Tree,
    leaf,
    leaves,
    mean,
)
from citewell.questions.calculation.items import RATIOS, core_words
from citewell.questions.calculation.reading import (
    Calculation,
    find_calculations,
    formula,
    labels_in,
    of_two,
    over_time,
)
from citewell.questions.parsing import (
    EVERY_YEAR,
    ParsedQuestion,
    QuestionKind,
    asking_sentences,
    label_words,
    read_question,
)
from citewell.questions.periods import Period, periods_in, with_year_before, years_meant

MAX_BESIDE_RATIO = 4
MOST_CHARACTERS = 1_500  # of a question; a longer one is prose containing a request, and is not interpreted


class Working(Record, frozen=True, kw_only=True):
    """``tree`` has leaves "item, FY2022" and plain numbers. ``percent``: whether the result is written as a
    percentage; ``places``: decimals asked for, or None. If several have the same ``what``, the first whose
    items are all found applies."""

    what: str
    tree: Tree
    percent: bool = False
    places: int | None = None


# --- what a question needs worked out -------------------------------------------------------------

# "Adjusted EBITDA" is a company-defined figure that cannot be calculated from statement lines.
_OTHER_MEASURE = frozenset(("adjusted", "non", "organic", "core", "normalised", "normalized", "comparable"))
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
    r"\bdifference (?:between|in)\b|\bthe (?:\w+ )?(?:change|increase|decrease)\b|"
    r"\bhow much (?:more|less|higher|lower|larger|smaller)\b|\bby how much\b|"
    r"\bhow much (?:did|has|have)\b.{0,80}\b(?:change|increase|decrease|grow|rise|fall|drop|decline)d?\b",
    re.I | re.S,
)
_OVER_TIME = (("yearly growth", _CAGR), ("growth", _GROWTH), ("change", _DIFFERENCE))
_AS_SHARE = re.compile(r"\bas an? (?:%|percent(?:age)?|share|fraction|proportion) (?:of|to)\b", re.I)
_DEFINED = re.compile(
    r"(?:\bdefine\s{1,9}(?:the\s{1,9})?(?P<a>[^.:?]{2,80}?)\s{1,9}as:?"
    r"|\b(?P<b>\w[\w &%/'’-]{1,79}?)\s{0,9}(?:\([^()]{0,200}\)\s{0,9})?\bis defined as:?)"
    r"\s*(?P<body>.+?)(?=[.?!](?:\s+[A-Z]|\s*$)|$)",
    re.I | re.S,
)


@lru_cache(maxsize=256)
def workings(question: str) -> tuple[Working, ...]:
    """Calculations that ``question`` needs; () if none, or if a formula is not fully understood."""
    whole, main, wanted = _read(question)
    periods = main.periods or wanted.periods
    if len(whole) > MOST_CHARACTERS or not periods:
        return ()
    try:
        return _formed(_asked(wanted, main, dict(_definitions(whole)), periods), whole)
    except NotArithmetic:
        return ()


@lru_cache(maxsize=256)
def labelled_workings(question: str) -> tuple[Working, ...]:
    """Calculations over rows that the question names by label, if :func:`workings` has none."""
    whole, main, _ = _read(question)
    if len(whole) > MOST_CHARACTERS or workings(question):
        return ()
    return _formed(find_calculations(main.question, periods_in(main.question)), whole)


def all_workings(question: str) -> tuple[Working, ...]:
    """Calculations over line items and ratios, else over rows that the question names."""
    return workings(question) or labelled_workings(question)


def is_answer(question: str, results: int) -> bool:
    """Whether this many results answer ``question`` directly, rather than being inputs to a yes or no, the
    change of a ratio, or the difference of two ratios."""
    _, main, _ = _read(question)
    asked = {working.what for working in all_workings(question)}
    compared = results > 1 and (main.changes or bool(_DIFFERENCE.search(main.question)))
    return main.ask in (QuestionKind.NUMBER, QuestionKind.TEXT) and results == len(asked) and not compared


def operand_aspects(question: str) -> tuple[str, ...]:
    """Aspects that each ask for one item in one period, if the answer is calculated from them; else ()."""
    whole, main, wanted = _read(question)
    named = main.names or wanted.names
    if found := _of_workings(whole, main, wanted):
        owners = [name for name in named if not any(name in item for item, _ in found)]
        of = f" of {owners[0]}" if owners else ""
        return tuple(f"{item}{of}, {period.name}" for item, period in found)
    if not _worked_out(main, wanted):
        return ()
    items = main.operands
    if main.is_ratio or wanted.is_ratio:
        listed = [name for ratio in (main if main.is_ratio else wanted).formulae for name in ratio.of]
        items = tuple(dict.fromkeys([*listed, *(mention.name for mention in main.items)]))
    of = f" of {named[0]}" if named else ""
    periods = list(main.periods or wanted.periods)
    if not periods:
        when = f", {EVERY_YEAR}" if main.changes else ""
        return tuple(f"{item}{of}{when}" for item in items)
    if main.changes and len(periods) == 1:
        periods = with_year_before(periods)[::-1]
    return tuple(dict.fromkeys(f"{item}{of}, {period.name}" for item in items for period in periods))


def _of_workings(whole: str, main: ParsedQuestion, wanted: ParsedQuestion) -> list[tuple[str, Period]]:
    """Every operand of the calculations; "A or B" where their forms differ."""
    either = {
        name: names
        for ratio in (*main.formulae, *wanted.formulae)
        for names in ratio.of
        for name in names.split(" or ")
    }
    found = dict.fromkeys(
        (either.get(one.item, one.item), one.period)
        for working in workings(whole)
        for one in leaves(working.tree)
        if one.period is not None
    )
    items = list(dict.fromkeys(item for item, _ in found))
    return sorted(found, key=lambda pair: items.index(pair[0]))


def _read(question: str) -> tuple[str, ParsedQuestion, ParsedQuestion]:
    """The question with normalised spaces; the parse of its asking sentences; the parse of all of it."""
    whole = " ".join(question.split())
    return whole, read_question(" ".join(asking_sentences(whole))), read_question(whole)


def _formed(found: Sequence[Calculation], question: str) -> tuple[Working, ...]:
    """Add the format of the result: as the question asks, else the natural one."""
    places = next((count for pattern, count in _PLACES if pattern.search(question)), None)
    percent = bool(_PERCENT.search(question))
    return tuple(
        Working(what=what, tree=tree, percent=percent or (by_nature and places is None), places=places)
        for what, tree, by_nature in found
    )


def _worked_out(main: ParsedQuestion, wanted: ParsedQuestion) -> bool:
    """Whether ``main``, the asking part of ``wanted``, asks for a ratio, mean or change of known items, or
    items over several periods: documents contain the operands, not the answer."""
    if wanted.periods and _defined_name(main, dict(_definitions(wanted.question))):
        return True
    if _OTHER_MEASURE.intersection(main.words):
        return False
    by_values = main.ask in (QuestionKind.NUMBER, QuestionKind.YES_NO, QuestionKind.TEXT)
    named = main.is_ratio and by_values and len(main.words) <= MAX_BESIDE_RATIO
    if not (named or (main.by_cell and not main.words)) or not wanted.operands:
        return False
    if not wanted.periods and not (main.is_ratio and main.names):
        return False  # "What is a quick ratio?" asks for words
    ratio = main.is_ratio or wanted.is_ratio
    if not ratio and any(_says_more(label, main) for label in labels_in(main.question, main.periods)):
        return False  # "other receivables" is a separate row, not receivables
    several = len(main.periods) > 1 or len(main.operands) > 1
    return ratio or several or main.changes or main.average


def _says_more(label: str, main: ParsedQuestion) -> bool:
    """Whether ``label`` has words besides the line items it names and their owner."""
    for name in main.names:
        label = re.sub(rf"\s+(?:of|for|at|by)\s+(?:the\s+)?{re.escape(name)}$", "", label)
    known = {word for m in main.items for word in label_words(main.question[m.start : m.end])}
    return bool(set(core_words(label)) - known)


def _asked(
    wanted: ParsedQuestion, main: ParsedQuestion, defined: Mapping[str, str], periods: Sequence[Period]
) -> list[Calculation]:
    if not _worked_out(main, wanted):
        return []
    own = _defined_name(main, defined)
    known = dict.fromkeys(mention.name for mention in main.formulae or wanted.formulae)
    names = [own] if own else [name for name in known if RATIOS[name].forms]
    if not names:
        return _of_items(main, periods)
    if main.words and not own:
        return []  # "of the cloud segment", "guidance", "excluding ...": not the ratio itself
    return [one for name in names for one in _of_ratio(name, main, defined, periods)]


def _of_ratio(
    name: str, main: ParsedQuestion, defined: Mapping[str, str], periods: Sequence[Period]
) -> list[Calculation]:
    percent = name in RATIOS and RATIOS[name].percent
    found: list[Calculation] = []
    for form in (defined[name],) if name in defined else RATIOS[name].forms:
        if main.average and len(periods) > 1 and not re.search(r"\baverage\b", form, re.I):
            years = years_meant(main.question, periods)
            averaged = mean([formula(form, year, defined) for year in years])
            found.append((_over_years(name, years), averaged, percent))
            continue
        found += [
            (f"{name}, {period.name}", formula(form, period, defined), percent)
            for period in (with_year_before(periods) if main.changes else periods)
        ]
    return found


def _of_items(main: ParsedQuestion, periods: Sequence[Period]) -> list[Calculation]:
    """One item as a share of another; growth, annual rate, difference or mean of one item."""
    share = _AS_SHARE.search(main.question)
    years = years_meant(main.question, periods) if main.average else list(periods)
    if share and len(main.items) == 2 and main.items[0].start < share.start() < main.items[1].start:
        parts = of_two("share", main.items[0].name, main.items[1].name, years)
        if main.average and len(parts) > 1:
            what = parts[0][0].removesuffix(f", {years[0].name}")
            return [(_over_years(what, years), mean([tree for _, tree, _ in parts]), True)]
        return parts
    names = list(dict.fromkeys(mention.name for mention in main.items))
    if len(names) != 1:
        return []
    (item,) = names
    if main.average and len(periods) > 1:
        return [(_over_years(item, years), mean([leaf(item, year) for year in years]), False)]
    kind = next((kind for kind, pattern in _OVER_TIME if pattern.search(main.question)), "")
    return over_time(kind, item, periods) if kind else []


def _over_years(what: str, years: Sequence[Period]) -> str:
    return f"average {what}, {years[0].name} to {years[-1].name}"


def _defined_name(main: ParsedQuestion, defined: Mapping[str, str]) -> str:
    asked = (name for name in defined if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", main.question, re.I))
    return next(asked, "")


def _definitions(question: str) -> Iterator[tuple[str, str]]:
    for match in _DEFINED.finditer(question):
        name = " ".join((match["a"] or match["b"] or "").split()).strip().lower()
        yield name.removeprefix("question: ").removeprefix("the "), match["body"]
