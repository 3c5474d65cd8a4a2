"""Words of a claim and of evidence: their stems, what they share, the sentence that speaks of the same thing.

In: text. Out: stems, shares in [0, 1], a sentence. Knows no verdicts.
"""

from __future__ import annotations

import re
from functools import lru_cache

from citewell.core.sentences import sentence_spans
from citewell.verification.lexicon import NEGATIONS, RELATIONS, STOP

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")
ENOUGH = 0.5  # share of the claim's content words that the sentence must hold before they are compared


def content_words(text: str) -> list[str]:
    """Lower-case stems of the words that carry content, in order."""
    return list(_content(text) if len(text) <= _REMEMBERED else _content.__wrapped__(text))


_REMEMBERED = 400  # characters of a sentence whose words are kept: each claim asks for them again


@lru_cache(maxsize=8192)
def _content(text: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in words_of(text) if word not in STOP)


def overlap(claim: str, evidence: str) -> float:
    """Share, in [0, 1], of the claim's content words that the evidence holds; 0 when it has none."""
    wanted = set(content_words(claim))
    return len(wanted & set(content_words(evidence))) / len(wanted) if wanted else 0.0


@lru_cache(maxsize=4096)
def nearest_sentence(claim: str, evidence: str) -> str:
    """The sentence that shares most content words with ``claim``; "" when that is under ENOUGH."""
    best, best_share = "", 0.0
    for start, end in sentence_spans(evidence):
        share = overlap(claim, evidence[start:end])
        if share > best_share:
            best, best_share = evidence[start:end], share
    return best if best_share >= ENOUGH else ""


def words_of(text: str) -> list[str]:
    return [match.group().lower().replace("\u2019", "'") for match in _WORD.finditer(text)]


def telling_words(text: str) -> list[str]:
    """Stems of the words that tell one thing from another of its kind; the A of "Drug A" is one."""
    lettered = re.sub(r"(?<=\w )([A-Z])\b", r"\1\1", text)
    return [stem(word) for word in words_of(lettered) if word not in STOP or word in RELATIONS]


def stem(word: str) -> str:
    word = word.removesuffix("'s")
    for suffix, least in (("ies", 5), ("ing", 6), ("ed", 5), ("es", 5), ("s", 4)):
        if word.endswith(suffix) and len(word) >= least and not word.endswith("ss"):
            return word[: -len(suffix)] + ("y" if suffix == "ies" else "")
    return word.removesuffix("e") if len(word) > 4 else word


def negations(text: str) -> list[str]:
    """The words that deny, in their order."""
    words = words_of(text)
    return [
        word for index, word in enumerate(words)
        if (word in NEGATIONS or word.endswith("n't"))
        and not (word == "no" and words[index + 1 : index + 2] and words[index + 1][0].isdigit())
        and not (word == "not" and words[index + 1 : index + 2] == ["only"])
        and not (word == "not" and words[index - 1 : index] == ["or"])
    ]  # fmt: skip
