"""What exact code knows against a claim, whatever a model says: one table of checks.

In: a claim and one evidence text. Out: the first objection, in words, or "". An objection keeps the
support of
that text under its border. Each check stands in :data:`OBJECTIONS` under the name of its row in
docs/measurements/rules.md, where `python -m benchmarks.rules` says what it stops and what it costs; a check
without a row that defends it fails a test. Knows no probabilities and no models.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from citewell.core.sentences import sentence_spans
from citewell.verification.antecedents import said_of_another
from citewell.verification.cells import place_numbers, understated
from citewell.verification.evidence import ClaimEvidence, EvidenceText
from citewell.verification.exchange import exchanged_names, substituted_name
from citewell.verification.kinds import parted, source_kind
from citewell.verification.numbers import Match, NumberCheck, check_numbers
from citewell.verification.opposing import worked_out
from citewell.verification.overstating import overstated
from citewell.verification.places import in_another_sentence
from citewell.verification.quantities import Form, Quantity, extract_quantities
from citewell.verification.words import nearest_sentence, overlap

_DENIES = frozenset({Match.OTHER, Match.SIGN, Match.FORM})
_DATES = frozenset({Form.DATE, Form.YEAR})
_LARGE = 1000
DENIED_CEILING = 0.45  # the most support of a claim that is objected to: under the border of 0.5
_BY = re.compile(
    r"\b(?:by|(?:differ\w+|gap|rise|fall|(?:in|de)crease|change|sum|total) of)\s+(?:\w+\s+)?$", re.IGNORECASE
)
_TOTAL = re.compile(
    r"\b(?:totals?|sum|altogether|in all|combined|together|overall|difference|differs?|gap)\b", re.IGNORECASE
)
_COPIED = 0.9  # share of the claim's words, figures aside, in one sentence; chosen on training texts
_FIGURE = re.compile(r"\d|illion")
_THAN = re.compile(r"\s*(?:\w+\s+)?(?:more|less|fewer|higher|lower|greater|smaller)\b", re.IGNORECASE)


Objection = Callable[[ClaimEvidence, EvidenceText], str]


def objection(
    question: ClaimEvidence, evidence: EvidenceText, checks: Mapping[str, Objection] | None = None
) -> str:
    """The first objection of ``checks`` (all of :data:`OBJECTIONS`), or ""."""
    for check in (OBJECTIONS if checks is None else checks).values():
        if found := check(question, evidence):
            return found
    return ""


def _numbers(question: ClaimEvidence, evidence: EvidenceText) -> str:
    """Figures of the claim in whose place a sentence of nearly the same words has others. In other words a
    claim may apply a rule ("a bill of 420 euros") or work its figure out: that is the model's to judge, as
    are counts in words. Rows of tables are for the cells' own check."""
    prose = _prose_meant(evidence.text, question.claim)
    words = question.claim
    for quantity in reversed(extract_quantities(words)):
        words = f"{words[: quantity.start]} {words[quantity.end :]}"
    if not prose or overlap(words, nearest_sentence(words, prose)) < _COPIED:
        return ""
    denied = denied_numbers(prose, question.claim, evidence.around(question.context), evidence.context)
    figures = [text for text in denied if _FIGURE.search(text)]
    return f"the source does not contain {_listed(figures)}" if figures else ""


def _names(question: ClaimEvidence, evidence: EvidenceText) -> str:
    """Two names in each other's place, or one in the place of another; rows of a table have no places."""
    prose = _prose_meant(evidence.text, question.claim)
    if not prose:
        return ""
    if pair := exchanged_names(question.claim, prose):
        return f"the source has \u201c{pair[0]}\u201d and \u201c{pair[1]}\u201d the other way round"
    other = substituted_name(question.claim, prose, evidence.around(question.context))
    return f"the source does not name {_listed([other])} there" if other else ""


def _overstated(question: ClaimEvidence, evidence: EvidenceText) -> str:
    prose = _prose_meant(evidence.text, question.claim)
    return overstated(question.claim, prose) if prose else ""


def _elsewhere(question: ClaimEvidence, evidence: EvidenceText) -> str:
    prose = _prose_meant(evidence.text, question.claim)
    around = evidence.around(question.context)
    return in_another_sentence(question.claim, prose, around) if prose else ""


def _cells(question: ClaimEvidence, evidence: EvidenceText) -> str:
    placed = place_numbers(question.claim, evidence.lines, evidence.around(question.context))
    return next((cell.misplaced for cell in placed if cell.misplaced), "")


def another_subject(question: ClaimEvidence, evidence: EvidenceText) -> str:
    """The evidence says it of another thing than the one that the claim's pronoun stands for."""
    found = said_of_another(question.claim, question.antecedent, evidence.text, evidence.context)
    return (
        f"the source says it about \u201c{found[0]}\u201d, not about \u201c{found[1]}\u201d" if found else ""
    )


def _scale(question: ClaimEvidence, evidence: EvidenceText) -> str:
    return understated(question.claim, evidence, f"{question.context}\n{question.asked}")


OBJECTIONS: Mapping[str, Objection] = MappingProxyType(
    {
        "numbers": _numbers,
        "names": _names,
        "overstatement": _overstated,
        "cells": _cells,
        "another subject": another_subject,
        "scale": _scale,
        "number in another sentence": _elsewhere,
    }
)


def _prose_meant(premise: str, claim: str) -> str:
    """The premise, or the prose beside its table where a sentence of that is nearer to the claim than any
    row; else nothing."""
    if source_kind(premise) != "table":
        return premise
    rows, lines = parted(premise)
    prose = "\n".join(lines)
    nearest = overlap(claim, nearest_sentence(claim, prose)) if prose else 0.0
    return prose if nearest > max(overlap(claim, row) for row in rows) else ""


def denied_numbers(premise: str, claim: str, context: str = "", title: str = "") -> tuple[str, ...]:
    """Numbers of the claim in whose place the premise has other ones, as written in the claim.

    ``title`` is what of the ``context`` is a source, unlike the question: a year that it names is that of a
    value which stands beside no other date. A difference or a sum that the claim speaks of is not denied by
    the numbers that it is worked out of."""
    checks = check_numbers(claim, premise, context)
    dated = bool(title) and _undated(checks, premise)
    titled = check_numbers(claim, title) if dated else checks
    return tuple(
        check.quantity.text
        for check, told in zip(checks, titled, strict=True)
        if check.match in _DENIES
        and not (told.holds and check.quantity.form in _DATES)
        and not (check.match is Match.OTHER and _worked_out(check.quantity, claim, premise))
    )


def _worked_out(quantity: Quantity, claim: str, premise: str) -> bool:
    """Said to be a difference or a sum ("by 320"), and one of two numbers of one row or paragraph."""
    said = (
        quantity.direction  # of a rise or a fall
        or _BY.search(claim[: quantity.start])
        or _THAN.match(claim, quantity.end)
        or _TOTAL.search(claim)
    )
    return bool(said) and any(worked_out(quantity, line) for line in premise.splitlines())


def _undated(checks: Sequence[NumberCheck], premise: str) -> bool:
    """The claim's values that the premise holds, one at least, are each told without a date: the number
    before and the one behind in the sentence, small counts aside, are none."""
    values = [check.nearest for check in checks if check.holds and check.quantity.form not in _DATES]
    numbers = extract_quantities(premise)
    for value in values:
        if value not in numbers:
            return False
        start, end = next(
            ((a, b) for a, b in sentence_spans(premise) if a <= value.start < b), (0, len(premise))
        )
        told = [
            number
            for number in numbers
            if start <= number.start < end
            and (number == value or number.form is not Form.NUMBER or abs(number.value) >= _LARGE)
        ]
        at = told.index(value)
        if any(number.form in _DATES for number in told[max(0, at - 1) : at + 2]):
            return False
    return bool(values)


def _listed(items: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(f"\u201c{' '.join(item.split())}\u201d" for item in items))
