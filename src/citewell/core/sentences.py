"""Stretches of canonical text, as offsets: its sentences, used wherever text is windowed or quoted; its
tokens, as the embedded tokenizer defines them for this project; and those that a caller found, which must not
overlap.

In: text. Out: half-open ranges in order, never overlapping, without surrounding white space. A line break
always ends a sentence, and a line with a tab is a table row, which is one sentence: readers write each
paragraph as one line (see :class:`citewell.core.records.Document`). Within a line, `syntok` decides. Knows
nothing about documents.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol, TypeVar

import syntok.segmenter as segmenter

from citewell.core.weights import WEIGHTS, checked_bytes, read_card

if TYPE_CHECKING:
    from tokenizers import Tokenizer


_LINE = re.compile(r"[^\n]+")
_LONG = 2_000
_LONGEST_LIST = 100
ITEM = re.compile(
    r"[ \t]*(?:(?P<bullet>[-*•‣◦▪–])|(?P<number>\(?\d{1,3}[.)])|"
    r"(?P<letter>\(?(?:[a-zA-Z]|[ivx]{1,4})[.)]))[ \t]+"
)
"""The marker that begins a list item, by kind."""


@lru_cache(maxsize=4096)
def sentence_spans(text: str) -> tuple[tuple[int, int], ...]:
    """The sentences of ``text`` as ``(start, end)``; whitespace-only text has none."""
    spans: list[tuple[int, int]] = []
    for line in _LINE.finditer(text):
        start, end = trimmed(text, line.start(), line.end())
        if start >= end:
            continue
        if "\t" in text[start:end]:
            spans.append((start, end))
        else:
            spans.extend(_within(text, start, end))
    return tuple(spans)


def next_on_line(text: str, end: int) -> tuple[int, int] | None:
    """The sentence that begins at or behind ``end`` on its line."""
    after = next((span for span in sentence_spans(text) if span[0] >= end), None)
    return None if after is None or "\n" in text[end : after[0]] else after


def line_span(text: str, start: int, end: int | None = None) -> tuple[int, int]:
    """The line or lines that contain ``[start, end)``, without the final line break."""
    stop = text.find("\n", start if end is None else end)
    return text.rfind("\n", 0, start) + 1, len(text) if stop < 0 else stop


def list_lead(text: str, at: int) -> tuple[int, int] | None:
    """The line, ending in a colon, that introduces the list with ``at`` in an item; None outside a list and
    if no line introduces it. An item of the same kind that ends in a colon introduces a list of its own."""
    start = text.rfind("\n", 0, at) + 1
    own = ITEM.match(text, start)
    if own is None:
        return None
    for _ in range(_LONGEST_LIST):
        end = start - 1
        if end <= 0:
            return None
        start = text.rfind("\n", 0, end) + 1
        above = ITEM.match(text, start)
        if text[end - 1] in ":：" and (above is None or above.lastgroup != own.lastgroup):
            return start, end
        if above is None:
            return None
    return None


def _within(text: str, start: int, end: int) -> list[tuple[int, int]]:
    line = text[start:end]
    borders = [
        sentence[0].offset for paragraph in segmenter.analyze(line) for sentence in paragraph if sentence
    ]
    if not borders:
        return [(start, end)]
    borders[0] = 0
    cuts = [*borders, len(line)]
    spans = []
    for left, right in itertools.pairwise(cuts):
        a, b = trimmed(text, start + left, start + right)
        if a < b:
            spans.extend(_pieces(text, a, b))
    return spans


def _pieces(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Cuts a "sentence" of more than 2,000 characters at white space."""
    pieces = []
    while end - start > _LONG:
        cut = text.rfind(" ", start + _LONG // 2, start + _LONG)
        cut = cut if cut > start else start + _LONG
        pieces.append(trimmed(text, start, cut))
        start, end = trimmed(text, cut, end)
    return [*pieces, (start, end)]


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """``[start, end)`` without the white space at its ends."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


@lru_cache(maxsize=1)
def _tokenizer() -> Tokenizer:
    from tokenizers import Tokenizer

    folder = WEIGHTS / "embedder"
    vocabulary = checked_bytes(folder / "tokenizer.json", read_card(folder))
    tokenizer = Tokenizer.from_str(vocabulary.decode("utf-8"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    return tokenizer


def token_spans(text: str) -> list[tuple[int, int]]:
    """Offsets of each token of ``text``, in code points."""
    return list(_tokenizer().encode(text, add_special_tokens=False).offsets)


def count_tokens_each(texts: list[str]) -> list[int]:
    """The number of tokens of each text."""
    encode = _tokenizer().encode_batch_fast
    # Some at a time: an encoding takes far more memory than its text.
    some = (texts[at : at + 1_000] for at in range(0, len(texts), 1_000))
    return [len(found.ids) for part in some for found in encode(part, add_special_tokens=False)]


# --- stretches that somebody found ---------------------------------------------------------------


class HasSpan(Protocol):
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


_S = TypeVar("_S", bound=HasSpan)


def with_free(taken: list[_S], found: Iterable[_S]) -> list[_S]:
    """``taken`` and those of ``found`` that overlap neither it nor one kept earlier. Both are in order."""
    starts = [one.start for one in taken]
    free: list[_S] = []
    last = 0
    for one in found:
        at = bisect_left(starts, one.end)  # those before it begin before this one ends
        if one.start >= last and not (at and taken[at - 1].end > one.start):
            free.append(one)
            last = one.end
    return sorted([*taken, *free], key=lambda one: one.start) if free else taken


def blanked(text: str, found: Iterable[HasSpan]) -> str:
    """``text`` with each of ``found``, which do not overlap, replaced by a space."""
    kept, end = [], 0
    for one in sorted(found, key=lambda one: one.start):
        kept.append(text[end : one.start])
        end = one.end
    return " ".join([*kept, text[end:]])


def bytes_before(text: str) -> list[int]:
    """For each position of ``text``, its end included, the bytes of UTF-8 before it."""
    return [0, *itertools.accumulate(len(letter.encode()) for letter in text)]


class Places:
    """Possibly overlapping ranges, merged; ``place in places`` is True if one contains it."""

    def __init__(self, ranges: Iterable[tuple[int, int]]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(ranges):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            elif end > start:
                self._starts.append(start)
                self._ends.append(end)

    def __contains__(self, place: int) -> bool:
        at = bisect_right(self._starts, place) - 1
        return at >= 0 and place < self._ends[at]
