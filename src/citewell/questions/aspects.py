"""A question split into aspects, each of which stands alone.

In: a question. Out: its aspects, in order, at least one. Conservative: what is not clearly several
questions stays whole. A question whose answer is worked out from cited numbers (a ratio, a growth
rate, an average) becomes its operands, one line item in one period each, because those are what
a document can be quoted for. Knows nothing about passages or whether anything can be answered.
"""

from __future__ import annotations

import re
from functools import lru_cache

from citewell.questions.asking import asking_sentences
from citewell.questions.calculation.expressions import leaves
from citewell.questions.calculation.formulae import is_ratio, worked_out, workings
from citewell.questions.calculation.named import leaf_of, year_before
from citewell.questions.line_items import RATIOS
from citewell.questions.parsing import EVERY_YEAR, ParsedQuestion, operands, read_question
from citewell.questions.periods import Period, periods_in

MAX_ASPECTS = 16

_NEXT = re.compile(
    r"(?:(?:(?<!\s)\s+)?[,;]\s+|(?<!\s)\s+)(?:and|or|as well as)\s+(?:also\s+)?"
    r"(?=(?:what|who|whom|whose|which|when|where|why|how)\b)",
    re.I,
)
_WHO = re.compile(r"^\W*(?:who|whom|whose)\b", re.I)
_PERSON = re.compile(r"\b(?:(?P<he>he|him|his)|(?P<she>she|her)|(?P<they>they|them|their))\b", re.I)
_OWN = frozenset(("his", "her", "their"))
_ROLE = re.compile(r"^\W*who (?P<be>is|was|are|were) (?P<role>the [^?]+?)\s*\??$", re.I)
_BEFORE_A_TIME = frozenset(
    str.split("in of for as at on by the during year years end start beginning and or to from between since")
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
    pieces = (piece for asked in asking_sentences(whole) for piece in _pieces(asked))
    parts = tuple(dict.fromkeys(pieces)) or (whole,)
    if len(parts) > MAX_ASPECTS:
        return (_asked(whole),)
    carried = tuple(dict.fromkeys(_stand_alone(part, whole) for part in parts))
    return carried if 1 < len(carried) <= MAX_ASPECTS else (_asked(whole),)


def _asked(whole: str) -> str:
    asked = asking_sentences(whole)
    return asked[0] if len(asked) == 1 else whole


def _pieces(asked: str) -> list[str]:
    cut = [piece.strip() for piece in _NEXT.split(asked) if piece.strip()]
    if _WHO.match(asked) and any(_PERSON.search(piece) for piece in cut[1:]):
        # "Who leads Acme, and how old is she?": she is the answer, not a name that the question has.
        told = [_told(piece, cut[0]) for piece in cut[1:]]
        if not all(told) or {"he", "she"} <= _people(asked):
            return [asked]
        cut = [cut[0], *told]
    if len(cut) > 1 and all(len(piece.split()) >= 3 for piece in cut):
        return [piece if piece.endswith("?") else piece + "?" for piece in cut]
    match = _LIST.match(asked)
    if match:
        members = [
            m.strip()
            for m in re.split(r"(?:(?<!\s)\s+)?,\s*(?:and\s+)?|(?<!\s)\s+and\s+", match["list"])
            if m.strip()
        ]
        if all(len(member.split()) <= 4 for member in members):
            head = re.sub(r"\bare\b", "is", re.sub(r"\bwere\b", "was", match["head"]))
            return [f"{head}{member}{match['rest']}".strip() for member in members]
    return [asked]


def _told(piece: str, first: str) -> str:
    """``piece`` with the role that ``first`` asks for where a person is meant; "" where that is not sure."""
    asks = _ROLE.match(first)
    people = _people(piece)
    if not asks or len(people) > 1:
        return "" if people else piece
    # "Who is the head of Acme and when did they open?": of one person, they are the company.
    if people == {"they"} and asks["be"].lower() in ("is", "was"):
        return piece
    role = _undated(asks["role"])
    return _PERSON.sub(lambda found: f"{role}'s" if found[0].lower() in _OWN else role, piece, count=1)


def _people(text: str) -> set[str | None]:
    return {found.lastgroup for found in _PERSON.finditer(text)}


def _undated(role: str) -> str:
    """``role`` without the time at its end, which need not be the time that the next piece asks about."""
    kept = role
    while (found := periods_in(kept)) and found[-1].end == len(kept):
        kept = kept[: found[-1].start].rstrip(" ,")
        while kept.rpartition(" ")[2].lower() in _BEFORE_A_TIME:
            kept = kept.rpartition(" ")[0].rstrip(" ,")
    return kept or role


def _stand_alone(part: str, whole: str) -> str:
    """Names and periods of the whole that a part leaves out are carried over in brackets."""
    mine, all_of_it = read_question(part), read_question(whole)
    carried = []
    if not mine.names and all_of_it.names:
        name = all_of_it.names[0]
        part, replaced = (part, False) if _has_role(part, whole) else _name_for_pronoun(part, name)
        carried += [] if replaced else [name]
    if not mine.periods and len(all_of_it.periods) == 1:
        carried.append(all_of_it.periods[0].name)
    return f"{part} ({', '.join(carried)})" if carried else part


def _has_role(part: str, whole: str) -> bool:
    """Whether the role was put into ``part``: a pronoun that is left there is not the name's."""
    return not _ROLE.match(part) and any(role in part for role in _roles(whole))


@lru_cache(maxsize=8)
def _roles(whole: str) -> tuple[str, ...]:
    """What the sentences of ``whole`` ask who holds it, each once."""
    firsts = (_ROLE.match(_NEXT.split(asked, maxsplit=1)[0]) for asked in asking_sentences(whole))
    return tuple(dict.fromkeys(_undated(asks["role"]) for asks in firsts if asks))


def _name_for_pronoun(part: str, name: str) -> tuple[str, bool]:
    named, times = re.subn(r"\b(?:it|he|she|they)\b", name, part, count=1, flags=re.I)
    if not times:
        named, times = re.subn(r"\b(?:its|his|her|their)\b", f"{name}'s", part, count=1, flags=re.I)
    return named, bool(times)


# --- operands -----------------------------------------------------------------------------------


def _operand_aspects(whole: str) -> tuple[str, ...]:
    asked = asking_sentences(whole)
    main, wanted = read_question(" ".join(asked)), read_question(whole)
    named = main.names or wanted.names
    if found := _of_workings(whole, main, wanted):
        owners = [name for name in named if not any(name in item for item, _ in found)]
        of = f" of {owners[0]}" if owners else ""
        return tuple(f"{item}{of}, {period}" for item, period in found)
    if not worked_out(main, wanted):
        return ()
    of = f" of {named[0]}" if named else ""
    if not wanted.periods:
        when = f", {EVERY_YEAR}" if main.changes else ""
        return tuple(f"{item}{of}{when}" for item in _operands(main, wanted))
    return tuple(
        dict.fromkeys(
            f"{item}{of}, {period.name}"
            for item in _operands(main, wanted)
            for period in _periods_of(main, wanted)
        )
    )


def _of_workings(whole: str, main: ParsedQuestion, wanted: ParsedQuestion) -> list[tuple[str, str]]:
    """(item, period) of every operand of what is to be worked out; "A or B" where forms differ."""
    listed = [
        either for mention in (*main.formulae, *wanted.formulae) for either in RATIOS[mention.name.lower()].of
    ]
    either = {name: names for names in listed for name in names.split(" or ")}
    pairs = [leaf_of(leaf.text) for working in workings(whole) for leaf in leaves(working.tree)]
    found = dict.fromkeys((either.get(item, item), period) for item, period in pairs if item)
    items = list(dict.fromkeys(item for item, _ in found))
    return sorted(found, key=lambda pair: items.index(pair[0]))


def _operands(main: ParsedQuestion, wanted: ParsedQuestion) -> tuple[str, ...]:
    if is_ratio(main) or is_ratio(wanted):
        formulae = main.formulae if is_ratio(main) else wanted.formulae
        listed = [name for mention in formulae for name in RATIOS[mention.name.lower()].of]
        return tuple(dict.fromkeys([*listed, *(mention.name for mention in main.items)]))
    return operands(main)


def _periods_of(main: ParsedQuestion, wanted: ParsedQuestion) -> list[Period]:
    """The periods asked for, and the one before for a change."""
    chosen = list(main.periods or wanted.periods)
    return [*chosen, year_before(chosen[0])] if len(chosen) == 1 and main.changes else chosen
