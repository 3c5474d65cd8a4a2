"""What can be evaluated: a home that is asked, or recorded answers.

In: a case. Out: what the pipeline did with it, as an :class:`ObservedAnswer`. Recorded answers may come from
any system; they are checked with the same code as ``citewell verify``. Knows nothing about measures.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from citewell.core.access import EVALUATION
from citewell.core.errors import EvidenceError, UsageError
from citewell.core.records import Case, Claim, Decision, Maker, Measure, Passage
from citewell.evaluation.cases import Recorded
from citewell.evaluation.judging import LocatedSpans, ObservedAnswer, locate
from citewell.evaluation.results import CaseTiming
from citewell.models.remembering import RememberingEntailer
from citewell.verification.verifier import Verifier

if TYPE_CHECKING:
    from citewell.knowledge.assembly import Assembly
    from citewell.knowledge.home import KnowledgeBase


_NAMELESS = 'no source of the answers has the id of a document that a case names; give each its "id"'


class HomePipeline:
    """Asks a home each question with the groups of its case, as ``evaluation``; every answer is logged.

    ``whole``: a span found in none of its texts is an error in the case; otherwise the texts are only what
    was retrieved, and such a span was missed. ``nameless``: why spans cannot be located. Call ``makers`` only
    after the last case."""

    whole = True
    answers = nameless = ""

    def __init__(self, kb: KnowledgeBase, *, runs: int = 1, top_k: int | None = None) -> None:
        from citewell.knowledge.home import KnowledgeBase

        # No escalation for questions that no person asked.
        self._asked = KnowledgeBase(kb.parts.without_escalation())
        self._kb, self.parts = kb, kb.parts
        self.runs, self.top_k = runs, top_k or kb.config.retrieval.top_k
        self.verifier, self.stale = verifier_of(kb.parts), kb.parts.card_state().note
        self.config = kb.config.hash
        self.index = kb.parts.index.version()
        self.model = kb.parts.generator.maker.name

    def observe(self, case: Case) -> ObservedAnswer:
        began = time.perf_counter()
        answer = self._asked.ask(
            case.question, user=EVALUATION, groups=case.groups, runs=self.runs, top_k=self.top_k
        )
        took = (time.perf_counter() - began) * 1000
        record = self.parts.log.record(answer.request_id)
        usage = record.token_usage
        counted = usage.total > 0 or not self.parts.composes
        trace = answer.trace
        return ObservedAnswer(
            text=answer.text,
            claims=answer.claims,
            passages=answer.passages,
            answered=answer.decision is not Decision.ABSTAIN,
            top_k=self.top_k,
            decision=answer.decision.value,
            confidence=answer.confidence,
            overall=answer.confidence.overall,
            gap=answer.confidence.hallucination_gap,
            gate_passed=trace.relevance_gate_passed if trace else None,
            missing=answer.missing,
            conflicts=answer.conflicts,
            failure_reason=record.failure_reason,
            # A language model that reports no tokens still used some.
            usage=usage if counted else None,
            cost=record.cost,
            index=record.index_version,
            prompt=record.generation_prompt_hash,
            timing=CaseTiming(
                request_id=answer.request_id,
                session_id=answer.session_id,
                record_hash=answer.record_hash,
                total_ms=took,
                stages=trace.stages if trace else (),
            ),
        )

    def texts(self, document_id: str, version: str) -> Sequence[tuple[int, str]]:
        return texts_in(self._kb, document_id, version)

    def makers(self) -> tuple[Maker, ...]:
        return self.parts.answering.makers


class RecordedPipeline:
    """Recorded answers by case id; ``cases`` name the documents, ``assembly`` supplies the verifier that
    checks the answers."""

    model = index = ""
    runs, top_k = 1, 0
    whole = False

    def __init__(
        self, recorded: Mapping[str, Recorded], digest: str, cases: Sequence[Case], assembly: Assembly
    ) -> None:
        self._recorded, self.answers, self.parts = recorded, digest, assembly
        self.verifier, self.stale = verifier_of(assembly), assembly.card_state(verdicts=True).note
        self.config = assembly.config.hash
        named = {span.document for case in cases for span in case.spans}
        sources = (source for one in recorded.values() for source in one.sources)
        carried = {source["id"] for source in sources if isinstance(source, dict) and "id" in source}
        self.nameless = "" if named & carried else _NAMELESS
        self._retrieved: dict[tuple[str, str], set[tuple[int, str]]] = {}

    def observe(self, case: Case) -> ObservedAnswer:
        recorded = self._recorded.get(case.id)
        if recorded is None:
            raise UsageError("no answer was recorded for this case", hint="add a line with its id")
        if recorded.problem:
            raise UsageError(recorded.problem, hint="see docs/evaluation.md for the form of an answer")
        return self._checked(case, recorded)

    def texts(self, document_id: str, version: str) -> Sequence[tuple[int, str]]:
        return [
            stretch
            for (name, its), stretches in self._retrieved.items()
            if name == document_id and version in ("", its)
            for stretch in sorted(stretches)
        ]

    def makers(self) -> tuple[Maker, ...]:
        return (self.parts.entailer.maker,)

    def _checked(self, case: Case, recorded: Recorded) -> ObservedAnswer:
        from citewell.answering.verifying import caller_passages, verify
        from citewell.verification.claims import parse_answer

        report = verify(
            recorded.answer,
            recorded.sources,
            recorded.question or case.question,
            entailer=self.parts.entailer,
            embedder=self.parts.embedder,
            settings=self.parts.config.verification,
            card=self.parts.card_state(verdicts=True),
        )
        passages = tuple(caller_passages(recorded.sources))
        for chunk in (passage.chunk for passage in passages):
            key = (chunk.document_id, chunk.document_version)
            self._retrieved.setdefault(key, set()).add((chunk.start_offset, chunk.content))
        refused = not report.claims and (
            not recorded.answer.strip() or parse_answer(recorded.answer).abstains
        )
        answered = recorded.decision != Decision.ABSTAIN if recorded.decision else not refused
        return ObservedAnswer(
            text=recorded.answer,
            claims=_as_cited(recorded.answer, report.claims, passages),
            passages=passages,
            answered=answered,
            decision=recorded.decision or "",
            overall=recorded.confidence,
            gap=Measure(value=report.hallucination_gap, n=report.judged_claims),
        )


Pipeline = HomePipeline | RecordedPipeline
"""``verifier`` judges; ``stale``: a note that the calibration card in use is stale."""


def verifier_of(assembly: Assembly) -> Verifier:
    """The configured verifier with a cache: passages are judged both alone and together."""
    entailer = RememberingEntailer(assembly.entailer)
    return Verifier(entailer, assembly.config.verification, card=assembly.card_hash)


def _as_cited(answer: str, claims: Sequence[Claim], passages: Sequence[Passage]) -> tuple[Claim, ...]:
    """The claims with only the answer's own citations: for an uncited claim, ``verify`` checks every source
    and names the one that supports it, but that is not the writer's citation."""
    from citewell.verification.claims import parse_answer, resolve_label

    ids = [passage.chunk.document_id for passage in passages]
    own = {
        (claim.start, claim.end): {resolve_label(label, ids) for label in claim.labels}
        for claim in parse_answer(answer, ids).claims
    }
    return tuple(
        msgspec.structs.replace(
            claim,
            citations=tuple(
                cited
                for cited in claim.citations
                if cited.mode != "post-hoc"
                or cited.document_id in own.get((claim.answer_start, claim.answer_end), ())
            ),
        )
        for claim in claims
    )


def located_in(kb: KnowledgeBase, case: Case) -> LocatedSpans:
    """Locates the spans of ``case`` in the newest versions of their documents."""
    versions = []
    for span in case.spans:
        with suppress(EvidenceError):  # locate reports the missing document
            versions.append((span.document, kb.document(span.document).version))
    return locate(case, versions, partial(texts_in, kb))


def texts_in(kb: KnowledgeBase, document_id: str, version: str) -> Sequence[tuple[int, str]]:
    try:
        return [(0, kb.document(document_id, version).text)]
    except EvidenceError:
        return []
