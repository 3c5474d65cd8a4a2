"""Does a text say of another named thing what a claim says of the thing named before it?

In: a claim that leans ("Its founders were ..."), the sentences it leans on, a premise. Out: the thing that
the premise speaks of and the one that was meant, or None. The antecedent is no evidence: it can hold a claim
under its border and support none. Of the premise the sentences nearest to the claim in words are read, each
for the name in its subject; where one names none, or the thing that was meant, nothing is held. Exact code,
prose only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from citewell.core.sentences import sentence_spans
from citewell.verification.entities import Name, missing_names, names
from citewell.verification.kinds import source_kind
from citewell.verification.lexicon import NATIONS, STOP
from citewell.verification.verbs import is_doubtful, is_finite
from citewell.verification.words import overlap

_NEAR = (
    0.5  # of the nearest sentence's share of the claim's words, from which on a sentence may carry the claim
)
_FIRM = r"the (?:company|firm|group|team|former|latter|author)"
_LEANS = re.compile(
    rf"(?:(?:however|moreover|furthermore|additionally|also|then|later|in addition|consequently),?\s+)?"
    rf"(?:it|its|(?P<person>he|she|they|his|her|their)|{_FIRM})\b",
    re.IGNORECASE,
)
_BESIDE = re.compile(
    r"\b(?:in|at|on|from|to|with|by|for|near|since|after|before|during|under|per|than|like|between|among|as|against|"
    r"into|through)\s+(?:the\s+)?$",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+")


def said_of_another(claim: str, antecedent: str, premise: str, context: str = "") -> tuple[str, str] | None:
    """(whom the premise says it of, whom the claim meant). ``context`` is text around the premise."""
    if not antecedent or not _LEANS.match(claim):
        return None
    return _told_of_another(claim, antecedent, premise, context)


@lru_cache(maxsize=64)  # asked twice of a claim and a premise, which may be a whole source
def _told_of_another(claim: str, antecedent: str, premise: str, context: str) -> tuple[str, str] | None:
    leaning = _LEANS.match(claim)
    meant = _meant(antecedent)
    if not leaning or not meant or source_kind(premise) == "table":
        return None
    sentences = [premise[start:end] for start, end in sentence_spans(premise)]
    shares = [overlap(claim, sentence) for sentence in sentences]
    best = max(shares, default=0.0)
    if not best:
        return None
    around = f"{context}\n{premise}"
    told: dict[int, str | None] = {}
    others = []
    for place, share in enumerate(shares):
        if share <= _NEAR * best:
            continue
        at = place
        while True:
            if at not in told:
                told[at] = _other(sentences[at], claim, antecedent, meant, around)
            if told[at] is not None or at == 0:
                break
            at -= 1
        told[place] = other = told[at] or ""
        if not other:
            return None
        others.append(other)
    # A person may be somebody of the named thing's, whom the answer left unnamed.
    if leaning["person"] and any(
        _holds_any(meant, text) and (text == context or _holds_any(others, text))
        for text in (context, *sentences)
    ):
        return None
    return others[0], meant[0]


def _meant(antecedent: str) -> tuple[str, ...]:
    """The names of ``antecedent``; none when it leans on something itself, or all only tell what sort another
    thing is ("the iPhone maker")."""
    found = () if _LEANS.match(antecedent) else names(antecedent)
    alone = [name for name in found if _stands_alone(antecedent[name.end :])]
    return tuple(_bare(name) for name in found) if alone else ()


def _stands_alone(rest: str) -> bool:
    follows = re.match(r"\s+([a-z]+)", rest)
    return not follows or is_finite(follows[1]) or follows[1] in STOP or follows[1].endswith("ed")


def _other(sentence: str, claim: str, antecedent: str, meant: Sequence[str], around: str) -> str | None:
    """The other thing that ``sentence`` speaks of, "" for none, None where the sentence before tells."""
    if _holds_any(meant, sentence):
        return ""
    if _LEANS.match(sentence):
        return None
    if subjects := _subjects(sentence, claim, around):
        return subjects[0] if all(missing_names(f"of {name}", antecedent) for name in subjects) else ""
    return ""


def _subjects(sentence: str, claim: str, around: str) -> list[str]:
    """Names before the verb that the claim lacks; those behind it where it has all ("Ann founded Beta")."""
    verb = next(
        (
            word.start()
            for word in _WORD.finditer(sentence)
            if word.start() and is_finite(word.group().lower()) and not is_doubtful(word.group().lower())
        ),
        len(sentence),
    )
    found = [name for name in names(sentence) if not _BESIDE.search(sentence[: name.start])]
    before = [name for name in found if name.end <= verb]
    lacking = [name for name in before if _lacks(claim, name, around)]
    if not lacking and before:
        lacking = [name for name in found if name.end > verb and _lacks(claim, name, around)]
    return [_bare(name) for name in lacking]


def _lacks(claim: str, name: Name, around: str) -> bool:
    """A thing's name, surely, that ``claim`` does not hold."""
    bare = _bare(name)
    sure = name.certain or bare != name.text or re.search(rf"[^\W_.][,;]? {re.escape(bare)}\b", around)
    return bool(sure and bare.lower() not in NATIONS and missing_names(f"of {bare}", claim))


def _holds_any(wanted: Sequence[str], text: str) -> bool:
    return any(not missing_names(f"of {name}", text) for name in wanted)


def _bare(name: Name) -> str:
    return re.sub(r"['\u2019]s?$", "", name.text)
