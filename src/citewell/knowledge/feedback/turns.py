"""What a later turn of a conversation says about the answer before it: asked again, or contradicted.

In: the question, the answer, the next turn, and a way to compare two questions (cosine). Out: which signal
that turn is, with the rule that says so, or None. English only: in another language nothing is noticed.
The rules err towards silence, since every flag takes a person's time; what they find and miss is measured by
``benchmarks/turns.py``. Knows nothing about time, sessions or stores.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import SequenceMatcher

from citewell.core.records import Record
from citewell.knowledge.feedback.signals import Signal
from citewell.knowledge.feedback.words import content, words

_IT = r"(?:it|that|this|these|those|they|he|she|there)"
_BE = r"(?:'s|'re| is| was| are| were| seems?| looks?| sounds?)"
_ANSWER = r"(?:the|your|that|this) (?:\w+ )?(?:answer|number|figure|value|date|year|source|result)"
_WRONG = (
    r"(?:wrong|incorrect|false|untrue|off|outdated|out of date|mistaken|a mistake|an error|nonsense"
    r"|not (?:right|correct|true|accurate|what i)|the wrong)"
)

CORRECTIONS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        # "No, I meant 2021." but not "No problem, ..."
        ("denial", r"^(?:no|nope|nah)(?:[,.;:!](?! *(?:thanks|problem|worries))|$)"),
        ("denial", r"^(?:no|nope|nah) (?:that|it|this|the|i|you|not|wrong)\b"),
        ("wrong", r"^(?:wrong|incorrect|false|not (?:true|right|correct|what i))\b"),
        ("wrong", rf"\b{_ANSWER}{_BE} {_WRONG}\b"),
        ("wrong", rf"\b{_IT}{_BE} {_WRONG}\b"),
        ("wrong", rf"\b{_IT} (?:can't|cannot|can not|couldn't) be (?:right|correct|true)\b"),
        ("wrong", r"\byou(?:'re| are| were) (?:wrong|mistaken|incorrect)\b"),
        (
            "wrong",
            rf"\b{_IT} contradicts?\b|\b{_IT} (?:doesn't|does not|didn't) (?:work|help|match|fit|answer)\b",
        ),
        ("doubt", r"\bare you (?:really |quite )?(?:sure|certain)\b|^really\b|\bi doubt\b"),
        ("doubt", r"\bi (?:don't|do not) (?:think|believe) (?:so|that|this|it)\b"),
        ("doubt", r"\b(?:check|look|try) (?:it |that )?again\b|\bdouble[- ]check\b"),
        ("doubt", r"\bwhere (?:did|do) you (?:get|have) (?:that|this|it)\b"),
        ("doubt", rf"^(?:is|was) {_IT} (?:really )?(?:right|correct|true)\s*\?*$"),
        ("meant", r"\bi (?:meant?|was asking|asked (?:for|about))\b|\bnot what i\b"),
        ("meant", r"\byou (?:misunderstood|misread|didn't answer|did not answer|haven't answered)\b"),
        ("other", r"^actually\b|\b(?:it|that|this) should (?:be|have been|read|say)\b"),
        ("tag", rf"^(?:(?:was|is|were|are|did|does|do|should|has|have|would)n't) {_IT}\b"),
    )
)
"""Phrases of the next turn, in the order they are tried; nothing but its own words is looked at."""

_OPPOSED = re.compile(
    r"\b(?:but|actually|i thought|i (?:calculate|get|read|see|find)|says?|said|instead|rather|not"
    r"|(?:was|is|does|did|should|were|are)n't)\b",
    re.IGNORECASE,
)
"""With a value that neither question nor answer has, a contradiction."""

_KINDS = {"who": "who", "whom": "who", "whose": "who", "when": "when", "where": "where", "why": "why"} | {
    "much": "amount",
    "many": "amount",
}
"""Question words that ask for one kind of thing."""
_COMPUTED = frozenset(
    ("percentage", "percent", "average", "mean", "difference", "ratio", "proportion", "total", "change")
)
"""Words that, added or left out, ask for another figure."""


class Noticed(Record, frozen=True, kw_only=True):
    """A signal and the rule that saw it; ``cosine`` where the embedder was asked."""

    signal: Signal
    rule: str
    cosine: float | None = None


def correction(question: str, answer: str, following: str) -> Noticed | None:
    """Whether the next turn implies that the answer was wrong."""
    said = " ".join(following.replace("\u2019", "'").split())
    for name, pattern in CORRECTIONS:
        if pattern.search(said):
            return Noticed(signal=Signal.FOLLOW_UP_CORRECTION, rule=name)
    other = _values(said) - _values(question) - _values(answer)
    if other and _values(answer) and _OPPOSED.search(said):
        return Noticed(signal=Signal.FOLLOW_UP_CORRECTION, rule="another value")
    return None


def rephrasing(
    question: str,
    answer: str,
    following: str,
    cosine: Callable[[str, str], float],
    *,
    least_cosine: float,
    least_overlap: float,
) -> Noticed | None:
    """Whether the next turn asks the same again in other words. ``cosine`` is asked only where words do not
    settle it; ``least_overlap`` is of content words, intersection over union."""
    first, second = words(question), words(following)
    if first == second:
        return Noticed(signal=Signal.REPHRASED_QUERY, rule="repeated") if first else None
    before, after = set(content(first)), set(content(second))
    if not before or not after or _asks_for_another(first, second) or _builds_on(answer, before, after):
        return None
    overlap = len(before & after) / len(before | after)
    if overlap < least_overlap:
        return None
    alike = cosine(question, following)
    if alike < least_cosine:
        return None
    return Noticed(signal=Signal.REPHRASED_QUERY, rule="similar", cosine=alike)


def _asks_for_another(first: list[str], second: list[str]) -> bool:
    """The same frame with one thing exchanged (another year, name or side), or another kind of question."""
    kinds = [{_KINDS[word] for word in said if word in _KINDS} for said in (first, second)]
    if kinds[0] and kinds[1] and kinds[0] != kinds[1]:
        return True
    if (set(first) ^ set(second)) & _COMPUTED:
        return True
    years = [{word for word in said if word[0].isdigit()} for said in (first, second)]
    if years[0] != years[1] and (years[0] or any(not _year(word) for word in years[1])):
        return True
    changes = [
        op for op in SequenceMatcher(None, first, second, autojunk=False).get_opcodes() if op[0] != "equal"
    ]
    return len(changes) == 1 and changes[0][0] == "replace" and not _same_root(first, second, changes[0])


def _same_root(first: list[str], second: list[str], change: tuple[str, int, int, int, int]) -> bool:
    """``dose`` for ``dosage``, or ``what`` for ``which``: no exchange."""
    _, start, end, other_start, other_end = change
    before, after = content(first[start:end]), content(second[other_start:other_end])
    return not before or not after or {word[:3] for word in before} == {word[:3] for word in after}


def _builds_on(answer: str, before: set[str], after: set[str]) -> bool:
    """It takes up words that the answer brought: it goes on, it does not ask again."""
    fresh = after - before
    return bool(fresh & content(words(answer)).keys())


def _values(text: str) -> set[str]:
    return {
        word.rstrip("0").rstrip(".") if "." in word else word for word in words(text) if word[0].isdigit()
    }


def _year(word: str) -> bool:
    return re.fullmatch(r"(?:19|20)\d\d", word) is not None
