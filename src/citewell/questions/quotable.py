"""What of a passage can be quoted: a sentence with the one its pronoun refers to, a line with the words that
lead up to it, and the heading that either stands under.

In: a chunk and what an extractor points at in it. Out: stretches of its content. Knows nothing about
questions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from citewell.core.ports import Reading
from citewell.core.records import Chunk, Record
from citewell.core.sentences import list_lead, sentence_spans

MOST_LED, MOST_LED_CHARACTERS = 4, 400
"""Lines between a line and the words that lead up to it, and characters of it all."""
LEAST_SENTENCE, LEAST_LINE = 4, 6
"""Words of a sentence; and of a line that no full stop ends, in a text without pages: on a page it may be the
torn half of one."""

_PRONOUN = re.compile(
    r"(?:It|They|This|These|Those|That|Such|He|She|Its|Their|His|Her|Both|Neither|The (?:former|latter|same)|"
    r"There(?:fore|after|by)|As a result|In addition|However|Instead|Otherwise|Also|Then)\b"
)
_ENDING = re.compile(r"[.!?:;)”\"’]$|\.\s?\(?\d{1,2}\)?$")
_BULLETS = ("•", "-", "–", "*")
MAX_HEADING = 80
_LEADS = re.compile(r"[:：]$|\bfor example,?$", re.I)


class Pointed(Record, frozen=True, kw_only=True):
    """``[start, end)`` in the chunk's content, and the line that leads up to it from further above; ``share``
    of an answer's probability."""

    start: int
    end: int
    share: float
    lead: tuple[int, int] | None = None


def pointed_at(chunk: Chunk, reading: Reading) -> list[Pointed]:
    """Stretches that hold spans of ``reading``, in the order they stand; each stretch once."""
    content = chunk.content
    # The context was read too, because a sentence seldom names its company; it is never quoted.
    shift = len(chunk.in_context) - len(content)
    inside = [span for span in reading.candidates if span.end > shift]
    total = sum(span.probability for span in inside) or 1.0
    spans = sentence_spans(content)
    best: dict[tuple[int, int], Pointed] = {}
    for at, (start, end) in enumerate(spans):
        mine = [span for span in inside if start + shift < span.end and span.start < end + shift]
        if not mine:
            continue
        # Spans compete for one answer; a stretch has what its spans have together.
        share = (1.0 - reading.no_answer) * sum(span.probability for span in mine) / total
        found = _stretch(chunk, spans, at, share)
        if found is not None and share > (
            best[key].share if (key := (found.start, found.end)) in best else 0.0
        ):
            best[key] = found
    return list(best.values())


def _stretch(chunk: Chunk, spans: Sequence[tuple[int, int]], at: int, share: float) -> Pointed | None:
    """The sentence with what it refers to, or the line with what leads up to it; None for what is neither."""
    content = chunk.content
    start, end = spans[at]
    text = content[start:end]
    if "\t" in text or text.endswith("?") or _heads(text, chunk):
        return None
    last = _led(content, spans, at) if _LEADS.search(text) else end
    if lead := list_lead(content, start):
        between = content[lead[1] : start].strip()
        return Pointed(
            start=start if between else lead[0], end=last, share=share, lead=lead if between else None
        )
    words, ended = len(text.split()), bool(_ENDING.search(text)) or text.startswith(_BULLETS)
    first = _lead(content, spans, at) if not ended else None
    whole = (words >= LEAST_SENTENCE and ended) or (words >= LEAST_LINE and chunk.page is None)
    if first is None and whole:
        first = _antecedent(content, spans, at)
    if first is None:
        return None
    return Pointed(start=first, end=last, share=share)


def _antecedent(content: str, spans: Sequence[tuple[int, int]], at: int) -> int:
    """Where the sentence begins that this one's pronoun refers to, when they share a paragraph."""
    first = at
    while first and at - first < 2 and _PRONOUN.match(content, spans[first][0]):
        if "\n" in content[spans[first - 1][1] : spans[first][0]]:
            break
        first -= 1
    return spans[first][0]


def _lead(content: str, spans: Sequence[tuple[int, int]], at: int) -> int | None:
    """Where the words begin that lead up to a line of a list or a command; None when nothing near does."""
    for before in range(at - 1, max(-1, at - 1 - MOST_LED), -1):
        start, end = spans[before]
        if "\t" in content[start:end] or spans[at][1] - start > MOST_LED_CHARACTERS:
            return None
        if _LEADS.search(content[start:end]):
            return start
    return None


def _led(content: str, spans: Sequence[tuple[int, int]], at: int) -> int:
    """Where the lines end that a line leads up to: at the first that ends like a sentence, or soon."""
    last = spans[at][1]
    for start, end in spans[at + 1 : at + 1 + MOST_LED]:
        if "\t" in content[start:end] or end - spans[at][0] > MOST_LED_CHARACTERS:
            break
        last = end
        if _ENDING.search(content[start:end]):
            break
    return last


def _heads(text: str, chunk: Chunk) -> bool:
    bare = text.strip().rstrip(".").casefold()
    return bare in {part.rstrip(".").casefold() for part in chunk.section_path}


def heading_above(content: str, start: int) -> str:
    """The nearest line above ``start`` that stands alone and ends no sentence; "" where there is none."""
    for line in reversed(content[:start].split("\n")[:-1]):
        words = line.strip()
        if 0 < len(words) <= MAX_HEADING and "\t" not in words and not _ENDING.search(words):
            return "" if words.startswith(_BULLETS) else words
    return ""
