"""Labelled data -> a calibration card: thresholds, decision borders and weights with their guarantees.

In: a home; cases, labelled claims. Out: a :class:`Card`. Nothing is logged: cases are rehearsed with the
card's relevance and support thresholds but without decision borders, which includes answers that borders
would hide, but none that can never be shown. Where no promise is possible, the setting is unchanged and the
card says why. Knows nothing about card files or terminals.
"""

from __future__ import annotations

from collections.abc import Sequence, Sized

import msgspec

from citewell.core.config import Config
from citewell.core.environment import environment, format_time
from citewell.core.errors import UsageError
from citewell.core.identity import hash_text
from citewell.core.records import Case, Decision, Passage, Proof, Record
from citewell.evaluation.calibration.promises import (
    PromiseSpec,
    Unit,
    distinct,
    passed_promise,
    promise_units,
    scored_claims,
    shown_promise,
)
from citewell.evaluation.calibration.weighing import COMPONENTS, RehearsedAnswer, weigh
from citewell.evaluation.cases import LabelledClaim
from citewell.evaluation.judging import LocatedSpans, ObservedAnswer, hits, judged_right
from citewell.evaluation.pipelines import located_in
from citewell.evaluation.running import Progress
from citewell.knowledge.home import KnowledgeBase
from citewell.verification.confidence.cards import (
    FORMAT,
    JUDGES,
    JUDGING,
    Card,
    Labelled,
    Promise,
    PromiseOutcome,
    Weighing,
    conduct_of,
    laid_over,
)

HANDED_ON = 10
"""Passages per question considered for the relevance promise."""
_NO_CLAIMS = (
    "no claim was labelled: cases say which answers are right, not which claims are supported;"
    " label claims, or judge some with `citewell eval sample`"
)


class Terms(Record, frozen=True, kw_only=True):
    """``alpha``: the allowed share of errors; ``partial_alpha``: the same among all answers shown, even in
    part; ``confidence`` of the promise."""

    alpha: float = 0.05
    partial_alpha: float = 0.20
    confidence: float = 0.95


class CalibrationData(Record, frozen=True, kw_only=True):
    """The labelled data that a card is made from."""

    cases: tuple[Case, ...] = ()
    claims: tuple[LabelledClaim, ...] = ()
    sources: tuple[Labelled, ...] = ()


class _Found(Record, frozen=True, kw_only=True):
    """A question, the location of its evidence, and the passages found for it."""

    case: Case
    located: LocatedSpans
    passages: tuple[Passage, ...]


def calibrate(
    kb: KnowledgeBase,
    evidence: CalibrationData,
    terms: Terms = Terms(),
    *,
    progress: Progress = lambda done, total, name: None,
) -> Card:
    """Makes a calibration card. Raises UsageError for invalid terms or without labelled data. ``progress``
    counts each question twice: once for the search, once for the rehearsal."""
    _refuse(evidence, terms)
    bare = kb.under(_without_card(kb.config))
    today = bare.today()
    made = _Made(bare, terms)
    found: list[_Found] = []
    asked = _by_question(evidence.cases)
    claims = distinct(evidence.claims)
    notes = _repeats("cases", "one question, asked with the same groups", evidence.cases, asked)
    notes += _repeats(
        "labelled claims", "one claim or group of claims, of the same sources", evidence.claims, claims
    )
    for case in asked:
        progress(len(found), 2 * len(asked), case.id)
        passages = bare.search(case.question, groups=case.groups, top_k=HANDED_ON)
        found.append(_Found(case=case, located=located_in(bare, case), passages=tuple(passages)))
    notes += [f"case {one.case.id}: {one.located.problem}" for one in found if one.located.problem]
    if found:
        made.relevance(found)
    made.proofs(claims)
    weighing = None
    if found:
        # The support threshold determines what is shown, dropped and retried, so the new one is used here.
        loose = bare.under(laid_over(bare.config, made.settings | _NO_BORDERS))
        rehearsed: list[RehearsedAnswer] = []
        for one in found:
            progress(len(found) + len(rehearsed), 2 * len(asked), one.case.id)
            rehearsed.append(_rehearsed(loose, one))
        weighing = made.borders(rehearsed)
    cases = bool(evidence.cases)  # a card from labelled claims alone depends only on the judges
    return Card(
        format=FORMAT,
        made_at=format_time(bare.now()),
        citewell=environment()["citewell"],
        alpha=terms.alpha,
        confidence=terms.confidence,
        makers=today.makers if cases else {name: today.makers[name] for name in JUDGES},
        prompts=today.prompts if cases else {},
        corpus=today.corpus if cases else None,
        config_hash=bare.config.hash,
        config=today.config if cases else conduct_of(bare.config, JUDGING),
        labelled=evidence.sources,
        promises=tuple(made.promises),
        weighing=weighing,
        settings=made.settings,
        notes=tuple(notes),
    )


# No borders: other weights may lift an answer that the configured weights leave below every border.
_NO_BORDERS = {"confidence.answer": 0.0, "confidence.partial": 0.0}


def _refuse(evidence: CalibrationData, terms: Terms) -> None:
    for name in ("alpha", "partial_alpha", "confidence"):
        if not 0 < getattr(terms, name) < 1:
            raise UsageError(f"{name} = {getattr(terms, name)}", hint="a share between 0 and 1")
    if not (evidence.cases or evidence.claims):
        raise UsageError("nothing is labelled", hint="name a case file or a file of labelled claims")


def _without_card(config: Config) -> Config:
    return msgspec.structs.replace(config, confidence=msgspec.structs.replace(config.confidence, card=""))


def _by_question(cases: Sequence[Case]) -> list[Case]:
    """The first case of each question and set of groups: repeats add no evidence."""
    asked: dict[tuple[str, frozenset[str]], Case] = {}
    for case in cases:
        asked.setdefault((" ".join(case.question.casefold().split()), frozenset(case.groups)), case)
    return list(asked.values())


def _repeats(what: str, unit_says: str, given: Sized, counted: Sized) -> list[str]:
    repeats = len(given) - len(counted)
    return [f"{repeats} {what} were repeats: {unit_says}, is one unit"] if repeats else []


def _rehearsed(kb: KnowledgeBase, found: _Found) -> RehearsedAnswer:
    """The pipeline's answer to a question without borders, judged right or wrong as in a run."""
    case = found.case
    record = kb.rehearse(case.question, groups=case.groups)
    made = RehearsedAnswer(key=case.id, record=record)
    observed = ObservedAnswer(
        text=record.shown_response, claims=record.claims, passages=found.passages, answered=made.shown
    )
    return msgspec.structs.replace(made, right=judged_right(case, found.located, observed)[0])


def _drawn(name: str, passage: Passage) -> str:
    return hash_text(f"{name} {passage.chunk.chunk_id}")


class _Made:
    """Collects promises, and the ``settings`` put into use by those that hold."""

    def __init__(self, kb: KnowledgeBase, terms: Terms) -> None:
        self._kb, self._terms = kb, terms
        self.promises: list[Promise] = []
        self.settings: dict[str, float] = {}

    def _keep(self, made: Promise, key: str = "") -> Promise:
        self.promises.append(made)
        if key and made.outcome is PromiseOutcome.HOLDS:
            self.settings[key] = made.threshold
        return made

    def _wanted(self, name: str, says: str, unit: str, fallback: float, unscored: int = 0) -> PromiseSpec:
        return PromiseSpec(
            name=name,
            says=says,
            unit=unit,
            fallback=fallback,
            alpha=self._terms.alpha,
            confidence=self._terms.confidence,
            unscored=unscored,
        )

    def relevance(self, asked: Sequence[_Found]) -> None:
        """One unit per question: a passage drawn by hash from those found that hold no evidence."""
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
                name = one.case.id
                wrong.append(min(others, key=lambda passage: _drawn(name, passage)).relevance or 0.0)
            best = [p.relevance or 0.0 for p, held in zip(passages, holds, strict=True) if held]
            right += [max(best)] if best else []
        wanted = self._wanted(
            "relevance",
            f"of the passages found that hold none of the evidence, at most {self._terms.alpha:.0%} pass as"
            " relevant",
            f"a question, by one of the first {HANDED_ON} passages that hold none of its evidence",
            self._kb.config.retrieval.relevance_threshold,
            unscored,
        )
        self._keep(passed_promise(wanted, wrong, right), "retrieval.relevance_threshold")

    def proofs(self, claims: Sequence[LabelledClaim]) -> None:
        """Entailed claims choose the support threshold; other proofs are tested at it. Cases are not used: an
        irrelevant answer may be supported, and one citing the right words may say more than they do."""
        kb = self._kb
        scored, unscored = scored_claims(claims, kb.entailer, kb.config.verification) if claims else ([], 0)
        threshold = kb.config.verification.support_threshold
        for proof in (Proof.ENTAILED, Proof.NUMERIC, Proof.COMPUTED, Proof.VERBATIM):
            first = proof is Proof.ENTAILED
            wanted = self._wanted(
                proof.value,
                f"of the answers that show a claim as VERIFIED ({proof.value}), at most"
                f" {self._terms.alpha:.0%} show one that is unsupported",
                f"an answer with a claim proved this way ({proof.value})",
                threshold,
                unscored if first else 0,
            )
            if not first:
                wanted = msgspec.structs.replace(wanted, grid=(threshold,))
            made = shown_promise(wanted, promise_units(scored, proof))
            if made.outcome is PromiseOutcome.NOT_MEASURED:
                made = msgspec.structs.replace(made, note=_NO_CLAIMS)
            self._keep(made, "verification.support_threshold" if first else "")
            threshold = made.threshold if first else threshold

    def borders(self, rehearsed: Sequence[RehearsedAnswer]) -> Weighing:
        """Chooses the weights on one half of the cases, then the borders on the cases not used for that."""
        config = self._kb.config.confidence
        known = [one for one in rehearsed if one.right is not None]
        weighing, rest = weigh(
            [one for one in known if one.shown],
            {name: getattr(config, f"weight_{name}") for name in COMPONENTS},
        )
        if weighing.outcome is PromiseOutcome.HOLDS:
            self.settings |= {f"confidence.weight_{name}": value for name, value in weighing.weights.items()}
        answered: list[Unit] = []
        shown: list[Unit] = []
        for one in rest:
            score = one.overall(weighing.weights)
            whole = one.record.response_decision == Decision.ANSWER.value
            answered.append([(score if whole else 0.0, bool(one.right))])
            shown.append([(score, bool(one.right))])
        wanted = self._wanted(
            "answer",
            f"at most {self._terms.alpha:.0%} of the answers given as ANSWER are wrong",
            "a case that is answered",
            config.answer,
            len(rehearsed) - len(known),
        )
        answer = self._keep(shown_promise(wanted, answered), "confidence.answer")
        alpha = self._terms.partial_alpha
        wanted = msgspec.structs.replace(
            wanted,
            name="partial",
            says=f"at most {alpha:.0%} of what is shown at all (ANSWER or PARTIAL) is wrong",
            fallback=config.partial,
            alpha=alpha,
        )
        partial = self._keep(shown_promise(wanted, shown), "confidence.partial")
        if partial.threshold > answer.threshold:
            # An answer must at least reach the PARTIAL border; raising a border keeps its promise.
            self.settings["confidence.answer"] = partial.threshold
        return weighing
