"""Labelled data -> a calibration card: thresholds, borders, weights, each with what can be promised of it.

In: a home; cases, labelled claims. Out: a :class:`Card`. Nothing is asked on
record: cases are rehearsed, under the relevance and support thresholds that the card leaves in use and
without borders, so that it sees what borders would hide, and nothing that will never be shown. Where no
promise can be made the setting stays as it is, and the card says why. Knows nothing about files of
cards or terminals.
"""

from __future__ import annotations

from collections.abc import Sequence, Sized

import msgspec

from citewell.core.clock import written
from citewell.core.config import Config
from citewell.core.environment import environment
from citewell.core.errors import UsageError
from citewell.core.identity import hash_text
from citewell.core.records import AuditRecord, Case, Decision, Passage, Proof, Record
from citewell.evaluation.calibration.promises import (
    GRID,
    Scored,
    Unit,
    Wanted,
    distinct,
    passed_promise,
    scored_claims,
    shown_promise,
    unit,
    units_of,
)
from citewell.evaluation.calibration.weighing import COMPONENTS, Weighed, weigh
from citewell.evaluation.cases import LabelledClaim
from citewell.evaluation.judging import Located, Observed, hits, judged_right
from citewell.evaluation.pipelines import located_in
from citewell.evaluation.running import Progress
from citewell.knowledge.home import KnowledgeBase
from citewell.verification.confidence.cards import (
    FORMAT,
    JUDGES,
    JUDGING,
    Card,
    Labelled,
    Outcome,
    Promise,
    Today,
    Weighing,
    conduct_of,
    laid_over,
)

HANDED_ON = 10
"""Passages of a question that a relevance promise looks at."""
_NO_CLAIMS = (
    "no claim was labelled: cases say which answers are right, not which claims are supported;"
    " label claims, or judge some with `citewell eval sample`"
)


class Terms(Record, frozen=True, kw_only=True):
    """``alpha``: the share of errors allowed; ``partial_alpha`` of answers that are shown at all;
    ``confidence`` with which the promise is made."""

    alpha: float = 0.05
    partial_alpha: float = 0.20
    confidence: float = 0.95


class Evidence(Record, frozen=True, kw_only=True):
    """Everything labelled that a card is made from."""

    cases: tuple[Case, ...] = ()
    claims: tuple[LabelledClaim, ...] = ()
    sources: tuple[Labelled, ...] = ()


class _Found(Record, frozen=True, kw_only=True):
    """A question, where its evidence stands, and what is found for it."""

    case: Case
    located: Located
    passages: tuple[Passage, ...]


class _Rehearsed(Record, frozen=True, kw_only=True):
    """What the pass makes of a question without borders; ``right`` as a run would judge it."""

    id: str
    record: AuditRecord
    shown: bool
    right: bool | None


def calibrate(
    kb: KnowledgeBase,
    evidence: Evidence,
    terms: Terms = Terms(),
    *,
    progress: Progress = lambda done, total, name: None,
) -> Card:
    """Raises UsageError for terms that make no sense, or when there is nothing labelled. ``progress`` counts
    each question twice: it is searched for, then rehearsed."""
    _refuse(evidence, terms)
    bare = kb.under(_without_card(kb.config))
    today = bare.today()
    settings: dict[str, float] = {}
    promises: list[Promise] = []
    notes: list[str] = []
    found: list[_Found] = []
    asked = _by_question(evidence.cases)
    claims = distinct(evidence.claims)
    notes += _repeats("cases", "one question, asked with the same groups", evidence.cases, asked)
    notes += _repeats(
        "labelled claims", "one claim or group of claims, of the same sources", evidence.claims, claims
    )
    for case in asked:
        progress(len(found), 2 * len(asked), case.id)
        passages = bare.search(case.question, groups=case.groups, top_k=HANDED_ON)
        found.append(_Found(case=case, located=located_in(bare, case), passages=tuple(passages)))
    notes += [f"case {one.case.id}: {one.located.problem}" for one in found if one.located.problem]
    if found:
        promises.append(_relevance(bare.config, found, terms, settings))
    promises += _proofs(bare, evidence, claims, terms, settings)
    weighing = None
    if found:
        # The support threshold changes what is shown, thrown out and tried again: it is the one to be used.
        loose = bare.under(laid_over(bare.config, settings | _NO_BORDERS))
        rehearsed: list[_Rehearsed] = []
        for one in found:
            progress(len(found) + len(rehearsed), 2 * len(asked), one.case.id)
            rehearsed.append(_rehearsed(loose, one))
        weighing, borders = _borders(bare.config, rehearsed, terms, settings)
        promises += borders
    return _card(bare, today, evidence, terms, promises, weighing, settings, notes)


# None at all: other weights may lift an answer that the configured ones leave under every border.
_NO_BORDERS = {"confidence.answer": 0.0, "confidence.partial": 0.0}


def _refuse(evidence: Evidence, terms: Terms) -> None:
    for name in ("alpha", "partial_alpha", "confidence"):
        if not 0 < getattr(terms, name) < 1:
            raise UsageError(f"{name} = {getattr(terms, name)}", hint="a share between 0 and 1")
    if not (evidence.cases or evidence.claims):
        raise UsageError("nothing is labelled", hint="name a case file or a file of labelled claims")


def _without_card(config: Config) -> Config:
    return msgspec.structs.replace(config, confidence=msgspec.structs.replace(config.confidence, card=""))


def _by_question(cases: Sequence[Case]) -> list[Case]:
    """The first of those that ask the same with the same groups: the others are no evidence beside it."""
    asked: dict[tuple[str, frozenset[str]], Case] = {}
    for case in cases:
        asked.setdefault((" ".join(case.question.casefold().split()), frozenset(case.groups)), case)
    return list(asked.values())


def _repeats(what: str, unit_says: str, given: Sized, counted: Sized) -> list[str]:
    repeats = len(given) - len(counted)
    return [f"{repeats} {what} were repeats: {unit_says}, is one unit"] if repeats else []


def _rehearsed(kb: KnowledgeBase, found: _Found) -> _Rehearsed:
    case = found.case
    record = kb.rehearse(case.question, groups=case.groups)
    shown = record.response_decision in (Decision.ANSWER.value, Decision.PARTIAL.value)
    observed = Observed(
        text=record.shown_response, claims=record.claims, passages=found.passages, answered=shown
    )
    right, _ = judged_right(case, found.located, observed)
    return _Rehearsed(id=case.id, record=record, shown=shown, right=right)


# --- relevance ------------------------------------------------------------------------------------


def _relevance(config: Config, asked: Sequence[_Found], terms: Terms, settings: dict[str, float]) -> Promise:
    """One unit a question: of the passages found for it that hold no evidence, one drawn by its hash."""
    wrong: list[float] = []
    right: list[float] = []
    unscored = 0
    for one in asked:
        if one.located.problem or not (one.case.spans or one.case.abstain):
            unscored += 1
            continue
        passages = [passage for passage in one.passages if passage.relevance is not None]
        holds, _ = hits(one.located, passages)
        others = [passage for passage, held in zip(passages, holds, strict=True) if not held]
        if others:
            wrong.append(min(others, key=lambda passage: _drawn(one.case.id, passage)).relevance or 0.0)
        best = [p.relevance or 0.0 for p, held in zip(passages, holds, strict=True) if held]
        right += [max(best)] if best else []
    wanted = Wanted(
        name="relevance",
        says=f"of the passages found that hold none of the evidence, at most {terms.alpha:.0%} pass as"
        " relevant",
        unit=f"a question, by one of the first {HANDED_ON} passages that hold none of its evidence",
        fallback=config.retrieval.relevance_threshold,
        alpha=terms.alpha,
        confidence=terms.confidence,
        unscored=unscored,
    )
    made = passed_promise(wanted, wrong, right)
    _use(settings, "retrieval.relevance_threshold", made)
    return made


def _drawn(name: str, passage: Passage) -> str:
    return hash_text(f"{name} {passage.chunk.chunk_id}")


# --- support --------------------------------------------------------------------------------------


def _proofs(
    kb: KnowledgeBase,
    evidence: Evidence,
    claims: Sequence[LabelledClaim],
    terms: Terms,
    settings: dict[str, float],
) -> list[Promise]:
    """The entailed row chooses the support threshold; the others are held to it. Cases have no say: an answer
    beside the point may be supported, and one that cites the right words may say more than they do."""
    scored, unscored = scored_claims(claims, kb.entailer, kb.config.verification) if claims else ([], 0)
    configured = kb.config.verification.support_threshold
    made = _proof(Proof.ENTAILED, scored, terms, configured, GRID, unscored)
    _use(settings, "verification.support_threshold", made)
    rest = [
        _proof(proof, scored, terms, made.threshold, (made.threshold,), 0)
        for proof in (Proof.NUMERIC, Proof.COMPUTED, Proof.VERBATIM)
    ]
    return [made, *rest]


def _proof(
    proof: Proof,
    scored: Sequence[Scored],
    terms: Terms,
    fallback: float,
    grid: Sequence[float],
    unscored: int,
) -> Promise:
    wanted = Wanted(
        name=proof.value,
        says=f"of the answers that show a claim as VERIFIED ({proof.value}), at most {terms.alpha:.0%} show"
        " one that is unsupported",
        unit=f"an answer that has a claim proven so ({proof.value})",
        fallback=fallback,
        alpha=terms.alpha,
        confidence=terms.confidence,
        grid=tuple(grid),
        unscored=unscored,
    )
    made = shown_promise(wanted, units_of(scored, proof))
    if made.outcome is Outcome.NOT_MEASURED:
        return msgspec.structs.replace(made, note=_NO_CLAIMS)
    return made


# --- decision -------------------------------------------------------------------------------------


def _borders(
    config: Config, rehearsed: Sequence[_Rehearsed], terms: Terms, settings: dict[str, float]
) -> tuple[Weighing, list[Promise]]:
    """The weights first, on one half of the cases; the borders then on those that did not choose them."""
    known = [(one, one.right) for one in rehearsed if one.right is not None]
    weighing, rest = weigh(
        [Weighed(key=one.id, record=one.record, right=right) for one, right in known if one.shown],
        {name: getattr(config.confidence, f"weight_{name}") for name in COMPONENTS},
    )
    if weighing.outcome is Outcome.HOLDS:
        settings |= {f"confidence.weight_{name}": value for name, value in weighing.weights.items()}
    answered: list[Unit] = []
    shown: list[Unit] = []
    for one in rest:
        score = one.overall(weighing.weights)
        whole = one.record.response_decision == Decision.ANSWER.value
        answered.append(unit(score if whole else 0.0, one.right))
        shown.append(unit(score, one.right))
    wanted = Wanted(
        name="answer",
        says=f"at most {terms.alpha:.0%} of the answers given as ANSWER are wrong",
        unit="a case that is answered",
        fallback=config.confidence.answer,
        alpha=terms.alpha,
        confidence=terms.confidence,
        unscored=len(rehearsed) - len(known),
    )
    answer = shown_promise(wanted, answered)
    wanted = msgspec.structs.replace(
        wanted,
        name="partial",
        says=f"at most {terms.partial_alpha:.0%} of what is shown at all (ANSWER or PARTIAL) is wrong",
        fallback=config.confidence.partial,
        alpha=terms.partial_alpha,
    )
    partial = shown_promise(wanted, shown)
    _use(settings, "confidence.answer", answer)
    _use(settings, "confidence.partial", partial)
    if partial.threshold > answer.threshold:
        # What may not even be shown in part is no answer: raising a border keeps its promise.
        settings["confidence.answer"] = partial.threshold
    return weighing, [answer, partial]


# --- the card -------------------------------------------------------------------------------------


def _use(settings: dict[str, float], key: str, made: Promise) -> None:
    if made.outcome is Outcome.HOLDS:
        settings[key] = made.threshold


def _card(
    kb: KnowledgeBase,
    today: Today,
    evidence: Evidence,
    terms: Terms,
    promises: Sequence[Promise],
    weighing: Weighing | None,
    settings: dict[str, float],
    notes: Sequence[str],
) -> Card:
    """A card of labelled claims alone depends on who judges claims, and on nothing else."""
    return Card(
        format=FORMAT,
        made_at=written(kb.now()),
        citewell=environment()["citewell"],
        alpha=terms.alpha,
        confidence=terms.confidence,
        makers=today.makers if evidence.cases else {name: today.makers[name] for name in JUDGES},
        prompts=today.prompts if evidence.cases else {},
        corpus=today.corpus if evidence.cases else None,
        config_hash=kb.config.hash,
        config=today.config if evidence.cases else conduct_of(kb.config, JUDGING),
        labelled=evidence.sources,
        promises=tuple(promises),
        weighing=weighing,
        settings=settings,
        notes=tuple(notes),
    )
