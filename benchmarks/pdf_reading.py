"""How much of what people cite from filings does the PDF reader hand on? ``python benchmarks/pdf_reading.py``

In: FinanceBench's shared half (``CITEWELL_DATA``): each question's evidence text and its page. Out, over
evidence pages: the share of evidence words and of evidence figures that stand in our text of that page
(and the share within a page of it); over the tables on them: the share of figures with a column head, with a
head that names a year, and of tables with units. Also pages per CPU second by file.
The evidence was copied from the PDFs with another extractor that often dropped the spaces, so a word of
twelve letters or more also counts when it stands in the page's letters without their spaces. Nothing is
fitted on it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from citewell.core.records import Document, Table
from citewell.documents.pdf import read_pdf

_WORD = re.compile(r"[A-Za-z]+|\d[\d,]*(?:\.\d+)?")
_GLUED = 12
_YEAR = re.compile(r"\b(?:19|20)\d{2}\b")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="file names that contain this")
    parser.add_argument("--worst", type=int, default=0, help="print the pages with the lowest shares")
    chosen = parser.parse_args()
    folder = Path(os.environ["CITEWELL_DATA"]) / "financebench"
    evidence = _evidence(folder / "questions.jsonl")
    words, figures = Counter[str](), Counter[str]()
    worst: list[tuple[float, str, int]] = []
    cells = headed = dated = tables = united = pages_read = pages_scored = 0
    seconds = 0.0
    speeds: list[tuple[float, str]] = []
    for path in sorted(path for path in (folder / "pdfs").glob("*.pdf") if chosen.only in path.name):
        begun = time.process_time()
        document = read_pdf(path.read_bytes(), document_id=path.name, uri="")
        took = time.process_time() - begun
        seconds += took
        pages_read += len(document.pages)
        speeds.append((len(document.pages) / took, path.name))
        for number, text in evidence[path.stem]:
            pages_scored += 1
            share = _score(document, number, text, words, figures)
            worst.append((share, path.name, number))
        for table in _tables_on(document, {number for number, _ in evidence[path.stem]}):
            tables += 1
            united += bool(table.units)
            for row in table.rows:
                cells += len(row.cells)
                headed += sum(bool(cell.head) for cell in row.cells)
                dated += sum(bool(_YEAR.search(cell.head)) for cell in row.cells)
    _print("evidence words on their page", words["here"], words["all"])
    _print("evidence figures on their page", figures["here"], figures["all"])
    _print("evidence figures on it or a neighbour", figures["near"], figures["all"])
    _print("figures with a column head (tables on evidence pages)", headed, cells)
    _print("figures whose head names a year", dated, cells)
    _print("tables with units", united, tables)
    print(f"evidence passages scored: {pages_scored}; pages read: {pages_read}")
    print(f"pages per CPU second: {pages_read / seconds:.0f}; slowest: {min(speeds)}, fastest: {max(speeds)}")
    for share, name, number in sorted(worst)[: chosen.worst]:
        print(f"{share:.2f} {name} page {number}")


def _evidence(path: Path) -> dict[str, list[tuple[int, str]]]:
    """Document stem -> (physical page from 1, text); the data set counts pages from 0."""
    found: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for line in path.read_text(encoding="utf-8").splitlines():
        for item in json.loads(line)["evidence"]:
            entry = (int(item["evidence_page_num"]) + 1, item["evidence_text"])
            if entry not in found[item["doc_name"]]:
                found[item["doc_name"]].append(entry)
    return found


def _score(
    document: Document, number: int, evidence: str, words: Counter[str], figures: Counter[str]
) -> float:
    wanted = _bag(evidence)
    text = _page_text(document, [number])
    here, squeezed = _bag(text), "".join(_WORD.findall(text)).lower()
    near = _bag(_page_text(document, [number - 1, number, number + 1]))
    found = total = 0
    for word, count in wanted.items():
        kind = figures if word[0].isdigit() else words
        if kind is words and len(word) >= _GLUED and word in squeezed:
            here[word] = max(here[word], count)  # the evidence was copied without spaces
        kind["all"] += count
        kind["here"] += min(count, here[word])
        kind["near"] += min(count, near[word])
        total += count
        found += min(count, here[word])
    return found / max(1, total)


def _bag(text: str) -> Counter[str]:
    return Counter(match.group().lower().strip(",.") for match in _WORD.finditer(text))


def _page_text(document: Document, numbers: Iterable[int]) -> str:
    wanted = set(numbers)
    return "\n".join(document.text[page.start : page.end] for page in document.pages if page.number in wanted)


def _tables_on(document: Document, numbers: set[int]) -> list[Table]:
    ranges = [(page.start, page.end) for page in document.pages if page.number in numbers]
    return [table for table in document.tables if any(a <= table.start < b for a, b in ranges)]


def _print(name: str, part: int, whole: int) -> None:
    print(f"{name}: {part / whole:.3f} (n = {whole})" if whole else f"{name}: not measured (n = 0)")


if __name__ == "__main__":
    main()
