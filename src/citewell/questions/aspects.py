"""Split a question into self-contained aspects.

In: a question. Out: its aspects, in order, at least one: the pieces cut by :mod:`.splitting`, each with the
names, period or previous clause needed to understand it. A question whose answer is calculated from
cited numbers (a ratio, a growth rate, an average) becomes its operands, one line item in one period
each, because those are what a document can be quoted for. Independent of passages and of whether anything
can be answered.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from citewell.questions.calculator import calculator
from citewell.questions.parsing import asking_sentences, read_question
from citewell.questions.periods import periods_in
from citewell.questions.splitting import split

MAX_ASPECTS = 16

_WHO = re.compile(r"^\W*(?:who|whom|whose)\b", re.I)
_PERSON = re.compile(r"\b(?:(?P<he>he|him|his)|(?P<she>she|her)|(?P<they>they|them|their))\b", re.I)
_OWN = frozenset(("his", "her", "their"))
_ROLE = re.compile(r"^\W*who (?P<be>is|was|are|were) (?P<role>the [^?]+?)\s*\??$", re.I)
_BEFORE_A_TIME = frozenset(
    str.split("in of for as at on by the during year years end start beginning and or to from between since")
)
_POINTS_BACK = re.compile(r"\b(?:it|its|they|them|their|this|that|these|those|there)\b", re.I)


def split_aspects(question: str) -> tuple[str, ...]:
    """The aspects of ``question``: at least one, at most MAX_ASPECTS (a question with more stays whole)."""
    whole = " ".join(question.split())
    if worked := calculator().parts(whole):
        return worked if len(worked) <= MAX_ASPECTS else (whole,)
    asked = asking_sentences(whole)
    parts = dict.fromkeys(piece for sentence in asked for piece in _pieces(sentence))
    if 1 < len(parts) <= MAX_ASPECTS:
        carried = tuple(dict.fromkeys(_stand_alone(part, whole, asked) for part in parts))
        if len(carried) > 1:
            return carried
    return (asked[0] if len(asked) == 1 else whole,)


def _pieces(asked: str) -> list[str]:
    cut = list(split(asked))
    if not cut:
        return [asked]
    if _WHO.match(asked) and any(_PERSON.search(piece) for piece in cut[1:]):
        # "Who leads Acme, and how old is she?": "she" is the answer, not a name in the question.
        told = [_told(piece, cut[0]) for piece in cut[1:]]
        if not all(told) or {"he", "she"} <= _people(asked):
            return [asked]
        cut = [cut[0], *told]
    return [inner for piece in cut for inner in (_pieces(piece) if len(piece) < len(asked) else [piece])]


def _told(piece: str, first: str) -> str:
    """``piece`` with its personal pronoun replaced by the role ``first`` asks for; "" if uncertain."""
    asks = _ROLE.match(first)
    people = _people(piece)
    if not asks or len(people) > 1:
        return "" if people else piece
    # "Who is the head of Acme and when did they open?": if one person is asked for, "they" is the company.
    if people == {"they"} and asks["be"].lower() in ("is", "was"):
        return piece
    role = _undated(asks["role"])
    return _PERSON.sub(lambda found: f"{role}'s" if found[0].lower() in _OWN else role, piece, count=1)


def _people(text: str) -> set[str | None]:
    return {found.lastgroup for found in _PERSON.finditer(text)}


def _undated(role: str) -> str:
    """``role`` without a time at its end, which need not apply to the next piece."""
    kept = role
    while (found := periods_in(kept)) and found[-1].end == len(kept):
        kept = kept[: found[-1].start].rstrip(" ,")
        while kept.rpartition(" ")[2].lower() in _BEFORE_A_TIME:
            kept = kept.rpartition(" ")[0].rstrip(" ,")
    return kept or role


def _stand_alone(part: str, whole: str, asked: Sequence[str]) -> str:
    """``part`` with names and periods of the whole question that it omits, added in brackets."""
    mine, all_of_it = read_question(part), read_question(whole)
    carried = []
    # The first word is capitalised anyway.
    names = [name for name in all_of_it.names if not whole.startswith(name)]
    if not mine.names and names:
        name = names[0]
        firsts = (_ROLE.match(_first(sentence)) for sentence in asked)
        roles = [_undated(first["role"]) for first in firsts if first]
        replaced = False
        # A pronoun left in a part that has the role inserted does not refer to the name.
        if _ROLE.match(part) or not any(role in part for role in roles):
            part, replaced = _name_for_pronoun(part, name)
        carried += [] if replaced else [name]
    elif not mine.names and part != _first(asked[0]) and _POINTS_BACK.search(part):
        carried.append(_first(asked[0]).rstrip("? "))
    if not mine.periods and len(all_of_it.periods) == 1:
        carried.append(all_of_it.periods[0].name)
    return f"{part} ({', '.join(carried)})" if carried else part


def _first(sentence: str) -> str:
    return next(iter(split(sentence)), sentence)


def _name_for_pronoun(part: str, name: str) -> tuple[str, bool]:
    named, times = re.subn(r"\b(?:it|he|she|they)\b", name, part, count=1, flags=re.I)
    if not times:
        named, times = re.subn(r"\b(?:its|his|her|their)\b", f"{name}'s", part, count=1, flags=re.I)
    return named, bool(times)
