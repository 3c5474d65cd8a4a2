"""Comparisons that a question asks for: "the cheapest plan", "Basic or Pro", "at least 100 GB".

In: a question. Out: a :class:`Request`: smallest, largest or a bound, the words that name the rows and the
column; None if the question has another form. Whether a table has such rows is checked elsewhere, and a word
that names neither leaves the question alone. Independent of passages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from citewell.core.records import Record
from citewell.questions.parsing import label_words, stem
from citewell.questions.quantity import CURRENCIES, UNITS

MOST_CHARACTERS = 200
# Kind; words for a small value; for a large one; words in the head of its column, which "" needs by name.
_KINDS = (
    ("price", "cheaper cheapest|less expensive|least expensive|less costly|least costly",
     "dearer dearest costlier costliest|more expensive|most expensive|more costly|most costly",
     "price cost fee charge"),
    ("time", "shorter shortest", "longer longest", "duration time period length"),
    ("weight", "lighter lightest", "heavier heaviest", "weight mass"),
    ("size", "smaller smallest", "bigger biggest larger largest", "size area"),
    ("date", "earlier earliest", "later latest", "date day deadline"),
    ("", "lower lowest fewer fewest less least", "higher highest greater greatest more most", ""),
)  # fmt: skip
_VERBS = {"cost": "price", "weigh": "weight", "last": "time"}
_BOUNDS = {
    "less than": ("less", "fewer", "under", "below"), "more than": ("more", "over", "above"),
    "at most": ("at most", "no more", "not more"), "at least": ("at least", "no less", "no fewer"),
}  # fmt: skip
_FILLER = frozenset(str.split("a an the of in all our your their its these those available one ones"))
MONEY = r"(?:(?:US|HK|C|A|NZ|S)?[$€£¥₹]|USD|EUR|GBP|CHF)"
NUMBER = r"[-−]?\d(?:[\d.,'’ ]*\d)?"


class Request(Record, frozen=True, kw_only=True):
    """``how``: "low", "high" or one of the bounds; ``said`` is the word for it. ``words`` name the column,
    the rows or both; ``subject`` the rows; ``pair`` two of them by their labels."""

    said: str
    how: str
    kind: str
    subject: frozenset[str]
    words: frozenset[str]
    pair: tuple[str, ...]
    bound: str
    unit: str


_DEGREES = {
    word: (how, kind)
    for kind, low, high, _ in _KINDS
    for how, said in (("low", low), ("high", high))
    for at, phrases in enumerate(said.split("|"))
    for word in ([phrases] if at else phrases.split())
}
_OPS = {word: bound for bound, words in _BOUNDS.items() for word in words}


def _either(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_IS = r"(?:is|are|was|were|has|have|had|offers?|costs?|weighs?|lasts?)"
_SOME = r"[^,:;]{1,100}?"  # bounded: a question may be hostile
_WHICH = rf"(?:which|what)(?: (?P<what>{_SOME}))? (?P<verb>{_IS})"
_HOW = rf"(?:the )?(?P<how>{_either(_DEGREES)})(?: (?P<rest>{_SOME}))?"
_THAN = rf"(?:(?P<op>{_either(_OPS)})(?: than)?|(?P<how>{_either(_DEGREES)}) than)"
_BOUND = rf"(?P<before>{MONEY}?) ?(?P<bound>{NUMBER}) ?(?P<unit>%|[^\s\d]+)?(?: (?P<after>[^\d]+))?"
_ASKED = tuple(
    re.compile(rf"^{pattern}$", re.I)
    for pattern in (
        rf"which of (?P<a>{_SOME}) (?:and|or) (?P<b>{_SOME}) (?P<verb>{_IS}) {_HOW}",
        rf"(?:is|are) (?P<a>{_SOME}) or (?P<b>{_SOME}) (?:the )?(?P<how>{_either(_DEGREES)})",
        rf"{_WHICH} {_HOW}[,:;] ?(?P<a>{_SOME}) or (?P<b>{_SOME})",
        rf"(?:how many|which|what) (?P<what>{_SOME}) (?P<verb>{_IS}|with)"
        rf"(?: (?:an? |the )?(?P<rest>{_SOME}))??(?: of)? {_THAN} {_BOUND}",
        rf"{_WHICH} {_HOW}",
    )
)
_ENDING = re.compile(r" (?:are|is) there$| do (?:you|we|they) (?:have|offer)$", re.I)


@lru_cache(maxsize=256)
def asked(question: str) -> Request | None:
    """The comparison that ``question`` asks for, or None."""
    text = _ENDING.sub("", " ".join(question.split()).strip(" ?."))
    found = (pattern.fullmatch(text) for pattern in _ASKED if len(text) <= MOST_CHARACTERS)
    match = next((one for one in found if one), None)
    if match is None:
        return None
    said = {name: value or "" for name, value in match.groupdict().items()}
    degree, op = said["how"].lower(), said.get("op", "").lower()
    how, kind = _DEGREES.get(degree, ("", ""))
    pair = tuple(said[name].strip().casefold().removeprefix("the ") for name in ("a", "b") if name in said)
    bound = said.get("bound", "")
    if bound:
        how = _OPS.get(op) or {"low": "less than", "high": "more than"}[how]
    elif not pair and not re.search(r"est$|^(?:most|least)", degree):
        return None
    unit = said.get("unit", "")
    known = bool(unit_of(unit))
    words = (said.get("rest", ""), "" if known else unit, said.get("after", ""))
    request = Request(
        said=degree, how=how, kind=kind or _VERBS.get(stem(said.get("verb", "").lower()), ""),
        subject=words_of(said.get("what", "")), words=words_of(" ".join(words)), pair=pair, bound=bound,
        unit=said.get("before", "") or (unit if known else ""),
    )  # fmt: skip
    named = len(set(pair)) == len(pair) and bool(request.subject or request.words or pair)
    return request if named else None


def words_of(text: str) -> frozenset[str]:
    """The words of ``text``, also those in brackets."""
    return frozenset(label_words(re.sub(r"[()\[\]]", " ", text))) - _FILLER


def head_words(kind: str) -> frozenset[str]:
    """Words in the head of a column of that kind."""
    return frozenset(word for name, *_, heads in _KINDS if name == kind for word in heads.split())


def unit_of(word: str) -> object:
    """What ``word`` measures, the same for all names of one unit; None for any other word."""
    return "%" if word == "%" else CURRENCIES.get(word.lower()) or UNITS.get(word) or UNITS.get(word.lower())
