"""Does a claim overstate its source sentence: universality, certainty, a superlative?

In: claim and evidence. Out: how, in words, or "". The claim is compared with the evidence sentence of highest
word overlap. A finding keeps the claim's support below the threshold: "may" is not "does" and "some" is not
"all", however similar the rest. Words that people drop without changing the meaning ("probably", "could"
for "was able to", loose "every") are left to the entailer: docs/log.md has the counts by which words were
included or excluded. Independent of probabilities.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from citewell.core.sentences import sentence_spans
from citewell.verification.lexicon import (
    HEDGES,
    PARTIAL,
    STOP,
    UNDONE,
    UNIVERSAL,
    UNKNOWN,
    WIDE,
    WIDENERS,
)
from citewell.verification.words import (
    ENOUGH,
    nearest_sentence,
    overlap,
    stem,
    words_of,
)

REACH = 4  # maximum distance, in words, from a hedge to the word it hedges
CLOSE = 0.7  # minimum share of the claim's words in one sentence of a long text; ENOUGH in a short one
LONG = 3  # sentences
_BETWEEN = frozenset(
    "to be been being have has had that it they he she we will would the a an also only soon still even then "
    "well more most not".split()
)
_HEDGED = HEDGES | frozenset(
    "if can hoped hoping planning expecting expectation considered chance prospect forecast forecasts target "
    "targets projected projects".split()
)
_AHEAD = frozenset("will would going shall".split())
_LEAVE = re.compile(
    r"\b(?:allow|permi(?:t|ss)|entitl|eligib|possib|rights? (?:to|of)|options? (?:to|of)|(?:free|welcome) to)",
    re.IGNORECASE,
)
_MAY = re.compile(r"\bMay\b")  # capitalised, it is more often a month or a name than a hedge
_ONE_AMONG = re.compile(
    r"\b(?:among (?:the|its|their)|(?:one|some|two|three|four|five|many|several) of "
    r"(?:the|its|his|her|their|our))((?: [\w-]+){1,4})",
    re.IGNORECASE,
)
_MOST = re.compile(r"\b(?:most [\w-]+|\w{2,}est|best|worst|first|only)\b", re.IGNORECASE)


@lru_cache(maxsize=4096)
def find_overstatement(claim: str, evidence: str) -> str:
    """What ``claim`` states beyond the most similar sentence of ``evidence``, as a reason; "" if nothing."""
    sentence = nearest_sentence(claim, evidence)
    if not sentence or claim.strip() in sentence:
        return ""
    if overlap(claim, sentence) < CLOSE and len(sentence_spans(evidence)) > LONG:
        return ""
    return next((said for check in OVERSTATEMENTS.values() if (said := check(claim, sentence, evidence))), "")


def _of_all(claim: str, sentence: str, evidence: str) -> str:
    ours, theirs = words_of(claim), words_of(sentence)
    wide = next((word for word in ours if word in UNIVERSAL), "")
    part = next((word for word in theirs if word in PARTIAL), "")
    if wide and part and not any(word in UNIVERSAL for word in theirs):
        return f"the claim says “{wide}”, but the source says “{part}”"
    wide = next((word for word in ours if word in WIDENERS), "")
    alike = (evidence[a:b] for a, b in sentence_spans(evidence))
    if not wide or any(_says_of_all(text) for text in alike if overlap(claim, text) >= ENOUGH):
        return ""
    return f"the claim says “{wide}”, but the source does not"


def _says_of_all(text: str) -> bool:
    return any(word in WIDE or word.endswith("n't") for word in words_of(text))


def _for_certain(claim: str, sentence: str, _: str) -> str:
    """A hedge precedes a word that the claim states plainly and that occurs nowhere else in the sentence."""
    ours, theirs = (words_of(_MAY.sub(" ", text)) for text in (claim, sentence))
    if not _HEDGED.isdisjoint(ours):
        return ""
    stated = {stem(word) for word in ours if word not in STOP}
    roots = [stem(word) for word in theirs]
    ahead = not _AHEAD.isdisjoint(ours)
    for place, hedge in enumerate(theirs):
        undone = hedge in UNDONE and theirs[place + 1 : place + 2] == ["to"] and not ahead
        if hedge not in UNKNOWN and not undone:
            continue
        about = next(
            (
                roots[at]
                for at in range(place + 1, min(place + 1 + REACH, len(theirs)))
                if theirs[at] not in _BETWEEN and theirs[at] not in HEDGES and not theirs[at].endswith("ly")
            ),
            "",
        )
        if about not in stated or roots.count(about) > 1:
            continue
        if hedge != "may" or not _as_leave(claim, sentence, theirs[place + 1 :]):
            return f"the source only says “{hedge}”"
    return ""


def _as_leave(claim: str, sentence: str, rest: Sequence[str]) -> bool:
    """Whether the "may" before ``rest`` is permission: the claim says so in words that are not in the
    sentence, or the sentence limits or refuses it ("may not", "may ... only")."""
    told = any(word.lower() not in sentence.lower() for word in _LEAVE.findall(claim))
    return told or rest[0] == "not" or "only" in rest


def _the_most(claim: str, sentence: str, _: str) -> str:
    """ "Among the longest" is not "the longest"."""
    if _ONE_AMONG.search(claim):
        return ""
    for one in _ONE_AMONG.finditer(sentence):
        for most in _MOST.findall(one.group(1)):
            whole, among = f"the {most.lower()}", one.group().lower().count(most.lower())
            if f"{whole} " in claim.lower() and sentence.lower().count(most.lower()) == among == 1:
                return f"the claim says “{whole}”, but the source says “{one.group().strip()}”"
    return ""


OVERSTATEMENTS: dict[str, Callable[[str, str, str], str]] = {
    "of all": _of_all,
    "for certain": _for_certain,
    "the most": _the_most,
}
"""Each takes claim, nearest sentence and evidence; the first non-empty result is the reason."""
