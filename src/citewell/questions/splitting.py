"""Split a question that asks for several things, with a tagger over its words trained on written questions.

In: a question. Out: its parts as questions, two or more, or none. The words before the first part and after
the last belong to every part; connectors belong to none; a question word alone ("... and when?") asks about
the first part. A linear-chain tagger with exact decoding (Collins 2002); its weights, training and accuracy:
`splitting.json`, `python -m training.splitting`. Deterministic. Independent of names, periods and documents.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

WEIGHTS = Path(__file__).with_name("splitting.json")
MOST_WORDS = 150
"""A longer question is not split."""
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
_TOKEN = re.compile(r"\w+(?:[-'’./&]\w+)*|[^\w\s]")
_CLASSES = {
    word: name
    for name, words in {
        "wh": "what who whom whose which when where why how what's who's where's when's how's whats",
        "aux": "is are was were do does did can could may might must shall should will would has have had am "
        "isn't aren't don't doesn't",
        "det": "the a an any all each every both this that these those its their his her our my your",
        "prep": "of for in on at by with from to during under over per after before between without about "
        "into",
        "conj": "and or plus as nor but",
        "pron": "it they he she i we you them him me us there one",
        "sub": "if because while unless until since although so than",
    }.items()
    for word in words.split()
}
_BOTH = re.compile(r"^both\s+", re.I)
_PLURAL = re.compile(r"(?<=^what )(?:are|were)\b", re.I)
_SINGULAR = {"are": "is", "were": "was"}
_JOINS = frozenset((",", ";", "and", "or", "&", "+", "plus", "/"))


@dataclass(frozen=True, slots=True)
class QuestionWord:
    text: str
    start: int
    end: int


def tokenize_question(question: str) -> list[QuestionWord]:
    return [QuestionWord(found[0].lower(), found.start(), found.end()) for found in _TOKEN.finditer(question)]


def features(words: Sequence[QuestionWord], question: str) -> list[list[str]]:
    """The tagger's features for each word: words and word classes around it, and the positions of
    connectors."""
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


def _kind(word: QuestionWord, question: str) -> str:
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
    """``weights``: each feature's weight per label; ``steps``: transition weights, by previous label and
    label. ``surer``: the margin per word by which the best split must beat no split."""

    weights: Mapping[str, Sequence[float]]
    steps: Sequence[Sequence[float]]
    surer: float = 0.0

    def labels(self, rows: Sequence[Sequence[str]]) -> list[int]:
        """The highest-scoring sequence, one label per word."""
        if not rows:
            return []
        never = float("-inf")
        table = [self._scores(row) for row in rows]
        best = [score if label in _BEGINS else never for label, score in enumerate(table[0])]
        came: list[list[int]] = []
        for scores in table[1:]:
            now, back = [never] * len(LABELS), [0] * len(LABELS)
            for label in LABELS:
                back[label] = max(_BEFORE[label], key=lambda one: best[one] + self.steps[one][label])
                now[label] = best[back[label]] + self.steps[back[label]][label] + scores[label]
            best = now
            came.append(back)
        found = [max(_ENDS, key=lambda label: best[label])]
        if self.surer and found != [HEAD]:
            whole = sum(scores[HEAD] for scores in table) + (len(rows) - 1) * self.steps[HEAD][HEAD]
            if best[found[0]] - whole < self.surer * len(rows):
                return [HEAD] * len(rows)
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
    """The parts, each a question of its own; () if it asks for one thing."""
    words = tokenize_question(question)
    if not 2 < len(words) <= MOST_WORDS:
        return ()
    parts = _parts(words, tagger().labels(features(words, question)))
    if len(parts) < 2:
        return ()
    joined = all(
        any(word.text in _JOINS for word in words if before[-1].end <= word.start < part[0].start)
        for before, part in pairwise(parts)
    )
    if not joined:
        return ()
    head, tail = question[: parts[0][0].start], question[parts[-1][-1].end :]
    clauses = not head.strip() and _asks(parts[0]) and _asks(parts[-1])
    if clauses and any(word.text[0].isalnum() for word in tokenize_question(tail)):
        # A full clause extends to the end.
        parts[-1] = [word for word in words if word.start >= parts[-1][0].start and word.text[0].isalnum()]
        tail = question[parts[-1][-1].end :]
    first = question[parts[0][0].start : parts[0][-1].end]
    found = []
    for part in parts:
        said = question[part[0].start : part[-1].end]
        if part is not parts[0] and _only_asks(part):
            said = f"{said} {_without_its_question_word(first)}{tail}"
        else:
            said = f"{_agreeing(head, said)}{_BOTH.sub('', said)}{tail}"
        said = " ".join(said.split())
        found.append(said if said.endswith("?") or not question.rstrip().endswith("?") else f"{said}?")
    return tuple(found)


def _parts(words: Sequence[QuestionWord], labels: Sequence[int]) -> list[list[QuestionWord]]:
    """The words of each part."""
    parts: list[list[QuestionWord]] = []
    for word, label in zip(words, labels, strict=True):
        if label in (FIRST, NEXT, ALONE):
            parts.append([word])
        elif label in (MORE_OF_FIRST, MORE_OF_NEXT, MORE_ALONE) and parts:
            parts[-1].append(word)
    return parts


def _asks(part: Sequence[QuestionWord]) -> bool:
    return any(_CLASSES.get(word.text) in ("wh", "aux") for word in part[:2])


def _only_asks(part: Sequence[QuestionWord]) -> bool:
    """Whether the part only asks about what came before: "when", "by whom", "at what time"."""
    kinds = [_CLASSES.get(word.text) for word in part]
    return "wh" in kinds and len(part) <= 4 and not {"aux", "pron", "det"} & {*kinds}


def _agreeing(head: str, said: str) -> str:
    """``head``, with "What are the" changed to "What is the" before a singular."""
    return head if said.endswith("s") else _PLURAL.sub(lambda found: _SINGULAR[found[0].lower()], head)


def _without_its_question_word(clause: str) -> str:
    """``clause`` from its verb: "did he get" for "which tablet did he get", "founded" for "who founded"."""
    words = tokenize_question(clause)
    kinds = [_CLASSES.get(word.text) for word in words]
    asks = kinds.index("wh") if "wh" in kinds[:3] else -1
    verb = kinds.index("aux", asks + 1) if asks >= 0 and "aux" in kinds[asks + 1 :] else asks + 1
    return clause[words[verb].start :] if asks >= 0 and verb < len(words) else clause


@cache
def tagger() -> Tagger:
    stored = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return Tagger(stored["weights"], stored["steps"], stored["surer"])
