"""The inline form: ``[SOURCE_1: "exact words"] The statement.``

In: a completion, prose included. Out: its text without the evidence markers, and for each marker the range it
supports: the sentence after it, or the sentence that it closes. Other markers stay in the text for
:mod:`citewell.verification.claims` to read. Independent of models and JSON.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from citewell.core.records import Quote, Record
from citewell.core.sentences import line_span, sentence_spans
from citewell.generation.marked import EvidenceRange, MarkedDraft, read_marked
from citewell.generation.sources import LabelledSources

_OPEN, _CLOSE = r"[\[\u3010\uff3b]", r"[\]\u3011\uff3d]"
_EVIDENCE = re.compile(
    rf"{_OPEN}\s*(?P<label>[^\[\]\u3010\u3011\"\u201c\u00ab|]{{1,200}}?)\s*[:|,]\s*"
    rf"[\"\u201c\u201d\u00ab](?P<quote>.{{1,4000}}?)[\"\u201c\u201d\u00bb]\s*{_CLOSE}[ \t]*"
    # Words without quotation marks are a quote too, but only after an unmistakable label.
    rf"|{_OPEN}\s*(?P<number>SOURCE_\d{{1,2}})\s*:\s*"
    rf"(?P<bare>[^\[\]\u3010\u3011\"\u201c]{{1,1000}}?)\s*{_CLOSE}[ \t]*",
    re.DOTALL,
)
_CLOSED = re.compile(rf"[\"\u201c\u201d\u00bb]\s*{_CLOSE}[ \t]*")
_MOST_CLOSES = 8
_ENDED = re.compile(
    r"(?:^|[.!?:;\u2026\n][\"\u201d')*_]*\s*|^\s*(?:[-*\u2022]|\d{1,2}[.)])\s+)$", re.MULTILINE
)


class _Found(Record, frozen=True, kw_only=True):
    """``at``: offset in the text without evidence markers; ``leads``: it precedes its statement."""

    at: int
    quote: Quote
    leads: bool


def read_inline(completion: str, sources: LabelledSources) -> MarkedDraft:
    """Reads prose with evidence markers before or after its sentences."""
    text, found = _taken_out(completion, sources)
    return read_marked(text, _ranges(text, found), sources)


def _taken_out(completion: str, sources: LabelledSources) -> tuple[str, list[_Found]]:
    text, position = "", 0
    found: list[_Found] = []
    while match := _EVIDENCE.search(completion, position):
        # Only words between markers: quotes are the source's, even if they contain label-like words.
        text += sources.named(completion[position : match.start()])
        again = bool(found) and found[-1].at == len(text)
        leads = found[-1].leads if again else bool(_ENDED.search(text))
        label = match["label"] or match["number"]
        words, end = _words(match, label, sources)
        quote = sources.quoted(label, words)
        if not leads:
            text = text.rstrip(" \t")
        found.append(_Found(at=len(text), quote=quote, leads=leads))
        position = end
        following = completion[position : position + 1]
        if not leads and following and following not in ".,;:!?)]\n[\u3010":
            text += " "
    return text + sources.named(completion[position:]), found


def _words(match: re.Match[str], label: str, sources: LabelledSources) -> tuple[str, int]:
    """The quoted words and the end of their marker. A quote may itself contain ``"]``: it extends to the last
    of the next few, before another marker or line, up to which the source contains it."""
    said, start = match.string, match.start("quote")
    if start >= 0:
        line, another = said.find("\n", match.end()), _EVIDENCE.search(said, match.end())
        stop = min(len(said) if line < 0 else line, another.start() if another else len(said))
        closes = list(itertools.islice(_CLOSED.finditer(said, match.end(), stop), _MOST_CLOSES))
        for close in reversed(closes):
            longer = said[start : close.start()].strip()
            if sources.holds(label, longer):
                return longer, close.end()
    return (match["quote"] or match["bare"] or "").strip(), match.end()


def _ranges(text: str, found: Sequence[_Found]) -> list[EvidenceRange]:
    made: list[EvidenceRange] = []
    for one in found:
        span = (_behind if one.leads else _around)(text, one.at)
        if span is not None:
            made.append(EvidenceRange(start=span[0], end=span[1], quotes=(one.quote,)))
    return made


def _behind(text: str, place: int) -> tuple[int, int] | None:
    """The first sentence after ``place`` in the same paragraph; the one before it if none follows."""
    rest = text[place:]
    skipped = len(rest) - len(rest.lstrip())
    if "\n\n" in rest[:skipped] or not rest.strip():
        return _around(text, place)
    line = rest[skipped:].split("\n", 1)[0]
    spans = sentence_spans(line)
    return place + skipped, place + skipped + (spans[0][1] if spans else len(line))


def _around(text: str, place: int) -> tuple[int, int] | None:
    """The last sentence that starts before ``place`` on its line."""
    start, stop = line_span(text, place)
    for a, b in reversed(sentence_spans(text[start:stop])):
        if start + a < place:
            return start + a, start + b
    return None
