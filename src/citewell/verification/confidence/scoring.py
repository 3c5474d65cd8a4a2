"""Four confidence components with their sample sizes, their weighted mean, and the resulting decision.

In: the passages cited, the checked claims, coverage; the claims of several runs, whose consistency is
measured by entailment in both directions, never by string comparison. Out: a :class:`ConfidenceReport`.
Components not measured are left out: the weights are renormalised over the rest, with no default values.
ANSWER requires retrieval, coverage and entailment to be measured, every aspect covered, every shown claim
except inferences verified and no calculation left open; a claim contradicted by its source makes the overall
confidence 0.0 and the decision ABSTAIN. Independent of sources.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import permutations

from citewell.core.config import Confidence
from citewell.core.ports import Entailer
from citewell.core.records import Claim, ConfidenceReport, Decision, Kind, Measure, Passage, Proof, Status
from citewell.verification.checking.checker import Checked

_COMPUTED = re.compile(
    r"\b(?:ratio|margin|growth rate|growth in|growth of|rate of growth|cagr|compound annual|average|"
    r"mean of|median|"
    r"percent(?:age)? (?:change|increase|decrease|growth|difference|of)|percentage points? (?:change|"
    r"difference)|% (?:change|of)|"
    r"difference between|differ(?:s|ed)? from|how much (?:more|less|higher|lower|larger|smaller)|by how much|"
    r"by what (?:percent(?:age)?|amount|factor)|sum of|total of|combined|altogether|add(?:ed)? (?:up|"
    r"together)|"
    r"divided by|multiplied by|times (?:as|more|higher|larger)|per (?:share|employee|store|unit|capita)|"
    r"year[- ]over[- ]year|yoy|quarter[- ]over[- ]quarter|turnover|days (?:sales|payable|inventory|"
    r"outstanding)|dpo|dso|dio|"
    r"return on (?:assets|equity|capital|investment)|roa|roe|roic|ebitda|free cash flow|"
    r"working capital|net debt|leverage|"
    r"(?:increase|decrease|change|grow|fall|rise|drop|decline)[sd]? (?:between|from|compared|relative|"
    r"versus|vs)|calculate|compute|"
    r"what (?:fraction|proportion|share) of|conversion cycle|interest coverage|effective tax rate)\b",
    re.IGNORECASE,
)


def needs_arithmetic(question: str) -> bool:
    """Whether the question asks for a ratio, margin, difference, average or growth; if in doubt, True."""
    return bool(_COMPUTED.search(question))


_AGREES = 0.5


def measure_consistency(
    runs: Sequence[Sequence[str]], entailer: Entailer, *, deterministic: bool = False
) -> Measure:
    """Value in [0, 1]; ``n`` counts comparisons of a claim with another run that have a result.

    A run without claims disagrees with each claim of the others; two such runs are not compared.
    """
    if deterministic or len(runs) < 2:
        return Measure(value=None, n=0, note="a deterministic writer" if deterministic else "one run")
    pairs: list[tuple[str, str]] = []
    disagreements = 0
    for first, second in permutations(range(len(runs)), 2):
        if not runs[second]:
            continue
        if not runs[first]:
            disagreements += len(runs[second])
            continue
        premise = "\n".join(runs[first])
        pairs += [(premise, claim) for claim in runs[second]]
    if not pairs and not disagreements:
        return Measure(value=None, n=0, note="no run made a claim")
    answers = entailer.entail(pairs) if pairs else []
    judged = [answer.entailment for answer in answers if answer.entailment is not None]
    n = len(judged) + disagreements
    unscored = len(answers) - len(judged)
    return Measure(
        value=sum(value >= _AGREES for value in judged) / n if n else None, n=n, maker=entailer.maker.name,
        note=f"{unscored} unchecked" if unscored else "",
    )  # fmt: skip


NOT_MEASURED = Measure(value=None, n=0, note="not measured")
_ZERO = (Status.BROKEN, Status.CONTRADICTED)
_NEEDED = ("retrieval", "coverage", "entailment")


def report(
    question: str,
    checked: Checked,
    passages: Sequence[Passage],
    settings: Confidence,
    *,
    consistency: Measure | None = None,
    ranker: str = "",
    check: str = "",
    card: str = "",
) -> ConfidenceReport:
    """``ranker`` and ``check`` name the makers of the probabilities that passages answer the question;
    ``passages`` are those of the pass; ``card`` is the hash of the calibration card that set the thresholds
    and weights."""
    components = {
        "retrieval": _retrieval(_cited(passages, checked.claims), ranker, check),
        "coverage": checked.coverage,
        "entailment": _entailment(checked.claims),
        "consistency": consistency or NOT_MEASURED,
    }
    weights = _renormalised({name: getattr(settings, f"weight_{name}") for name in components}, components)
    measured = (weight * (components[name].value or 0.0) for name, weight in weights.items())
    overall = 0.0 if checked.contradicted else sum(measured) if weights else None
    decision, reasons = _decide(question, checked, components, overall, settings)
    return ConfidenceReport(
        retrieval_score=components["retrieval"],
        coverage_score=components["coverage"],
        entailment_score=components["entailment"],
        consistency_score=components["consistency"],
        weights=weights,
        overall=overall,
        hallucination_gap=checked.hallucination_gap,
        decision=decision,
        reasons=tuple(reasons),
        card=card,
    )


def _cited(passages: Sequence[Passage], claims: Sequence[Claim]) -> list[Passage]:
    """The passages that claims cite, each once: what the writer was shown besides makes nothing less sure."""
    places = [citation for claim in claims for citation in claim.citations]
    cited = {(citation.document_id, citation.chunk_id) for citation in places}
    by_place = {(p.chunk.document_id, p.chunk.chunk_id): p for p in passages}
    return [passage for place, passage in by_place.items() if place in cited]


def _retrieval(cited: Sequence[Passage], ranker: str, check: str) -> Measure:
    """Mean probability, over the passages cited, that each answers: from the answer check, or from the ranker
    if the check has none."""
    read = [p.relevance if p.answers is None else p.answers for p in cited]
    known = [probability for probability in read if probability is not None]
    maker = f"{ranker} & {check}" if any(p.answers is not None for p in cited) else ranker
    if not known:
        return Measure(value=None, n=0, maker=ranker, note="no passage was cited")
    return Measure(value=sum(known) / len(known), n=len(known), maker=maker)


def _entailment(claims: Sequence[Claim]) -> Measure:
    """Mean probability of support over claims; a broken or contradicted claim counts as 0, an unchecked one
    is left out."""
    values = [
        0.0 if claim.verdict.status in _ZERO else claim.verdict.support
        for claim in claims
        if claim.verdict.status is not Status.UNCHECKED
    ]
    known = [value for value in values if value is not None]
    unscored = len(claims) - len(known)
    maker = claims[0].verdict.maker.name if claims else ""
    note = f"{unscored} unchecked" if unscored else ""
    return Measure(value=sum(known) / len(known) if known else None, n=len(known), maker=maker, note=note)


def _renormalised(configured: dict[str, float], components: dict[str, Measure]) -> dict[str, float]:
    measured = {name: weight for name, weight in configured.items() if components[name].value is not None}
    total = sum(measured.values())
    return {name: weight / total for name, weight in measured.items()} if total > 0 else {}


def _decide(
    question: str,
    checked: Checked,
    components: dict[str, Measure],
    overall: float | None,
    settings: Confidence,
) -> tuple[Decision, list[str]]:
    """The decision and its reasons, in words; the first reason is the decisive one."""
    lacking = [f"no passage that was read answers: {aspect}" for aspect in checked.missing]
    verified = [claim for claim in checked.claims if claim.verdict.status is Status.VERIFIED]
    if not checked.claims:
        return Decision.ABSTAIN, ["no claim could be made from the passages", *lacking]
    if checked.contradicted:
        worst = next(claim for claim in checked.claims if claim.verdict.status is Status.CONTRADICTED)
        return Decision.ABSTAIN, [f"a claim contradicts its source: \u201c{worst.text}\u201d", *lacking]
    if not verified:
        return Decision.ABSTAIN, ["no claim could be verified", *lacking]
    if overall is None or overall < settings.partial:
        value = "not measured" if overall is None else f"{overall:.2f}"
        return Decision.ABSTAIN, [f"confidence is {value}, below {settings.partial:.2f}", *lacking]
    if components["coverage"].value == 0.0:
        return Decision.ABSTAIN, ["the quotes are correct but do not answer the question", *lacking]
    limits = [f"{name} was not measured" for name in _NEEDED if components[name].value is None]
    if overall < settings.answer:
        limits.append(f"confidence is {overall:.2f}, below {settings.answer:.2f}")
    open_claims = [
        claim for claim in checked.claims if claim.verdict.status is not Status.VERIFIED and claim.shown
    ]
    stated = [claim for claim in open_claims if claim.kind is not Kind.INFERENCE]
    if stated:
        limits.append(f"{len(stated)} of {len(checked.claims)} claims are not verified")
    concluded = any(claim.kind is Kind.INFERENCE for claim in open_claims)
    worked_out = not concluded and any(claim.verdict.proof is Proof.COMPUTED for claim in verified)
    if needs_arithmetic(question) and not worked_out:
        limits.append("the question needs a calculation; its numbers are cited, but no result was computed")
    if limits or lacking:
        return Decision.PARTIAL, [*limits, *lacking]
    return Decision.ANSWER, [
        f"confidence is {overall:.2f}; every claim is verified and every part of the question is answered"
    ]
