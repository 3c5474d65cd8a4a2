"""The dense views of a chunk: the three texts that are embedded for it.

In: a Chunk. Out: its text, a short extract, its names and numbers; each after the chunk's context, as a row
of figures means little without its heads. Pure: the same chunk gives the same texts. Knows nothing about
vectors or storage; any change here must raise ``VIEWS_VERSION``, which is stored in the index.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from citewell.core.records import Chunk
from citewell.core.sentences import sentence_spans

VIEWS_VERSION = "views/1"

_EXTRACT_CHARS = 360
_KEYS_CHARS = 300
_DOCUMENT_CHARS, _SECTION_CHARS = 110, 80
_WORD = re.compile(r"[^\W\d_]{3,}")
_NAME = re.compile(r"\b[A-Z][\w&.'’-]*(?:\s+(?:of|and|the|for|&)?\s*[A-Z][\w&.'’-]*)*")
_NUMBER = re.compile(r"[$€£]?\(?\d[\d,]*(?:\.\d+)?\)?\s?(?:%|percent|million|billion|thousand|trillion)?")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_LEADING = frozenset(
    re.findall(r"\w+", "the a an in on at by for of and or as if it its this these those we our to with from")
)


def extract(chunk: Chunk) -> str:
    """The sentences that share most words with the rest of the chunk; for a table, its row labels."""
    if chunk.rows:
        labels = "; ".join(_once(row.label for row in chunk.rows if row.label))
        return _with_context(chunk, labels or chunk.content, _EXTRACT_CHARS)
    sentences = [chunk.content[start:end] for start, end in sentence_spans(chunk.content)]
    counts = Counter(word for sentence in sentences for word in _words(sentence))
    chosen: list[int] = []
    room = _EXTRACT_CHARS
    for position in sorted(range(len(sentences)), key=lambda at: (-_weight(sentences[at], counts), at)):
        if chosen and len(sentences[position]) > room:
            continue
        chosen.append(position)
        room -= len(sentences[position])
        if room <= 0:
            break
    return _with_context(chunk, " ".join(sentences[at] for at in sorted(chosen)), _EXTRACT_CHARS)


def keys(chunk: Chunk) -> str:
    """Years, row labels, names by frequency as written, and figures, in this order."""
    years = _once(_YEAR.findall(chunk.content))
    names = Counter(
        name for match in _NAME.finditer(chunk.content) if (name := _name(match.group())) and len(name) > 2
    )
    labels = [row.label for row in chunk.rows if row.label]
    numbers = [text for match in _NUMBER.finditer(chunk.content) if len(text := match.group().strip()) > 1]
    ordered = [name for name, _ in sorted(names.items(), key=lambda item: (-item[1], item[0]))]
    parts = _once([*years[:4], *labels[:8], *ordered, *numbers])
    return _with_context(chunk, "; ".join(parts), _KEYS_CHARS)


VIEWS: Mapping[str, Callable[[Chunk], str]] = {
    "chunk": lambda chunk: chunk.in_context,
    "summary": extract,
    "keys": keys,
}


def _with_context(chunk: Chunk, text: str, limit: int) -> str:
    first, *sections = chunk.context.split("\n", 1)[0].split(" › ")
    # The document and the innermost section: the levels between say least for their length.
    head = " › ".join([first[:_DOCUMENT_CHARS], *(part[:_SECTION_CHARS] for part in sections[-1:])])
    body = text[:limit].strip() or chunk.content[:limit]
    return f"{head}\n{body}" if head else body


def _name(text: str) -> str:
    words = text.split()
    while words and words[0].lower() in _LEADING:
        words.pop(0)
    return " ".join(words)


def _weight(sentence: str, counts: Counter[str]) -> float:
    words = set(_words(sentence))
    # Divided by the square root of the length, so that a long informative sentence beats a heading.
    return sum(counts[word] - 1 for word in words) / math.sqrt(max(1, len(words)))


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.lower()) if word not in _LEADING]


def _once(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))
