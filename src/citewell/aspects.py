"""A question split into aspects, each of which stands alone.

In: a question. Out: its aspects, in order, at least one. Conservative: what is not clearly several
questions stays whole. A question whose answer is worked out from cited numbers (a ratio, a growth
rate, an average) becomes its operands, one line item in one period each, because those are what
a document can be quoted for. Knows nothing about passages or whether anything can be answered.
"""

from __future__ import annotations

import re

from citewell.matching.line_items import AVERAGED, FORMULAE
from citewell.matching.periods import Period, periods_in
from citewell.matching.questions import EVERY_YEAR, Ask, Wanted, operands, read_question

MAX_ASPECTS = 16
MAX_BESIDE_RATIO = 4

# "Adjusted EBITDA" is the company's own figure; it is not worked out from the statements' lines.
_OTHER_MEASURE = frozenset(("adjusted", "non", "organic", "core", "normalised", "normalized", "comparable"))
_ANSWERED_BY_VALUES = (Ask.NUMBER, Ask.YES_NO, Ask.TEXT)
_INSTRUCTION = re.compile(
    r"^\s*(?:please\s+)?(?:(?:you are|we (?:need|want) to|imagine|assume|answer in|answer with|round|"
    r"give (?:a|your)|respond|provide|base your|address the|calculate what|approach|explain your|show your|"
    r"if\b.+\b(?:state that|explain why|say so))\b|"
    r"here'?s the question\W*$)",
    re.I | re.S,
)
# Questions are short and ours to cut: a sentence splitter made for prose breaks "FY2015 - FY2017 3 year".
_BORDER = re.compile(
    r"(?:(?<=[?!])|(?<=[a-z)\d]{2}\.)(?<!Inc\.)(?<!Co\.)(?<!Corp\.)(?<!Ltd\.)(?<!vs\.)(?<!No\.))\s+(?=[A-Z\"“(])"
)
_DEFINITION = re.compile(r"\b(?:is|are) defined as\b|^\s*define\b|^\s*calculate\b", re.I)
_DEFINED = re.compile(r"\bdefined as\b|\bdefine\b|\(using\b", re.I)
_LEAD = re.compile(
    r"^.*?\b(?:here'?s the question|the following question(?: is)?(?: \(are\))?)\s*[:,]\s*", re.I | re.S
)
_NEXT = re.compile(
    r"\s*(?:,|;)?\s+(?:and|or|as well as)\s+(?:also\s+)?"
    r"(?=(?:what|who|whom|whose|which|when|where|why|how)\b)",
    re.I,
)
_LIST = re.compile(
    r"^(?P<head>(?:what|which|how much|how many)\s+(?:is|are|was|were|does|did)\s+)"
    r"(?P<list>(?:the|its|their)\s+[^,?]{2,40}?(?:,\s*(?:(?:the|its|their)\s+)?[^,?]{2,40}?)*,?\s+and\s+(?:the|its|their)\s+[^,?]{2,40}?)"
    r"(?P<rest>(?:\s+(?:of|for|in|at|on|during|under)\s+[^?]*)?\??)$",
    re.I | re.S,
)


def split_aspects(question: str) -> tuple[str, ...]:
    """The aspects of ``question``: at least one, at most MAX_ASPECTS (then the question stays whole)."""
    whole = " ".join(question.split())
    worked = _operand_aspects(whole)
    if worked:
        return worked if len(worked) <= MAX_ASPECTS else (whole,)
    parts = [piece for asked in _questions(whole) for piece in _pieces(asked)] or [whole]
    carried = tuple(dict.fromkeys(_stand_alone(part, whole) for part in parts))
    return carried if 1 < len(carried) <= MAX_ASPECTS else (_asked(whole),)


def _questions(whole: str) -> list[str]:
    """Sentences that ask; instructions about the form of the answer are no aspect."""
    sentences = [piece.strip() for piece in _BORDER.split(whole) if piece.strip()]
    kept = [_LEAD.sub("", sentence) for sentence in sentences]
    asking = [s for s in kept if s.rstrip().endswith("?") and not _INSTRUCTION.match(s)]
    if asking:
        return asking
    return [s for s in kept if not _INSTRUCTION.match(s) and not _DEFINITION.search(s)] or [whole]


def _asked(whole: str) -> str:
    asked = _questions(whole)
    return asked[0] if len(asked) == 1 else whole


def _pieces(asked: str) -> list[str]:
    cut = [piece.strip() for piece in _NEXT.split(asked) if piece.strip()]
    if len(cut) > 1 and all(len(piece.split()) >= 3 for piece in cut):
        return [piece if piece.endswith("?") else piece + "?" for piece in cut]
    match = _LIST.match(asked)
    if match:
        members = [m.strip() for m in re.split(r"\s*,\s*(?:and\s+)?|\s+and\s+", match["list"]) if m.strip()]
        if all(len(member.split()) <= 4 for member in members):
            head = re.sub(r"\bare\b", "is", re.sub(r"\bwere\b", "was", match["head"]))
            return [f"{head}{member}{match['rest']}".strip() for member in members]
    return [asked]


def _stand_alone(part: str, whole: str) -> str:
    """Names and periods of the whole that a part leaves out are carried over in brackets."""
    mine, all_of_it = read_question(part), read_question(whole)
    carried = []
    if not mine.names and all_of_it.names:
        part, replaced = _name_for_pronoun(part, all_of_it.names[0])
        carried += [] if replaced else [all_of_it.names[0]]
    if not mine.periods and len(all_of_it.periods) == 1:
        carried.append(all_of_it.periods[0].name)
    return f"{part} ({', '.join(carried)})" if carried else part


def _name_for_pronoun(part: str, name: str) -> tuple[str, bool]:
    named, times = re.subn(r"\b(?:it|he|she|they)\b", name, part, count=1, flags=re.I)
    if not times:
        named, times = re.subn(r"\b(?:its|his|her|their)\b", f"{name}'s", part, count=1, flags=re.I)
    return named, bool(times)


# --- operands -----------------------------------------------------------------------------------


def _operand_aspects(whole: str) -> tuple[str, ...]:
    asked = " ".join(_questions(whole))
    main, wanted = read_question(asked), read_question(whole)
    names = main.names or wanted.names
    if not _worked_out(main, wanted):
        return ()
    of = f" of {names[0]}" if names else ""
    if not wanted.periods:
        when = f", {EVERY_YEAR}" if main.changes else ""
        return tuple(f"{item}{of}{when}" for item in _operands(whole, main, wanted))
    pairs: list[tuple[str, Period]] = []
    for item in _operands(whole, main, wanted):
        pairs += [(item, period) for period in _periods_of(item, whole, main, wanted)]
    return tuple(dict.fromkeys(f"{item}{of}, {period.name}" for item, period in pairs))


def _worked_out(main: Wanted, wanted: Wanted) -> bool:
    """A ratio, an average or a change of items that the table knows, or items over several periods."""
    if _OTHER_MEASURE.intersection(main.words):
        return False
    named = _ratio(main) and main.ask in _ANSWERED_BY_VALUES and len(main.words) <= MAX_BESIDE_RATIO
    if not (named or (main.by_cell and not main.words)) or not operands(wanted):
        return False
    if not wanted.periods and not (_ratio(main) and main.names):
        return False  # "What is a quick ratio?" asks for words
    ratio = _ratio(main) or _ratio(wanted)
    several = len(main.periods) > 1 or len(operands(main)) > 1
    return ratio or several or main.changes or main.average


def _ratio(wanted: Wanted) -> bool:
    return any(len(FORMULAE[mention.name.lower()]) > 1 for mention in wanted.formulae)


def _operands(whole: str, main: Wanted, wanted: Wanted) -> tuple[str, ...]:
    """A question that spells its formula out is taken at its word; else the table's formula is read."""
    if _DEFINED.search(whole):
        return operands(wanted)
    if _ratio(main) or _ratio(wanted):
        formulae = main.formulae if _ratio(main) else wanted.formulae
        listed = [name for mention in formulae for name in FORMULAE[mention.name.lower()]]
        return tuple(dict.fromkeys([*listed, *(mention.name for mention in main.items)]))
    return operands(main)


def _periods_of(item: str, whole: str, main: Wanted, wanted: Wanted) -> list[Period]:
    """The periods named in the same bracket or between the same operators as the item, else the main ones."""
    mine: list[Period] = []
    for mention in wanted.items:
        if mention.name == item:
            left, right = _clause(whole, mention.start, mention.end)
            mine += [p for p in periods_in(whole) if left <= p.start < right]
    chosen = _once(mine) if mine else list(main.periods or wanted.periods)
    if len(chosen) == 2 and main.average and re.search(r"\d\s*[-–—]\s*(?:FY)?\s*\d", main.question):
        chosen = _years_between(chosen)
    if len(chosen) == 1 and not mine and (main.changes or (item in AVERAGED and _balance_averaged(main))):
        chosen = [*chosen, _year_before(chosen[0])]
    return chosen


def _balance_averaged(main: Wanted) -> bool:
    names = {mention.name.lower() for mention in main.formulae}
    return any(
        "turnover" in name or name in {"roa", "return on assets", "dpo", "dso", "dio"} for name in names
    )


def _clause(text: str, start: int, end: int) -> tuple[int, int]:
    left = max((text.rfind(mark, 0, start) for mark in "()/+*=:?.;,"), default=-1) + 1
    rights = [at for mark in "()/+*=?.;," if (at := text.find(mark, end)) >= 0]
    return left, min(rights, default=len(text))


def _once(periods: list[Period]) -> list[Period]:
    return list({period.name: period for period in periods}.values())


def _years_between(pair: list[Period]) -> list[Period]:
    first, last = sorted(pair, key=lambda period: period.year)
    if last.year - first.year > 10 or first.quarter or last.quarter:
        return pair
    return [Period(year=year) for year in range(first.year, last.year + 1)]


def _year_before(period: Period) -> Period:
    return Period(
        year=period.year - 1, quarter=period.quarter, month=period.month, day=period.day, months=period.months
    )
