"""Is the claim about the subject of the source? Misplaced names, and what a pronoun refers to.

In: a claim and its premise; for a claim with a pronoun ("Its founders were ..."), the sentences it refers to.
Out: two swapped names, a name where the source has another, or the subject of the premise and the
subject meant. Exact code for what small entailers miss: "Dee sued Lee" and "Lee sued Dee" have the
same words. Prose only. An antecedent is not evidence: it can keep a claim below the threshold but cannot
support one. Independent of verdicts.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from citewell.core.sentences import sentence_spans
from citewell.questions.quantity import MONTHS
from citewell.verification.entities import Name, missing_names, names
from citewell.verification.evidence import source_kind
from citewell.verification.lexicon import COMMON_CAPITALS, DAYS, PLAIN, STOP, TITLES
from citewell.verification.words import content_words, is_doubtful, is_finite, nearest_sentence, overlap

_WORD = re.compile(r"[^\W_]+(?:['’.,-][^\W_]+)*")
# Runs of capitalised words, and single ones: swapping a name may change the runs.
_CAPITALS = (
    re.compile(r"\b[A-Z][\w'’.-]*\w(?: (?:of |the |de |and )?[A-Z][\w'’.-]*\w)*"),
    re.compile(r"\b[A-Z][\w'’.-]*\w"),
)
CLOSE = 0.75  # minimum share of the claim's words in a sentence before positions are compared
GAIN = 2  # minimum gain in shared pairs of neighbouring words from swapping the names
_MOST_NAMES = 12
_FEWEST_WORDS = 2  # minimum content words of a claim, besides names, before positions are compared
_LONGEST_STRETCH = 7
_TOKEN = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*|[^\w\s]")
_NO_NAMES = STOP | PLAIN | TITLES | COMMON_CAPITALS | DAYS | frozenset(MONTHS)


@lru_cache(maxsize=4096)
def exchanged_names(claim: str, premise: str) -> tuple[str, str] | None:
    """The first two names whose swap brings the claim closer to the sentence it resembles, or None."""
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
            continue  # "A owns B" and "B is owned by A", or "a subsidiary of A", are the same
        other = claim.replace(first, "\0").replace(second, first).replace("\0", second)
        if len(_pairs(other) & there) >= now + GAIN:
            return first, second
    return None


@lru_cache(maxsize=4096)
def substituted_name(claim: str, premise: str, context: str = "") -> str | None:
    """A name in the claim where the sentence it resembles has another one, or None.

    Either the premise lacks the name altogether, or both names have the same words around them.
    """
    sentence = nearest_sentence(claim, premise)
    if sentence and overlap(claim, sentence) >= CLOSE:
        certain = {name.text for name in names(claim) if name.certain}
        missing = [name for name in missing_names(claim, f"{context}\n{premise}") if name in certain]
        if missing and missing_names(sentence, claim):
            return missing[0]
    return _other_name_in_place(claim, premise)


def _other_name_in_place(claim: str, premise: str) -> str | None:
    """Align claim and sentence word by word; the claim's name in a stretch between shared words where each
    has a name that the other's stretch lacks, or None."""
    bare = _CAPITALS[0].sub(" ", claim)
    wanted = set(content_words(bare))
    if len(wanted) < _FEWEST_WORDS:
        return None
    for start, end in sentence_spans(premise):
        sentence = premise[start:end]
        if len(wanted & set(content_words(sentence))) < CLOSE * len(wanted):
            continue
        named = (_named(ours, theirs) for ours, theirs in _stretches(claim, sentence))
        return next(filter(None, named), None)
    return None


def _stretches(claim: str, sentence: str) -> list[tuple[str, str]]:
    """(claim, sentence) pairs of differing stretches between shared words."""
    ours, theirs = (list(_TOKEN.finditer(text)) for text in (claim, sentence))
    matcher = SequenceMatcher(
        None, [m.group().lower() for m in theirs], [m.group().lower() for m in ours], autojunk=False
    )
    return [
        (claim[ours[k].start() : ours[n - 1].end()], sentence[theirs[i].start() : theirs[j - 1].end()])
        for kind, i, j, k, n in matcher.get_opcodes()
        if kind == "replace" and max(j - i, n - k) <= _LONGEST_STRETCH
    ]


def _named(ours: str, theirs: str) -> str | None:
    """The name in our stretch if theirs has an entirely different one, else None."""
    our_names, their_names = _capital_words(ours), _capital_words(theirs)
    if not our_names or not their_names:
        return None
    if {w.lower() for w in our_names} & {w.lower() for w in _WORD.findall(theirs)}:
        return None
    run = _CAPITALS[0].search(ours)
    name = run.group() if run else our_names[0]
    return name if missing_names(f"of {name}", theirs) else None


def _capital_words(text: str) -> list[str]:
    return [
        word
        for word in _WORD.findall(text)
        if word[0].isupper() and word.lower() not in _NO_NAMES and not word.lower().endswith("ly")
    ]


def _agent(first: str, second: str, text: str) -> bool:
    turned = r"(?:by|(?:subsidiary|unit|division|arm|part) of)"
    return bool(re.search(rf"\b{turned} (?:the )?(?:{re.escape(first)}|{re.escape(second)})", text))


def _pairs(text: str) -> set[tuple[str, str]]:
    words = ["", *(match.group().lower() for match in _WORD.finditer(text)), ""]
    return set(itertools.pairwise(words))


_NEAR = 0.5  # minimum fraction of the best sentence's overlap for a sentence that may support the claim
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
_WORD_ANTECEDENTS = re.compile(r"[^\W_]+")


def find_other_subject(
    claim: str, antecedent: str, premise: str, context: str = ""
) -> tuple[str, str] | None:
    """(subject of the premise, subject meant) if they differ. ``context`` is text around the premise."""
    if not antecedent or not _LEANS.match(claim):
        return None
    return _told_of_another(claim, antecedent, premise, context)


@lru_cache(maxsize=64)  # called twice per claim and premise, which may be a whole source
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
    told: dict[int, str | None] = {}
    others = []
    for place, share in enumerate(shares):
        if share <= _NEAR * best:
            continue
        at = place
        while True:
            if at not in told:
                told[at] = _other(sentences[at], claim, antecedent, meant)
            if told[at] is not None or at == 0:
                break
            at -= 1
        told[place] = other = told[at] or ""
        if not other:
            return None
        others.append(other)
    # The person may belong to the named subject without being named in the answer.
    if leaning["person"] and any(
        _holds_any(meant, text) and (text == context or _holds_any(others, text))
        for text in (context, *sentences)
    ):
        return None
    return others[0], meant[0]


def _meant(antecedent: str) -> tuple[str, ...]:
    """The names in ``antecedent``; none if it has an antecedent itself, or if all its names only modify
    another noun ("the iPhone maker")."""
    found = () if _LEANS.match(antecedent) else names(antecedent)
    alone = [name for name in found if _stands_alone(antecedent[name.end :])]
    return tuple(_bare(name) for name in found) if alone else ()


def _stands_alone(rest: str) -> bool:
    follows = re.match(r"\s+([a-z]+)", rest)
    return not follows or is_finite(follows[1]) or follows[1] in STOP or follows[1].endswith("ed")


def _other(sentence: str, claim: str, antecedent: str, meant: Sequence[str]) -> str | None:
    """The other subject of ``sentence``, "" if none, None if the sentence before determines it."""
    if _holds_any(meant, sentence):
        return ""
    if _LEANS.match(sentence):
        return None
    if subjects := _subjects(sentence, claim):
        return subjects[0] if all(missing_names(f"of {name}", antecedent) for name in subjects) else ""
    return ""


def _subjects(sentence: str, claim: str) -> list[str]:
    """Names before the verb that the claim lacks."""
    verb = next(
        (
            word.start()
            for word in _WORD_ANTECEDENTS.finditer(sentence)
            if word.start() and is_finite(word.group().lower()) and not is_doubtful(word.group().lower())
        ),
        len(sentence),
    )
    found = (
        _bare(name)
        for name in names(sentence)
        if name.end <= verb and not _BESIDE.search(sentence[: name.start])
    )
    return [name for name in found if missing_names(f"of {name}", claim)]


def _holds_any(wanted: Sequence[str], text: str) -> bool:
    return any(not missing_names(f"of {name}", text) for name in wanted)


def _bare(name: Name) -> str:
    return re.sub(r"['\u2019]s?$", "", name.text)
