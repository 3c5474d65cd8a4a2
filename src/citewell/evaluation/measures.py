"""Every measure, in reporting order; docs/evaluation.md describes each by name.

``alce_*`` as Gao et al. 2023 define and compute them; ``citation_*`` count over all claims and citations. The
judge is the verifier, not the model that ALCE used: compare figures only within one judge. Normalisation and
F1 as SQuAD (Rajpurkar et al. 2016); a refused answer scores 0 in each, or refusing would pay (2018).
Retrieval has binary relevance by overlap with the case's spans; a span that no passage overlaps counts as one
more relevant passage. precision@k divides by k, however few were retrieved (TREC); nDCG by Järvelin and
Kekäläinen (2002) with binary gains and log2(rank + 1).

Neither refusing nor answering everything wins. AURC as Geifman, Uziel and El-Yaniv (2019), "Bias-Reduced
Uncertainty Estimation for Deep Neural Classifiers": the mean, over every coverage, of the share of wrong
outcomes among the most confident cases. Answers are ordered by confidence; refusals come last and cost
nothing where there is no answer, so refusing everything has an AURC equal to the share of answerable
questions. An answer without a confidence cannot be ordered, so then AURC is not measured. ECE with ten bins
of equal width (Naeini, Cooper and Hauskrecht 2015); Brier (1950).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from citewell.core.records import Citation, Failure, Status
from citewell.evaluation import judging
from citewell.evaluation.intervals import Point
from citewell.evaluation.judging import JudgedCase
from citewell.evaluation.measure import EFFORT, NOT_ASKED, CaseMeasure, Judge, many, single_score
from citewell.evaluation.results import Score

UNJUDGED = "the verifier could not judge"
_BY_SUPPORT = (Failure.MISATTRIBUTED, Failure.SYNTHESISED)
"""Failures that depend on support; the others are determined by the quote's text alone."""


def alce_recall(judged: JudgedCase) -> Score:
    return _mean([claim.whole for claim in judged.support]) if judged.support else NOT_ASKED


def alce_precision(judged: JudgedCase) -> Score:
    if not judged.support:
        return NOT_ASKED
    asked = [needed for claim in judged.support for needed in claim.needed]
    return _mean(asked) if asked else single_score(0.0)


def _mean(judgements: Sequence[bool | None]) -> Score:
    """Unscored if any judgement is missing, as the mean of the rest would not describe this answer."""
    known = [judgement for judgement in judgements if judgement is not None]
    return single_score(sum(known) / len(known) if len(known) == len(judgements) else None, UNJUDGED)


def citation_precision(judged: JudgedCase) -> Score:
    return many((span for claim in judged.support for span in claim.spans), UNJUDGED)


def citation_recall(judged: JudgedCase) -> Score:
    return many((_carried(claim.spans) for claim in judged.support), UNJUDGED)


def hallucination_gap(judged: JudgedCase) -> Score:
    """One point per claim: 1 if all passages together do not entail it."""
    gap = judged.observed.gap
    ungrounded = round((gap.value or 0.0) * gap.n)
    unchecked = len(judged.observed.claims) - gap.n
    return many(
        [True] * ungrounded + [False] * (gap.n - ungrounded) + [None] * unchecked, gap.note or UNJUDGED
    )


def broken(judged: JudgedCase) -> Score:
    return many(_broken(cited) for cited in _citations(judged))


def failing(failure: Failure, judged: JudgedCase) -> Score:
    return many((_fails(cited, failure) for cited in _citations(judged)), UNJUDGED)


def _citations(judged: JudgedCase) -> list[Citation]:
    """The writer's citations in the final draft, including withheld ones, which can be broken too. Excludes
    post-hoc citations, which are not the writer's; drafts replaced by a retry are not available."""
    everything = [cited for claim in judged.observed.claims for cited in claim.citations]
    return [cited for cited in everything if cited.mode != "post-hoc"]


def _broken(cited: Citation) -> bool:
    """By location, as the verdict BROKEN is the claim's, and sound citations of that claim have it too."""
    return cited.start < 0


def _fails(cited: Citation, failure: Failure) -> bool | None:
    """None if the failure depends on support that was not checked."""
    verdict = cited.verdict
    if verdict is None or verdict.status is Status.UNCHECKED:
        return None if _broken(cited) or failure in _BY_SUPPORT else False
    if verdict.status is Status.BROKEN and not _broken(cited):
        return False
    return verdict.failure is failure


def _carried(spans: tuple[bool | None, ...]) -> bool | None:
    """True if at least one span supports the claim; None if none does and one could not be judged."""
    if any(spans):
        return True
    return None if None in spans else False


_supports = partial(CaseMeasure, judge=Judge.VERIFIER, bounded=True)
_fails_in_pass = partial(CaseMeasure, counts="citations", judge=Judge.PASS, better=-1, bounded=True)
CITATIONS: tuple[CaseMeasure, ...] = (
    _supports(name="alce_recall", of=alce_recall),
    _supports(name="alce_precision", of=alce_precision),
    _supports(name="citation_recall", of=citation_recall, counts="claims"),
    _supports(name="citation_precision", of=citation_precision, counts="citations"),
    _fails_in_pass(name="hallucination_gap", of=hallucination_gap, counts="claims"),
    _fails_in_pass(name="broken_citation_rate", of=broken),
    *(_fails_in_pass(name=failure.value, of=partial(failing, failure)) for failure in Failure),
)


def _compared(rule: Callable[[str, str], float | bool]) -> Callable[[JudgedCase], Score]:
    def score(judged: JudgedCase) -> Score:
        if judged.answerable is False:
            return NOT_ASKED
        if not judged.case.expected:
            return single_score(None, "the case expects no text")
        if not judged.observed.answered:
            return single_score(0.0)
        return single_score(rule(judged.case.expected, judging.answer_words(judged.observed)))

    return score


def numeric_match(judged: JudgedCase) -> Score:
    expected, units = judged.case.expected, judging.cited_context(judged.observed)
    if expected and not judging.values(expected):
        return NOT_ASKED
    return _compared(lambda wanted, said: bool(judging.numbers_match(wanted, said, units)))(judged)


ANSWERS: tuple[CaseMeasure, ...] = (
    CaseMeasure(name="exact_match", of=_compared(judging.exact_match), bounded=True),
    CaseMeasure(name="f1", of=_compared(judging.f1), bounded=True),
    CaseMeasure(name="contains_expected", of=_compared(judging.contained), bounded=True),
    CaseMeasure(name="numeric_match", of=numeric_match, bounded=True),
)


Ranking = Callable[[Sequence[bool], int], float]
"""(relevance of each of the first k passages, total number of relevant ones) -> value."""


def precision(k: int) -> Ranking:
    return lambda hits, relevant: sum(hits) / k


def recall(hits: Sequence[bool], relevant: int) -> float:
    return sum(hits) / relevant


def success(hits: Sequence[bool], relevant: int) -> float:
    return float(any(hits))


def ndcg(k: int) -> Ranking:
    def value(hits: Sequence[bool], relevant: int) -> float:
        gained = sum(1 / math.log2(rank + 1) for rank, hit in enumerate(hits, 1) if hit)
        return gained / sum(1 / math.log2(rank + 1) for rank in range(1, min(k, relevant) + 1))

    return value


def _at(k: int, ranking: Ranking) -> Callable[[JudgedCase], Score]:
    def score(judged: JudgedCase) -> Score:
        if judged.answerable is False:
            return NOT_ASKED
        if judged.hits is None:
            return single_score(None, judged.unlocated or "the case names no span")
        if 0 < judged.observed.top_k < k:
            return single_score(
                None, f"only {judged.observed.top_k} passages were requested; use --top-k {k}"
            )
        return single_score(ranking(judged.hits[:k], sum(judged.hits) + judged.unfound))

    return score


RETRIEVAL: tuple[CaseMeasure, ...] = (
    CaseMeasure(name="precision@5", of=_at(5, precision(5)), bounded=True),
    CaseMeasure(name="recall@5", of=_at(5, recall), bounded=True),
    CaseMeasure(name="nDCG@5", of=_at(5, ndcg(5)), bounded=True),
    CaseMeasure(name="recall@10", of=_at(10, recall), bounded=True),
    CaseMeasure(name="nDCG@10", of=_at(10, ndcg(10)), bounded=True),
    CaseMeasure(name="relevant_in_top_5", of=_at(5, success), bounded=True),
)

# --- answering only what has an answer, and calibrated confidence ---------------------------------

REFUSED = -1.0
"""Pseudo-confidence of refusals, below that of any answer."""
UNKNOWN = -2.0
"""Pseudo-confidence of answers without one."""
_UNLABELLED = "the case does not say whether there is an answer"


def _where(
    answerable: bool, of: Callable[[JudgedCase], bool | None], reason: str = ""
) -> Callable[[JudgedCase], Score]:
    """Scores the cases that have an answer, or those that have none; ``reason``: why ``of`` is None."""

    def score(judged: JudgedCase) -> Score:
        if judged.answerable is None:
            return single_score(None, _UNLABELLED)
        return single_score(of(judged), reason) if judged.answerable is answerable else NOT_ASKED

    return score


def balanced(judged: JudgedCase) -> Score:
    """A point is (whether there is an answer, whether one was given)."""
    if judged.answerable is None:
        return single_score(None, _UNLABELLED)
    return Score(points=((float(judged.answerable), float(judged.observed.answered)),))


def balance(points: Sequence[Point]) -> float | None:
    """Balanced accuracy: the mean share of right decisions on both sides; None if one side is empty."""
    could = [answered for answerable, answered in points if answerable]
    could_not = [1.0 - answered for answerable, answered in points if not answerable]
    if not could or not could_not:
        return None
    return (sum(could) / len(could) + sum(could_not) / len(could_not)) / 2


def coverage(judged: JudgedCase) -> Score:
    return single_score(judged.observed.answered)


def right_outcome(judged: JudgedCase) -> Score:
    return single_score(judged.right, judged.why)


def right_when_answered(judged: JudgedCase) -> Score:
    return single_score(judged.right, judged.why) if judged.observed.answered else NOT_ASKED


def risk(judged: JudgedCase) -> Score:
    """A point is (confidence, whether the outcome is wrong)."""
    if judged.right is None:
        return single_score(None, judged.why)
    wrong = float(not judged.right)
    if not judged.observed.answered:
        return Score(points=((REFUSED, wrong),))
    if judged.observed.overall is None:
        return Score(points=((UNKNOWN, wrong),), reason="the answer has no confidence")
    return Score(points=((judged.observed.overall, wrong),))


def aurc(points: Sequence[Point]) -> float | None:
    """Points of equal confidence enter together, each with their mean loss. None if any confidence is
    unknown."""
    if any(confidence == UNKNOWN for confidence, _ in points):
        return None
    risks = _risks(points)
    return sum(risks) / len(risks) if risks else None


def _risks(points: Sequence[Point]) -> list[float]:
    """The risk at each coverage 1/n, 2/n, ..., 1."""
    groups: dict[float, list[float]] = {}
    for confidence, loss in points:
        groups.setdefault(confidence, []).append(loss)
    risks, taken, wrong = [], 0, 0.0
    for confidence in sorted(groups, reverse=True):
        losses = groups[confidence]
        share = sum(losses) / len(losses)
        for _ in losses:
            taken += 1
            wrong += share
            risks.append(wrong / taken)
    return risks


def _gate_passed(judged: JudgedCase) -> bool | None:
    return judged.observed.gate_passed


def _gate_closed(judged: JudgedCase) -> bool | None:
    passed = judged.observed.gate_passed
    return None if passed is None else not passed


_NO_GATE = "the answer has no gate result"
_error_rate = partial(CaseMeasure, better=-1, bounded=True)
ABSTENTION: tuple[CaseMeasure, ...] = (
    CaseMeasure(name="coverage", of=coverage, better=0, bounded=True),
    _error_rate(name="wrongly_answered", of=_where(False, lambda judged: judged.observed.answered)),
    _error_rate(name="wrongly_abstained", of=_where(True, lambda judged: not judged.observed.answered)),
    CaseMeasure(name="abstention_balance", of=balanced, over=balance),
    CaseMeasure(name="right_outcome", of=right_outcome, bounded=True),
    CaseMeasure(name="right_when_answered", of=right_when_answered, bounded=True),
    CaseMeasure(name="aurc", of=risk, better=-1, over=aurc),
    _error_rate(name="gate_wrongly_closed", of=_where(True, _gate_closed, _NO_GATE)),
    _error_rate(name="gate_wrongly_open", of=_where(False, _gate_passed, _NO_GATE)),
)


BINS = 10


def confidence(judged: JudgedCase) -> Score:
    """A point is (confidence, whether the answer was right)."""
    if not judged.observed.answered:
        return NOT_ASKED
    if judged.observed.overall is None:
        return single_score(None, "the answer has no confidence")
    if judged.right is None:
        return single_score(None, judged.why)
    return Score(points=((judged.observed.overall, float(judged.right)),))


def expected_calibration_error(points: Sequence[Point]) -> float | None:
    """ECE over ten bins of equal width; 1 itself is in the last."""
    inside: dict[int, list[Point]] = {}
    for point in points:
        inside.setdefault(min(int(point[0] * BINS), BINS - 1), []).append(point)
    gaps = [abs(sum(p for p, _ in found) - sum(label for _, label in found)) for found in inside.values()]
    return sum(gaps) / len(points) if points else None


def brier(points: Sequence[Point]) -> float | None:
    return sum((p - label) ** 2 for p, label in points) / len(points) if points else None


CALIBRATION: tuple[CaseMeasure, ...] = (
    CaseMeasure(name="ece_confidence", of=confidence, better=-1, over=expected_calibration_error),
    CaseMeasure(name="brier_confidence", of=confidence, better=-1, over=brier),
)

FAMILIES: dict[str, tuple[CaseMeasure, ...]] = {
    "Citations": CITATIONS,
    "Answers": ANSWERS,
    "Retrieval": RETRIEVAL,
    "Abstention": ABSTENTION,
    "Calibration": CALIBRATION,
    "Effort": EFFORT,
}
ALL: tuple[CaseMeasure, ...] = tuple(measure for family in FAMILIES.values() for measure in family)
BY_NAME = {measure.name: measure for measure in ALL}
