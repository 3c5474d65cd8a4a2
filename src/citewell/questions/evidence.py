"""What answers an aspect: cells or sentences of the passages, the same for the gate and the writer.

In: what is wanted, passages, an extractor. Out: answers, best first, none when nothing answers. A value
of a statement is read from its cell; words from sentences; a row when it fits the words better.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from citewell.core.ports import Extractor
from citewell.core.records import Passage
from citewell.questions.calculation.formulae import labelled_workings
from citewell.questions.calculation.named import leaf_of, named_leaves
from citewell.questions.calculation.operands import operands_of, unfit
from citewell.questions.cells import CellAnswer, compared_cells, find_rows, statement_cells
from citewell.questions.keys import named_cells, set_apart
from citewell.questions.line_items import same_label
from citewell.questions.naming import of_the_named
from citewell.questions.parsing import Ask, ParsedQuestion
from citewell.questions.prose import MAX_SENTENCES, SentenceAnswer, find_pointed, sure

Answers = tuple[CellAnswer | SentenceAnswer, ...]
MAX_COMPARED = 12
_TABULAR = 0.7


def find_evidence(
    wanted: ParsedQuestion, passages: Sequence[Passage], extractor: Extractor, *, max_no_answer: float
) -> Answers:
    """At most MAX_COMPARED cells or MAX_SENTENCES sentences or rows; () when nothing answers."""
    if not passages:
        return ()
    if operands := labelled_operands(wanted, passages):
        return tuple(operands)
    if wanted.by_cell:
        cells = statement_cells(wanted, passages)
        if cells:
            return tuple(cells)
    if wanted.ask is Ask.WHICH:
        cells = compared_cells(wanted, passages)
        if cells:
            return tuple(cells[:MAX_COMPARED])
    pointed = find_pointed(wanted, passages, extractor, max_no_answer=max_no_answer)
    rows = [] if wanted.by_cell and not wanted.words else find_rows(wanted, passages)
    rows = [row for row in rows if not set_apart(wanted.question, row.passage, row.row)]
    if rows and (not pointed or _row_wins(wanted, rows[0], pointed[0])):
        return tuple(_keyed(wanted, row) for row in rows if row.score >= 0.95 * rows[0].score)[:MAX_SENTENCES]
    return tuple(_keyed(wanted, answer) for answer in pointed)


def _keyed(wanted: ParsedQuestion, answer: CellAnswer | SentenceAnswer) -> CellAnswer | SentenceAnswer:
    """A cell with those beside it that tell its row from other rows of the label."""
    if isinstance(answer, SentenceAnswer):
        return answer
    return msgspec.structs.replace(answer, keys=named_cells(wanted.question, answer.passage, answer.row))


def labelled_operands(wanted: ParsedQuestion, passages: Sequence[Passage]) -> list[CellAnswer]:
    """The cells that a calculation over named rows stands on; [] unless all of them are found, or where the
    table has a row for the change itself."""
    named = of_the_named(wanted, passages)
    for working in labelled_workings(wanted.question):
        names = named_leaves(working.tree)
        if any(_change_is_printed(leaf_of(name)[0], named) for name in names):
            continue
        found = {name: operands_of(*leaf_of(name), named) for name in names}
        if all(found.values()) and not unfit(working.tree, {name: of[0] for name, of in found.items()}):
            return [of[0].answer for of in found.values()]
    return []


def _change_is_printed(label: str, passages: Sequence[Passage]) -> bool:
    rows = (row for passage in passages for row in passage.chunk.rows)
    asked = [f"{how} in {label}" for how in ("change", "increase", "decrease")]
    return any(same_label(row.label, name) for row in rows for name in asked)


def _row_wins(wanted: ParsedQuestion, row: CellAnswer, pointed: CellAnswer | SentenceAnswer) -> bool:
    tabular = wanted.ask in (Ask.NUMBER, Ask.WHICH)
    return tabular and row.score >= max(_TABULAR, sure(pointed))
