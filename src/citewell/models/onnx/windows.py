"""Reduces a premise of any length to the few windows in which to look for a claim.

In: a premise and a claim. Out: windows of the premise, each short enough to be read at once, and how much
of the premise they cover; the entailer combines them. Three kinds: single units that share most words with
the claim, three units in a row, and units that together cover the claim, joined (for scattered evidence). A
unit is a sentence, or a table row under the table's head: its title and column names, split over several
windows if too long for one. Training cuts its texts with this same function. Words are weighted by their
rarity in the premise. A short premise is one window, plus its sentences. Deliberately independent of models
and tokens: sizes are in characters, so that it can be read and tested alone.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from citewell.core.sentences import sentence_spans

_WORD = re.compile(r"\w+(?:[.,]\d+)*")
_RECORD = re.compile(r"^[^:;\n]{1,60}: \S")
_FUNCTION_WORDS = frozenset(
    (  # noqa: SIM905 - a list would be longer
        "a an and are as at be been but by did do does for from had has have he her his i in into is it "
        "its of on or our she so than that the their them then there these they this those to was we were "
        "which who will with you"
    ).split()
)


@dataclass(frozen=True, slots=True)
class Cut:
    """``windows`` contain ``read`` of the premise's ``units``: sentences, and rows under their table's head.
    A part of a head in no window counts as an unread unit."""

    windows: tuple[str, ...]
    read: int
    units: int


@dataclass(frozen=True, slots=True)
class WindowRule:
    """How a premise is cut. Lengths in characters; `singles` and `groups` limit the windows of each kind,
    `composed` the units joined in one, `heads` the parts of a table's head that are used.
    """

    singles: int = 3
    groups: int = 2
    group_size: int = 3
    composed: int = 4
    longest: int = 560
    heads: int = 3

    def windows(self, premise: str, claim: str) -> tuple[str, ...]:
        """Distinct windows; none for a premise without text."""
        return self.cut(premise, claim).windows

    def cut(self, premise: str, claim: str) -> Cut:
        """The windows, and how much of the premise they contain."""
        parts, units = _units(premise, self.longest)
        wanted = _words(claim)
        bags = [_words(part) for part in parts]
        nearest = _best(_scores(bags, _weights(bags, wanted)), self.heads)
        heads = [parts[i] for i in sorted(nearest)]
        room = self.longest - max(map(len, heads))
        chosen = self._chosen(units, wanted, room)
        return Cut(
            windows=tuple(
                dict.fromkeys(_join(head, [units[i] for i in picks]) for picks in chosen for head in heads)
            ),
            read=len({i for picks in chosen for i in picks}),
            units=len(units) + len(parts) - len(heads),
        )

    def _chosen(self, texts: Sequence[str], claim: frozenset[str], room: int) -> list[tuple[int, ...]]:
        """The units of each window, as indices in text order."""
        if len(texts) <= 1:
            return [(0,)] if texts else []
        bags = [_words(text) for text in texts]
        weight = _weights(bags, claim)
        score = _scores(bags, weight)
        if sum(map(len, texts)) <= room:
            chosen = [tuple(range(len(texts)))]
        else:
            chosen = [self._cover(bags, weight, texts, room), *self._runs(score, texts, room)]
        return chosen + [(i,) for i in _best(score, self.singles) if score[i] > 0.0]

    def _runs(self, score: Sequence[float], texts: Sequence[str], room: int) -> list[tuple[int, ...]]:
        """Runs of `group_size` units, those that cover most first."""
        runs = []
        for start in range(max(1, len(texts) - self.group_size + 1)):
            run: list[int] = []
            held = 0
            for i in range(start, min(len(texts), start + self.group_size)):
                if run and held + len(texts[i]) > room:
                    break
                run.append(i)
                held += len(texts[i])
            runs.append(tuple(run))
        value = [sum(score[i] for i in run) for run in runs]
        return [runs[i] for i in _best(value, self.groups) if value[i] > 0.0]

    def _cover(
        self, bags: Sequence[frozenset[str]], weight: dict[str, float], texts: Sequence[str], room: int
    ) -> tuple[int, ...]:
        """Greedily picks units that add most of the claim's missing words; returns them in text order."""
        missing = dict(weight)
        picked: list[int] = []
        for _ in range(self.composed):
            gains = [
                -1.0 if i in picked or len(texts[i]) > room else gain
                for i, gain in enumerate(_scores(bags, missing))
            ]
            best = max(range(len(gains)), key=lambda i: (gains[i], -i))
            if gains[best] <= 0.0:
                break
            picked.append(best)
            room -= len(texts[best])
            for word in bags[best]:
                missing.pop(word, None)
        return tuple(sorted(picked)) or (0,)


def _rows(lines: Sequence[str]) -> list[int]:
    rows = [i for i, line in enumerate(lines) if "\t" in line or _RECORD.match(line)]
    return rows if len(rows) >= 2 and len(rows) * 2 >= len(lines) else []


def _units(text: str, longest: int) -> tuple[list[str], list[str]]:
    """The parts of the head (a table's title and column names, else empty), one of which tops every window,
    and the units. Of the lines above the rows, the short ones next to them are the title; the rest is
    sentences."""
    lines = _lines(text)
    rows = _rows(lines)
    if not rows:
        return [""], [piece for a, b in sentence_spans(text) for piece in _pieces(text[a:b], longest * 2)]
    above, below = lines[: rows[0]], lines[rows[0] :]
    loose = len(above)
    while loose and len(" ".join(above[loose - 1 :])) <= longest // 3:
        loose -= 1
    # A caption too long for a title is sentences, but its beginning says what the table is.
    title = above[loose:] or [_pieces(line, longest // 3)[0] for line in above[-1:]]
    columns = _pieces(below.pop(0), longest * 2 // 3 - len(" ".join(title))) if "\t" in below[0] else [""]
    prose = "\n".join(above[:loose])
    units = [prose[a:b] for a, b in sentence_spans(prose)] + below
    heads = [" ".join(filter(None, [*title, part])) for part in columns]
    return heads, [piece for unit in units for piece in _pieces(unit, longest * 2)]


def _lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]


def _pieces(unit: str, longest: int) -> list[str]:
    """One unit, cut at white space or semicolons if it is too long to be read at once."""
    pieces, start = [], 0
    while len(unit) - start > longest:
        cut = 1 + max(unit.rfind(mark, start + 1, start + longest) for mark in " ;\t") or start + longest
        pieces.append(unit[start:cut])
        start = cut
    return [*pieces, unit[start:]]


def _join(head: str, texts: Sequence[str]) -> str:
    """Joins units by blanks or, under a table's head, one per line."""
    return "\n".join([head, *texts]) if head else " ".join(texts)


def _words(text: str) -> frozenset[str]:
    """Content words, lower-cased, without a plural or third-person s."""
    words = (word.lower() for word in _WORD.findall(text))
    return frozenset(
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
        for word in words
        if word not in _FUNCTION_WORDS
    )


def _weights(bags: Sequence[frozenset[str]], claim: frozenset[str]) -> dict[str, float]:
    found = Counter(word for bag in bags for word in bag if word in claim)
    return {word: math.log(1.0 + len(bags) / n) for word, n in found.items()}


def _scores(bags: Sequence[frozenset[str]], weight: dict[str, float]) -> list[float]:
    """Rounded once (fsum), because the order of a set's words differs between processes."""
    return [math.fsum(weight.get(word, 0.0) for word in bag) for bag in bags]


def _best(values: Sequence[float], most: int) -> list[int]:
    """Indices of the largest values; ties go to the earlier."""
    return sorted(range(len(values)), key=lambda i: (-values[i], i))[:most]
