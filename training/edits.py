"""Single edits of a real sentence, each with the label it gets against the unedited text.

In: a sentence and a pool of names from the text around it. Out: (kind, edited sentence, label), or nothing
if the sentence offers no place for that edit. Labels: contradiction for a changed number, date, unit,
negation or antonym; not_entailment for a swapped name or role; neutral for saying more than the text (a
hedge dropped, a quantifier raised, a detail added); entailment for saying less. Independent of models.
"""

from __future__ import annotations

import itertools
import random
import re
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

Edit = tuple[str, str, str]
Editor = Callable[[str, Sequence[str], random.Random], "tuple[str, str] | None"]

_NUMBER = re.compile(r"(?<![\w.,-])\d[\d,]*(?:\.\d+)?(?![\w-]|[.,]\d)")
_YEAR = re.compile(r"\b(1[5-9]\d\d|20[0-4]\d)\b")
_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_SMALL = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_NAME = re.compile(r"(?<![.!?\"“] )(?<!^)\b[A-Z][\w'’-]+(?: (?:of |the |de |and )?[A-Z][\w'’-]+)*")
_AUXILIARY = re.compile(
    r"\b(is|are|was|were|will|would|can|could|has|have|had|does|did|do|should|must)\b(?! not\b|n't)"
)
_NEGATED = re.compile(
    r"\b(is|are|was|were|will|would|can|could|has|have|had|does|did|do|should|must)(?: not|n't|n’t) "
)

_WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
_ADDED_END: list[str] = _WORDS["added"]["end"]
_ADDED_WORD: list[str] = _WORDS["added"]["word"]


def _replace(text: str, match: re.Match[str], new: str) -> str:
    old = match.group()
    new = new[:1].upper() + new[1:] if old[:1].isupper() and new[:1].islower() else new
    return re.sub(r"  +", " ", text[: match.start()] + new + text[match.end() :])


def _by_table(table: dict[str, str], label: str) -> Editor:
    pattern = re.compile(
        r"\b(" + "|".join(sorted(map(re.escape, table), key=len, reverse=True)) + r")\b", re.IGNORECASE
    )

    def edit(text: str, _: Sequence[str], rng: random.Random) -> tuple[str, str] | None:
        found = [m for m in pattern.finditer(text) if m.group()[:1].islower() or m.start() == 0]
        if not found:
            return None
        match = rng.choice(found)
        return _replace(text, match, table[match.group().lower()]), label

    return edit


def _number(text: str, _: Sequence[str], rng: random.Random) -> tuple[str, str] | None:
    found = [m for m in _NUMBER.finditer(text) if not _YEAR.fullmatch(m.group())]
    if not found:
        return None
    match = rng.choice(found)
    return _replace(text, match, _other_number(match.group(), rng)), "contradiction"


def _other_number(old: str, rng: random.Random) -> str:
    """Another number of the same form: two digits swapped, one digit changed, or the size changed."""
    digits = [i for i, c in enumerate(old) if c.isdigit()]
    for _ in range(20):
        new = list(old)
        way = rng.random()
        if way < 0.3 and len(digits) > 1:
            i = rng.randrange(len(digits) - 1)
            new[digits[i]], new[digits[i + 1]] = new[digits[i + 1]], new[digits[i]]
        elif way < 0.8:
            i = rng.choice(digits)
            new[i] = rng.choice("0123456789")
        else:
            return str(
                max(1, int(float(old.replace(",", "")) * rng.choice([0.5, 2, 3, 10]))) + (len(digits) == 1)
            )
        made = "".join(new)
        if made != old and not (made[0] == "0" and len(digits) > 1):
            return made
    return old + "0"


def _year(text: str, _: Sequence[str], rng: random.Random) -> tuple[str, str] | None:
    found = list(_YEAR.finditer(text))
    if not found:
        return None
    match = rng.choice(found)
    shift = rng.choice([-30, -10, -5, -3, -2, -1, 1, 2, 3, 4, 7, 10, 20])
    return _replace(text, match, str(int(match.group()) + shift)), "contradiction"


def _listed(words: Sequence[str]) -> Editor:
    pattern = re.compile(r"\b(" + "|".join(words) + r")\b")

    def edit(text: str, _: Sequence[str], rng: random.Random) -> tuple[str, str] | None:
        found = [
            m for m in pattern.finditer(text) if m.group() != "May" or re.match(r"May \d", text[m.start() :])
        ]
        if not found:
            return None
        match = rng.choice(found)
        return _replace(text, match, rng.choice([w for w in words if w != match.group()])), "contradiction"

    return edit


def _entity(text: str, names: Sequence[str], rng: random.Random) -> tuple[str, str] | None:
    found = list(_NAME.finditer(text))
    others = [name for name in names if name not in text]
    if not found or not others:
        return None
    match = rng.choice(found)
    like = [n for n in others if len(n.split()) == len(match.group().split())] or others
    new = rng.choice(like)
    if new.lower() in match.group().lower() or match.group().lower() in new.lower():
        return None
    return _replace(text, match, new), "not_entailment"


def _roles(text: str, _: Sequence[str], rng: random.Random) -> tuple[str, str] | None:
    """Swaps two names. Lists ("A and B") are left alone: order means nothing there."""
    found = list(_NAME.finditer(text))
    rng.shuffle(found)
    for a, b in itertools.pairwise(found):
        first, second = sorted((a, b), key=lambda m: m.start())
        between = text[first.end() : second.start()]
        if (
            first.group() != second.group()
            and len(between.split()) >= 2
            and not re.fullmatch(r"[\s,]*(and|or)?\s*", between)
        ):
            swapped = text[: first.start()] + second.group() + between + first.group() + text[second.end() :]
            return swapped, "not_entailment"
    return None


def _negate(text: str, _: Sequence[str], rng: random.Random) -> tuple[str, str] | None:
    negated = _NEGATED.search(text)
    if negated and rng.random() < 0.7:
        return _replace(text, negated, negated.group(1) + " "), "contradiction"
    match = _AUXILIARY.search(text)
    if not match:
        return None
    return text[: match.end()] + " " + rng.choice(["not", "not", "not", "never"]) + text[
        match.end() :
    ], "contradiction"


def _add_end(text: str, names: Sequence[str], rng: random.Random) -> tuple[str, str] | None:
    body = text.rstrip(" .")
    if body == text:
        return None
    others = [name for name in names if name not in text]
    tail = rng.choice(_ADDED_END)
    if others and rng.random() < 0.4:
        tail = rng.choice(
            ["with {}", "in {}", "because of {}", "according to {}", "together with {}"]
        ).format(rng.choice(others))
    elif rng.random() < 0.2:
        tail = f"in {rng.randint(1900, 2023)}"
    return f"{body}{rng.choice([' ', ', '])}{tail}.", "neutral"


def _add_word(text: str, _: Sequence[str], rng: random.Random) -> tuple[str, str] | None:
    found = list(re.finditer(r"\b(?:a|the|his|her|its|their) (?=[a-z]{4,})", text))
    if not found:
        return None
    match = rng.choice(found)
    word = rng.choice(_ADDED_WORD)
    if match.group().lower() == "a " and word[0] in "aeiou":
        word = "large"
    return text[: match.end()] + word + " " + text[match.end() :], "neutral"


def _compress(text: str, _: Sequence[str], rng: random.Random) -> tuple[str, str] | None:
    """Says less: drops a parenthesis, an opening phrase, a relative clause or an apposition."""
    ways = [
        (r" \([^()]*\)", ""),
        (r"^(?:In|On|By|After|Since|During|Before|At|With|For|From) [^,]{3,60}, (?=\w)", ""),
        (
            r", (?:which|who|where|when|whose|although|though|while|because|with|including|making|leading) [^,.;]{8,}(?=\.$)",  # noqa: E501
            "",
        ),
        (
            r", (?:which|who|whose|where|a|an|the) [^,.;]{4,80},(?= (?:is|was|are|were|has|had|will|said|did)\b)",  # noqa: E501
            "",
        ),
        (
            r"(?:;| and| but|, and|, but) (?:it|he|she|they|the|this|was|were|is|has|had) [^.;]{10,}(?=\.$)",
            "",
        ),
        (
            r" (?:according to|despite|because of|due to|in order to|so that|such as|as well as|following) [^.;]{6,}(?=\.$)",  # noqa: E501
            "",
        ),
        (r"\b(?:also|however|therefore|meanwhile|moreover),? ", ""),
    ]
    rng.shuffle(ways)
    for pattern, new in ways:
        shorter = re.sub(pattern, new, text, count=1)
        if shorter != text and len(shorter.split()) >= 5:
            return shorter[:1].upper() + shorter[1:], "entailment"
    return None


EDITORS: dict[str, Editor] = {
    "number": _number,
    "year": _year,
    "month": _listed(_MONTHS),
    "day": _listed(_DAYS),
    "small-number": _listed(_SMALL),
    "unit": _by_table(_WORDS["units"], "contradiction"),
    "antonym": _by_table(_WORDS["antonyms"], "contradiction"),
    "negation": _negate,
    "entity": _entity,
    "role": _roles,
    "quantifier": _by_table(_WORDS["raised"], "neutral"),
    "hedge": _by_table(_WORDS["firmer"], "neutral"),
    "added-end": _add_end,
    "added-word": _add_word,
    "compression": _compress,
    "synonym": _by_table(_WORDS["synonyms"], "entailment"),
}


def edits(
    text: str, names: Sequence[str], rng: random.Random, kinds: Sequence[str] = tuple(EDITORS)
) -> list[Edit]:
    made = []
    for kind in kinds:
        result = EDITORS[kind](text, names, rng)
        if result and result[0] != text:
            made.append((kind, *result))
    return made


def names_in(text: str) -> list[str]:
    """Capitalised names that do not open a sentence, in order, once each."""
    return list(dict.fromkeys(m.group() for m in _NAME.finditer(text)))
