"""Thresholds with a guarantee: Learn then Test (Angelopoulos et al. 2021) with the Clopper-Pearson bound.

In: labelled claims or other units with scores and labels, a grid, the allowed share of errors. Out: a
:class:`Promise`. From the strictest threshold down, "more than alpha of what is shown is wrong" is tested
until it can no longer be rejected (fixed-sequence testing: no correction for the size of the grid); the last
threshold rejected is used. Thresholds showing too few units for any promise, or less than a quarter of what
the loosest shows, are skipped before the sequence starts: see decision 060. Verbatim claims are never counted
with entailed ones, as they would hide the latter's errors.
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
from citewell.verification.confidence.cards import Promise, PromiseOutcome
from citewell.verification.evidence import ClaimEvidence, as_evidence
from citewell.verification.verifier import Verifier

GRID = tuple(
    sorted((*(k / 100 for k in range(50, 90, 2)), *(k / 200 for k in range(180, 200))), reverse=True)
)
"""Thresholds, strictest first: in steps of .02 from .50, of .005 from .90."""
START = 4
"""The sequence starts where at least 1 in ``START`` of the units shown at the loosest threshold is shown."""


Unit = Sequence[tuple[float, bool]]
"""One answer, as counted for a promise: (score, whether it is right) of each item it may show. It is shown at
a threshold that any of its scores reaches, and in error if any item then shown is wrong."""


def highest(units: Iterable[Unit], *, right: bool | None = None) -> list[float]:
    """The highest threshold, sorted, at which each unit is shown, or shows something right or wrong; -1 when
    it has no such item."""
    return sorted(max((score for score, one in unit if right in (None, one)), default=-1.0) for unit in units)


def units_needed(errors: int, alpha: float = 0.05, confidence: float = 0.95) -> int:
    """The fewest units, ``errors`` of them wrong, whose upper bound is at most ``alpha``."""
    return errors + bisect_left(
        range(errors, 1 << 40), True, key=lambda n: kept(errors, n, alpha, confidence)
    )


class PromiseSpec(Record, frozen=True, kw_only=True):
    """A promise to test: what it ``says``, what a ``unit`` is, the allowed share of errors ``alpha``, and the
    required confidence. ``fallback``: the threshold in use; ``unscored``: units that could not be scored."""

    name: str
    says: str
    unit: str
    fallback: float
    alpha: float = 0.05
    confidence: float = 0.95
    grid: tuple[float, ...] = GRID
    unscored: int = 0


def shown_promise(wanted: PromiseSpec, units: Sequence[Unit]) -> Promise:
    """At most ``alpha`` of what is *shown* is in error. ``coverage``: among units with something right, the
    share that show something right."""
    shown, wrong, reached = (highest(units, right=right) for right in (None, False, True))
    least = math.ceil(_from(shown, min(wanted.grid)) / START)
    return _promise(wanted, len(units), lambda t: (_from(shown, t), _from(wrong, t)), reached, least)


def passed_promise(wanted: PromiseSpec, wrong: Sequence[float], right: Sequence[float]) -> Promise:
    """At most ``alpha`` of what should *not* pass (scores ``wrong``) does. ``coverage``: the share of
    ``right`` that passes."""
    bad = sorted(wrong)
    return _promise(wanted, len(bad), lambda t: (len(bad), _from(bad, t)), sorted(right))


def _promise(
    wanted: PromiseSpec,
    n: int,
    counted: Callable[[float], tuple[int, int]],
    reached: Sequence[float],
    least: int = 0,
) -> Promise:
    """Uses the lowest threshold reached by the test sequence, or the fallback if none passes, whose rate and
    bound are then only reported. ``counted``: threshold -> (shown, errors); ``reached``: for each unit, the
    highest threshold at which something right is shown, sorted."""
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
    outcome, note = PromiseOutcome.HOLDS, ""
    if not n:
        outcome, note = PromiseOutcome.NOT_MEASURED, "nothing was labelled"
    elif not tested:
        most = max(shown for shown, _ in counts.values())
        outcome = PromiseOutcome.TOO_SMALL
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
) -> tuple[PromiseOutcome, str]:
    """TOO_SMALL if the observed error rate is within ``alpha``, else DOES_NOT_SEPARATE; with a note."""
    told = f"at {threshold:.3g}, the strictest that was tested, {errors} of {shown} are in error"
    if errors / shown <= alpha:
        wanted = units_needed(errors, alpha, confidence)
        return PromiseOutcome.TOO_SMALL, f"{told}; {wanted} are needed with that many errors"
    return PromiseOutcome.DOES_NOT_SEPARATE, told


def _from(ordered: Sequence[float], threshold: float) -> int:
    return len(ordered) - bisect_left(ordered, threshold)


_WEAKEST = (Proof.ENTAILED, Proof.NUMERIC, Proof.COMPUTED, Proof.VERBATIM)


class ScoredClaim(Record, frozen=True, kw_only=True):
    """``score`` is its support as VERIFIED, 0 if it never is; ``answer`` names the unit it belongs to."""

    answer: str
    proof: Proof
    score: float
    right: bool


def promise_units(scored: Iterable[ScoredClaim], proof: Proof) -> list[Unit]:
    answers: dict[str, list[ScoredClaim]] = {}
    for claim in scored:
        if claim.proof is proof:
            answers.setdefault(claim.answer, []).append(claim)
    return [[(claim.score, claim.right) for claim in claims] for claims in answers.values()]


# --- labelled claims -------------------------------------------------------------------------------


def distinct(rows: Sequence[LabelledClaim]) -> list[LabelledClaim]:
    """Rows without repeated units. A unit is a group, or a row without one; units with the same claims are
    repeats. A claim shared by different units stays in both. Within repeats, a claim (with its sources and
    question) counts as supported only if every row says so: differing labels count as an error."""
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
    """Adds ``more``; a known claim only changes from supported to unsupported."""
    for said, row in more.items():
        first = known.setdefault(said, row)
        if first.supported and not row.supported:
            known[said] = msgspec.structs.replace(first, supported=False)


def scored_claims(
    rows: Sequence[LabelledClaim], entailer: Entailer, settings: Verification
) -> tuple[list[ScoredClaim], int]:
    """(scored rows, number that could not be checked). A whole answer counts as one claim: it is VERIFIED
    only if all of it is, so it has the score and proof of its weakest claims."""
    asked = RememberingEntailer(entailer)
    strict, loose = (msgspec.structs.replace(settings, support_threshold=t) for t in (GRID[0], GRID[-1]))
    single = [(place, row) for place, row in enumerate(rows) if not row.whole]
    questions = [_question(row) for _, row in single]
    # The strictest threshold tries every way to support a claim; the loosest reveals its proof.
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


def _scored(
    row: LabelledClaim, place: int, verdicts: Sequence[tuple[Verdict, Verdict]]
) -> ScoredClaim | None:
    """None if a claim could not be checked, or there are no claims."""
    if not verdicts or any(low.status is Status.UNCHECKED for _, low in verdicts):
        return None
    claims = [
        (high.support or 0.0, low.proof) if low.proof is not None else (0.0, None) for high, low in verdicts
    ]
    proofs = {proof or Proof.ENTAILED for _, proof in claims}
    return ScoredClaim(
        answer=f"group {(row.file, row.group)}" if row.group else f"row {place}",
        proof=next(proof for proof in _WEAKEST if proof in proofs),
        score=min(score for score, _ in claims),
        right=row.supported,
    )
