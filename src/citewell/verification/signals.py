"""Small exact signs that a claim says something else than a sentence it resembles.

In: claim and evidence. Out: named :class:`Signal` values: negation on one side only, a hedge that
the claim drops ("may" -> "does"), a quantifier that it widens ("some" -> "all"), an opposite
("increase" / "decrease"), two names that changed places, a report whose reporter was cut off.
The claim is compared with the sentence of the evidence that shares most of its words, and only when
they share enough to speak of the same thing. These are features and reasons, never verdicts alone.
"""

from __future__ import annotations

import re
from functools import lru_cache

from citewell.core.records import Record
from citewell.core.sentences import sentence_spans
from citewell.verification.lexicon import HEDGES, NEGATIONS, OPPOSITES, PARTIAL, RELATIONS, STOP, UNIVERSAL
from citewell.verification.verbs import BASES

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")

# No month where it opens a statement without a subject: "May contain nuts".
_MAY = re.compile(rf"\bMay\b(?!(?<![\w,] May) (?:{'|'.join(sorted(BASES))})\b)")
_REPORTERS = re.compile(
    r"\b(?:said|says|stated|claims?|claimed|argued?|argues|alleged?|alleges|believed?|believes|reported(?:ly)?|"
    r"according to|"
    r"denied|denies|doubts?|doubted|rumou?red|thinks?|thought|suggest(?:s|ed)?|asserts?|asserted|"
    r"contends?|predicted|predicts|hoped?|pretended)\b",
    re.IGNORECASE,
)
_DENIERS = re.compile(
    r"\b(?:den(?:y|ies|ied|ying)|refut\w+|reject\w*|disput\w+|doubt\w*|fail\w* to|refus\w+ to|contrary to|"
    r"no evidence(?: that)?|"
    r"(?:is|was|are|were) (?:not true|false|a myth|a hoax)|falsely|pretend\w*|hoax|myth that|never|"
    r"n't|not)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"\b(?:if|unless|except|provided that|assuming|only when|in the event|subject to|until|but not|"
    r"other than|excluding)\b",
    re.IGNORECASE,
)


ENOUGH = 0.5  # share of the claim's content words that the sentence must hold before they are compared


class Signal(Record, frozen=True, kw_only=True):
    """``kind``: negation, hedge, quantifier, opposite, order, attribution or condition."""

    kind: str
    claim: str
    evidence: str


@lru_cache(maxsize=4096)
def signals(claim: str, evidence: str) -> tuple[Signal, ...]:
    """Every sign that ``claim`` departs from the sentence of ``evidence`` nearest in words."""
    sentence = nearest_sentence(claim, evidence)
    if not sentence:
        return ()
    found = [
        signal
        for check in (_negation, _hedge, _quantifier, _order, _attribution, _condition)
        if (signal := check(claim, sentence))
    ]
    return (*found, *_opposites(claim, sentence))


def negation_mismatch(claim: str, evidence: str) -> bool:
    """One of the two nearest sentences is negated, the other is not."""
    return _has("negation", claim, evidence)


def hedge_mismatch(claim: str, evidence: str) -> bool:
    """The evidence hedges ("may", "plans to"), the claim asserts."""
    return _has("hedge", claim, evidence)


def quantifier_mismatch(claim: str, evidence: str) -> bool:
    """The claim says all, only or never where the evidence says some, most or usually."""
    return _has("quantifier", claim, evidence)


def opposite_mismatch(claim: str, evidence: str) -> bool:
    """The claim has a word whose opposite stands in the evidence instead."""
    return _has("opposite", claim, evidence)


def order_mismatch(claim: str, evidence: str) -> bool:
    """Nearly the same words, two names in exchanged places, no passive to explain it."""
    return _has("order", claim, evidence)


def _has(kind: str, claim: str, evidence: str) -> bool:
    return any(signal.kind == kind for signal in signals(claim, evidence))


def content_words(text: str) -> list[str]:
    """Lower-case stems of the words that carry content, in order."""
    return [stem(word) for word in words_of(text) if word not in STOP]


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


def without_may(text: str) -> str:
    """Without the "May" that is a month or a name: with a capital it is that more often than a hedge."""
    return _MAY.sub(" ", text)


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


def _negation(claim: str, sentence: str) -> Signal | None:
    ours, theirs = negations(claim), negations(sentence)
    if len(ours) % 2 == len(theirs) % 2 or (ours and theirs):
        return None
    if not ours and len(words_of(sentence)) > 3 * len(words_of(claim)) + 6:
        return None  # a long sentence negates something else as likely as this
    return Signal(kind="negation", claim=" ".join(ours), evidence=" ".join(theirs))


def _hedge(claim: str, sentence: str) -> Signal | None:
    theirs = _hedges(sentence)
    if not theirs or _hedges(claim):
        return None
    return Signal(kind="hedge", claim="", evidence=theirs[0])


def _hedges(text: str) -> list[str]:
    return [word for word in words_of(without_may(text)) if word in HEDGES]


def _quantifier(claim: str, sentence: str) -> Signal | None:
    ours = [word for word in words_of(claim) if word in UNIVERSAL]
    theirs = [word for word in words_of(sentence) if word in PARTIAL]
    if ours and theirs and not any(word in UNIVERSAL for word in words_of(sentence)):
        return Signal(kind="quantifier", claim=ours[0], evidence=theirs[0])
    return None


def _opposites(claim: str, sentence: str) -> list[Signal]:
    ours, theirs = words_of(claim), words_of(sentence)
    found = []
    for pair in OPPOSITES:
        for left, right in (pair, pair[::-1]):
            a, b = _first(left, ours), _first(right, theirs)
            if a and b and not _first(right, ours) and not _first(left, theirs):
                found.append(Signal(kind="opposite", claim=a, evidence=b))
    return found


def _first(patterns: str, words: list[str]) -> str:
    for pattern in patterns.split():
        stem = pattern.rstrip("*")
        for word in words:
            if word == stem or (pattern.endswith("*") and word.startswith(stem)):
                return word
    return ""


def _order(claim: str, sentence: str) -> Signal | None:
    from citewell.verification.entities import names

    if overlap(claim, sentence) < 0.9 or bool(re.search(r"\bby\b", claim)) != bool(
        re.search(r"\bby\b", sentence)
    ):
        return None
    ours = [
        name.text for name in names(claim) if claim.count(name.text) == 1 and sentence.count(name.text) == 1
    ]
    places = [sentence.find(name) for name in ours]
    # Only two names that stand on both sides of the same verb; a list may be told in any order.
    if len(ours) != 2 or places[0] < places[1]:
        return None
    first, second = claim.find(ours[0]), claim.find(ours[1])
    between = claim[first + len(ours[0]) : second]
    if re.fullmatch(r"\s*(?:,|and|or|&|,\s*and|with)\s*", between) or not re.search(r"[a-z]{2,}", between):
        return None
    return Signal(kind="order", claim=f"{ours[0]} ... {ours[1]}", evidence=f"{ours[1]} ... {ours[0]}")


def _attribution(claim: str, sentence: str) -> Signal | None:
    theirs = _REPORTERS.search(sentence)
    if not theirs or _REPORTERS.search(claim):
        return None
    return Signal(kind="attribution", claim="", evidence=theirs.group())


def denied_by(claim: str, evidence: str) -> str:
    """The word by which the evidence denies what the claim states, or "".

    Only where the nearest sentence holds nearly every content word of the claim behind a plain denial
    ("denied that",
    "it is a myth that") and no other sentence says as much without one.
    """
    wanted = frozenset(content_words(claim))
    if len(wanted) < 3 or _PLAIN_DENIAL.search(claim) or negations(claim):
        return ""
    word = ""
    for start, end in sentence_spans(evidence):
        sentence = evidence[start:end]
        if len(wanted & frozenset(content_words(sentence))) < 0.8 * len(wanted):
            continue
        found = _PLAIN_DENIAL.search(sentence)
        if not found or overlap(claim, sentence[found.end() :]) < 0.6:
            return ""
        word = found.group()
    return word


_PLAIN_DENIAL = re.compile(
    r"\b(?:den(?:y|ies|ied|ying)(?: reports| claims| allegations| rumou?rs)?(?: that)?|refut(?:es|ed|"
    r"ing)|disput(?:es|ed|ing) that|"
    r"(?:no|without) evidence (?:that|of|for)|(?:it is|it's|it was) (?:not true|false|untrue|a myth|"
    r"a hoax|a lie) that|"
    r"falsely (?:claim\w*|stat\w*|report\w*)|contrary to (?:reports|claims|the claim|popular belief)|"
    r"(?:the )?myth that|"
    r"(?:rejected|dismissed) (?:the )?(?:claims?|allegations?|idea|notion|reports?) that)",
    re.IGNORECASE,
)


def _condition(claim: str, sentence: str) -> Signal | None:
    theirs = _CONDITION.search(sentence)
    if not theirs or _CONDITION.search(claim):
        return None
    return Signal(kind="condition", claim="", evidence=theirs.group())


def cut_off(before: str, after: str) -> str:
    """What the words around a verbatim span do to it: a denial, report, hedge or condition, or "".

    ``before`` and ``after`` are the rest of the span's sentence on either side.
    """
    for kind, pattern, sides in (
        ("negation", _DENIERS, (before,)),
        ("attribution", _REPORTERS, (before, after)),
        ("condition", _CONDITION, (before, after)),
    ):
        for side in sides:
            if found := pattern.search(side):
                return f"{kind} ({found.group().strip()!r})"
    hedged = [
        word for word in words_of(before) if word in HEDGES or word in NEGATIONS or word.endswith("n't")
    ]
    return f"hedge ({hedged[-1]!r})" if hedged else ""
