"""What questions are about: their words, and groups of questions that share them.

In: questions, oldest first. Out: a topic name for each, the same for the same questions. Each question joins
the first group whose opening question is most like it, or opens one; no model, so that the names can be read
and the groups explained. English endings; in other languages words are compared as they stand. Knows nothing
about signals.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from citewell.verification.words import stem

OTHER = "other"
"""Of questions without a telling word."""
LIKE = 0.3
"""Least share of telling words in common, intersection over union."""
_NAMED_BY = 3

_DULL = frozenset(
    re.findall(
        r"\w+",
        "a an the of in on at to for and or by with from as is are was were be been am it its this that these"
        " those i we you my our me us do does did can could should would may will there if have has had so"
        " than then into per about get please tell"
        " what which who whom whose when where why how much many",
    )
)
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:'[^\W\d_]+)?")


def words(text: str) -> list[str]:
    """In order, lower case, without possessives; numbers without their commas."""
    lowered = text.casefold().replace("\u2019", "'").replace("'s", "")
    return [word.replace(",", "") for word in _WORD.findall(lowered)]


def content(of: Iterable[str]) -> dict[str, str]:
    """Stems of the words that are neither question words nor glue, in order, each with the word it was first
    seen as."""
    found: dict[str, str] = {}
    for word in of:
        if word not in _DULL:
            found.setdefault(stem(word), word)
    return found


def topics_of(questions: Sequence[str]) -> list[str]:
    """One name a question: up to three words that its group has most often."""
    told = [
        {root: word for root, word in content(words(question)).items() if not root[0].isdigit()}
        for question in questions
    ]
    groups: dict[int, list[dict[str, str]]] = {}
    joined = []
    for number, roots in enumerate(told):
        group = max(groups, key=lambda opener: _alike(told[opener], roots), default=number)
        if roots and _alike(told[group], roots) < LIKE:
            group = number
        if roots:
            groups.setdefault(group, []).append(roots)
        joined.append(group if roots else None)
    names = {opener: _name(members) for opener, members in groups.items()}
    return [OTHER if group is None else names[group] for group in joined]


def _alike(first: dict[str, str], second: dict[str, str]) -> float:
    return len(first.keys() & second.keys()) / len(first.keys() | second.keys()) if second else 0.0


def _name(members: Sequence[dict[str, str]]) -> str:
    """The most shared words, in the order in which the opening question has them."""
    shared = Counter(root for member in members for root in member)
    places = list(shared)
    chosen = [root for root, _ in shared.most_common(_NAMED_BY)]
    spelled = {root: word for member in reversed(members) for root, word in member.items()}
    return " ".join(spelled[root] for root in sorted(chosen, key=places.index))
