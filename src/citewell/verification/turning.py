"""Who does it to whom: two things of the claim that stand on each other's side of the same verb, or one party
of a relation in the place of the other ("the landlord pays" for "the tenant pays").

In: claim and premise. Out: the two words, or None. For plain nouns ("the landlord gives the tenant notice")
what :mod:`citewell.verification.exchange` is for names. The claim must say "the A ... does ... the B" where
a sentence says "the B ... does ... the A", the verb right behind its doer, neither in the passive. Knows
no verdicts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from citewell.core.sentences import sentence_spans
from citewell.verification.lexicon import NEGATIONS, PARTIES, PLAIN, RELATIONS, STOP
from citewell.verification.signals import stem, words_of
from citewell.verification.verbs import AUXILIARIES

_MODAL = rf"(?:(?:{'|'.join(sorted(AUXILIARIES))}|also|then|\w+ly|hereby|to|agrees?|required)\s+)*"
_DOES = re.compile(
    rf"\b(?:the|each|every|an?)\s+(?P<doer>[a-z]\w+)\s+{_MODAL}(?P<verb>[a-z]\w+)\s+"
    rf"(?:(?:[\w'’-]+)\s+){{0,3}}?(?:the|each|every|an?|its)\s+(?P<other>[a-z]\w+)",
    re.IGNORECASE,
)
_PASSIVE = re.compile(
    r"\b(?:is|are|was|were|be|been|being)\s+(?:\w+ly\s+)?\w+(?:ed|en)\b|\bby\b", re.IGNORECASE
)
# Verbs that hold both ways round, and words that are no verbs, as stems.
_EITHER_WAY = frozenset(
    stem(word)
    for word in (  # noqa: SIM905 - a table is longer
        "meets met marries married resembles joins equals of is and or nor with in on at for from to as than "
        "that which who"
    ).split()
)


@lru_cache(maxsize=4096)
def turned_round(claim: str, premise: str) -> tuple[str, str] | None:
    """The doer and the one it is done to, as the claim has them."""
    for doer, verb, other in _deeds(claim):
        told = [deed for a, b in sentence_spans(premise) for deed in _deeds(premise[a:b])]
        if (other, verb, doer) in told and (doer, verb, other) not in told:
            return doer, other
    return None


@lru_cache(maxsize=4096)
def other_party(claim: str, premise: str) -> tuple[str, str] | None:
    """The claim's party, and the other one of which alone a sentence says all the rest of the claim."""
    ours = words_of(claim)
    spans = [premise[a:b] for a, b in sentence_spans(premise)]
    sentences = [words_of(sentence) for sentence in spans]
    # "The policyholder is covered" says what "the insurer covers" says.
    passive = bool(_PASSIVE.search(claim))
    voiced = [words_of(sentence) for sentence in spans if bool(_PASSIVE.search(sentence)) == passive]
    for pair in PARTIES:
        for left, right in (pair, pair[::-1]):
            one, other = _named(left, ours), _named(right, ours)
            if not one or other or not NEGATIONS.isdisjoint(ours):
                continue
            rest = _told(ours) - {stem(one)}
            saying = [words for words in voiced if rest <= _told(words)]
            told = [_named(right, words) for words in saying]
            if (
                rest
                and all(told)
                and not any(_named(left, words) for words in sentences)
                and any(
                    _relation(word, words) == _relation(one, ours)
                    for word, words in zip(told, saying, strict=True)
                )
            ):
                return one, told[0]
    return None


def _named(party: str, words: Sequence[str]) -> str:
    stems = {stem(word) for word in party.split()}
    return next((word for word in words if stem(word) in stems), "")


def _told(words: Sequence[str]) -> frozenset[str]:
    """Stems of what a sentence says of its parties: "must" and "shall" are left to the other checks."""
    return frozenset(stem(word) for word in words if word not in STOP and word not in PLAIN)


def _relation(word: str, words: Sequence[str]) -> str:
    """The last of "by", "to" and the like within two words before it."""
    at = words.index(word)
    return next((before for before in reversed(words[max(0, at - 2) : at]) if before in RELATIONS), "")


def _deeds(sentence: str) -> list[tuple[str, str, str]]:
    """Doer, stem of the verb, and the one it is done to."""
    if _PASSIVE.search(sentence):
        return []
    found = [
        (m["doer"].lower(), stem(m["verb"].lower()), m["other"].lower()) for m in _DOES.finditer(sentence)
    ]
    return [deed for deed in found if deed[0] != deed[2] and deed[1] not in _EITHER_WAY]
