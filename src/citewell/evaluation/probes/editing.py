"""Edits passages so that a source says something else, or nothing, and chooses what else it says.

In: passages and an :class:`Edit`; a claim and the sentence that it cites. Out: the edited passages, with
table rows at their new offsets; a :class:`Swap`, which deterministically replaces one fact of a claim by
another of its kind. Sentences are the unit; a table row is one. Only the probe sees the result: no edited
text is ever stored as evidence. Knows nothing about writers or models.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from hashlib import blake2b

import msgspec

from citewell.core.records import Cell, Chunk, Passage, Record, Row
from citewell.core.sentences import sentence_spans
from citewell.verification.entities import names
from citewell.verification.lexicon import STOP

_WORD = re.compile(r"[^\W_]+")
_ALIKE, _FEWEST = 0.8, 5
"""Sentences sharing at least this much of their words, and all digits, are repeats; those under ``_FEWEST``
words only if equal."""


class Replacement(Record, frozen=True, kw_only=True):
    """Replaces ``[start, end)`` of a text by ``new``."""

    start: int
    end: int
    new: str = ""


class Edit(Record, frozen=True, kw_only=True):
    """An edit applied to every text of a context. ``removed`` sentences and their repeats are deleted; with
    ``kept``, all others are; the fact ``old`` becomes ``new`` everywhere, including titles and column heads;
    ``sentence`` and its repeats become ``instead``. ``added`` passages are appended. Edits with the same
    fields are equal."""

    removed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    old: str = ""
    new: str = ""
    sentence: str = ""
    instead: str = ""
    added: tuple[Passage, ...] = ()


NONE = Edit()


def edited(passages: Sequence[Passage], edit: Edit) -> tuple[Passage, ...]:
    """The remaining passages in order, followed by those added."""
    made = []
    for passage in passages:
        chunk = edited_chunk(passage.chunk, edit)
        if chunk is not None:
            made.append(msgspec.structs.replace(passage, chunk=chunk))
    return (*made, *edit.added)


def edited_chunk(chunk: Chunk, edit: Edit) -> Chunk | None:
    """The edited chunk, or None if no word of its content is left."""
    changes = _changes(chunk.content, edit)
    if not changes and not edit.old:
        return chunk
    content = applied(chunk.content, changes)
    if not _WORD.search(content):
        return None

    def head(text: str) -> str:
        return fact_pattern(edit.old).sub(lambda _: edit.new, text) if edit.old else text

    return msgspec.structs.replace(
        chunk,
        content=content,
        end_offset=chunk.start_offset + len(content),
        rows=_moved(chunk, changes, head),
        context=head(chunk.context),
        title=head(chunk.title),
    )


def applied(text: str, changes: Sequence[Replacement]) -> str:
    """``text`` after ordered, non-overlapping replacements."""
    made, at = [], 0
    for change in changes:
        made += [text[at : change.start], change.new]
        at = change.end
    return "".join([*made, text[at:]])


def sentences_of(text: str) -> list[str]:
    """The sentences of a text, verbatim."""
    return [text[start:end] for start, end in sentence_spans(text)]


def quoted_sentences(text: str, quote: str, at: int = -1) -> list[str]:
    """The sentences that ``quote`` overlaps, at ``at`` or else where it first occurs; none if it does not."""
    if at < 0 or not text.startswith(quote, at):
        at = text.find(quote)
    if at < 0 or not quote:
        return []
    return [text[a:b] for a, b in sentence_spans(text) if a < at + len(quote) and at < b]


def repeats(one: str, other: str) -> bool:
    """True if two sentences say the same in nearly the same words: equal, one within the other, or sharing
    most words and all digits."""
    a, b = _words(one), _words(other)
    if a == b:
        return bool(a) or one == other
    if min(len(a), len(b)) < _FEWEST:
        return False
    first, second = f" {' '.join(a)} ", f" {' '.join(b)} "
    if first in second or second in first:
        return True
    bag, bag_other = set(a) - STOP, set(b) - STOP
    digits = {word for word in bag ^ bag_other if any(ch.isdigit() for ch in word)}
    return not digits and len(bag & bag_other) >= _ALIKE * len(bag | bag_other)


def fact_pattern(fact: str) -> re.Pattern[str]:
    """Matches a number, date or name as a whole, not within a longer word or number."""
    return re.compile(rf"(?<![\w])(?<!\d[.,]){re.escape(fact)}(?!\w)(?![.,]\d)")


# --- helpers --------------------------------------------------------------------------------------


def _changes(text: str, edit: Edit) -> list[Replacement]:
    if edit.old:
        return [
            Replacement(start=match.start(), end=match.end(), new=edit.new)
            for match in fact_pattern(edit.old).finditer(text)
        ]
    if edit.sentence:
        return [
            Replacement(start=start, end=end, new=edit.instead)
            for start, end in sentence_spans(text)
            if repeats(edit.sentence, text[start:end])
        ]
    if edit.removed or edit.kept:
        wanted, listed = bool(edit.kept), edit.kept or edit.removed
        return [
            Replacement(start=start, end=end)
            for start, end in sentence_spans(text)
            if any(repeats(sentence, text[start:end]) for sentence in listed) is not wanted
        ]
    return []


def _moved(chunk: Chunk, changes: Sequence[Replacement], head: Callable[[str], str]) -> tuple[Row, ...]:
    """Rows and cells at their new offsets, without those deleted."""
    base = chunk.start_offset

    def moved(place: int) -> int:
        return place + sum(len(c.new) - (c.end - c.start) for c in changes if c.end <= place - base)

    def gone(place: Row | Cell) -> bool:
        start, end = place.start - base, place.end - base
        return any(c.start <= start and end <= c.end and not c.new for c in changes)

    made = []
    for row in chunk.rows:
        if gone(row):
            continue
        cells = tuple(
            Cell(start=moved(cell.start), end=moved(cell.end), head=head(cell.head))
            for cell in row.cells
            if not gone(cell)
        )
        start, end = moved(row.start), moved(row.end)
        made.append(msgspec.structs.replace(row, start=start, end=end, label=head(row.label), cells=cells))
    return tuple(made)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


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
_AUXILIARIES = "is|are|was|were|will|would|can|could|has|have|had|does|did|do|should|must"
_AUXILIARY = re.compile(rf"\b({_AUXILIARIES})\b(?! not\b|n['’]t)")
_NEGATED = re.compile(rf"\b({_AUXILIARIES})(?: not|n['’]t)\b")


class Swap(Record, frozen=True, kw_only=True):
    """``kind``: number, date, entity or negation. ``old`` and ``new``: the fact; for a negation, the whole
    sentence. ``claim``: what a faithful writer would now say."""

    kind: str
    old: str
    new: str
    claim: str

    @property
    def edit(self) -> Edit:
        """The edit of the context that makes it true."""
        if self.kind == "negation":
            return Edit(sentence=self.old, instead=self.new)
        return Edit(old=self.old, new=self.new)


def swap_for(
    claim: str, sentence: str, *, question: str, context: Sequence[str], seed: int = 0
) -> Swap | None:
    """Swaps one fact that ``claim`` takes from ``sentence``; the new one must not occur in ``context``."""
    everything = "\n".join([question, claim, sentence, *context])
    for kind, find, other in _KINDS:
        for old in find(claim):
            whole = fact_pattern(old)
            if not whole.search(sentence) or whole.search(question):
                continue
            for new in other(old, seed):
                if new != old and not fact_pattern(new).search(everything):
                    said = whole.sub(new.replace("\\", r"\\"), claim)
                    return Swap(kind=kind, old=old, new=new, claim=said)
    turned, said = negated(sentence), negated(claim)
    if turned and said:
        return Swap(kind="negation", old=sentence, new=turned, claim=said)
    return None


def negated(sentence: str) -> str:
    """The sentence with a "not" added or removed; "" if it has no auxiliary for it."""
    found = _NEGATED.search(sentence)
    if found:
        return sentence[: found.start()] + found[1] + sentence[found.end() :]
    found = _AUXILIARY.search(sentence)
    return f"{sentence[: found.end()]} not{sentence[found.end() :]}" if found else ""


def parity(text: str) -> bool:
    """True if the text has an odd number of negations."""
    return len(re.findall(r"\b(?:not|never|cannot)\b|n['’]t\b", text)) % 2 == 1


# --- facts and their replacements -----------------------------------------------------------------


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
    """Numbers of the same format with other digits."""
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


def _turned(words: Sequence[str], old: str, seed: int) -> Iterator[str]:
    start = blake2b(f"{seed}/{old}".encode(), digest_size=1).digest()[0]
    yield from (words[(start + step) % len(words)] for step in range(len(words)))


_KINDS: tuple[tuple[str, Callable[[str], list[str]], Callable[[str, int], Iterator[str]]], ...] = (
    ("number", _numbers, _other_number),
    ("date", _dates, _other_date),
    ("number", _small, partial(_turned, _SMALL)),
    ("entity", _entities, partial(_turned, INVENTED)),
)
