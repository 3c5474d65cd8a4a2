"""Are headings, list items and cells read as a person reads them? ``python -m benchmarks.labelled_pages``

In: the labels of 36 pages of the shared filings, made by hand from pictures of the pages before their text
was seen (``page_labels.jsonl``: hashes, as the words are not ours), and :mod:`benchmarks.made_pages`, whose
labels are what went in. Out: for both, the share of labelled headings, items and cells that are right, and
of headings found that are headings, with 95 % intervals over pages.

A heading is right if a section of its name begins on its page; an item, if a line of the text begins and ends
as it does; a cell, if its value stands in a row of its label under a head with all the words printed above it
and no other figure. Headings set into the first line of their paragraph are not counted.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from benchmarks.made_pages import made_pages
from benchmarks.reporting import shown, table, write
from citewell.core.records import Document
from citewell.documents.pdf import read_pdf
from citewell.evaluation.intervals import clustered

LABELS = Path(__file__).with_name("page_labels.jsonl")
_ENOUGH = 24  # letters of an item's beginning, and of its end
KINDS = ("headings", "headings found", "items", "cells")


class Labels(NamedTuple):
    """Hashes of one page: ``maybe`` are lines that one may or may not call a heading."""

    headings: list[str]
    maybe: list[str]
    items: list[list[Any]]
    cells: list[list[Any]]


class Score(NamedTuple):
    """``wrong`` names what is not right, by its place among the labels of its kind."""

    right: int
    of: int
    wrong: tuple[str, ...] = ()


def hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def plain(text: str) -> str:
    """Letters and digits in lower case; raised ones as if they were not."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text)).lower()


def value(text: str) -> str:
    """A cell without spaces and dollar signs; all dashes are one."""
    return re.sub("[–—−]", "-", re.sub(r"[\s$]", "", unicodedata.normalize("NFKC", text)))


def labelled(lines: Iterable[str]) -> Labels:
    """Labels from lines as a person writes them: "H words", "? words", "I beginning | end" (the end is left
    out if it is on another page), "C row | words of the head | value"."""
    found = Labels([], [], [], [])
    for line in lines:
        kind, _, text = line.partition(" ")
        parts = [part.strip() for part in text.split(" | ")]
        if kind in "H?":
            (found.headings if kind == "H" else found.maybe).append(hashed(plain(text)))
        elif kind == "I":
            ends = plain(parts[0])[:_ENOUGH], plain(" ".join(parts[1:]).strip(" |"))[-_ENOUGH:]
            found.items.append([item for end in ends for item in (len(end), hashed(end))])
        else:
            words = sorted({hashed(word) for word in map(plain, parts[1].split()) if word})
            found.cells.append([hashed(plain(parts[0])), words, hashed(value(parts[2]))])
    return found


def compare(document: Document, number: int, labels: Labels) -> dict[str, Score]:
    page = document.pages[number - 1]
    names = [
        hashed(plain(section.path[-1]))
        for section in document.sections
        if section.path and page.start <= section.start < page.end
    ]
    wanted, there = Counter(labels.headings), Counter(names)
    invented = there - wanted - Counter({name: len(names) for name in labels.maybe})
    counted = there.total() - sum((there - wanted).values()) + invented.total()
    lines = [plain(line) for line in _lines(document, page.start, page.end)]
    rows = [
        (hashed(plain(row.label)), cell.head, hashed(value(document.text[cell.start : cell.end])))
        for grid in document.tables
        for row in grid.rows
        if page.start <= row.start < page.end
        for cell in row.cells
    ]
    items = [_item(lines, label) for label in labels.items]
    cells = [
        any(label == row and held == what and _head(words, head) for row, head, what in rows)
        for label, words, held in labels.cells
    ]
    return {
        "headings": Score(
            sum((wanted & there).values()),
            wanted.total(),
            tuple(f"heading {at + 1}" for at, name in enumerate(labels.headings) if name not in there),
        ),
        "headings found": Score(
            counted - invented.total(),
            counted,
            tuple(f"no heading: {s.path[-1]}" for s in document.sections if s.path
                  and page.start <= s.start < page.end and hashed(plain(s.path[-1])) in invented),
        ),
        "items": Score(sum(items), len(items), _wrong("item", items)),
        "cells": Score(sum(cells), len(cells), _wrong("cell", cells)),
    }  # fmt: skip


def _wrong(kind: str, right: Sequence[bool]) -> tuple[str, ...]:
    return tuple(f"{kind} {at}" for at, good in enumerate(right, 1) if not good)


def _lines(document: Document, start: int, end: int) -> list[str]:
    """Whole lines of which a part is on the page."""
    first = document.text.rfind("\n", 0, start) + 1
    last = document.text.find("\n", max(start, end - 1))
    return document.text[first : last if last >= 0 else None].split("\n")


def _item(lines: Sequence[str], label: Sequence[Any]) -> bool:
    length, begun, tail, ended = label
    return any(
        hashed(line[:length]) == begun and (not tail or hashed(line[-tail:]) == ended) for line in lines
    )


def _head(words: Sequence[str], head: str) -> bool:
    there = {hashed(plain(word)): any(map(str.isdigit, word)) for word in head.split() if plain(word)}
    return set(words) <= set(there) and not any(there[word] for word in set(there) - set(words))


def filings() -> dict[tuple[str, int], dict[str, Score]]:
    """The scores of each labelled page of a filing."""
    folder = Path(os.environ["CITEWELL_DATA"], "financebench", "pdfs")
    of_file: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for line in LABELS.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        of_file[entry["file"]].append(entry)
    found = {}
    for name, entries in of_file.items():
        document = read_pdf((folder / f"{name}.pdf").read_bytes(), document_id=f"{name}.pdf", uri="")
        for entry in entries:
            labels = Labels(*(entry[kind] for kind in Labels._fields))
            found[name, entry["page"]] = compare(document, entry["page"], labels)
    return found


def made() -> dict[tuple[str, int], dict[str, Score]]:
    """The scores of each page of the documents made for this."""
    found = {}
    for name, data, pages in made_pages():
        document = read_pdf(data, document_id=f"{name}.pdf", uri="")
        for number, lines in enumerate(pages, 1):
            found[name, number] = compare(document, number, labelled(lines))
    return found


def main() -> None:
    rows, values = [], {}
    for name, pages in (("filings", filings()), ("made for it", made())):
        for kind in KINDS:
            groups = [
                [True] * page[kind].right + [False] * (page[kind].of - page[kind].right)
                for page in pages.values()
            ]
            found = clustered(kind, groups)
            share, n = shown(msgspec.structs.asdict(found)), found.n
            rows.append([name, str(len(pages)), kind, share, str(n)])
            values[f"{name}: {kind}"] = {"value": found.value, "n": n, "low": found.low, "high": found.high}
        if "--wrong" in sys.argv:
            for place, page in pages.items():
                for wrong in (wrong for score in page.values() for wrong in score.wrong):
                    print(*place, wrong)
    heads = ("pages of", "pages", "what", "right [95 % interval]", "n")
    body = f"""`python -m benchmarks.labelled_pages`; `--wrong` lists what is not right.

{table(heads, rows)}

The pages of filings are two of each of 18 files, drawn at random among those with more than 500 characters
and labelled by hand from their pictures, before their text was looked at. All headings and items are labelled
(of a list of 41 names three), and three to seven cells a page, from the first row and column to the last. The
made pages are twelve, each set by two programs, and all of their cells are labelled. *Headings found* is the
share of sections beginning on a labelled page that are headings. Lines that one may or may not call a heading
(a firm's name over a statement, "Exhibit 4") count in neither row."""
    write("labelled_pages", "Headings, items and cells", body, values)
    print(body)


if __name__ == "__main__":
    main()
