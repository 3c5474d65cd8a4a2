"""Port for statements and arithmetic: line items, ratios, calculated results.

Only :func:`calculator` names an implementation. To do without one, delete the folder
``calculation/`` and return a plain :class:`Calculator` there: questions are then read by their words alone,
no table is read as a statement, and nothing is calculated.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from citewell.core.records import DraftClaim, Passage, Record
from citewell.questions.periods import Period

if TYPE_CHECKING:
    from citewell.questions.parsing import ParsedQuestion
    from citewell.questions.rows import CellAnswer


Cited = Sequence[tuple[Passage, Sequence[tuple[int, int]]]]
"""Passages with the spans of their documents that a claim cites."""


class Mention(Record, frozen=True, kw_only=True):
    """An item or ratio as named in a question. ``of``: the items that a ratio is calculated from ("A or B":
    either will do)."""

    name: str
    start: int
    end: int
    of: tuple[str, ...] = ()


class Named(Record, frozen=True, kw_only=True):
    """What a text names. ``places``: spans where it names ``statements``, which do not ask for a value."""

    items: tuple[Mention, ...] = ()
    formulae: tuple[Mention, ...] = ()
    statements: tuple[str, ...] = ()
    places: tuple[tuple[int, int], ...] = ()


class CalculationResult(Record, frozen=True, kw_only=True):
    """``working`` is the calculation in numbers as printed, ``reasoning`` the same in words; ``result`` is ""
    for rows compared, whose ``working`` names the rows; ``shown`` are the cells of those that answer."""

    what: str
    working: str
    result: str
    reasoning: str
    cells: tuple[CellAnswer, ...]
    shown: tuple[CellAnswer, ...] = ()


class Calculator:
    """The default implementation, which knows no statements and calculates nothing."""

    def named_in(self, text: str) -> Named:
        """The line items, ratios and statements that ``text`` names."""
        return Named()

    def parts(self, question: str) -> tuple[str, ...]:
        """Aspects asking for the operands of the answer to ``question``; () if it is not calculated."""
        return ()

    def printed(self, wanted: ParsedQuestion) -> list[str]:
        """Printed labels of the items asked for, and titles of the statements."""
        return []

    def cells(
        self, wanted: ParsedQuestion, passages: Sequence[Passage]
    ) -> list[tuple[str, Period | None, list[CellAnswer]]]:
        """Each requested item in each requested period with its cells, best first."""
        return []

    def compared(self, question: str, passages: Sequence[Passage]) -> tuple[CellAnswer, ...]:
        """The cells of all rows that ``question`` compares, if the answer follows from them; else ()."""
        return ()

    def evidence(self, wanted: ParsedQuestion, passages: Sequence[Passage]) -> list[CellAnswer]:
        """All cells asked for, or all operands of the calculation asked for; else []."""
        return []

    def results(
        self, question: str, found: Sequence[CellAnswer], passages: Sequence[Passage]
    ) -> tuple[CalculationResult, ...]:
        """Results of the calculations ``question`` asks for whose operands are all among ``found``."""
        return ()

    def is_answer(self, question: str, results: Sequence[CalculationResult]) -> bool:
        """Whether the results answer ``question`` directly, rather than being inputs to its answer."""
        return False

    def recalculated(self, claim: DraftClaim, question: str, cited: Cited) -> str | None:
        """Why a calculation in a claim does not follow from the ``cited`` spans, "" if it does; None for a
        claim that is not a calculation asked for."""
        return None


@cache
def calculator() -> Calculator:
    """The calculator used to read questions."""
    from citewell.questions.calculation.statements import StatementCalculator

    return StatementCalculator()
