"""The accountable pass: one question in, one sealed record and one answer out. Start here.

In: a question, its asker and their access rights. Out: an Answer, returned once its record is durable.

    aspects -> retrieval -> quarantine -> gate (fail: broaden once, then abstain)
            -> generation, claims, binding, verification (:mod:`.stages`; fail: one stricter retry;
               an aspect without evidence, or reported missing by the writer: one broader search for it)
            -> consistency -> conflicts -> confidence -> decision -> record sealed -> answer

Every stage is timed; every fallback, skip and retry is noted under its stage, in the trace and the record.
An error in any stage is sealed like an answer, then raised. If the log cannot be written, nothing is shown.
A conflict between sources about what is shown, or a judge that rejects the answer, rules out ANSWER.
Independent of the models and stores behind the stages: :mod:`citewell.knowledge.assembly` chooses them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import msgspec

from citewell.answering.conflicts import MIN_WORDS, find_conflicts
from citewell.answering.force import describe_conflicts
from citewell.answering.journal import Ask, Journal, validate_question
from citewell.answering.stages import BROADENED, MORE, Parts, Stages, searchable
from citewell.answering.streaming import Streaming, Tell
from citewell.audit import EntryKind, Log
from citewell.audit.keys import asker
from citewell.core.errors import AbandonedError, CitewellError, GeneratorError, LogError
from citewell.core.metering import listener
from citewell.core.ports import AnswerJudge, Clock, Entailer, Ranker, TraceStore
from citewell.core.records import (
    Answer,
    AuditRecord,
    Citation,
    ConfidenceReport,
    Conflict,
    Decision,
    Maker,
    Measure,
    Passage,
    Proof,
)
from citewell.questions.aspects import split_aspects
from citewell.questions.evidence import framed
from citewell.verification.checking import Checked, nothing_to_check
from citewell.verification.confidence import measure_consistency, report
from citewell.verification.confidence.cards import NO_CARD, CardState
from citewell.verification.standing import NOTE_MARK

_MARK = re.compile(r" ?\[\d+\]")
ABSTENTION = "No passage was found that answers this question reliably."
Escalate = Callable[[str], str]
"""Called with the id of a request that needs human review; returns an error message, "" for none."""


@dataclass(frozen=True, kw_only=True)
class Answering(Parts):
    """One home's pass, reusable from any thread.

    ``ranker`` produced the relevance probabilities; ``composes``: the writer is a language model, which may
    address a topic without citing the disputed words; ``card`` returns the calibration card that set the
    thresholds, and whether it is still valid.
    """

    ranker: Ranker
    entailer: Entailer
    log: Log
    traces: TraceStore
    clock: Clock
    embedder: str
    makers: tuple[Maker, ...]
    environment: dict[str, str]
    escalate: Escalate | None
    composes: bool = False
    answer_judge: AnswerJudge | None = None
    card: Callable[[], CardState] = lambda: NO_CARD

    def ask(self, ask: Ask, tell: Tell | None = None, gone: Callable[[], str] = lambda: "") -> Answer:
        """``tell`` receives events while the answer is made; once ``gone`` returns why nobody is waiting, no
        further stage begins and no model runs. Raises UsageError, LogError (nothing could be sealed), or
        whatever a stage raised (including AbandonedError), which is sealed first."""
        validate_question(ask)
        journal = self._journal(ask)
        streaming = self._streaming(ask, tell, journal)
        journal.begins, journal.meter.gone = partial(_begins, gone, streaming), gone
        try:
            asked_as = self._pass(ask, journal, streaming)
            if streaming is not None:
                streaming.note(journal.claims)
            journal.begins = None  # a decision is always sealed, even when nobody is waiting
            with journal.stage("trace"):
                self.traces.put(journal.trace())
            with journal.stage("record"):
                digest = self.log.append(journal.record())
        except BaseException as error:
            journal.failed(error)
            if streaming is not None:
                streaming.fail(f"the request failed: {type(error).__name__}")
                streaming.note(())
            self._keep_trace(journal)
            if not isinstance(error, LogError):
                self._seal_failure(journal)
            raise
        self._call_people(journal)
        answer = msgspec.structs.replace(journal.answer(digest), asked_as=asked_as)
        if streaming is not None:
            streaming.settle(answer)
        return answer

    def rehearse(self, ask: Ask) -> AuditRecord:
        """The record this pass would seal, for a replay; nothing is sealed, traced or streamed. Raises what a
        stage raises."""
        journal = self._journal(ask)
        journal.meter.gone = listener()
        self._pass(ask, journal, None)
        return journal.record()

    def _pass(self, ask: Ask, journal: Journal, streaming: Streaming | None) -> str:
        """The question as rewritten to stand alone, "" if it was not rewritten."""
        with journal.metered():
            original = ask.question
            if self.questioner is not None and ask.session_id:
                turns = self.traces.session(ask.session_id)
                ask = msgspec.structs.replace(
                    ask, question=self.questioner.stand_alone(original, turns, journal)
                )
            with journal.stage("aspects"):
                aspects = split_aspects(ask.question)
            if self.questioner is not None:
                aspects = self.questioner.aspects(ask.question, aspects, journal)
            for aspect in aspects:
                self.extractor.extract(aspect, ())  # rejects a question too long to read before the search
            stages = Stages(self, ask, aspects, journal, streaming)
            if stages.find() or stages.find(broaden=True) or stages.find_parts():
                checked = stages.checked()
                lacking = searchable(checked.missing, aspects)
                searched = {stage.name for stage in journal.stages}
                # One of several parts needs its own search; an undivided question was searched for already.
                apart = len(aspects) > 1 or (self.composes and BROADENED not in searched)
                more = apart and lacking and checked.claims and MORE not in searched
                if more and (fresh := stages.find_more(lacking)):
                    checked = stages.completed(lacking, fresh, checked)
                stages.find_contrary([claim.text for claim in checked.claims if claim.shown])
            else:
                checked = nothing_to_check(aspects)
                journal.failure_reason = "relevance_gate_failed"
            self._decide(stages, checked)
            return ask.question if ask.question != original else ""

    # --- the decision -----------------------------------------------------------------------------

    def _decide(self, stages: Stages, checked: Checked) -> None:
        """Sets confidence, decision and what may be shown."""
        card, journal, question = self.card(), stages.journal, stages.ask.question
        checked = self._answering(stages.aspects, checked, journal)

        def reported(consistency: Measure | None, name: str) -> ConfidenceReport:
            return report(
                question,
                checked,
                journal.passages,
                self.config.confidence,
                consistency=consistency,
                ranker=self.ranker.maker.name,
                check=self.answer_check.maker.name if self.answer_check else "",
                card=name,
            )

        with journal.stage("consistency") as notes:
            consistency = self._consistency(stages, sampled=self._near_border(reported(None, "")))
            notes += [f"not measured: {consistency.note}"] if consistency.value is None else []
        with journal.stage("conflicts"):
            rank = self.config.sources.rank
            found = find_conflicts(stages.aspects, journal.passages, journal.counter_evidence, rank)
            claims = checked.claims
            journal.conflicts = journal.force.disclosed_conflicts(
                found, stages.aspects, journal.passages, claims, stages.evidence
            )
        with journal.stage("confidence") as notes:
            confidence = msgspec.structs.replace(reported(consistency, card.card), card_note=card.note)
            notes += [*confidence.reasons, *([card.note] if card.note else [])]
            if self.answer_check is None and checked.claims:
                notes.append(
                    "whether this answers the question was not checked: citewell-judge is not installed"
                )
        if not journal.gate_passed:
            reasons = (f"not enough evidence: {journal.gate_reason}", *confidence.reasons)
            confidence = msgspec.structs.replace(confidence, reasons=reasons)
        open_ = [one for one in journal.conflicts if one.supersession is None]
        superseded = describe_conflicts([one for one in journal.conflicts if one.supersession is not None])
        disagreement = describe_conflicts([one for one in open_ if self.composes or _disputes(one, checked)])
        if disagreement:
            confidence = _limited(confidence, "the sources disagree; both sides are shown")
        if journal.force.rests_on_it(claims):
            confidence = _limited(confidence, "it relies on text that is not in force on the day in question")
        if objection := self._objection(question, checked, journal):
            confidence = _limited(confidence, objection)
        journal.confidence, journal.decision = confidence, confidence.decision
        journal.missing = checked.missing
        journal.failure_reason = journal.failure_reason or checked.failure
        withheld = journal.decision is Decision.ABSTAIN
        text = "\n".join(filter(None, (checked.shown_text, disagreement, superseded)))
        journal.shown = f"{ABSTENTION}\n{superseded}".strip() if withheld else text
        journal.claims = tuple(
            msgspec.structs.replace(claim, shown=claim.shown and not withheld) for claim in checked.claims
        )

    def _answering(self, aspects: Sequence[str], checked: Checked, journal: Journal) -> Checked:
        """Marks the aspects that nothing shown answers as missing: a verified quote is not an answer. A
        computed result answers the question by construction; what the writer found by this same check was
        read in its passage or row, and is not read again."""
        check = self.answer_check
        shown = [claim for claim in checked.claims if claim.shown]
        worked_out = any(claim.verdict.proof is Proof.COMPUTED for claim in shown)
        written = [aspect for aspect in aspects if aspect not in checked.missing]
        if check is None or not shown or not written or worked_out:
            return checked
        found: dict[str, float] = {}
        if journal.draft is not None and check.maker.name in journal.draft.maker.name.split(" + "):
            for claim in shown:
                found[claim.aspect] = max(claim.answers or 0.0, found.get(claim.aspect, 0.0))
        open_ = [aspect for aspect in written if found.get(aspect, 0.0) < check.least]
        with journal.stage("answer check") as notes:
            lines = _framed(checked, journal) if open_ else []
            said = iter(check.answers([(line, aspect) for aspect in open_ for line in lines]))
            read = {aspect: max((next(said) for _ in lines), default=0.0) for aspect in open_}
            notes += [f"{aspect}: answered {(found | read)[aspect]:.2f}" for aspect in written]
            beside = [aspect for aspect, p in read.items() if p < check.border]
        if not beside or checked.coverage.value is None:
            return checked
        coverage = msgspec.structs.replace(
            checked.coverage,
            value=checked.coverage.value * (len(written) - len(beside)) / len(written),
            maker=check.maker.name,
        )
        missing = tuple(aspect for aspect in aspects if aspect in checked.missing or aspect in beside)
        return msgspec.structs.replace(checked, coverage=coverage, missing=missing)

    def _objection(self, question: str, checked: Checked, journal: Journal) -> str:
        """The answer judge's objection, "" for none or when there is no judge."""
        if self.answer_judge is None or not checked.shown_text:
            return ""
        with journal.stage("answer judge") as notes:
            used = [passage for passage in journal.passages if passage.used]
            said = self.answer_judge.evaluate(question, checked.shown_text, used)
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
        """Whether more drafts could change the decision; always true if ``near_border`` is 0."""
        settings = self.config.confidence
        if settings.near_border <= 0 or first.overall is None:
            return settings.near_border <= 0
        borders = (settings.answer, settings.partial)
        return min(abs(first.overall - border) for border in borders) <= settings.near_border

    def _consistency(self, stages: Stages, *, sampled: bool) -> Measure:
        """Over ``ask.runs`` drafts of one question; a deterministic writer is not asked again."""
        journal, runs = stages.journal, stages.ask.runs
        draft = journal.draft
        if draft is None:
            return Measure(value=None, n=0, note="nothing was written")
        if runs > 1 and not sampled and not draft.deterministic:
            note = "confidence is clearly above or below the thresholds, so no further draft was made"
            return Measure(value=None, n=0, note=note)
        others = [] if draft.deterministic else range(1, runs)
        drafts = [draft]
        try:
            # Added one by one, so that drafts made before a failure count.
            drafts.extend(stages.draft(stages.aspects, seed=seed) for seed in others)
        except GeneratorError as error:
            journal.survived(error, "a further draft failed")
        journal.draft = draft
        claims = [[claim.text for claim in other.claims] for other in drafts]
        return measure_consistency(claims, self.entailer, deterministic=draft.deterministic and runs > 1)

    # --- around the stages ------------------------------------------------------------------------

    def _journal(self, ask: Ask) -> Journal:
        return Journal(
            ask,
            clock=self.clock,
            config=self.config,
            environment=self.environment,
            embedder=self.embedder,
            makers=self.makers,
        )

    def _streaming(self, ask: Ask, tell: Tell | None, journal: Journal) -> Streaming | None:
        if tell is None:
            return None
        subject = asker(ask.user, journal.session_id)
        return Streaming(tell, lambda body: self.log.note(EntryKind.NOTICE, body, subject=subject), journal)

    def _seal_failure(self, journal: Journal) -> None:
        try:
            self.log.append(journal.record())
        except LogError:
            raise
        except (ValueError, TypeError, OverflowError) as error:  # not expressible in canonical JSON
            journal.emptied(error)
            self.log.append(journal.record())

    def _keep_trace(self, journal: Journal) -> None:
        """For a failed pass: a failure here must not hide the first one."""
        try:
            self.traces.put(journal.trace())
        except CitewellError as error:
            journal.note(f"the trace could not be kept: {error}")

    def _call_people(self, journal: Journal) -> None:
        """The hook for failed gates, contradictions and broken citations, called once the record exists."""
        if self.escalate is None or not journal.failure_reason:
            return
        trouble = self.escalate(journal.request_id)
        if trouble:
            self.log.note(EntryKind.NOTICE, {"request_id": journal.request_id, "escalate": trouble})


def _begins(gone: Callable[[], str], streaming: Streaming | None, stage: str) -> None:
    if reason := gone():
        raise AbandonedError(f"the question was stopped before the stage {stage!r}: {reason}")
    if streaming is not None:
        streaming.begins(stage)


def _limited(confidence: ConfidenceReport, reason: str) -> ConfidenceReport:
    """Lowers ANSWER to PARTIAL for ``reason``, which comes first if it changes the decision."""
    if confidence.decision is Decision.ANSWER:
        reasons = (reason, *confidence.reasons)
        return msgspec.structs.replace(confidence, decision=Decision.PARTIAL, reasons=reasons)
    return msgspec.structs.replace(confidence, reasons=(*confidence.reasons, reason))


def _framed(checked: Checked, journal: Journal) -> list[str]:
    """Each shown line, without citation marks, under the title and headings of its sources and the wording
    that they change."""
    read = {passage.chunk.chunk_id: passage for passage in journal.passages}
    found = []
    for line in filter(str.strip, _MARK.sub("", checked.shown_text).split("\n")):
        cited = [c for claim in checked.claims if claim.shown and claim.text in line for c in claim.citations]
        heads = (head for c in cited for head in _heads(c, read.get(c.chunk_id)))
        found.append(framed(heads, line))
    return found


def _heads(cited: Citation, passage: Passage | None) -> list[str]:
    """What the cited words stand under: title, headings, and the wording that they change."""
    if passage is None:
        return [*cited.section_path]
    changed = (one.old for one in passage.amends if one.start < cited.end and cited.start < one.end)
    return [passage.chunk.title, *cited.section_path, *changed]


def _disputes(conflict: Conflict, checked: Checked) -> bool:
    """Whether a shown claim cites a side that the operator does not rank above all others, or a copy of it
    elsewhere: a conflict has one side for each wording."""
    cited = [citation for claim in checked.claims if claim.shown for citation in claim.citations]
    highest = len(conflict.ranks) > 1 and conflict.ranks[0] > conflict.ranks[1]
    return any(
        _meet(side, citation) or _same_words(side.quote, citation.quote)
        for side in conflict.sides[highest:]
        for citation in cited
    )


def _meet(one: Citation, other: Citation) -> bool:
    of_one = (one.document_id, one.document_version) == (other.document_id, other.document_version)
    return of_one and one.start < other.end and other.start < one.end


def _same_words(one: str, other: str) -> bool:
    """Whether one sentence contains the other, apart from marks of footnotes."""
    short, long = sorted((" ".join(NOTE_MARK.sub("", quote).split()) for quote in (one, other)), key=len)
    return short in long and len(short.split()) >= MIN_WORDS
