"""Does the source say that it fell where the claim says that it rose?

In: claim and premise. Out: the claim's word and the source's, or None. A rise or fall belongs to the words
before it ("operating income fell") or behind it ("a decline in operating income"); only a source that says
the opposite of the very thing, and nowhere what the claim says, counts. Windows of a text that speak of
another thing's rise mislead a small entailer; this does not look at them. Knows no verdicts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from citewell.core.records import Record
from citewell.core.sentences import sentence_spans
from citewell.verification.quantities import extract_quantities
from citewell.verification.signals import content_words, words_of

# "Higher than in Asia" is a level; "higher than in 2022" is a move.
_LEVEL = (
    r"(?!\s+than\b(?!\s+(?:(?:in|for|at|during|the|its|a|an|end|of)\s+)*(?:(?:19|20)\d\d|fiscal|same|prior|previous|"
    r"preceding|last|first|second|third|fourth|year|quarter|month|week|before|earlier|ever|[$€£]?\d)))"
)
_RISE = (
    r"increas(?:e|es|ed|ing)|ris(?:e|es|en|ing)|rose|grew|grow(?:s|n|ing|th)?|climb(?:s|ed|ing)?|jump(?:s|ed|ing)?|"
    rf"surg(?:e|es|ed|ing)|soar(?:s|ed|ing)?|higher{_LEVEL}|up(?= (?:by )?(?:[$€£]|\d))"
)
_FALL = (
    r"decreas(?:e|es|ed|ing)|fall(?:s|en|ing)?|fell|declin(?:e|es|ed|ing)|drop(?:s|ped|ping)?|shr[aiu]nk|"
    rf"slump(?:s|ed|ing)?|plung(?:e|es|ed|ing)|lower{_LEVEL}|down(?= (?:by )?(?:[$€£]|\d))"
)
_MOVE = re.compile(rf"\b(?:(?P<rise>{_RISE})|(?P<fall>{_FALL}))\b", re.IGNORECASE)
_BORDER = re.compile(
    r"[,;:()]|\b(?:and|but|while|whereas|although|though|because|as|than|which|that|from|due to)\b",
    re.IGNORECASE,
)
_OF = re.compile(r"\s+(?:in|of)\s+(?:the |its |their |our )?", re.IGNORECASE)
_NEGATIVE = re.compile(
    r"(?:\s+(?:in|of) [\w ]{1,30}?)?\s+(?:was|were|is|of|by|at)\s+(?:(?:about|around) )?"
    r"(?:[-\u2212](?=[$€£]?\d)|(?:negative|minus)\b)",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\b(?:not|no|never|n't|if|may|might|could|would|should|expect\w*|either|or|neither|without|fail\w*)\b|n't\b",
    re.IGNORECASE,
)
_EMPTY = frozenset(
    content_words("total overall year quarter period fiscal company amount net slightly sharply")
)


class Move(Record, frozen=True, kw_only=True):
    """``things`` are the content words of what moved; ``sign`` is +1 or -1."""

    word: str
    sign: int
    things: frozenset[str]


@lru_cache(maxsize=4096)
def turned(claim: str, premise: str) -> tuple[str, str] | None:
    """The claim's word and the opposite one that the premise has for the same thing."""
    told = list(_moves(premise))
    if not told or _UNSURE.search(claim):
        return None
    for ours in _moves(claim):
        bare = ours.things - _names(claim) or ours.things
        same = [move for move in told if bare and bare <= move.things]
        if same and all(move.sign != ours.sign for move in same):
            return ours.word, same[0].word
    return None


def _moves(text: str) -> Iterator[Move]:
    for start, end in sentence_spans(text):
        sentence = text[start:end]
        for found in _MOVE.finditer(sentence):
            before = _BORDER.split(sentence[: found.start()])[-1]
            if _UNSURE.search(before):
                continue
            behind = _OF.match(sentence, found.end())
            after = _BORDER.split(sentence[behind.end() :])[0] if behind else ""
            fell = found["fall"] or _NEGATIVE.match(sentence, found.end())  # "growth was -5%"
            sign = -1 if fell else 1
            for phrase in (before, after):
                if things := _things(phrase):
                    yield Move(word=found.group(), sign=sign, things=things)


def _things(phrase: str) -> frozenset[str]:
    for quantity in reversed(extract_quantities(phrase)):
        phrase = phrase[: quantity.start] + " " + phrase[quantity.end :]
    return frozenset(content_words(phrase)) - _EMPTY


def _names(text: str) -> frozenset[str]:
    """Stems of capitalised words: whose income it is may be told elsewhere."""
    capitals = " ".join(re.findall(r"\b[A-Z][\w'’]*", text))
    first = words_of(text)[:1]
    return frozenset(content_words(capitals)) - (frozenset() if "'s" in text[:30] else frozenset(first))
