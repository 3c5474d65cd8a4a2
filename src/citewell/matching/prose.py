"""Answers that stand in sentences: the extractor's spans, widened to whole sentences.

In: what is wanted, passages, an extractor. Out: :class:`SentenceAnswer` values, best first, with
document offsets. A sentence that opens with a pronoun keeps the one it refers to. Sentences that
speak of another period, or give no number where one is asked, are left out. Writes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from citewell.matching.line_items import items_in, label_words
from citewell.matching.naming import calendar, of_the_named, period_held
from citewell.matching.periods import Period, covers, periods_in
from citewell.matching.questions import Ask, Wanted, operands
from citewell.ports import Extractor, Reading
from citewell.records import Passage, Record
from citewell.sentences import sentence_spans

MAX_SENTENCES = 3
SIMILAR = 0.85
MIN_PROBABILITY = 0.2
STRICT_PERIOD = 0.35

_PRONOUN = re.compile(
    r"(?:It|They|This|These|Those|That|Such|He|She|Its|Their|His|Her|Both|Neither|The (?:former|latter|same)|"
    r"There(?:fore|after|by)|As a result|In addition|However|Instead|Otherwise|Also|Then)\b"
)
_NUMBER = re.compile(
    r"(?<![A-Za-z\d])\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|million|"
    r"billion|half|third|quarter|twice|no|none|zero|double[ds]?|once|several|daily|weekly|monthly|annually|never)\b",
    re.I,
)
_DATE = re.compile(
    r"\b(?:1\d|20)\d\d\b|\b\d{1,2}[:/.]\d|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\b|"
    r"\b\d+ (?:day|week|month|year|hour|minute)",
    re.I,
)
_COMPARED = re.compile(r"\b(?:compared (?:to|with)|versus|vs\.?|than|since|(?:up|down) from)\b", re.I)
_ENDING = re.compile(r"[.!?:;)”\"’]$|\.\s?\(?\d{1,2}\)?$")
_FOOTNOTE = re.compile(r"^\W*\(?\d{1,2}\)?\s+")
_PERSON = re.compile(r"\b[A-Z][a-z]")
_NEEDS = {Ask.NUMBER: _NUMBER, Ask.WHEN: _DATE, Ask.WHO: _PERSON}


class SentenceAnswer(Record, frozen=True, kw_only=True):
    """``[start, end)`` in the document; ``probability`` that it answers, the extractor's own."""

    passage: Passage
    start: int
    end: int
    text: str
    probability: float


def find_sentences(
    wanted: Wanted,
    passages: Sequence[Passage],
    extractor: Extractor,
    *,
    max_no_answer: float,
    limit: int = MAX_SENTENCES,
) -> list[SentenceAnswer]:
    """At most ``limit`` sentences, best first, from passages whose no-answer probability is at most
    ``max_no_answer``; near-equal sentences once."""
    mine = [passage for passage in of_the_named(wanted, passages) if _periods_fit(wanted, passage)]
    if not mine:
        return []
    readings = extractor.extract(wanted.question, [passage.chunk.in_context for passage in mine])
    found: list[SentenceAnswer] = []
    for passage, reading in zip(mine, readings, strict=True):
        if reading.no_answer <= max_no_answer:
            found += _widened(wanted, passage, reading)
    found.sort(key=lambda answer: -round(answer.probability, 6))
    kept: list[SentenceAnswer] = []
    for answer in found:
        if answer.probability < MIN_PROBABILITY:
            break
        near_best = not kept or answer.probability >= 0.5 * kept[0].probability
        if near_best and not any(_alike(answer, other) for other in kept):
            kept.append(answer)
        if len(kept) == limit:
            break
    return kept


def _widened(wanted: Wanted, passage: Passage, reading: Reading) -> list[SentenceAnswer]:
    content, base = passage.chunk.content, passage.chunk.start_offset
    # The context was read too, because a sentence seldom names its company; it is never quoted.
    shift = len(passage.chunk.in_context) - len(content)
    spans = sentence_spans(content)
    inside_text = [candidate for candidate in reading.candidates if candidate.end > shift]
    total = sum(candidate.probability for candidate in inside_text) or 1.0
    best: dict[tuple[int, int], float] = {}
    for at, (start, end) in enumerate(spans):
        inside = [
            candidate.probability
            for candidate in inside_text
            if start + shift < candidate.end and candidate.start < end + shift
        ]
        if inside:
            # Spans compete for one answer; a sentence has what its spans have together.
            window = _with_antecedent(content, spans, at)
            shared = (1.0 - reading.no_answer) * sum(inside) / total
            best[window] = max(best.get(window, 0.0), shared)
    return [
        SentenceAnswer(
            passage=passage,
            start=base + start,
            end=base + end,
            text=content[start:end],
            probability=probability * fit,
        )
        for (start, end), probability in best.items()
        if (fit := _fits(wanted, passage, content[start:end])) > 0.0
    ]


def _with_antecedent(content: str, spans: Sequence[tuple[int, int]], at: int) -> tuple[int, int]:
    """The sentence with the one before it, when it opens with a pronoun and they share a paragraph."""
    end = spans[at][1]
    first = at
    while first and at - first < 2 and _PRONOUN.match(content, spans[first][0]):
        if "\n" in content[spans[first - 1][1] : spans[first][0]]:
            break
        first -= 1
    return spans[first][0], end


def _fits(wanted: Wanted, passage: Passage, text: str) -> float:
    """1 when the sentence may answer, less when its period is only what the company may call it, 0 not."""
    if not _complete(text, passage):
        return 0.0
    named = periods_in(text)
    plain = _without(_FOOTNOTE.sub("", text), named)
    needs = _NEEDS.get(wanted.ask)
    if needs and not needs.search(text if wanted.ask is Ask.WHEN else plain):
        return 0.0
    if wanted.by_cell and not _states_value(wanted, plain):
        return 0.0
    named = _not_compared(text, named)
    if not wanted.periods or not named:
        return 0.0 if wanted.by_cell and wanted.periods else 1.0
    known = calendar(passage.chunk)
    best = max(covers(found, asked, known) for found in named for asked in wanted.periods)
    if wanted.by_cell:
        return best if best > STRICT_PERIOD else 0.0
    years = {asked.year for asked in wanted.periods}
    return max(0.5 + 0.5 * best if best else 0.0, 0.8 if any(p.year in years for p in named) else 0.0)


def _not_compared(text: str, named: Sequence[Period]) -> tuple[Period, ...]:
    """The periods a sentence speaks of: "rose to 5 compared to 4 in fiscal 2021" is not about 2021."""
    compared = _COMPARED.search(text)
    return tuple(found for found in named if compared is None or found.start < compared.start())


def _complete(text: str, passage: Passage) -> bool:
    """A whole sentence or a bulleted statement; not a row, a heading or a question."""
    bare = text.strip()
    if "\t" in bare or len(bare.split()) < 4 or bare.endswith("?"):
        return False
    if not (_ENDING.search(bare) or bare.startswith(("•", "-", "–", "*"))):
        return False
    return bare.rstrip(".").casefold() not in {
        part.rstrip(".").casefold() for part in passage.chunk.section_path
    }


def _states_value(wanted: Wanted, plain: str) -> bool:
    """A value is asked for: the sentence gives a number, its period's apart, and speaks of the item."""
    said = {mention.name for mention in items_in(plain)}
    return bool(re.search(r"\d", plain)) and bool(said.intersection(operands(wanted)))


def _without(text: str, named: Sequence[Period]) -> str:
    for found in reversed(named):
        text = text[: found.start] + " " + text[found.end :]
    return text


def _periods_fit(wanted: Wanted, passage: Passage) -> bool:
    return not wanted.periods or any(period_held(asked, passage.chunk) for asked in wanted.periods)


@lru_cache(maxsize=4096)
def _words(text: str) -> frozenset[str]:
    return frozenset(label_words(text))


def _alike(one: SentenceAnswer, other: SentenceAnswer) -> bool:
    a, b = _words(one.text), _words(other.text)
    overlapping = (
        one.passage.chunk.document_version == other.passage.chunk.document_version
        and one.start < other.end
        and other.start < one.end
    )
    return overlapping or len(a & b) >= SIMILAR * max(1, min(len(a), len(b)))
