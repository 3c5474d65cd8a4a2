"""Rows of tables as questions: what stands under a column for a label.

In: a document. Out: drafts. A cell is asked for only when its label is the only one of its table and its head
reads as a year, as a noun ("default"), or as one of a few phrases ("meaning"). Knows nothing about prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from citewell.core.records import Cell, Document, Row
from citewell.evaluation.drafting.drafts import MONTH, Draft, inside
from citewell.verification.verbs import is_finite

YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_PHRASES = {
    "meaning": "What does {} mean?",
    "means": "What does {} mean?",
    "does": "What does {} do?",
    "is": "What is {}?",
    "what it is": "What is {}?",
}
_NO_VALUE = frozenset({"", "-", "–", "—", "n/a", "none", "(empty)", "yes", "no", "same", "ditto"})
_NO_HEAD = re.compile(
    r"what|who|how|when|where|which|why|the|an?|of|in|at|note|remark|name|id|number|value|against|less|than|"
    r"over|under|per|by|to|for|from|with|[a-z]+ed"
)
_NO_LABEL = re.compile(r"all|totals?|mean|sum|others?|average|overall|none|rest")
_NO_PERIOD = re.compile(r"change|percent|%|amount|vs|versus|increase|decrease|growth", re.IGNORECASE)
_NUMBERED = re.compile(
    r"default|price|cost|fee|rate|size|limit|weight|speed|length|height|width|depth|capacity|port|code|duration|"
    r"maximum|minimum|year|date|age|count|phone|deadline|temperature|pressure|power|voltage|range|area|population"
)
# What is no words, a year, the mark of a footnote, or only half a phrase.
_NO_LABEL_WITH = re.compile(
    r"[?:{}¹²³⁴-⁹]|\d{4}|[a-z)]\d+(?:,\d+)*$|^(?:of|by|in|on|at|for|to|from|with|that|who|[a-z]+ed) "
)
_LEANING = re.compile(r"\b(?:the same|ditto|as above|see above|likewise)\b", re.IGNORECASE)


def from_tables(document: Document) -> Iterator[Draft]:
    for table in document.tables:
        labels = [row.label for row in table.rows]
        for row in table.rows:
            if labels.count(row.label) == 1 and _is_label(row.label):
                for cell in row.cells:
                    yield from _of_cell(document.text, row, cell)


def _of_cell(text: str, row: Row, cell: Cell) -> Iterator[Draft]:
    value, head = text[cell.start : cell.end].strip(), " ".join(cell.head.split()).rstrip(":")
    if value.lower() in _NO_VALUE or len(value.split()) > 16 or _LEANING.search(value):
        return
    recipe, subject, template = "table", row.label, ""
    if YEAR.search(head) and len(head.split()) <= 6:
        if re.search(r"\d", value) and not _NO_PERIOD.search(head):
            recipe, subject = "table-period", inside(row.label, text)
            was = "were" if re.search(r"[^s]s$", subject) else "was"
            template = YEAR.sub("{}", f"What {was} {subject} {_period(head)}?", count=1)
    elif head.lower() in _PHRASES:
        template = _PHRASES[head.lower()]
    elif _is_noun(head, value) and (head.lower() == "default" or _is_name(row.label)):
        template = f"What is the {inside(head, text)} of {{}}?"
    if template:
        filled = YEAR.findall(head)[0] if recipe == "table-period" else row.label
        yield Draft(
            question=template.format(filled),
            expected=value,
            start=row.start,
            end=cell.end,
            recipe=recipe,
            subject=subject,
            template=template,
            aside=_asides(recipe, subject, filled, head, value),
        )


def _asides(recipe: str, subject: str, filled: str, head: str, value: str) -> tuple[str, ...]:
    if recipe == "table-period":
        return (f"How did {subject} in {filled} compare with the average of the industry?",)
    if head.lower() in _PHRASES or len(value.split()) > 3:
        return ()
    return f"Why is the {head.lower()} of {subject} {value}?", f"Who chose the {head.lower()} of {subject}?"


def _is_label(label: str) -> bool:
    known = 1 <= len(label.split()) <= 6 and bool(re.search(r"[A-Za-z]{3}", label))
    return known and not _NO_LABEL_WITH.search(label)


def _period(head: str) -> str:
    """ "in 2022", "on January 28, 2023", "for “Six Months Ended 2023”"."""
    if YEAR.fullmatch(head):
        return f"in {head}"
    return f"on {head}" if re.fullmatch(rf"(?:{MONTH}) \d{{1,2}}, \d{{4}}", head) else f"for “{head}”"


def _is_noun(head: str, value: str) -> bool:
    """A bare number is asked for only under what is known to have one: "medtech" is a head, too."""
    if re.fullmatch(r"[($€£ ]*[\d.,]+[%) ]*", value) and not _NUMBERED.fullmatch(head.lower()):
        return False
    words = head.lower().split()
    plain = all(re.fullmatch(r"[a-z][a-z-]+", word) and not _NO_HEAD.fullmatch(word) for word in words)
    noun = plain and 1 <= len(words) <= 2 and not is_finite(words[0])
    return noun and not re.search(r"(?<!s)s$", words[-1])


def _is_name(label: str) -> bool:
    """Something one can ask for without its table: a name, a code, two words that say more than one."""
    said = " " in label or bool(re.search(r"[A-Z0-9._/-]", label))
    return said and not _NO_LABEL.fullmatch(label.lower())
