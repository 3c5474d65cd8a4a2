"""What questions are about: their words, and topics that several of them share.

In: questions. Out: their telling words; a topic for each. No model, so that topics can be read and explained.
English endings; in other languages words are compared as they stand. Knows nothing about signals.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from citewell.verification.words import stem

OTHER = "other"
"""Of questions without a telling word."""
TOPICS = 12
"""At most so many; more are no overview."""
LEAST = 4
"""Letters of a word that can be a topic."""

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
    """One topic a question: of the words that most questions have, its most frequent one; ``other`` for a
    question that has none. The same questions give the same topics in any order."""
    told = [content(words(question)) for question in questions]
    counts: Counter[str] = Counter()
    spelled: dict[str, str] = {}
    for found in told:
        for root, word in found.items():
            if len(root) >= LEAST and root.isalpha():
                counts[root] += 1
                spelled[root] = min(word, spelled.get(root, word))
    ranked = sorted(counts, key=lambda root: (-counts[root], root))
    rank = {root: place for place, root in enumerate(ranked[:TOPICS])}
    best = [min(found.keys() & rank.keys(), key=rank.__getitem__, default="") for found in told]
    return [spelled[root] if root else OTHER for root in best]
