"""Passages as they would be if a source said something else, or nothing.

In: passages and an :class:`Edit`. Out: the edited passages, their table rows moved along; those of which
nothing is left are gone. Sentences are the unit: a row of a table is one. Only the probe sees what comes
out: no edited text is ever stored as evidence. Knows nothing about writers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import msgspec

from citewell.core.records import Cell, Chunk, Passage, Record, Row
from citewell.core.sentences import sentence_spans
from citewell.verification.lexicon import STOP

_WORD = re.compile(r"[^\W_]+")
_ALIKE, _FEWEST = 0.8, 5
"""Sentences that share so much of their words, with the same digits, say the same; shorter ones only when
they are equal."""


class Replacement(Record, frozen=True, kw_only=True):
    """``[start, end)`` of a text becomes ``new``."""

    start: int
    end: int
    new: str = ""


class Edit(Record, frozen=True, kw_only=True):
    """What is done to every text of a context. ``heads`` also to its titles and column heads: a changed fact
    is changed there too. ``added`` are passages set beside the others. Two edits that do the same are
    equal."""

    removed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    old: str = ""
    new: str = ""
    sentence: str = ""
    instead: str = ""
    added: tuple[Passage, ...] = ()


NONE = Edit()


def removing(sentences: Sequence[str]) -> Edit:
    """These sentences, and every one that repeats them, are gone."""
    return Edit(removed=tuple(sentences))


def keeping(sentences: Sequence[str]) -> Edit:
    """Only these sentences, and those that repeat them, are left."""
    return Edit(kept=tuple(sentences))


def exchanging(old: str, new: str) -> Edit:
    """A fact becomes another wherever it stands."""
    return Edit(old=old, new=new)


def rewording(sentence: str, instead: str) -> Edit:
    """A sentence, and every one that repeats it, becomes another."""
    return Edit(sentence=sentence, instead=instead)


def edited(passages: Sequence[Passage], edit: Edit) -> tuple[Passage, ...]:
    """The passages that are left, in order, and behind them what is added."""
    made = []
    for passage in passages:
        chunk = edited_chunk(passage.chunk, edit)
        if chunk is not None:
            made.append(msgspec.structs.replace(passage, chunk=chunk))
    return (*made, *edit.added)


def edited_chunk(chunk: Chunk, edit: Edit) -> Chunk | None:
    """None when no word of its content is left."""
    changes = _changes(chunk.content, edit)
    heads = _facts(edit) if edit.old else None
    if not changes and heads is None:
        return chunk
    content = applied(chunk.content, changes)
    if not _WORD.search(content):
        return None
    changed = msgspec.structs.replace(
        chunk,
        content=content,
        end_offset=chunk.start_offset + len(content),
        rows=_moved(chunk, changes, heads),
    )
    if heads is None:
        return changed
    return msgspec.structs.replace(changed, context=heads(chunk.context), title=heads(chunk.title))


def applied(text: str, changes: Sequence[Replacement]) -> str:
    """``text`` after replacements that do not overlap, in order."""
    made, at = [], 0
    for change in changes:
        made += [text[at : change.start], change.new]
        at = change.end
    return "".join([*made, text[at:]])


def sentences_of(text: str) -> list[str]:
    """Its sentences as they stand."""
    return [text[start:end] for start, end in sentence_spans(text)]


def repeats(one: str, other: str) -> bool:
    """Whether two sentences say the same in nearly the same words: equal, one within the other, or sharing
    most words and every digit."""
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
    """A number, date or name as a whole: not within a longer word or number."""
    return re.compile(rf"(?<![\w])(?<!\d[.,]){re.escape(fact)}(?!\w)(?![.,]\d)")


# --- inside ---------------------------------------------------------------------------------------


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


def _facts(edit: Edit) -> Callable[[str], str]:
    pattern = fact_pattern(edit.old)
    return lambda text: pattern.sub(lambda _: edit.new, text)


def _moved(
    chunk: Chunk, changes: Sequence[Replacement], heads: Callable[[str], str] | None
) -> tuple[Row, ...]:
    """Rows and cells at their new offsets, without those whose text is gone."""
    base = chunk.start_offset

    def moved(place: int) -> int:
        at = place - base
        shift = sum(len(c.new) - (c.end - c.start) for c in changes if c.end <= at)
        return base + at + shift

    def gone(start: int, end: int) -> bool:
        return any(c.start <= start - base and end - base <= c.end and not c.new for c in changes)

    def label(row: Row) -> str:
        return heads(row.label) if heads else row.label

    made = []
    for row in chunk.rows:
        if gone(row.start, row.end):
            continue
        cells = tuple(
            Cell(start=moved(cell.start), end=moved(cell.end), head=heads(cell.head) if heads else cell.head)
            for cell in row.cells
            if not gone(cell.start, cell.end)
        )
        made.append(
            msgspec.structs.replace(
                row, start=moved(row.start), end=moved(row.end), label=label(row), cells=cells
            )
        )
    return tuple(made)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
