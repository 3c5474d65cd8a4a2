"""Consistency, conflicts, confidence, and the decision that follows; what of the answer may be shown.

In: a checked draft and the journal. Out: in the journal, the report, the decision and the shown text. A
conflict between sources about what is shown, or a judge that does not pass the answer, stands against ANSWER.
Knows nothing about retrieval or the record.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from citewell.answering.asking import Ask
from citewell.answering.conflicts import find_conflicts, told
from citewell.answering.journal import Journal
from citewell.answering.writing import Writing
from citewell.core.config import Config
from citewell.core.errors import GeneratorError
from citewell.core.ports import AnswerCheck, AnswerJudge, Entailer
from citewell.core.records import ConfidenceReport, Conflict, Decision, Measure, Proof
from citewell.verification.checking import Checked
from citewell.verification.confidence import measure_consistency, report
from citewell.verification.confidence.cards import NO_CARD, CardState

_MARK = re.compile(r" ?\[\d+\]")
ABSTENTION = "No passage was found that answers this question reliably."


@dataclass(frozen=True, kw_only=True)
class Deciding:
    """``ranker`` names who made the relevance probabilities; ``composes``: the writer is a language model,
    which may speak of a matter without citing the disputed words; ``card`` says which calibration card set
    the thresholds, and whether it still holds."""

    config: Config
    entailer: Entailer
    ranker: str
    composes: bool = False
    judge: AnswerJudge | None = None
    check: AnswerCheck | None = None
    card: Callable[[], CardState] = lambda: NO_CARD

    def decide(
        self, ask: Ask, aspects: Sequence[str], checked: Checked, writing: Writing, journal: Journal
    ) -> None:
        """Confidence, decision, and what of it all may be shown."""
        card = self.card()
        checked = self._answering(aspects, checked, journal)
        with journal.stage("consistency") as notes:
            near = self._near_border(self._report(ask, checked, journal, None, ""))
            consistency = self._consistency(ask, aspects, writing, journal, sampled=near)
            notes += [f"not measured: {consistency.note}"] if consistency.value is None else []
        with journal.stage("conflicts"):
            journal.conflicts = find_conflicts(aspects, journal.passages, journal.beside)
        with journal.stage("confidence") as notes:
            journal.confidence = self._report(ask, checked, journal, consistency, card.card)
            notes += [*journal.confidence.reasons, *([card.note] if card.note else [])]
        if not journal.gate_passed:
            reasons = (f"not enough evidence: {journal.gate_reason}", *journal.confidence.reasons)
            journal.confidence = msgspec.structs.replace(journal.confidence, reasons=reasons)
        disagreement = told([one for one in journal.conflicts if self.composes or _disputes(one, checked)])
        self._limit(journal, "the sources disagree; both sides are shown" if disagreement else "")
        self._limit(journal, self._judged(ask, checked, journal))
        journal.decision = journal.confidence.decision
        journal.missing = checked.missing
        journal.failure_reason = journal.failure_reason or checked.failure
        withheld = journal.decision is Decision.ABSTAIN
        text = f"{checked.shown_text}\n{disagreement}".strip()
        journal.shown = ABSTENTION if withheld else text
        journal.claims = tuple(
            msgspec.structs.replace(claim, shown=claim.shown and not withheld) for claim in checked.claims
        )

    def _answering(self, aspects: Sequence[str], checked: Checked, journal: Journal) -> Checked:
        """Without the parts of the question that nothing shown answers: a verified quote is not an answer. A
        worked-out result answers what was asked by the way it was made."""
        shown = [claim for claim in checked.claims if claim.shown]
        open_ = [aspect for aspect in aspects if aspect not in checked.missing]
        worked_out = any(claim.verdict.proof is Proof.COMPUTED for claim in shown)
        if self.check is None or not shown or not open_ or worked_out or checked.coverage.value is None:
            return checked
        with journal.stage("answer check") as notes:
            text = _framed(checked, journal)
            found = self.check.answers([(text, aspect) for aspect in open_])
            border = self.check.maker.threshold or 0.5
            notes += [f"{aspect}: answered {p:.2f}" for aspect, p in zip(open_, found, strict=True)]
            beside = [aspect for aspect, p in zip(open_, found, strict=True) if p < border]
        if not beside:
            return checked
        coverage = msgspec.structs.replace(
            checked.coverage,
            value=checked.coverage.value * (len(open_) - len(beside)) / len(open_),
            maker=self.check.maker.name,
        )
        missing = tuple(aspect for aspect in aspects if aspect in checked.missing or aspect in beside)
        return msgspec.structs.replace(checked, coverage=coverage, missing=missing)

    def _report(
        self, ask: Ask, checked: Checked, journal: Journal, consistency: Measure | None, card: str
    ) -> ConfidenceReport:
        return report(
            ask.question,
            checked,
            journal.passages,
            self.config.confidence,
            consistency=consistency,
            ranker=self.ranker,
            card=card,
        )

    @staticmethod
    def _limit(journal: Journal, reason: str) -> None:
        """No ANSWER where ``reason`` stands against it."""
        if reason and journal.confidence is not None:
            decision = journal.confidence.decision
            journal.confidence = msgspec.structs.replace(
                journal.confidence,
                decision=Decision.PARTIAL if decision is Decision.ANSWER else decision,
                reasons=(reason, *journal.confidence.reasons)
                if decision is Decision.ANSWER
                else (*journal.confidence.reasons, reason),
            )

    def _judged(self, ask: Ask, checked: Checked, journal: Journal) -> str:
        """What the judge of the answer has against it, "" for nothing or when there is no judge."""
        if self.judge is None or not checked.shown_text:
            return ""
        with journal.stage("answer judge") as notes:
            used = [passage for passage in journal.passages if passage.used]
            said = self.judge.evaluate(ask.question, checked.shown_text, used)
            grounded, complete = (
                "UNCHECKED" if value is None else str(value).upper()
                for value in (said.grounded, said.complete)
            )
            notes += [
                f"GROUNDED {grounded}, COMPLETE {complete}",
                f"REASONING {said.reasoning or said.unchecked}",
                journal.paid(said.usage, said.cost),
                *said.notes,
            ]
            if said.passed:
                return ""
            journal.failure_reason = journal.failure_reason or "answer_judge_failed"
        return f"{said.maker.name} did not approve the answer: grounded {grounded}, complete {complete}"

    def _near_border(self, first: ConfidenceReport) -> bool:
        """Whether more drafts could change the decision; always, unless ``near_border`` narrows it."""
        settings = self.config.confidence
        if settings.near_border <= 0 or first.overall is None:
            return settings.near_border <= 0
        return (
            min(abs(first.overall - b) for b in (settings.answer, settings.partial)) <= settings.near_border
        )

    def _consistency(
        self, ask: Ask, aspects: Sequence[str], writing: Writing, journal: Journal, *, sampled: bool
    ) -> Measure:
        """Over ``ask.runs`` drafts of one question; a writer that would say the same again is not asked."""
        draft = journal.draft
        if draft is None:
            return Measure(value=None, n=0, note="nothing was written")
        if ask.runs > 1 and not sampled and not draft.deterministic:
            return Measure(
                value=None,
                n=0,
                note="confidence is clearly above or below the thresholds, so no further draft was made",
            )
        others = [] if draft.deterministic else range(1, ask.runs)
        drafts = [draft]
        try:
            # Drafts from before a failure count: they are added one by one.
            drafts.extend(writing.draft(ask, aspects, journal, seed=seed) for seed in others)
        except GeneratorError as error:
            journal.survived(error, "a further draft failed")
        journal.draft = draft
        claims = [[claim.text for claim in other.claims] for other in drafts]
        return measure_consistency(claims, self.entailer, deterministic=draft.deterministic and ask.runs > 1)


def _framed(checked: Checked, journal: Journal) -> str:
    """What is shown, without its marks, under the titles of the documents that it cites."""
    cited = {c.chunk_id for claim in checked.claims if claim.shown for c in claim.citations}
    titles = [p.chunk.title for p in journal.passages if p.chunk.chunk_id in cited and p.chunk.title]
    shown = _MARK.sub("", checked.shown_text)
    return "\n".join([*dict.fromkeys(titles), shown])


def _disputes(conflict: Conflict, checked: Checked) -> bool:
    """Whether what a shown claim cites is a side of it."""
    cited = [citation for claim in checked.claims if claim.shown for citation in claim.citations]
    return any(
        (side.document_id, side.document_version) == (citation.document_id, citation.document_version)
        and side.start < citation.end
        and citation.start < side.end
        for side in conflict.sides
        for citation in cited
    )
