"""Where a question asks for several things: a tagger over its words, taught by written questions.

In: a question. Out: its parts as questions, two or more, or none. The words before the first part and behind
the last belong to every part; connectors belong to none; a question word alone ("... and when?") asks about
the first part. A linear chain of labels, decoded exactly (Collins 2002); weights, how they were made and how
often they are right: `splitting.json`, `python -m training.splitting`. Same question, same parts. Knows
nothing about names, periods or documents.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

WEIGHTS = Path(__file__).with_name("splitting.json")
MOST_WORDS = 150
"""A longer question stays whole."""
HEAD, FIRST, MORE_OF_FIRST, BETWEEN, NEXT, MORE_OF_NEXT, ALONE, MORE_ALONE, TAIL = LABELS = tuple(range(9))
_FOLLOWS = {
    HEAD: (HEAD, FIRST),
    FIRST: (MORE_OF_FIRST, BETWEEN),
    MORE_OF_FIRST: (MORE_OF_FIRST, BETWEEN),
    BETWEEN: (BETWEEN, NEXT, ALONE),
    NEXT: (MORE_OF_NEXT, BETWEEN, TAIL),
    MORE_OF_NEXT: (MORE_OF_NEXT, BETWEEN, TAIL),
    ALONE: (MORE_ALONE, BETWEEN, TAIL),
    MORE_ALONE: (MORE_ALONE, BETWEEN, TAIL),
    TAIL: (TAIL,),
}
_BEFORE = {label: [one for one in LABELS if label in _FOLLOWS[one]] for label in LABELS}
_BEGINS, _ENDS = (HEAD, FIRST), (HEAD, NEXT, MORE_OF_NEXT, ALONE, MORE_ALONE, TAIL)
_TOKEN = re.compile(r"\w+(?:[-'’./]\w+)*|[^\w\s]")
_CLASSES = {
    word: name
    for name, words in {
        "wh": "what who whom whose which when where why how what's who's where's when's how's whats",
        "aux": "is are was were do does did can could may might must shall should will would has have had am "
        "isn't aren't don't doesn't",
        "det": "the a an any all each every both this that these those its their his her our my your",
        "prep": "of for in on at by with from to during under over per after before between without about into",
        "conj": "and or plus as nor but",
        "pron": "it they he she i we you them him me us there one",
        "sub": "if because while unless until since although so than",
    }.items()
    for word in words.split()
}
_JOINS = frozenset((",", ";", "and", "or", "&", "+", "plus", "/"))


@dataclass(frozen=True, slots=True)
class Word:
    text: str
    start: int
    end: int


def words_of(question: str) -> list[Word]:
    return [Word(found[0].lower(), found.start(), found.end()) for found in _TOKEN.finditer(question)]


def features(words: Sequence[Word], question: str) -> list[list[str]]:
    """Of each word, what the tagger looks at: words and kinds of words around it, and where the question
    joins things."""
    said = [word.text for word in words]
    kinds = [_kind(word, question) for word in words]
    joins = [at for at, text in enumerate(said) if text in _JOINS]
    asks = [at for at, kind in enumerate(kinds) if kind in ("wh", "aux")]

    def word(at: int) -> str:
        return said[at] if 0 <= at < len(said) else "<>"

    def kind(at: int) -> str:
        return kinds[at] if 0 <= at < len(said) else "<>"

    rows = []
    for i, text in enumerate(said):
        before = sum(at < i for at in joins)
        after = [at for at in joins if at > i]
        rows.append(
            [
                "",
                f"w {text}",
                f"-1 {word(i - 1)}",
                f"+1 {word(i + 1)}",
                f"-2 {word(i - 2)}",
                f"+2 {word(i + 2)}",
                f"w+ {text} {word(i + 1)}",
                f"-w {word(i - 1)} {text}",
                f"k {kind(i - 1)} {kind(i)} {kind(i + 1)}",
                f"k- {kind(i - 2)} {kind(i - 1)} {kind(i)}",
                f"k+ {kind(i)} {kind(i + 1)} {kind(i + 2)}",
                f"kk {kind(i - 1)} {kind(i)} {kind(i + 1)} {kind(i + 2)} {kind(i + 3)}",
                f"end {text[-3:]} {kind(i)}",
                f"at {min(i, 3)} {min(len(said) - 1 - i, 2)} {kind(i)}",
                f"joins {min(before, 2)} {min(len(after), 2)} {kind(i)}",
                f"first {word(0)} {kind(i)} {min(before, 2)}",
                f"starts {kind(0)} {kind(1)} {kind(i)} {min(before, 2)} {min(len(after), 2)}",
                f"again {word(i + 1) in said[:i]} {text in said[:i]} {kind(i)} {min(before, 1)}",
                f"asks {bool(after) and any(at > after[0] for at in asks)} {kind(i)} {min(before, 2)}",
                f"asked {bool(after) and kind(after[0] + 1)} {kind(i)} {min(before, 2)}",
                f"comma {',' in said[:i]} {',' in said[i:]} {kind(i)} {min(before, 2)}",
            ]
        )
    return rows


def _kind(word: Word, question: str) -> str:
    text = word.text
    if text in _JOINS:
        return text
    if found := _CLASSES.get(text):
        return found
    if not text[0].isalnum():
        return text if text in "?.()" else "mark"
    if any(character.isdigit() for character in text):
        return "number"
    return "Name" if question[word.start].isupper() and word.start else "word"


@dataclass(frozen=True, slots=True)
class Tagger:
    """``weights`` of each feature by label; ``steps`` by the label before and the label."""

    weights: Mapping[str, Sequence[float]]
    steps: Sequence[Sequence[float]]

    def labels(self, rows: Sequence[Sequence[str]]) -> list[int]:
        """The likeliest chain for these words; () for none."""
        if not rows:
            return []
        never = float("-inf")
        best = [score if label in _BEGINS else never for label, score in enumerate(self._scores(rows[0]))]
        came: list[list[int]] = []
        for row in rows[1:]:
            scores, now, back = self._scores(row), [never] * len(LABELS), [0] * len(LABELS)
            for label in LABELS:
                back[label] = max(_BEFORE[label], key=lambda one: best[one] + self.steps[one][label])
                now[label] = best[back[label]] + self.steps[back[label]][label] + scores[label]
            best = now
            came.append(back)
        found = [max(_ENDS, key=lambda label: best[label])]
        for back in reversed(came):
            found.append(back[found[-1]])
        return found[::-1]

    def _scores(self, row: Sequence[str]) -> list[float]:
        scores = [0.0] * len(LABELS)
        for name in row:
            for label, weight in enumerate(self.weights.get(name, ())):
                scores[label] += weight
        return scores


def split(question: str) -> tuple[str, ...]:
    """The parts, each a question of its own; () where it asks for one thing."""
    words = words_of(question)
    if not 2 < len(words) <= MOST_WORDS:
        return ()
    labels = tagger().labels(features(words, question))
    runs = list(_runs(words, labels))
    if len(runs) < 2:
        return ()
    head = question[: runs[0][1]]
    tail = question[runs[-1][2] :]
    first = question[runs[0][1] : runs[0][2]]
    parts = []
    for alone, start, end in runs:
        said = question[start:end]
        whole = f"{said} {_without_its_question_word(first)}{tail}" if alone else f"{head}{said}{tail}"
        whole = " ".join(whole.split())
        parts.append(whole if whole.endswith("?") or not question.rstrip().endswith("?") else f"{whole}?")
    return tuple(parts)


def _runs(words: Sequence[Word], labels: Sequence[int]) -> Iterator[tuple[bool, int, int]]:
    """Of each part whether it is a question word alone, and its place."""
    open_: tuple[bool, int, int] | None = None
    for word, label in zip(words, labels, strict=True):
        if label in (FIRST, NEXT, ALONE):
            if open_:
                yield open_
            open_ = (label == ALONE, word.start, word.end)
        elif label in (MORE_OF_FIRST, MORE_OF_NEXT, MORE_ALONE) and open_:
            open_ = (open_[0], open_[1], word.end)
    if open_:
        yield open_


def _without_its_question_word(clause: str) -> str:
    words = words_of(clause)
    at = next((i for i, word in enumerate(words[:3]) if _CLASSES.get(word.text) == "wh"), None)
    return clause if at is None or at + 1 == len(words) else clause[words[at + 1].start :]


@cache
def tagger() -> Tagger:
    stored = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return Tagger(stored["weights"], stored["steps"])
