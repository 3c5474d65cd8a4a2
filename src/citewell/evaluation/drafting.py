"""Documents -> draft cases: questions from table cells and "label: value" lines, for review.

In: documents, how many, a seed. Out: unreviewed cases tagged by kind and form: answerable ones, and the same
questions about a year that no document mentions. The same documents and seed give the same cases. Knows
nothing about models or grammar: the item asked for is quoted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from citewell.core.identity import hash_value
from citewell.core.records import Case, CaseSpan, Document

ANSWERABLE, UNANSWERABLE = "answerable", "unanswerable"
TWINS = 0.25
"""Share of unanswerable cases."""
CELL, PERIOD, LABEL = "table", "table-period", "label"

_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_NAME = re.compile(r"(?=.*[A-Za-z]{3})[^“”{}?:\n]{3,40}")
_LINE = re.compile(r"^[-* ]*([A-Z][a-z]+(?: [a-z]+){0,3}): +(\S+(?: \S+){0,5}(?<!\.))$", re.MULTILINE)


class QuestionDraft(NamedTuple):
    """``template`` is the question with ``{}`` for ``slot``, a year or an item; ``[start, end)`` of the text
    contains the answer."""

    document: str
    form: str
    template: str
    slot: str
    expected: str
    start: int
    end: int

    @property
    def question(self) -> str:
        return self.template.format(self.slot)


def draft_cases(documents: Sequence[Document], *, n: int, seed: int = 0) -> tuple[Case, ...]:
    """At most ``n`` cases, :data:`TWINS` of them unanswerable; fewer if the documents yield fewer."""
    found = _named(documents, [draft for document in documents for draft in _drafts(document)])
    twins = round(n * TWINS)
    return (
        *_spread(ANSWERABLE, _answerable(documents, found), n - twins, seed),
        *_spread(UNANSWERABLE, _of_another_year(documents, found), twins, seed),
    )


def _drafts(document: Document) -> Iterator[QuestionDraft]:
    name, text = document.document_id, document.text
    for table in document.tables:
        labels = Counter(row.label for row in table.rows)
        known = [one for one in table.rows if labels[one.label] == 1 and _NAME.fullmatch(one.label)]
        for row, cell in ((one, cell) for one in known for cell in one.cells):
            head, said = " ".join(cell.head.split()), text[cell.start : cell.end].strip()
            if not re.search(r"\w", said) or len(said.split()) > 16:
                continue
            if _YEAR.fullmatch(head):
                form, template, slot = PERIOD, f"What is the “{row.label}” for {{}}?", head
            elif _NAME.fullmatch(head):
                form, template, slot = CELL, f"What is the “{head}” of {{}}?", row.label
            else:
                continue
            yield QuestionDraft(name, form, template, slot, said, row.start, cell.end)
    for line in _LINE.finditer(text):
        start = line.start(1)
        if not any(table.start <= start < table.end for table in document.tables):
            yield QuestionDraft(name, LABEL, "What is the “{}”?", line[1], line[2], start, line.end())


def _named(documents: Sequence[Document], found: Sequence[QuestionDraft]) -> list[QuestionDraft]:
    """Adds the document's name to period and label questions if they come from several documents."""
    if len({draft.document for draft in found if draft.form != CELL}) < 2:
        return list(found)
    names = {}
    for one in documents:
        title, file = one.title.value if one.title else "", one.document_id.rpartition("/")[2]
        names[one.document_id] = title if 0 < len(title) <= 60 else file.rsplit(".", 1)[0].replace("_", " ")
    return [
        draft
        if draft.form == CELL
        else draft._replace(
            template=f"According to {re.sub('[{}]', '', names[draft.document])}, w{draft.template[1:]}"
        )
        for draft in found
    ]


_Candidate = tuple[QuestionDraft, str, tuple[CaseSpan, ...], str]
"""(draft, question, spans, reason to abstain)."""


def _answerable(documents: Sequence[Document], found: Sequence[QuestionDraft]) -> Iterator[_Candidate]:
    """Skips a question drafted from two places, as it would have two answers."""
    texts = {document.document_id: document.text for document in documents}
    asked = Counter(draft.question.lower() for draft in found)
    for draft in found:
        if asked[draft.question.lower()] == 1:
            quote = texts[draft.document][draft.start : draft.end]
            yield draft, draft.question, (CaseSpan(document=draft.document, quote=quote),), ""


def _of_another_year(documents: Sequence[Document], found: Sequence[QuestionDraft]) -> Iterator[_Candidate]:
    latest = max((int(year) for one in documents for year in _YEAR.findall(one.text)), default=2000)
    for draft in found:
        if draft.form == PERIOD:
            year = str(latest + 3 + int(hash_value(draft.question)[-6:], 16) % 5)
            yield draft, draft.template.format(year), (), f"no document mentions {year}"


def _spread(kind: str, drafted: Iterator[_Candidate], n: int, seed: int) -> list[Case]:
    """``n`` cases at random, taking turns between each document's forms."""
    cases: dict[str, tuple[tuple[str, str], Case]] = {}
    for draft, question, spans, abstain in drafted:
        case = Case(
            id=f"draft-{hash_value([draft.document, question, draft.start]).partition(':')[2][:12]}",
            question=question,
            expected="" if abstain else draft.expected,
            spans=spans,
            abstain=abstain,
            tags=(kind, f"form:{draft.form}"),
        )
        cases.setdefault(question.lower(), ((draft.document, draft.form), case))
    turns: Counter[tuple[str, str]] = Counter()
    ordered = []
    for place, case in sorted(cases.values(), key=lambda one: hash_value([seed, one[1].id])):
        ordered.append((turns[place], case))
        turns[place] += 1
    return [case for _, case in sorted(ordered, key=lambda one: one[0])[:n]]
