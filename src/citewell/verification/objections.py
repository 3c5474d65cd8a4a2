"""Objections by exact code to a claim, whatever a model says: one table of checks.

In: a claim and one evidence text. Out: the first objection, in words, or ""; an objection keeps the text's
support below the threshold. Each check is in :data:`OBJECTIONS` under the name of its row in
docs/measurements/rules.md, where `python -m benchmarks.rules` reports what it stops and what it costs; a
check without a row that justifies it fails a test. Also: whether a text is about what a claim states, without
which it cannot contradict it (a contradiction withholds a whole answer); and the wording of a verdict's
reason. Independent of probabilities and models.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType

from citewell.core.sentences import blanked, sentence_spans
from citewell.questions.quantity import Quantity, QuantityForm
from citewell.questions.scales import context_scales
from citewell.verification.cells import missing_scale, place_numbers
from citewell.verification.entities import missing_names
from citewell.verification.evidence import ClaimEvidence, EvidenceText, source_kind, split_rows
from citewell.verification.numbers import Match, NumberCheck, check_numbers, missing_numbers
from citewell.verification.overstating import find_overstatement
from citewell.verification.quantities import extract_quantities
from citewell.verification.subjects import exchanged_names, find_other_subject, substituted_name
from citewell.verification.words import content_words, nearest_sentence, overlap

_AMOUNTS = frozenset({QuantityForm.NUMBER, QuantityForm.MONEY})
_OF: dict[QuantityForm, frozenset[QuantityForm]] = {
    QuantityForm.NUMBER: _AMOUNTS,
    QuantityForm.MONEY: _AMOUNTS,
    QuantityForm.POINTS: frozenset({QuantityForm.POINTS, QuantityForm.PERCENT}),
}
"""Forms whose values may be added or subtracted to give this form; by default only the form itself."""
SAME = 0.5  # minimum share of the claim's other content words in the line of the denying number
_MOST = 40  # maximum values of a premise tried in pairs


def speaks_of(claim: str, premise: str, context: str = "") -> bool:
    """``context`` is text around the premise that is not evidence itself: a title, units, column heads."""
    open_numbers = [check for check in check_numbers(claim, premise, context) if not check.holds]
    if open_numbers:
        said = frozenset(content_words(claim)).difference(content_words(context))
        lines = [premise[start:end] for start, end in sentence_spans(premise)] or [premise]
        numbered = [_Line(said, line) for line in lines]
        if not all(_set_against(check, said, premise, numbered) for check in open_numbers):
            return False
    missing = missing_names(claim, f"{context}\n{premise}")
    return not missing or substituted_name(claim, premise, context) is not None


def is_derivable(claimed: Quantity, premise: str) -> bool:
    """Whether ``claimed`` is the sum or difference of two values in the premise, in a scale it declares; the
    premise then does not deny it."""
    forms = _OF.get(claimed.form, frozenset({claimed.form}))
    values = [q.value for q in extract_quantities(premise) if q.form in forms][:_MOST]
    scales = context_scales(premise) if claimed.form in _AMOUNTS else (Decimal(1),)
    sizes = {abs(claimed.value) / scale for scale in scales}
    return any(abs(a - b) in sizes or a + b in sizes for a, b in itertools.combinations(values, 2))


class _Line:
    """The words of a premise's line, the forms of its numbers, and how many of the words ``said`` it has."""

    def __init__(self, said: frozenset[str], line: str) -> None:
        self.words = frozenset(content_words(line))
        self.forms = {quantity.form for quantity in extract_quantities(line)}
        self.shared = len(said & self.words)


def _set_against(check: NumberCheck, said: frozenset[str], premise: str, lines: Sequence[_Line]) -> bool:
    """Whether another number takes the place of the claim's, in a line that shares many of the words
    ``said`` of it."""
    if (
        check.match in {Match.OPEN, Match.ABSENT}
        or check.nearest is None
        or is_derivable(check.quantity, premise)
    ):
        return False
    own = said.intersection(content_words(check.quantity.text))
    wanted = len(said) - len(own)
    return not wanted or any(
        line.shared - len(own & line.words) >= SAME * wanted
        for line in lines
        if check.nearest.form in line.forms
    )


def support_reason(claim: str, premise: EvidenceText, context: str) -> str:
    """Reason for a supported claim: its source, and which of its numbers are not written there."""
    where = f" by {premise.source}" if premise.source else ""
    loose = missing_numbers(claim, premise.text, premise.around(context))
    tail = f"; {_list(loose)} is not written there" if loose else ""
    return f"supported{where}{tail}"


def nearest_words(claim: str, premise: EvidenceText) -> str:
    """The sentence nearest to ``claim``, as a quote; "" if there is none."""
    words = " ".join(nearest_sentence(claim, premise.text).split())
    return (
        f"\u201c{words if len(words) <= _LONGEST else words[:_LONGEST] + chr(0x2026)}\u201d" if words else ""
    )


def lacking(
    claim: str,
    nearest: EvidenceText,
    texts: Sequence[EvidenceText],
    *,
    context: str,
    asked: str,
) -> str:
    """Reason for an unsupported claim: missing numbers, else missing names, else an overstatement; "" if
    nothing specific is found. ``nearest`` is the one of ``texts`` closest to supporting the claim;
    ``context`` and ``asked`` are the question.
    """
    everything = "\n".join(text.text for text in texts)
    around = "\n".join([context, *(text.context for text in texts)])
    if numbers := missing_numbers(claim, everything, around):
        return f"the source does not contain {_list(numbers)}"
    if missing := missing_names(claim, f"{everything}\n{around}\n{asked}"):
        return f"the source does not name {_list(missing)}"
    return find_overstatement(claim, nearest.text)


_LONGEST = 160  # maximum characters of a source sentence in a reason


def _list(items: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(f"\u201c{' '.join(item.split())}\u201d" for item in items))


_DENIES = frozenset({Match.OTHER, Match.FORM})
_DATES = frozenset({QuantityForm.DATE, QuantityForm.YEAR})
DENIED_CEILING = 0.45  # maximum support of a claim with an objection: below the threshold of 0.5
_COPIED = 0.9  # minimum share of the claim's words, figures aside, in one sentence; tuned on training texts
_FIGURE = re.compile(r"\d|illion")


Objection = Callable[[ClaimEvidence, EvidenceText], str]


def objection(question: ClaimEvidence, evidence: EvidenceText, checks: Mapping[str, Objection]) -> str:
    """The first objection of ``checks``, or ""."""
    return next((found for check in checks.values() if (found := check(question, evidence))), "")


def _numbers(question: ClaimEvidence, evidence: EvidenceText) -> str:
    """Figures of the claim that a sentence of nearly the same words replaces with others. A claim worded
    differently may apply a rule ("a bill of 420 euros") or compute its figure: the model judges that, as it
    does spelled-out counts."""
    premise = _prose_meant(evidence.text, question.claim)
    words = blanked(question.claim, extract_quantities(question.claim))
    if not premise or overlap(words, nearest_sentence(words, premise)) < _COPIED:
        return ""
    checks = check_numbers(question.claim, premise, evidence.around(question.context))
    titled = check_numbers(question.claim, evidence.context)
    figures = [
        check.quantity.text
        for check, told in zip(checks, titled, strict=True)
        if check.match in _DENIES
        and _FIGURE.search(check.quantity.text)
        and not (told.holds and check.quantity.form in _DATES)  # a year or date that the title names
    ]
    return f"the source does not contain {_list(figures)}" if figures else ""


def _names(question: ClaimEvidence, evidence: EvidenceText) -> str:
    """Two names swapped, or one substituted for another."""
    prose = _prose_meant(evidence.text, question.claim)
    if not prose:
        return ""
    if pair := exchanged_names(question.claim, prose):
        return f"the source has \u201c{pair[0]}\u201d and \u201c{pair[1]}\u201d the other way round"
    other = substituted_name(question.claim, prose, evidence.around(question.context))
    return f"the source does not name {_list([other])} there" if other else ""


def _overstated(question: ClaimEvidence, evidence: EvidenceText) -> str:
    return find_overstatement(question.claim, _prose_meant(evidence.text, question.claim))


_SPEAKS = 0.6  # minimum share of the claim's other content words in the sentence about it
_ELSEWHERE = 0.5  # maximum fraction of that share in a sentence that contains the number
_FEWEST = 2


def _elsewhere(question: ClaimEvidence, evidence: EvidenceText) -> str:
    """A number of another sentence than the one about what the claim states, which has another value."""
    claim, premise = question.claim, _prose_meant(evidence.text, question.claim)
    context = evidence.around(question.context)
    sentences = [premise[a:b] for a, b in sentence_spans(premise)]
    numbers = extract_quantities(claim)
    if len(sentences) < 2 or not numbers or len(sentence_spans(claim)) > 1:
        return ""
    wanted = set(content_words(claim)).difference(*(content_words(number.text) for number in numbers))
    if len(wanted) < _FEWEST:
        return ""
    share = [len(wanted & set(content_words(text))) / len(wanted) for text in sentences]
    nearest = max(range(len(sentences)), key=lambda i: (share[i], -i))
    if share[nearest] < _SPEAKS:
        return ""
    near = check_numbers(claim, sentences[nearest], context)
    for there, here in zip(check_numbers(claim, premise, context), near, strict=True):
        ordinal = here.quantity.form is QuantityForm.ORDINAL
        if ordinal or not there.holds or here.match is not Match.OTHER or here.nearest is None:
            continue
        holding = [
            share[i]
            for i, text in enumerate(sentences)
            if any(c.quantity == here.quantity and c.holds for c in check_numbers(claim, text, context))
        ]
        if holding and max(holding) <= _ELSEWHERE * share[nearest]:
            return (
                f"where the source speaks of this, it has “{here.nearest.text}”; "
                f"“{here.quantity.text}” is elsewhere in it"
            )
    return ""


def _cells(question: ClaimEvidence, evidence: EvidenceText) -> str:
    placed = place_numbers(question.claim, evidence.lines, evidence.around(question.context))
    return next((cell.misplaced for cell in placed if cell.misplaced), "")


def another_subject(question: ClaimEvidence, evidence: EvidenceText) -> str:
    """The evidence states it about a subject other than the one the claim's pronoun refers to."""
    found = find_other_subject(question.claim, question.antecedent, evidence.text, evidence.context)
    return (
        f"the source says it about \u201c{found[0]}\u201d, not about \u201c{found[1]}\u201d" if found else ""
    )


def _scale(question: ClaimEvidence, evidence: EvidenceText) -> str:
    return missing_scale(question.claim, evidence, f"{question.context}\n{question.asked}")


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
    """The premise; if it is a table, the prose next to it if one of its sentences is nearer to the claim than
    any row, else "": prose checks do not apply to rows, whose numbers the cell check covers."""
    if source_kind(premise) != "table":
        return premise
    rows, lines = split_rows(premise)
    prose = "\n".join(lines)
    nearest = overlap(claim, nearest_sentence(claim, prose)) if prose else 0.0
    return prose if nearest > max(overlap(claim, row) for row in rows) else ""
