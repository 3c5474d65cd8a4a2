"""Statements about real passages, written for the entailer's last stage.

In: written.jsonl and the sets its passages come from. Out: judged statements. A line identifies an excerpt (a
set, the hash of the text, its first sentence and how many) and holds the statements about it: "e" is true by
the excerpt alone, "c" is false by it, "n" is neither stated nor implied. True ones are mostly reworded or
combined from several sentences, untrue ones mostly use the excerpt's own words, so that shared words do not
reveal the label. A large language model wrote them, one by one, told which mistakes to make; nobody has
reviewed them. The excerpts themselves are not in the tree.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from citewell.core.sentences import sentence_spans
from training.passages import part_of, tidy
from training.sources import SourceError, load_for_training

FILE = Path(__file__).with_name("written.jsonl")
LABELS = {"e": "entailment", "n": "neutral", "c": "contradiction"}


@dataclass(frozen=True, slots=True)
class Excerpt:
    """`statements` are pairs of label and statement; `part` is that of the text the excerpt is from."""

    text: str
    name: str
    part: str
    statements: tuple[tuple[str, str], ...]


@cache
def excerpts() -> tuple[Excerpt, ...]:
    """Raises SourceError if a set no longer holds a text that statements were written about."""
    texts = {name: _texts(name) for name in written_sets()}
    found = []
    for line in _lines():
        text = texts[line["set"]].get(line["text"])
        if text is None:
            raise SourceError(
                f"{line['set']} holds no text with hash {line['text']}: {FILE.name} is of other data"
            )
        said = tuple((LABELS[label], statement) for label, statement in line["statements"])
        found.append(Excerpt(_excerpt(text, line), line["set"], part_of(text), said))
    return tuple(found)


def _excerpt(text: str, line: dict[str, Any]) -> str:
    """Sentences of a text, or lines of a table."""
    if "lines" in line:
        first, many = line["lines"]
        return "\n".join([row for row in text.splitlines() if row.strip()][first : first + many])
    first, many = line["sentences"]
    clean = tidy(re.sub(r"\s+", " ", text))
    return " ".join(clean[a:b] for a, b in sentence_spans(clean)[first : first + many])


def _texts(name: str) -> dict[str, str]:
    rows = load_for_training(name)
    field = next(f for f in ("context", "premise", "passage") if f in rows[0])
    return {text_hash(row[field]): row[field] for row in rows}


def text_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def written_sets() -> list[str]:
    """The sets whose texts the statements are about; does not read them."""
    return sorted({line["set"] for line in _lines()})


@cache
def _lines() -> tuple[dict[str, Any], ...]:
    return tuple(json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines())


def judged(part: str) -> Iterator[tuple[str, str, str]]:
    """Excerpt, statement and label."""
    for excerpt in excerpts():
        if excerpt.part == part:
            for label, statement in excerpt.statements:
                yield excerpt.text, statement, label
