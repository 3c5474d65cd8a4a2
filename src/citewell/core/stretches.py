"""Non-overlapping stretches of a text: selected in order, and looked up by position; positions in bytes.

In: objects with a start and an end. Out: those that do not overlap, and whether a position lies in one.
No pairwise comparison: a text may hold a hundred thousand of them. Knows nothing about texts.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import accumulate
from typing import Protocol, TypeVar


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
    return [0, *accumulate(len(letter.encode()) for letter in text)]


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
