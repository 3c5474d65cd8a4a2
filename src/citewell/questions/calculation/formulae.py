"""What must be worked out for a question: the formula it spells out, or the one its ratio is known by.

In: a question. Out: :class:`Working` values: a name and an expression over line items in periods, no number
of any document. A formula is taken only when every word of it is understood; otherwise nothing is worked
out. Knows nothing about passages or cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from citewell.core.records import Record
from citewell.questions.asking import asking_sentences
from citewell.questions.calculation.expressions import OVER, Tree
from citewell.questions.calculation.formula_reading import NotUnderstoodError, Reading
from citewell.questions.calculation.labelled import labelled, labels_in
from citewell.questions.calculation.named import (
    change,
    growth,
    leaf,
    mean,
    node,
    with_year_before,
    yearly_growth,
    years_meant,
)
from citewell.questions.line_items import RATIOS, core_words, label_words
from citewell.questions.parsing import Ask, ParsedQuestion, operands, read_question
from citewell.questions.periods import Period, periods_in


class Working(Record, frozen=True, kw_only=True):
    """``tree`` has leaves "item, FY2022" and plain numbers. ``percent``: how the result is written;
    ``places``: decimals asked for, None where nothing is asked. Of several with one ``what`` the first whose
    items are all found is meant."""

    what: str
    tree: Tree
    percent: bool = False
    places: int | None = None


MAX_BESIDE_RATIO = 4
MOST_CHARACTERS = 1_500  # of a question; a longer one is prose with a request in it, and nothing is guessed
# "Adjusted EBITDA" is the company's own figure; it is not worked out from the statements' lines.
_OTHER_MEASURE = frozenset(("adjusted", "non", "organic", "core", "normalised", "normalized", "comparable"))
_ANSWERED_BY_VALUES = (Ask.NUMBER, Ask.YES_NO, Ask.TEXT)
_TOLD_BY_A_NUMBER = (Ask.NUMBER, Ask.TEXT)
Calculation = tuple[str, Tree, bool]
"""What it is called, the tree, whether it is a percentage by nature."""

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
_AS_SHARE = re.compile(r"\bas an? (?:%|percent(?:age)?|share|fraction|proportion) (?:of|to)\b", re.I)
_DEFINED = re.compile(
    r"(?:\bdefine\s{1,9}(?:the\s{1,9})?(?P<a>[^.:?]{2,80}?)\s{1,9}as:?"
    r"|\b(?P<b>\w[\w &%/'’-]{1,79}?)\s{0,9}(?:\([^()]{0,200}\)\s{0,9})?\bis defined as:?)"
    r"\s*(?P<body>.+?)(?=[.?!](?:\s+[A-Z]|\s*$)|$)",
    re.I | re.S,
)


@lru_cache(maxsize=256)
def workings(question: str) -> tuple[Working, ...]:
    """What ``question`` needs worked out; () when nothing is, or when a formula is not wholly understood."""
    whole = " ".join(question.split())
    if len(whole) > MOST_CHARACTERS:
        return ()
    main, wanted = read_question(" ".join(asking_sentences(whole))), read_question(whole)
    periods = main.periods or wanted.periods
    if not periods:
        return ()
    try:
        known = worked_out(main, wanted)
        found = _asked(wanted, main, dict(_definitions(whole)), periods) if known else []
    except NotUnderstoodError:
        return ()
    return _formed(found, whole)


@lru_cache(maxsize=256)
def labelled_workings(question: str) -> tuple[Working, ...]:
    """The same of rows that the question names by their labels, where :func:`workings` has nothing."""
    whole = " ".join(question.split())
    if len(whole) > MOST_CHARACTERS:
        return ()
    asked = " ".join(asking_sentences(whole))
    return () if workings(question) else _formed(labelled(asked, periods_in(asked)), whole)


def all_workings(question: str) -> tuple[Working, ...]:
    """Of line items and ratios, else of rows that the question names."""
    return workings(question) or labelled_workings(question)


def is_answer(question: str, results: int) -> bool:
    """Whether so many results are what ``question`` asks for, and not what its answer is to be seen from: a
    yes or no, a ratio's change, the difference of two ratios."""
    whole = " ".join(question.split())
    main = read_question(" ".join(asking_sentences(whole)))
    asked = {working.what for working in all_workings(question)}
    compared = results > 1 and (main.changes or bool(_DIFFERENCE.search(main.question)))
    return main.ask in _TOLD_BY_A_NUMBER and results == len(asked) and not compared


def _formed(found: Sequence[Calculation], question: str) -> tuple[Working, ...]:
    """With the form of the result: what the question asks for, else what it is by nature."""
    places = next((count for pattern, count in _PLACES if pattern.search(question)), None)
    percent = bool(_PERCENT.search(question))
    return tuple(
        Working(what=what, tree=tree, percent=percent or (by_nature and places is None), places=places)
        for what, tree, by_nature in found
    )


def worked_out(main: ParsedQuestion, wanted: ParsedQuestion) -> bool:
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
    if not ratio and any(_says_more(label, main) for label in labels_in(main.question, main.periods)):
        return False  # "other receivables" are a row of their own, no receivables
    several = len(main.periods) > 1 or len(operands(main)) > 1
    return ratio or several or main.changes or main.average


def _says_more(label: str, main: ParsedQuestion) -> bool:
    """Whether ``label`` has words beside the line items that it names and whose they are."""
    for name in main.names:
        label = re.sub(rf"\s+(?:of|for|at|by)\s+(?:the\s+)?{re.escape(name)}$", "", label)
    known = {word for m in main.items for word in label_words(main.question[m.start : m.end])}
    return bool(set(core_words(label)) - known)


def is_ratio(wanted: ParsedQuestion) -> bool:
    """Whether a ratio of several items is named."""
    return any(len(RATIOS[mention.name.lower()].of) > 1 for mention in wanted.formulae)


def _asked(
    wanted: ParsedQuestion, main: ParsedQuestion, defined: Mapping[str, str], periods: Sequence[Period]
) -> list[Calculation]:
    """(what it is called, the calculation, whether it is a percentage by nature)."""
    names = _names(wanted, main, defined)
    if not names:
        return _of_items(main, periods)
    if main.words and not _defined_name(main, defined):
        return []  # "of the cloud segment", "guidance", "excluding ...": another thing than the ratio itself
    return [one for name in names for one in _of_ratio(name, main, defined, periods)]


def _of_ratio(
    name: str, main: ParsedQuestion, defined: Mapping[str, str], periods: Sequence[Period]
) -> list[Calculation]:
    percent = name in RATIOS and RATIOS[name].percent
    found: list[Calculation] = []
    for form in (defined[name],) if name in defined else RATIOS[name].forms:
        if main.average and len(periods) > 1 and not re.search(r"\baverage\b", form, re.I):
            years = years_meant(main.question, periods)
            averaged = mean([Reading(form, year, defined).tree() for year in years])
            found.append((_over_years(name, years), averaged, percent))
            continue
        found += [
            (f"{name}, {period.name}", Reading(form, period, defined).tree(), percent)
            for period in (with_year_before(periods) if main.changes else periods)
        ]
    return found


def _names(wanted: ParsedQuestion, main: ParsedQuestion, defined: Mapping[str, str]) -> list[str]:
    """The quantities that the question wants: the one that it defines and asks for, else known ratios."""
    if name := _defined_name(main, defined):
        return [name]
    named = dict.fromkeys(mention.name.lower() for mention in main.formulae or wanted.formulae)
    return [name for name in named if RATIOS[name].forms]


def _defined_name(main: ParsedQuestion, defined: Mapping[str, str]) -> str:
    asked = (name for name in defined if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", main.question, re.I))
    return next(asked, "")


def _of_items(main: ParsedQuestion, periods: Sequence[Period]) -> list[Calculation]:
    """A share of two items; growth, a yearly rate, a difference or a mean of one."""
    share = _AS_SHARE.search(main.question)
    if share and len(main.items) == 2 and main.items[0].start < share.start() < main.items[1].start:
        one, other = (mention.name for mention in main.items)
        years = years_meant(main.question, periods) if main.average else list(periods)
        parts: list[Tree] = [node(OVER, leaf(one, year), leaf(other, year)) for year in years]
        what = f"{one} as a share of {other}"
        if main.average and len(parts) > 1:
            return [(_over_years(what, years), mean(parts), True)]
        return [(f"{what}, {year.name}", part, True) for year, part in zip(years, parts, strict=True)]
    names = list(dict.fromkeys(mention.name for mention in main.items))
    if len(names) != 1:
        return []
    (item,) = names
    if main.average and len(periods) > 1:
        years = years_meant(main.question, periods)
        return [(_over_years(item, years), mean([leaf(item, year) for year in years]), False)]
    pair = with_year_before(periods)
    if len(pair) != 2:
        return []
    first, last = pair
    span = f"{item}, {first.name} to {last.name}"
    if _CAGR.search(main.question):
        apart = last.year > first.year
        return [(f"yearly growth of {span}", yearly_growth(item, first, last), True)] if apart else []
    if _GROWTH.search(main.question):
        return [(f"growth of {span}", growth(item, first, last), True)]
    if _DIFFERENCE.search(main.question):
        return [(f"change of {span}", change(item, first, last), False)]
    return []


def _over_years(what: str, years: Sequence[Period]) -> str:
    return f"average {what}, {years[0].name} to {years[-1].name}"


def _definitions(question: str) -> Iterator[tuple[str, str]]:
    for match in _DEFINED.finditer(question):
        name = " ".join((match["a"] or match["b"] or "").split()).strip().lower()
        for start in ("question: ", "the "):
            name = name.rpartition(start)[2] if start in name[:40] else name
        yield name, match["body"]
