"""What a source could say instead: one fact of a claim exchanged for another of its kind.

In: a claim, the sentence that it cites, the question and the whole context. Out: a :class:`Swap`, the same
one every time, or None where nothing can be exchanged. The fact stands in claim and sentence and not in the
question (the context must still be about what was asked); the new one stands nowhere. Where there is no such
fact the sentence is negated. The same number in another scale ("1.2 billion", "1,200 million") is not seen
as the same. Knows nothing about writers or models.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b

from citewell.core.records import Record
from citewell.evaluation.probes.editing import (
    Edit,
    Replacement,
    applied,
    exchanging,
    fact_pattern,
    rewording,
)
from citewell.verification.entities import names

_YEAR = re.compile(r"(?<![\w.,])(?:1[5-9]\d\d|20\d\d)(?![\w]|[.,]\d)")
_NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?![\w]|[.,]\d)")
_MONTHS = (
    "January", "February", "March", "April", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_SMALL = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
INVENTED = (
    "Orvendale", "Talmirsk", "Brennholt", "Quessarin", "Veltrano", "Ashkemoor", "Dunvarra", "Pellowick",
)  # fmt: skip
_AUXILIARY = re.compile(
    r"\b(is|are|was|were|will|would|can|could|has|have|had|does|did|do|should|must)\b(?! not\b|n['’]t)"
)
_NEGATED = re.compile(
    r"\b(is|are|was|were|will|would|can|could|has|have|had|does|did|do|should|must)(?: not|n['’]t)\b"
)


class Swap(Record, frozen=True, kw_only=True):
    """``kind``: number, date, entity or negation. ``old`` and ``new``: the fact, for a negation the whole
    sentence. ``claim``: what a writer that reads would now say."""

    kind: str
    old: str
    new: str
    claim: str

    @property
    def edit(self) -> Edit:
        """The context in which it is so."""
        made = rewording if self.kind == "negation" else exchanging
        return made(self.old, self.new)


def swap_for(
    claim: str, sentence: str, *, question: str, context: Sequence[str], seed: int = 0
) -> Swap | None:
    """One fact of ``claim`` that ``sentence`` gives, exchanged; ``context`` is every text in reach."""
    everything = "\n".join([question, claim, sentence, *context])
    for kind, find, other in _KINDS:
        for old in find(claim):
            whole = fact_pattern(old)
            if not whole.search(sentence) or whole.search(question):
                continue
            for new in other(old, seed):
                if new != old and not fact_pattern(new).search(everything):
                    return Swap(kind=kind, old=old, new=new, claim=applied(claim, _each(whole, claim, new)))
    turned, said = negated(sentence), negated(claim)
    if turned and said:
        return Swap(kind="negation", old=sentence, new=turned, claim=said)
    return None


def negated(sentence: str) -> str:
    """The sentence with a "not" more or less; "" where it has no auxiliary to take it."""
    found = _NEGATED.search(sentence)
    if found:
        return sentence[: found.start()] + found[1] + sentence[found.end() :]
    found = _AUXILIARY.search(sentence)
    return f"{sentence[: found.end()]} not{sentence[found.end() :]}" if found else ""


def parity(text: str) -> bool:
    """Whether an odd number of its auxiliaries is negated."""
    return len(re.findall(r"\b(?:not|never|cannot)\b|n['’]t\b", text)) % 2 == 1


def _each(pattern: re.Pattern[str], text: str, new: str) -> list[Replacement]:
    return [Replacement(start=m.start(), end=m.end(), new=new) for m in pattern.finditer(text)]


# --- facts and their likes ------------------------------------------------------------------------


def _numbers(text: str) -> list[str]:
    found = [match.group() for match in _NUMBER.finditer(text) if not _YEAR.fullmatch(match.group())]
    return sorted(dict.fromkeys(found), key=len, reverse=True)


def _dates(text: str) -> list[str]:
    years = [match.group() for match in _YEAR.finditer(text)]
    return list(dict.fromkeys([*years, *(month for month in _MONTHS if fact_pattern(month).search(text))]))


def _small(text: str) -> list[str]:
    return [word for word in _SMALL if fact_pattern(word).search(text)]


def _entities(text: str) -> list[str]:
    return [name.text for name in names(text) if name.certain and not any(ch.isdigit() for ch in name.text)]


def _other_number(old: str, seed: int) -> Iterator[str]:
    """The same look, other digits."""
    for attempt in range(20):
        drawn = blake2b(f"{seed}/{attempt}/{old}".encode(), digest_size=len(old)).digest()
        made = "".join(
            str((int(ch) + 1 + byte % 9) % 10) if ch.isdigit() else ch
            for ch, byte in zip(old, drawn, strict=True)
        )
        yield f"{1 + drawn[0] % 9}{made[1:]}" if made[0] == "0" and len(made) > 1 else made


def _other_date(old: str, seed: int) -> Iterator[str]:
    if old.isdigit():
        yield from (str(int(old) + shift) for shift in (-7, -11, 4, -13, -17, 6, -19, -23))
    else:
        yield from _turned(_MONTHS, old, seed)


def _other_small(old: str, seed: int) -> Iterator[str]:
    yield from _turned(_SMALL, old, seed)


def _invented(old: str, seed: int) -> Iterator[str]:
    yield from _turned(INVENTED, old, seed)


def _turned(words: Sequence[str], old: str, seed: int) -> Iterator[str]:
    start = blake2b(f"{seed}/{old}".encode(), digest_size=1).digest()[0]
    yield from (words[(start + step) % len(words)] for step in range(len(words)))


_KINDS: tuple[tuple[str, Callable[[str], list[str]], Callable[[str, int], Iterator[str]]], ...] = (
    ("number", _numbers, _other_number),
    ("date", _dates, _other_date),
    ("number", _small, _other_small),
    ("entity", _entities, _invented),
)
