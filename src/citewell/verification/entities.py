"""Names in the claim that the evidence does not contain. Exact code, no model.

In: claim and evidence. Out: the missing names as written in the claim. A name is a run of
capitalised words, an acronym or a code ("COVID-19", "10-K"); words that English capitalises anyway
(first in a sentence, "I", months, days) count only if nothing else explains the capital.
The distinctive words of a name suffice ("Nike" for "NIKE, Inc."), as do its initials ("WHO"). Numbers and
dates are left to :mod:`citewell.verification.numbers`. Independent of who did what.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from functools import lru_cache

from citewell.core.records import Record
from citewell.core.sentences import sentence_spans
from citewell.questions.parsing import stem
from citewell.questions.quantity import MONTHS
from citewell.verification.lexicon import (
    COMMON_CAPITALS,
    CORPORATE,
    DAYS,
    JOINERS,
    PLAIN,
    TITLES,
)

_WORD = re.compile(r"[^\W_]++(?:[.'\u2019&/-][^\W_]++)*+", re.UNICODE)


_NO_NAMES = DAYS | COMMON_CAPITALS | frozenset(MONTHS)
EVERYDAY = re.compile(
    r"(?:ing|ed|ly|tions?|ments?|ness|[aeo]rs|ists?|it(?:y|ies)|[ae]nces?|[ai]ble|ive|ful|less|ous|ies|sm|[^aeius']s|[^aeo]es|(?:\w\w|\bf)ees|hip|children|staff)$",
    re.IGNORECASE,
)
"""Endings of everyday words, which are no names."""


class Name(Record, frozen=True, kw_only=True):
    """``certain`` is False if the capital may be due only to the start of a sentence."""

    text: str
    start: int
    end: int
    certain: bool = True


def missing_names(claim: str, evidence: str) -> tuple[str, ...]:
    """Names of ``claim`` that ``evidence`` does not contain, as written in the claim, in order.

    A word capitalised only at the start of a sentence counts unless it has the ending of an everyday word.
    """
    held = _held(evidence)
    missing = (name for name in names(claim) if not _holds(name, held))
    return tuple(name.text for name in missing if name.certain or not EVERYDAY.search(name.text))


@lru_cache(maxsize=2048)
def names(text: str) -> tuple[Name, ...]:
    """The names in ``text``, in order. Text that is mostly capitals has none."""
    letters = [letter for letter in text if letter.isalpha()]
    if len(letters) > 12 and sum(letter.isupper() for letter in letters) > 0.6 * len(letters):
        return ()
    starts = {start for start, _ in sentence_spans(text)}
    found: list[Name] = []
    run: list[re.Match[str]] = []

    def close() -> None:
        while run and run[-1].group().lower() in JOINERS:
            run.pop()
        if run:
            found.extend(_name(text, run, starts))
        run.clear()

    for token in _WORD.finditer(text):
        word = token.group()
        gap = text[run[-1].end() : token.start()] if run else ""
        if run and not re.fullmatch(r"\.?\s|\s?&\s|\s", gap):
            close()
        if _is_name_word(word) or (run and word.lower() in JOINERS and _next_is_name(text, token)):
            run.append(token)
        else:
            close()
    close()
    return tuple(found)


def _name(text: str, run: list[re.Match[str]], starts: set[int]) -> list[Name]:
    certain = True
    skipped = 0
    for token in run:
        word, first = token.group(), _opens(text, token.start(), starts)
        alone = skipped == len(run) - 1
        plain = word.lower() in PLAIN or word.lower() in TITLES or word.lower() in JOINERS
        if plain and (first or word.lower() in TITLES or not alone) and not word.isupper():
            skipped += 1
            continue
        certain = not (first and alone and word[1:].islower())
        break
    tokens = run[skipped:]
    if not tokens:
        return []
    if len(tokens) == 1:
        word = tokens[0].group().lower()
        if word in _NO_NAMES or (word in PLAIN and not tokens[0].group().isupper()):
            return []
    start, end = tokens[0].start(), tokens[-1].end()
    return [Name(text=text[start:end], start=start, end=end, certain=certain)]


def _opens(text: str, start: int, starts: set[int]) -> bool:
    """Whether a capital here may be due to the start of a sentence, a quotation or a list item."""
    at = start
    while at and text[at - 1] == " ":
        at -= 1
    return start in starts or not at or text[at - 1] in "\"'\u201c\u2018:([\n\t•-*;"


def _is_name_word(word: str) -> bool:
    if word[0].isupper():
        return True
    inner = any(letter.isupper() for letter in word[1:])
    return (
        inner
        and (word[0].islower() or word[0].isdigit())
        and not re.fullmatch(r"\d+(?:\.\d+)?[KMBTGW]\w?", word)
    )


def _next_is_name(text: str, token: re.Match[str]) -> bool:
    """Whether a joining word belongs to the name because a capital follows: "Bank of America"."""
    if token.group().lower() in {"and", "on", "in"}:
        return False
    following = _WORD.search(text, token.end())
    if following and following.group().lower() in JOINERS:
        following = _WORD.search(text, following.end())
    return following is not None and following.group()[0].isupper()


class _Held(Record, frozen=True, kw_only=True):
    words: frozenset[str]
    initials: str
    stems: frozenset[str]
    before: dict[str, frozenset[str]]


@lru_cache(maxsize=512)
def _held(evidence: str) -> _Held:
    words = [_plain_word(token.group()) for token in _WORD.finditer(evidence)]
    parts = {part for word in words for part in re.split(r"[-/&'\u2019.]", word) if part}
    capitals = (t.group()[0] for t in _WORD.finditer(evidence) if t.group()[0].isupper())
    before: dict[str, set[str]] = {}
    for first, second in itertools.pairwise(_WORD.finditer(evidence)):
        if first.group()[0].isupper() and second.group()[0].isupper() and second.start() - first.end() <= 2:
            before.setdefault(_plain_word(second.group()), set()).add(_plain_word(first.group()))
    return _Held(
        before={word: frozenset(others) for word, others in before.items()},
        initials="".join(capitals).lower(),
        words=frozenset(words) | frozenset(parts),
        stems=frozenset(stem(word) for word in {*words, *parts}),
    )


def _holds(name: Name, held: _Held) -> bool:
    words = [_plain_word(token.group()) for token in _WORD.finditer(name.text)]
    telling = [
        word for word in words
        if word not in JOINERS
        and word not in TITLES
        and (len(words) == 1 or (word not in CORPORATE and len(word) > 1))  # "Curie" matches "M. Curie"
    ] or words  # fmt: skip
    if all(_word_held(word, held) for word in telling):
        return True
    # "Obama" matches "Barack Obama" unless the evidence mentions another Obama.
    if (
        len(words) == 2
        and words[1] in held.words
        and not held.before.get(words[1], frozenset()) - TITLES - PLAIN
    ):
        return True
    # "WHO" matches "World Health Organization", and vice versa.
    if len(words) == 1 and name.text.isupper() and 2 < len(words[0]) <= 6 and words[0] in held.initials:
        return True
    initials = "".join(word[0] for word in words if word not in JOINERS)
    return len(initials) >= 2 and (initials in held.words or ".".join(initials) in held.words)


def _word_held(word: str, held: _Held) -> bool:
    if word in held.words or stem(word) in held.stems:
        return True
    parts = [part for part in re.split(r"[-/&'.]", word) if part]
    if len(parts) > 1 and all(part in held.words or stem(part) in held.stems for part in parts):
        return True
    return "".join(parts) in held.words


def _plain_word(word: str) -> str:
    decomposed = unicodedata.normalize("NFKD", word.replace("\u2019", "'"))
    bare = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    return bare.lower().removesuffix("'s").strip(".")
