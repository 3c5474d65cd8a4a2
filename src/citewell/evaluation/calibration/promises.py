"""Thresholds with a certificate: Learn then Test (Angelopoulos et al. 2021) with Clopper and Pearson's bound.

In: labelled claims or other units with scores and labels, a grid, the share of errors that is allowed. Out: a
:class:`Promise`. From the strictest threshold down, "more than alpha of what is shown is in error" is tested
at each one as long as it can be rejected (fixed-sequence testing: no correction for the size of the grid);
the last one rejected is used. A threshold that shows too few units for any promise, or less than a quarter of
what the loosest shows, is passed over before the sequence starts: see decision 060. What stands on verbatim
words is never counted with what stands on entailment: it would hide its errors.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence

import msgspec

from citewell.answering.verifying import VerifyReport, verify
from citewell.core.config import Verification
from citewell.core.ports import Entailer
from citewell.core.records import Proof, Record, Status, Verdict
from citewell.evaluation.cases import LabelledClaim
from citewell.evaluation.intervals import kept, upper_bound
from citewell.models.remembering import RememberingEntailer
from citewell.verification.confidence.cards import Outcome, Promise
from citewell.verification.evidence import ClaimEvidence, as_evidence
from citewell.verification.verifier import Verifier

GRID = tuple(
    sorted((*(k / 100 for k in range(50, 90, 2)), *(k / 200 for k in range(180, 200))), reverse=True)
)
"""Thresholds, strictest first: by .02 from .50, by .005 from .90."""
START = 4
"""The sequence starts where one in so many is shown of the units that the loosest threshold shows."""


class Unit(Record, frozen=True, kw_only=True):
    """One answer's part in a promise: the score of each thing it may show, and whether that is right.

    It is shown at a threshold that one of its scores reaches, and in error when anything it then shows is
    wrong.
    """

    scores: tuple[float, ...]
    right: tuple[bool, ...]

    @property
    def highest(self) -> float:
        """It is shown up to this threshold."""
        return max(self.scores)

    @property
    def highest_wrong(self) -> float:
        """It is in error up to this threshold; -1 when nothing in it is wrong."""
        return max((s for s, right in zip(self.scores, self.right, strict=True) if not right), default=-1.0)

    @property
    def highest_right(self) -> float:
        """Up to this threshold it shows something right; -1 when it holds nothing right."""
        return max((s for s, right in zip(self.scores, self.right, strict=True) if right), default=-1.0)


def unit(score: float, right: bool) -> Unit:
    return Unit(scores=(score,), right=(right,))


def units_needed(errors: int, alpha: float = 0.05, confidence: float = 0.95) -> int:
    """The fewest units with so many errors among them whose bound is at most ``alpha``."""
    low, high = errors, errors + 1
    while not kept(errors, high, alpha, confidence):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if kept(errors, middle, alpha, confidence) else (middle, high)
    return high


class Wanted(Record, frozen=True, kw_only=True):
    """A promise to be made: what it ``says`` of each ``unit``, the share of errors ``alpha`` that it allows
    and the confidence it needs. ``fallback``: the threshold in use; ``unscored``: how many were not told."""

    name: str
    says: str
    unit: str
    fallback: float
    alpha: float = 0.05
    confidence: float = 0.95
    grid: tuple[float, ...] = GRID
    unscored: int = 0


def shown_promise(wanted: Wanted, units: Sequence[Unit]) -> Promise:
    """At most ``alpha`` of what is *shown* is in error. ``coverage``: of the units with something right in
    them, the share of which something right is shown."""
    shown, wrong = sorted(u.highest for u in units), sorted(u.highest_wrong for u in units)
    reached = sorted(u.highest_right for u in units)
    least = math.ceil(_from(shown, min(wanted.grid)) / START)
    return _promise(wanted, len(units), lambda t: (_from(shown, t), _from(wrong, t)), reached, least)


def passed_promise(wanted: Wanted, wrong: Sequence[float], right: Sequence[float]) -> Promise:
    """At most ``alpha`` of what should *not* be let through (its scores: ``wrong``) is. ``coverage``: the
    share of ``right`` that is."""
    bad = sorted(wrong)
    return _promise(wanted, len(bad), lambda t: (len(bad), _from(bad, t)), sorted(right))


def _promise(
    wanted: Wanted,
    n: int,
    counted: Callable[[float], tuple[int, int]],
    reached: Sequence[float],
    least: int = 0,
) -> Promise:
    """The lowest threshold of the grid that keeps the promise; the fallback where none does: its rate and
    bound are then told, and promise nothing. ``counted``: what is shown at a threshold, and the errors in it;
    ``reached``: up to which threshold each of what is right is shown."""
    alpha, confidence = wanted.alpha, wanted.confidence
    needed = units_needed(0, alpha, confidence)
    counts = {threshold: counted(threshold) for threshold in wanted.grid}
    tested = [t for t in wanted.grid if counts[t][0] >= max(needed, least)]
    kept_at = []
    for threshold in tested:
        shown, errors = counts[threshold]
        if not kept(errors, shown, alpha, confidence):
            break
        kept_at.append(threshold)
    used = kept_at[-1] if kept_at else wanted.fallback
    outcome, note = Outcome.HOLDS, ""
    if not n:
        outcome, note = Outcome.NOT_MEASURED, "nothing was labelled"
    elif not tested:
        most = max(shown for shown, _ in counts.values())
        outcome = Outcome.TOO_SMALL
        note = f"{most} units at most; {needed} without an error are needed"
    elif not kept_at:
        outcome, note = _failed(tested[0], *counts[tested[0]], alpha, confidence)
    shown, errors = counted(used)
    good = _from(reached, 0.0)
    return Promise(
        name=wanted.name,
        says=wanted.says,
        unit=wanted.unit,
        threshold=used,
        alpha=alpha,
        n=n,
        shown=shown,
        errors=errors,
        rate=errors / shown if shown else None,
        bound=upper_bound(errors, shown, confidence) if shown else None,
        coverage=_from(reached, used) / good if good else None,
        outcome=outcome,
        unscored=wanted.unscored,
        note=note,
    )


def _failed(
    threshold: float, shown: int, errors: int, alpha: float, confidence: float
) -> tuple[Outcome, str]:
    """Too few to tell where the errors seen are within what is allowed, else the scores do not separate."""
    told = f"at {threshold:.3g}, the strictest that was tested, {errors} of {shown} are in error"
    if errors / shown <= alpha:
        wanted = units_needed(errors, alpha, confidence)
        return Outcome.TOO_SMALL, f"{told}; {wanted} are needed with that many errors"
    return Outcome.DOES_NOT_SEPARATE, told


def _from(ordered: Sequence[float], threshold: float) -> int:
    return len(ordered) - bisect_left(ordered, threshold)


_WEAKEST = (Proof.ENTAILED, Proof.NUMERIC, Proof.COMPUTED, Proof.VERBATIM)


class Scored(Record, frozen=True, kw_only=True):
    """``score`` is the support it is VERIFIED by; 0 when it never is. ``answer`` names what it is part of."""

    answer: str
    proof: Proof
    score: float
    right: bool


def units_of(scored: Iterable[Scored], proof: Proof) -> list[Unit]:
    answers: dict[str, list[Scored]] = {}
    for claim in scored:
        if claim.proof is proof:
            answers.setdefault(claim.answer, []).append(claim)
    return [
        Unit(scores=tuple(c.score for c in claims), right=tuple(c.right for c in claims))
        for claims in answers.values()
    ]


# --- labelled claims -------------------------------------------------------------------------------


def distinct(rows: Sequence[LabelledClaim]) -> list[LabelledClaim]:
    """The rows of each unit once: a group, or a row without one, whose claims are those of a unit before it
    is the same unit again. A claim that two units share stays in both. It is supported where every row of it,
    with the same sources and question, says so in the units that repeat each other: labels that differ are
    an error."""
    units: dict[object, dict[tuple[object, ...], LabelledClaim]] = {}
    for place, row in enumerate(rows):
        name = (row.file, row.group) if row.group else place
        _agreed(units.setdefault(name, {}), {_said(row): row})
    found: dict[frozenset[tuple[object, ...]], dict[tuple[object, ...], LabelledClaim]] = {}
    for claims in units.values():
        _agreed(found.setdefault(frozenset(claims), {}), claims)
    return [row for claims in found.values() for row in claims.values()]


def _said(row: LabelledClaim) -> tuple[object, ...]:
    texts = (row.claim, row.question, *row.sources)
    return (row.whole, *(" ".join(text.split()) for text in texts))


def _agreed(
    known: dict[tuple[object, ...], LabelledClaim], more: dict[tuple[object, ...], LabelledClaim]
) -> None:
    """Adds ``more``; of a claim that is known, only that it is not supported."""
    for said, row in more.items():
        first = known.setdefault(said, row)
        if first.supported and not row.supported:
            known[said] = msgspec.structs.replace(first, supported=False)


def scored_claims(
    rows: Sequence[LabelledClaim], entailer: Entailer, settings: Verification
) -> tuple[list[Scored], int]:
    """Each row by its support, and how many could not be checked. A whole answer is one claim here: it is
    shown as VERIFIED when all of it is, so it has the score and the proof of its weakest claim."""
    asked = RememberingEntailer(entailer)
    strict, loose = (msgspec.structs.replace(settings, support_threshold=t) for t in (GRID[0], GRID[-1]))
    single = [(place, row) for place, row in enumerate(rows) if not row.whole]
    questions = [_question(row) for _, row in single]
    # At the strictest threshold every way to support a claim is tried; at the loosest its proof is known.
    judged = zip(
        single,
        Verifier(asked, strict).verify_many(questions),
        Verifier(asked, loose).verify_many(questions),
        strict=True,
    )
    found = {place: [(high, low)] for (place, _), high, low in judged}
    for place, row in enumerate(rows):
        if row.whole:
            first, second = (_checked(row, asked, each) for each in (strict, loose))
            found[place] = [(a.verdict, b.verdict) for a, b in zip(first.claims, second.claims, strict=True)]
    scored = [_scored(row, place, found[place]) for place, row in enumerate(rows)]
    known = [claim for claim in scored if claim is not None]
    return known, len(scored) - len(known)


def _question(row: LabelledClaim) -> ClaimEvidence:
    return ClaimEvidence(
        claim=row.claim, evidence=tuple(as_evidence(text) for text in row.sources), context=row.question
    )


def _checked(row: LabelledClaim, entailer: Entailer, settings: Verification) -> VerifyReport:
    return verify(row.claim, row.sources, row.question, entailer=entailer, settings=settings)


def _scored(row: LabelledClaim, place: int, verdicts: Sequence[tuple[Verdict, Verdict]]) -> Scored | None:
    """None where a claim could not be checked, or there is none."""
    if not verdicts or any(low.status is Status.UNCHECKED for _, low in verdicts):
        return None
    claims = [
        (high.support or 0.0, low.proof) if low.proof is not None else (0.0, None) for high, low in verdicts
    ]
    proofs = {proof or Proof.ENTAILED for _, proof in claims}
    return Scored(
        answer=f"group {(row.file, row.group)}" if row.group else f"row {place}",
        proof=next(proof for proof in _WEAKEST if proof in proofs),
        score=min(score for score, _ in claims),
        right=row.supported,
    )
