"""What flagged questions are about: groups of questions that share their telling words.

In: questions, oldest first. Out: a topic name for each, the same for the same questions. Each question joins
the first group whose opening question is most like it, or opens one; no model, so that the names can be read
and the groups explained. Knows nothing about signals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from citewell.knowledge.feedback.words import content, words

OTHER = "other"
"""Of questions without a telling word."""
LIKE = 0.3
"""Least share of telling words in common, intersection over union."""
_NAMED_BY = 3


def topics_of(questions: Sequence[str]) -> list[str]:
    """One name a question: up to three words that its group has most often."""
    told = [_telling(question) for question in questions]
    openers: list[int] = []
    groups: list[int] = []
    for number, stems in enumerate(told):
        best = max(openers, key=lambda opener: _alike(told[opener], stems), default=None)
        if not stems or best is None or _alike(told[best], stems) < LIKE:
            best = number
            openers += [number] if stems else []
        groups.append(best)
    names = {
        opener: _name([told[n] for n, group in enumerate(groups) if group == opener]) for opener in openers
    }
    return [names.get(group, OTHER) for group in groups]


def _telling(question: str) -> dict[str, str]:
    return {stem: word for stem, word in content(words(question)).items() if not stem[0].isdigit()}


def _alike(first: dict[str, str], second: dict[str, str]) -> float:
    return len(first.keys() & second.keys()) / len(first.keys() | second.keys()) if second else 0.0


def _name(members: Sequence[dict[str, str]]) -> str:
    """The most shared words, in the order in which the opening question has them."""
    shared = Counter(stem for member in members for stem in member)
    first_seen = {stem: place for place, stem in enumerate(shared)}
    chosen = sorted(shared, key=lambda stem: (-shared[stem], first_seen[stem]))[:_NAMED_BY]
    spelled = {stem: word for member in reversed(members) for stem, word in member.items()}
    return " ".join(spelled[stem] for stem in sorted(chosen, key=first_seen.__getitem__))
