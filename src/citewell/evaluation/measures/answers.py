"""Do answers say what was expected: by words, by numbers, and as a whole.

In: judged answers of cases that hold an expected text. Out: measures, over the questions that have an answer:
one that was refused has 0 in each (SQuAD 2.0, Rajpurkar et al. 2018), or refusing would pay.
Normalisation and F1 as SQuAD (Rajpurkar et al. 2016). ``contains_expected`` looks for the one expected text:
ALCE's exact-match recall is the mean of that over several short answers, which a case does not hold.
"""

from __future__ import annotations

from collections.abc import Callable

from citewell.evaluation.judging import correctness
from citewell.evaluation.judging.correctness import units_of, words_of
from citewell.evaluation.measures.measure import NOT_ASKED, Measure, one
from citewell.evaluation.observed import Judged
from citewell.evaluation.results import Score


def _compared(rule: Callable[[str, str], float | bool]) -> Callable[[Judged], Score]:
    def score(judged: Judged) -> Score:
        if judged.answerable is False:
            return NOT_ASKED
        if not judged.case.expected:
            return one(None, "the case expects no text")
        if not judged.observed.answered:
            return one(0.0)
        return one(rule(judged.case.expected, words_of(judged.observed)))

    return score


def numeric_match(judged: Judged) -> Score:
    expected, units = judged.case.expected, units_of(judged.observed)
    if expected and not correctness.values(expected):
        return NOT_ASKED
    return _compared(lambda wanted, said: bool(correctness.numbers_match(wanted, said, units)))(judged)


MEASURES: tuple[Measure, ...] = (
    Measure(name="exact_match", of=_compared(correctness.exact_match), bounded=True),
    Measure(name="f1", of=_compared(correctness.f1), bounded=True),
    Measure(name="contains_expected", of=_compared(correctness.contained), bounded=True),
    Measure(name="numeric_match", of=numeric_match, bounded=True),
)
