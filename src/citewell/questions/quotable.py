"""What can be quoted from a passage: a sentence with the one its pronoun refers to, a line with its
lead-in, and the heading above either.

In: a chunk and the spans an extractor selects in it. Out: stretches of its content. Independent of questions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from citewell.core.ports import Reading
from citewell.core.records import Chunk, Citation, Record
from citewell.core.sentences import list_lead, sentence_spans

MOST_LED, MOST_LED_CHARACTERS = 4, 400
"""Maximum lines from a line to its lead-in, and characters in total."""
LEAST_SENTENCE, LEAST_LINE = 3, 6
"""Minimum words of a sentence, and of a line without a full stop in a text without pages: on a page it may
be half of a sentence."""

_PRONOUN = re.compile(
    r"(?:It|They|This|These|Those|That|Such|He|She|Its|Their|His|Her|Both|Neither|The (?:former|latter|same)|"
    r"There(?:fore|after|by)|As a result|In addition|However|Instead|Otherwise|Also|Then)\b"
)
_ENDING = re.compile(r"[.!?:;)”\"’]$|\.\s?\(?\d{1,2}\)?$")
_BULLETS = ("•", "-", "–", "*")
_CLOSING = {'"': '"', "\u201d": "\u201c", "\u00bb": "\u00ab"}
"""Closing quotation marks and what opens them."""
MAX_HEADING = 80
_LEADS = re.compile(r"[:：]$|\bfor example,?$", re.I)


class Pointed(Record, frozen=True, kw_only=True):
    """``[start, end)`` in the chunk's content; ``share`` of an answer's probability; ``lead``: its lead-in if
    further above."""

    start: int
    end: int
    share: float
    lead: tuple[int, int] | None = None


def pointed_at(chunk: Chunk, reading: Reading) -> list[Pointed]:
    """Stretches that contain spans of ``reading``, in text order; each stretch once."""
    content = chunk.content
    # The extractor also reads the context, since sentences rarely name their company; it is never quoted.
    shift = len(chunk.in_context) - len(content)
    inside = [span for span in reading.candidates if span.end > shift]
    total = sum(span.probability for span in inside) or 1.0
    spans = sentence_spans(content)
    best: dict[tuple[int, int], Pointed] = {}
    for at, (start, end) in enumerate(spans):
        mine = [span for span in inside if start + shift < span.end and span.start < end + shift]
        if not mine:
            continue
        # Spans compete for one answer; a stretch gets the sum of its spans.
        share = (1.0 - reading.no_answer) * sum(span.probability for span in mine) / total
        found = _stretch(chunk, spans, at, share)
        if found is not None and share > (
            best[key].share if (key := (found.start, found.end)) in best else 0.0
        ):
            best[key] = found
    return list(best.values())


def _stretch(chunk: Chunk, spans: Sequence[tuple[int, int]], at: int, share: float) -> Pointed | None:
    """The sentence with its antecedent, or the line with its lead-in; None if it is neither."""
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
    return Pointed(start=first, end=_without_stray_mark(content, first, last), share=share)


def _without_stray_mark(content: str, start: int, end: int) -> int:
    """``end``, or before a closing quotation mark there that nothing in the stretch opens."""
    said, mark = content[start : end - 1], content[end - 1 : end]
    if mark not in _CLOSING or said[-1:].isdigit():  # after a digit it is inches
        return end
    opened, closed = said.count(_CLOSING[mark]), said.count(mark)
    stray = opened % 2 == 0 if mark == _CLOSING[mark] else opened <= closed
    return end - 1 if stray else end


def _antecedent(content: str, spans: Sequence[tuple[int, int]], at: int) -> int:
    """Start of the sentence (in the same paragraph) that this one's pronoun refers to, else its own start."""
    first = at
    while first and at - first < 2 and _PRONOUN.match(content, spans[first][0]):
        if "\n" in content[spans[first - 1][1] : spans[first][0]]:
            break
        first -= 1
    return spans[first][0]


def _lead(content: str, spans: Sequence[tuple[int, int]], at: int) -> int | None:
    """Start of the lead-in of a list line or command; None if there is none nearby."""
    for before in range(at - 1, max(-1, at - 1 - MOST_LED), -1):
        start, end = spans[before]
        if "\t" in content[start:end] or spans[at][1] - start > MOST_LED_CHARACTERS:
            return None
        if _LEADS.search(content[start:end]):
            return start
    return None


def _led(content: str, spans: Sequence[tuple[int, int]], at: int) -> int:
    """End of the lines introduced by a lead-in: the first that ends like a sentence, within the limits."""
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
    """The nearest short line above ``start`` that does not end a sentence; "" if none, or if a list item."""
    for line in reversed(content[:start].split("\n")[:-1]):
        words = line.strip()
        if 0 < len(words) <= MAX_HEADING and "\t" not in words and not _ENDING.search(words):
            return "" if words.startswith(_BULLETS) else words
    return ""


def cite(chunk: Chunk, start: int, end: int, mode: str) -> Citation:
    """A citation of ``[start, end)`` of the document, which lies in ``chunk``, from no place of an answer."""
    return Citation(
        chunk_id=chunk.chunk_id,
        document_id=chunk.document_id,
        document_version=chunk.document_version,
        start=start,
        end=end,
        quote=chunk.content[start - chunk.start_offset : end - chunk.start_offset],
        answer_start=-1,
        answer_end=-1,
        mode=mode,
        section_path=chunk.section_path,
        page=chunk.page,
    )
