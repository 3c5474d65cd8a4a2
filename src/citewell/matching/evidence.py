"""What answers an aspect: cells or sentences of the passages, the same for the gate and the writer.

In: what is wanted, passages, an extractor. Out: answers, best first, none when nothing answers. A value
of a statement is read from its cell; words from sentences; a row when it fits the words better.
"""

from __future__ import annotations

from collections.abc import Sequence

from citewell.matching.calculations import leaf_of
from citewell.matching.cells import CellAnswer, compared_cells, find_rows, operand_cells, statement_cells
from citewell.matching.expressions import leaves
from citewell.matching.formulae import labelled_workings
from citewell.matching.naming import of_the_named
from citewell.matching.periods import periods_in
from citewell.matching.prose import MAX_SENTENCES, SentenceAnswer, find_pointed, sure
from citewell.matching.questions import Ask, Wanted
from citewell.ports import Extractor
from citewell.records import Passage

Answers = tuple[CellAnswer | SentenceAnswer, ...]
MAX_COMPARED = 12
_TABULAR = 0.7


def find_evidence(
    wanted: Wanted, passages: Sequence[Passage], extractor: Extractor, *, max_no_answer: float
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
    if rows and (not pointed or _row_wins(wanted, rows[0], pointed[0])):
        return tuple(row for row in rows if row.score >= 0.95 * rows[0].score)[:MAX_SENTENCES]
    return tuple(pointed)


def labelled_operands(wanted: Wanted, passages: Sequence[Passage]) -> list[CellAnswer]:
    """The cells that a calculation over named rows stands on; [] unless all of them are found."""
    for working in labelled_workings(wanted.question):
        names = dict.fromkeys(leaf.text for leaf in leaves(working.tree) if leaf_of(leaf.text)[0])
        named = of_the_named(wanted, passages)
        cells = [operand_cells(item, periods_in(period)[0], named) for item, period in map(leaf_of, names)]
        if all(cells):
            return [found[0] for found in cells]
    return []


def _row_wins(wanted: Wanted, row: CellAnswer, pointed: CellAnswer | SentenceAnswer) -> bool:
    tabular = wanted.ask in (Ask.NUMBER, Ask.WHICH)
    return tabular and row.score >= max(_TABULAR, sure(pointed))
