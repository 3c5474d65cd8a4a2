"""Two names of the claim that stand in each other's place, or one in the place of a name the source has.

In: a claim and its premise. Out: the two names, or a name in a place where the source has another, as
written in the claim. Exact code for what small entailers do not see: in "Dee sued Lee" and "Lee sued
Dee" every word is the same. The claim is compared with the sentence nearest in words, by pairs of
neighbouring words: when exchanging two names makes the claim agree with the sentence in more of them,
the names were exchanged. Knows nothing about verdicts.
"""

from __future__ import annotations

import itertools
import re
from functools import lru_cache

from citewell.verification.entities import missing_names, names
from citewell.verification.signals import nearest_sentence, overlap

_WORD = re.compile(r"[^\W_]+(?:['’.,-][^\W_]+)*")
# Runs of capitalised words, and each such word: where a name was put in another's place, runs are cut anew.
_CAPITALS = (
    re.compile(r"\b[A-Z][\w'’.-]*\w(?: (?:of |the |de |and )?[A-Z][\w'’.-]*\w)*"),
    re.compile(r"\b[A-Z][\w'’.-]*\w"),
)
_PRONOUNS = frozenset(
    {"He", "She", "It", "They", "We", "I", "You", "This", "That", "These", "The", "His", "Her", "There"}
)
CLOSE = 0.75  # share of the claim's words that one sentence must hold before places are compared
GAIN = 2  # neighbouring pairs that the exchange must win
_MOST_NAMES = 12


@lru_cache(maxsize=4096)
def exchanged_names(claim: str, premise: str) -> tuple[str, str] | None:
    """The first two names whose exchange brings the claim nearer to the sentence it resembles."""
    sentence = nearest_sentence(claim, premise)
    if not sentence or overlap(claim, sentence) < CLOSE:
        return None
    there = _pairs(sentence)
    now = len(_pairs(claim) & there)
    runs = dict.fromkeys(m.group() for pattern in _CAPITALS for m in pattern.finditer(claim))
    found = [run for run in runs if claim.count(run) == 1 and run in sentence]
    for first, second in itertools.combinations(found[:_MOST_NAMES], 2):
        if (
            first in second
            or second in first
            or _agent(first, second, claim) != _agent(first, second, sentence)
        ):
            continue  # "A bought B" and "B was bought by A" are the same
        other = claim.replace(first, "\0").replace(second, first).replace("\0", second)
        if len(_pairs(other) & there) >= now + GAIN:
            return first, second
    return None


@lru_cache(maxsize=4096)
def substituted_name(claim: str, premise: str, context: str = "") -> str | None:
    """A name of the claim in whose place the sentence it resembles has another one.

    Either the premise lacks the name altogether, or the same two words stand around both names.
    """
    sentence = nearest_sentence(claim, premise)
    if not sentence or overlap(claim, sentence) < CLOSE:
        return None
    certain = {name.text for name in names(claim) if name.certain}
    missing = [name for name in missing_names(claim, f"{context}\n{premise}") if name in certain]
    if missing and missing_names(sentence, claim):
        return missing[0]
    there = {place: run for run, place in _places(sentence) if run not in claim and run not in _PRONOUNS}
    for run, place in _places(claim):
        if run not in sentence and place in there and place != ("", ""):
            other = there[place]
            if run not in other and other not in run and not set(run.split()) & set(other.split()):
                return run
    return None


def _places(text: str) -> list[tuple[str, tuple[str, str]]]:
    """Each run of capitalised words with the word before and the word after it, lower case, "" at an end."""
    return [
        (m.group(), (_last(text[: m.start()]), _first(text[m.end() :]))) for m in _CAPITALS[0].finditer(text)
    ]


def _last(text: str) -> str:
    words = _WORD.findall(text[-40:])
    return words[-1].lower() if words else ""


def _first(text: str) -> str:
    match = _WORD.search(text[:40])
    return match.group().lower() if match else ""


def _agent(first: str, second: str, text: str) -> bool:
    return bool(re.search(rf"\bby (?:the )?(?:{re.escape(first)}|{re.escape(second)})", text))


def _pairs(text: str) -> set[tuple[str, str]]:
    words = ["", *(match.group().lower() for match in _WORD.finditer(text)), ""]
    return set(itertools.pairwise(words))
