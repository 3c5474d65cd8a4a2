"""Documents -> draft cases: questions from table cells and "label: value" lines, for review.

In: documents, how many, a seed. Out: unreviewed cases tagged by kind and form: answerable ones, and the same
questions about a year that no document mentions. The same documents and seed give the same cases. Knows
nothing about models or grammar: the item asked for is quoted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from citewell.core.identity import hash_value
from citewell.core.records import Case, CaseSpan, Document

ANSWERABLE, UNANSWERABLE = "answerable", "unanswerable"
TWINS = 0.25
"""Share of unanswerable cases."""

_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_NAME = re.compile(r"(?=.*[A-Za-z]{3})[^“”{}?:\n]{3,40}")
_LINE = re.compile(r"^[-* ]*([A-Z][a-z]+(?: [a-z]+){0,3}): +(\S+(?: \S+){0,5}(?<!\.))$", re.MULTILINE)


def draft_cases(documents: Sequence[Document], *, n: int, seed: int = 0) -> tuple[Case, ...]:
    """At most ``n`` cases, :data:`TWINS` of them unanswerable; fewer if the documents yield fewer. A question
    drafted from two places is skipped, as it would have two answers."""
    latest = max((int(year) for one in documents for year in _YEAR.findall(one.text)), default=2000)
    drafted = [
        (document.document_id, case)
        for document in documents
        for case in _drafted(document, latest, named=len(documents) > 1)
    ]
    asked = Counter(case.question.lower() for _, case in drafted)
    single = {
        case.question.lower(): (place, case)
        for place, case in drafted
        if case.abstain or asked[case.question.lower()] == 1
    }
    twins = round(n * TWINS)
    return (
        *_spread(ANSWERABLE, single.values(), n - twins, seed),
        *_spread(UNANSWERABLE, single.values(), twins, seed),
    )


def _drafted(document: Document, latest: int, *, named: bool) -> Iterator[Case]:
    """``named``: figures and labels are asked for by the document's name."""
    text, ask = document.text, "What"
    if named:
        title, file = document.title.value if document.title else "", document.document_id.rpartition("/")[2]
        name = title if 0 < len(title) <= 60 else file.rsplit(".", 1)[0].replace("_", " ")
        ask = f"According to {name}, what"
    for table in document.tables:
        labels = Counter(row.label for row in table.rows)
        for row in table.rows:
            if labels[row.label] > 1 or not _NAME.fullmatch(row.label):
                continue
            figure = ""
            for cell in row.cells:
                head, said = " ".join(cell.head.split()), text[cell.start : cell.end].strip()
                if not re.search(r"\w", said) or len(said.split()) > 16:
                    continue
                quote = text[row.start : cell.end]
                if _YEAR.fullmatch(head):
                    figure = f"{ask} is the “{row.label}” for"
                    yield _case(document, "table-period", f"{figure} {head}?", said, quote)
                elif _NAME.fullmatch(head):
                    yield _case(document, "table", f"What is the “{head}” of {row.label}?", said, quote)
            if figure:
                year = latest + 3 + int(hash_value(figure)[-6:], 16) % 5
                yield _case(
                    document, "table-period", f"{figure} {year}?", abstain=f"no document mentions {year}"
                )
    for line in _LINE.finditer(text):
        if not any(table.start <= line.start(1) < table.end for table in document.tables):
            yield _case(
                document, "label", f"{ask} is the “{line[1]}”?", line[2], text[line.start(1) : line.end()]
            )


def _case(
    document: Document, form: str, question: str, expected: str = "", quote: str = "", *, abstain: str = ""
) -> Case:
    id = hash_value([document.document_id, question]).partition(":")[2][:12]
    return Case(
        id=f"draft-{id}",
        question=question,
        expected=expected,
        spans=() if abstain else (CaseSpan(document=document.document_id, quote=quote),),
        abstain=abstain,
        tags=(UNANSWERABLE if abstain else ANSWERABLE, f"form:{form}"),
    )


def _spread(kind: str, drafted: Iterable[tuple[str, Case]], n: int, seed: int) -> list[Case]:
    """``n`` cases of a kind at random, taking turns between each document's forms."""
    turns: Counter[tuple[str, str]] = Counter()
    ordered = []
    mine = [(document, case) for document, case in drafted if case.tags[0] == kind]
    for document, case in sorted(mine, key=lambda one: hash_value([seed, one[1].id])):
        place = (document, case.tags[1])
        ordered.append((turns[place], case))
        turns[place] += 1
    return [case for _, case in sorted(ordered, key=lambda one: one[0])[:n]]
