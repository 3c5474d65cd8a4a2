"""The port of everything that knows statements and arithmetic: line items, ratios, worked-out results.

:func:`calculator` is the one place that names an implementation. To do without one, delete the folder
``calculation/`` and return a plain :class:`Calculator` there: questions are then read by their words alone,
no table is read as a statement, and nothing is worked out.
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


class Mention(Record, frozen=True, kw_only=True):
    """An item or a ratio as a question names it. ``of``: the items that a ratio is made of ("A or B": either
    will do)."""

    name: str
    start: int
    end: int
    of: tuple[str, ...] = ()


class Named(Record, frozen=True, kw_only=True):
    """What a text names: ``places`` are where it names ``statements``, words that ask for no value."""

    items: tuple[Mention, ...] = ()
    formulae: tuple[Mention, ...] = ()
    statements: tuple[str, ...] = ()
    places: tuple[tuple[int, int], ...] = ()


class Result(Record, frozen=True, kw_only=True):
    """``working`` is the calculation in numbers as they are printed, ``reasoning`` the same in words."""

    what: str
    working: str
    result: str
    reasoning: str
    cells: tuple[CellAnswer, ...]


class Calculator:
    """Knows no statements and works nothing out: what every method does until another is put in its place."""

    def named_in(self, text: str) -> Named:
        """The line items, ratios and statements that ``text`` names."""
        return Named()

    def parts(self, question: str) -> tuple[str, ...]:
        """Aspects that ask for what the answer of ``question`` is worked out from; () when nothing is."""
        return ()

    def printed(self, wanted: ParsedQuestion) -> list[str]:
        """What statements call the items asked for, and what they are called themselves."""
        return []

    def cells(
        self, wanted: ParsedQuestion, passages: Sequence[Passage]
    ) -> list[tuple[str, Period | None, list[CellAnswer]]]:
        """Each asked item in each asked period with its cells, best first."""
        return []

    def evidence(self, wanted: ParsedQuestion, passages: Sequence[Passage]) -> list[CellAnswer]:
        """Cells that are all of what is asked for, or all that it is worked out from; else []."""
        return []

    def results(
        self, question: str, found: Sequence[CellAnswer], passages: Sequence[Passage]
    ) -> tuple[Result, ...]:
        """What ``question`` asks to be worked out, as far as all operands are among ``found``."""
        return ()

    def is_answer(self, question: str, results: int) -> bool:
        """Whether so many results are what ``question`` asks for, not what its answer is to be seen from."""
        return False

    def recalculated(
        self, claim: DraftClaim, question: str, cited: Sequence[tuple[Passage, Sequence[tuple[int, int]]]]
    ) -> str | None:
        """Why a claim that is a calculation is not what the ``cited`` stretches give, "" where it is; None
        for a claim that is no calculation asked for."""
        return None


@cache
def calculator() -> Calculator:
    """The calculator that questions are read with."""
    from citewell.questions.calculation.statements import StatementCalculator

    return StatementCalculator()
