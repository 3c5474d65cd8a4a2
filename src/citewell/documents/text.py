"""Plain text -> Document: hard-wrapped paragraphs are joined into one line, headings recognised.

In: bytes of text whose encoding is certain. Out: a Document; and :func:`caller_document`, which
wraps caller-supplied text without moving a single offset. Knows nothing about markup.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import groupby

from citewell.core.identity import hash_bytes, hash_text
from citewell.core.records import Document
from citewell.documents.canonical import Canonical
from citewell.documents.encoding import decode
from citewell.documents.metadata import found, language

_BULLET = re.compile(r"\s*(?:[-*•–·‣]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])\s+\S")
_NUMBERED = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,4})\.?\s+[A-Z]")
_NAMED = re.compile(
    r"(?:part|item|chapter|section|article|appendix|annex|schedule|exhibit|note)\s+[\divxlc]+[a-z]?\b", re.I
)
_UNDERLINE = re.compile(r"(=|-|~|\*)\1{2,}$")
_COLUMNS = re.compile(r"\s{2,}|\t+")
_SHORTEST_WRAP, _LONGEST_WRAP, _PROSE = 45, 130, 0.85


def read_text(data: bytes) -> Canonical:
    """Plain text in UTF-8, UTF-16, UTF-32, or another encoding that can be determined with certainty."""
    text, note = decode(data)
    out = Canonical()
    out.note(note)
    write_text(text, out)
    return out


def write_text(text: str, out: Canonical, mark: str = "") -> None:
    """Writes the headings, tables and paragraphs of a text; with a ``mark``, which goes before each
    paragraph, only paragraphs."""
    for block in _blocks(text):
        _write(block, out, mark)


def caller_document(source_id: str, text: str, *, title: str = "") -> Document:
    """Text that a caller supplies, marked ``caller_supplied``: what ``verify()`` checks against.

    Offsets are the caller's own wherever the text is NFC: nothing is dropped, and a line break
    inside a hard-wrapped paragraph becomes one space. Any text is accepted, even an empty one.
    """
    whole = unicodedata.normalize("NFC", text.encode("utf-8", "replace").decode("utf-8"))
    canonical = _unwrapped_in_place(whole)
    return Document(
        document_id=source_id,
        version=hash_bytes(whole.encode("utf-8")),
        text=canonical,
        text_hash=hash_text(canonical),
        reader="caller/1",
        media_type="text/plain",
        title=found(title, "caller"),
        language=language(canonical),
        caller_supplied=True,
    )


def _unwrapped_in_place(text: str) -> str:
    """The text at the same length, hard-wrapped lines of prose joined by a space."""
    parts = text.split("\n")
    joined = [parts[0]]
    for position in range(1, len(parts)):
        before, after = parts[position - 1], parts[position]
        wrapped = _wrapped(before, after) and len(before.strip()) >= _SHORTEST_WRAP
        joined += [" " if wrapped else "\n", after]
    return "".join(joined)


def _blocks(text: str) -> list[list[str]]:
    """Runs of lines between blank lines; a form feed ends a block too."""
    lines = text.replace("\f", "\n\n").splitlines()
    runs = groupby(lines, key=lambda line: bool(line.strip()))
    return [[line.rstrip() for line in run] for filled, run in runs if filled]


def _write(block: list[str], out: Canonical, mark: str) -> None:
    if (
        not mark
        and len(block) == 2
        and (rule := _UNDERLINE.fullmatch(block[1].strip()))
        and len(block[0]) <= 100
    ):
        out.heading(block[0], 1 if rule.group(1) == "=" else 2)
        return
    if not mark and len(block) == 1 and (level := _heading_level(block[0].strip())):
        out.heading(block[0], level)
        return
    grid = [_COLUMNS.split(line.strip()) for line in block]
    wide = [row for row in grid if len(row) >= 2]
    tabular = not mark and not any(_BULLET.match(line) for line in block)
    if tabular and len(wide) >= 2 and len(wide) * 3 >= len(grid) * 2:
        out.table(grid)
        return
    paragraph = ""
    for position, line in enumerate(block):
        if paragraph and _wrapped(block[position - 1], line):
            rest = line.strip()
            hyphenated = paragraph[-1] == "-" and paragraph[-2:-1].isalpha() and rest[:1].islower()
            paragraph += rest if hyphenated else f" {rest}"
        else:
            out.paragraph(paragraph, mark)
            paragraph = line.strip()
    out.paragraph(paragraph, mark)


def _wrapped(before: str, after: str) -> bool:
    """Whether ``after`` continues the sentence that ``before`` breaks off at the margin."""
    line, rest = before.strip(), after.strip()
    if not line or not rest or _BULLET.match(after) or "\t" in before or "\t" in after:
        return False
    if not _prose(line):
        return False
    if _SHORTEST_WRAP <= len(line) <= _LONGEST_WRAP:
        return True
    return len(line) > 20 and line[-1] not in ".:;!?" and rest[0].islower()


def _prose(line: str) -> bool:
    line = line[:500]
    plain = sum(char.isalpha() or char in " ,.'’\"-;:()" or char.isdigit() for char in line)
    return (
        plain >= _PROSE * len(line) and " " in line and line[0] not in "{}[]<>#|" and line[-1] not in "{}[;"
    )


def _heading_level(line: str) -> int:
    """The depth of a heading, 1 being outermost; 0 for a line that is not one."""
    if len(line) > 90 or not line[0].isalnum() or line[-1] in ".,;!?:" or not re.search(r"[^\W\d]{2}", line):
        return 0
    if numbered := _NUMBERED.match(line):
        return numbered.group(1).count(".") + 1
    if line.isupper() or _NAMED.match(line):
        return 1
    words = re.findall(r"[^\W\d_]+", line)
    titled = sum(word[0].isupper() for word in words if len(word) > 3 or word[0].isupper())
    heavy = sum(len(word) > 3 or word[0].isupper() for word in words)
    return 2 if len(words) <= 10 and words[0][0].isupper() and titled == heavy else 0
