"""The stages of a pass that search and write.

In: a question, its aspects, the journal. Out: passages in the journal and the gate's result; the
:class:`Checked` draft with the most verified claims, after one stricter retry and one broader search for what
is missing; counter-evidence near its claims. Poisoned passages are set aside *before* the gate, so that an
attacker's passage cannot open it. Everything tried is a stage or a note. A listener receives each claim once
it is complete, checked individually before the whole draft is. Independent of confidence and the record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from citewell.answering.force import NOTHING, InForce, force_on
from citewell.answering.journal import Ask, Journal
from citewell.answering.questioning import Questioner
from citewell.answering.streaming import Streaming
from citewell.core.config import Config
from citewell.core.errors import GeneratorError
from citewell.core.ports import AnswerCheck, Extractor, GateJudge, GenerationRequest, Generator, Requote
from citewell.core.records import Claim, Draft, DraftClaim, Passage, Status, TokenUsage
from citewell.questions.evidence import Answer, find_evidence
from citewell.questions.naming import usable
from citewell.questions.parsing import read_question
from citewell.retrieval import Retrieved, Retriever
from citewell.retrieval.gate import GateResult, check_gate, score_answers
from citewell.retrieval.quarantine import flood_notes, quarantine_poisoned
from citewell.verification.checking import Checked, Checker

BROADENED = "broadened retrieval"
MORE = "retrieval for missing aspects"
CONTRARY = "search with the claims"
MOST_SEARCHES, LONGEST_MISSING = 8, 300
"""Limits on the things that a writer reports missing, and on their characters: the text is unconstrained."""
SEARCHED_AS, SEARCHED_ALSO = "searched_as", "searched_also"
"""In a record's parameters: the question as reformulated by a language model, and the missing things searched
for separately, in order."""

Quarantine = Callable[[str, Sequence[Passage], Sequence[Passage]], Sequence[Passage]]
"""Question, passages and the pool they were selected from -> the same passages, some set aside."""
Gate = Callable[..., GateResult]
"""Like :func:`citewell.retrieval.gate.check_gate`."""


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The components of a pass. ``pin`` keeps an index version for ever; ``gate_judge`` replaces the
    extractor at the gate. ``quarantine`` and ``gate`` differ from their defaults only in probes, which
    measure what each is worth. ``in_force`` knows what is superseded."""

    retriever: Retriever
    extractor: Extractor
    generator: Generator
    checker: Checker
    config: Config
    pin: Callable[[str], None]
    questioner: Questioner | None = None
    gate_judge: GateJudge | None = None
    answer_check: AnswerCheck | None = None
    in_force: InForce = NOTHING
    quarantine: Quarantine = quarantine_poisoned
    gate: Gate = check_gate


@dataclass(frozen=True)
class Stages:
    """The stages of one request. ``streaming`` is None if nobody listens."""

    parts: Parts
    ask: Ask
    aspects: tuple[str, ...]
    journal: Journal
    streaming: Streaming | None

    def find(self, *, broaden: bool = False) -> bool:
        """Puts passages into the journal; returns whether they can answer. ``broaden`` for the last try."""
        parts, ask, journal = self.parts, self.ask, self.journal
        question, hypothesis = ask.question, ""
        if parts.questioner is not None:
            hypothesis = parts.questioner.hypothesis(question, journal)
            question = parts.questioner.reformulate(question, journal) if broaden else question
            journal.parameters[SEARCHED_AS] = question
        with journal.stage(BROADENED if broaden else "retrieval") as notes:
            found = self._retrieve(question, broaden=broaden, hypothesis=hypothesis)
            # The version is kept for ever: the record names it, and a replay reopens it.
            parts.pin(found.index_version)
            journal.index_version = found.index_version
            journal.looked_into(found.documents)
            notes += [*found.notes, *(f"{name} {took:.1f} ms" for name, took in found.latencies.items())]
        with journal.stage("poison filter") as notes:
            journal.passages = tuple(parts.quarantine(ask.question, found.passages, found.pool))
            journal.counter_evidence = self._find_counter_evidence(found)
            notes += [f"{p.chunk.chunk_id}: {p.set_aside}" for p in journal.passages if p.set_aside]
            notes += flood_notes(journal.passages, found.pool)
        self._tell()
        if parts.answer_check is not None:
            with journal.stage("reading") as notes:
                journal.passages = self._opened(self.aspects, journal.passages)
                read = [p for p in journal.passages if p.answers is not None]
                notes += [f"{p.chunk.chunk_id}: answers {p.answers:.2f}" for p in read]
        journal.force = force_on(parts.in_force, ask.question, ask.as_of, ask.filters, journal.timestamp[:10])
        journal.parameters["as_of"] = journal.force.asked
        passages, said = journal.force.replacements(journal.passages, self._inside)
        if said:
            with journal.stage("in force") as notes:
                passages = journal.force.with_old_wording(parts.quarantine(ask.question, passages, ()))
                # Read apart from the wording they change, which answers as well and is not in force.
                opened = self._opened(self.aspects, [p for p in passages if p.amends])
                by_id = {passage.chunk.chunk_id: passage for passage in opened}
                journal.passages = tuple(by_id.get(p.chunk.chunk_id, p) for p in passages)
                notes += said
            self._tell()
        return self._gated()

    def find_parts(self) -> bool:
        """Searches for each of several aspects separately, after the search for the whole question failed;
        returns whether the passages can answer now."""
        return len(self.aspects) > 1 and bool(self.find_more(self.aspects)) and self._gated()

    def find_more(self, lacking: Sequence[str]) -> tuple[Passage, ...]:
        """One broader search for each thing that lacks evidence; returns the usable passages, the best of
        each before the second best of any."""
        journal = self.journal
        journal.parameters[SEARCHED_ALSO] = list(lacking)
        with journal.stage(MORE) as notes:
            known = {passage.chunk.chunk_id for passage in journal.passages}
            before = len(journal.passages)
            ranks: dict[str, int] = {}
            for aspect in lacking:
                found = self._retrieve(aspect, broaden=True)
                if found.index_version != journal.index_version:
                    notes.append(f"{aspect}: the index changed meanwhile, so these passages were not used")
                    continue
                journal.looked_into(found.documents)
                journal.counter_evidence += self._find_counter_evidence(found)
                new = [passage for passage in found.passages if passage.chunk.chunk_id not in known]
                fresh = self._opened([aspect], new)
                known |= {passage.chunk.chunk_id for passage in fresh}
                ranks |= {passage.chunk.chunk_id: rank for rank, passage in enumerate(fresh)}
                journal.passages += fresh
                notes.append(f"{aspect}: {sum(p.relevant for p in fresh)} more passages to use")
            journal.passages = tuple(self.parts.quarantine(self.ask.question, journal.passages, ()))
            more = journal.passages[before:]
            notes += [f"{p.chunk.chunk_id}: {p.set_aside}" for p in more if p.set_aside]
        self._tell()
        kept = usable(more)
        return tuple(sorted(kept, key=lambda passage: ranks[passage.chunk.chunk_id]))

    def find_contrary(self, statements: Sequence[str]) -> None:
        """Searches what the asker may see for counter-evidence to the claims to be shown: it need not be near
        the question."""
        journal = self.journal
        with journal.stage(CONTRARY) as notes:
            # A passage below the relevance threshold can still contradict.
            relevant = (passage for passage in journal.passages if passage.relevant)
            known = {passage.chunk.chunk_id for passage in (*relevant, *journal.counter_evidence)}
            searched = 0
            for statement in statements[:MOST_SEARCHES]:
                found = self.parts.retriever.near(statement, filters=self.ask.filters)
                if found.index_version != journal.index_version:
                    notes.append("the index changed meanwhile")
                    break
                searched += 1
                fresh = [p for p in self._find_counter_evidence(found) if p.chunk.chunk_id not in known]
                journal.counter_evidence += tuple(fresh)
                known |= {passage.chunk.chunk_id for passage in fresh}
            notes.append(f"{searched} of {len(statements)} statements searched for")

    def _find_counter_evidence(self, found: Retrieved) -> tuple[Passage, ...]:
        """Possible counter-evidence that passes the poison filter. Each passage is filtered alone: repetition
        is only a sign of flooding among many, and a copy can still contradict another source."""
        alone = (
            self.parts.quarantine(self.ask.question, (passage,), ())[0] for passage in found.counter_evidence
        )
        return tuple(passage for passage in alone if not passage.set_aside)

    def _retrieve(self, question: str, *, broaden: bool, hypothesis: str = "") -> Retrieved:
        ask = self.ask
        return self.parts.retriever.retrieve(
            question,
            filters=ask.filters,
            top_k=ask.top_k,
            pool=ask.pool,
            broaden=broaden,
            hypothesis=hypothesis,
        )

    def _tell(self) -> None:
        """Shows a listener the passages found so far; reading them takes most of the time."""
        if self.streaming is not None:
            self.streaming.found(self.journal.passages)

    def _gated(self) -> bool:
        """Whether the journal's passages can answer any part of the question."""
        parts, journal = self.parts, self.journal
        with journal.stage("gate") as notes:
            gate = parts.gate(
                self.ask.question,
                self.aspects,
                journal.force.only_in_force(journal.passages),
                parts.extractor,
                parts.config.gate,
                parts.gate_judge,
                parts.answer_check,
            )
            journal.gate_passed, journal.gate_reason = gate.passed, gate.reason
            notes += [gate.reason, *gate.notes]
            if gate.said is not None:
                notes += [journal.paid(gate.said.usage, gate.said.cost), *gate.said.notes]
        return gate.passed

    def _opened(self, aspects: Sequence[str], passages: Sequence[Passage]) -> tuple[Passage, ...]:
        """The passages with the answer check's probability for each, if there is a check."""
        parts = self.parts
        if parts.answer_check is None:
            return tuple(passages)
        return score_answers(aspects, passages, parts.extractor, parts.config.gate, parts.answer_check)

    def _inside(self, document_id: str) -> Retrieved:
        filters = msgspec.structs.replace(self.ask.filters, document_id=document_id)
        parts = self.parts
        found = parts.retriever.retrieve(self.ask.question, filters=filters, pool=self.ask.pool)
        read = self._opened(self.aspects, found.pool[: parts.config.retrieval.top_k])
        return msgspec.structs.replace(found, pool=(*read, *found.pool[len(read) :]))

    def evidence(self, aspect: str, passages: Sequence[Passage]) -> Sequence[Answer]:
        """What in the passages answers the aspect, best first."""
        most = self.parts.config.gate.max_no_answer
        check, wanted = self.parts.answer_check, read_question(aspect)
        return find_evidence(wanted, passages, self.parts.extractor, max_no_answer=most, check=check)

    def checked(self) -> Checked:
        """The checked draft, or that of one stricter retry if it is better. A failed retry leaves the
        first."""
        journal = self.journal
        first = self.check(self.draft(self.aspects, listened=True))
        if not first.failing:
            return first
        draft = journal.draft
        if self.streaming is not None:
            self.streaming.again("claims of the first draft failed")
        again = {one.claim for one in first.requotable}
        failing = [text for text in first.failing if text not in again]
        try:
            strict = self.draft(self.aspects, strict=failing, requote=first.requotable, listened=True)
        except GeneratorError as error:
            journal.survived(error, "the stricter retry failed, so the first draft is kept")
            return first
        second = self.check(strict)
        better = _merit(second) > _merit(first)
        if not better:
            journal.draft = draft
        journal.note(
            f"the {'stricter retry' if better else 'first draft'} has more verified claims and is kept"
        )
        return second if better else first

    def completed(self, lacking: Sequence[str], fresh: Sequence[Passage], checked: Checked) -> Checked:
        """``checked`` plus a draft for ``lacking`` alone, if that can be written and makes it better.
        ``fresh``, the passages found for them, come first in the prompt, as space is limited. A lacking thing
        that is no aspect stays missing until a verified claim covers it."""
        journal, aspects = self.journal, self.aspects
        before = journal.draft
        if before is None:
            return checked
        if self.streaming is not None:
            self.streaming.again("the missing parts are written separately")
        try:
            more = self.draft(lacking, first=fresh, listened=True)
        except GeneratorError as error:
            journal.survived(
                error, "nothing could be written for the missing parts, so the previous draft is kept"
            )
            return checked
        journal.draft = join_drafts(before, more, lacking)
        both = self.check(journal.draft)
        told = {claim.aspect for claim in both.claims if claim.verdict.status is Status.VERIFIED}
        still = [name for name in lacking if name not in aspects and name not in told]
        both = msgspec.structs.replace(both, missing=tuple(dict.fromkeys((*both.missing, *still))))
        if _merit(both) > _merit(checked):
            return both
        journal.draft = before
        journal.note("the passages found for the missing parts add nothing")
        return checked

    def draft(
        self,
        aspects: Sequence[str],
        *,
        strict: Sequence[str] = (),
        requote: Sequence[Requote] = (),
        first: Sequence[Passage] = (),
        seed: int = 0,
        listened: bool = False,
    ) -> Draft:
        """Written from relevant passages not set aside, ``first`` before the rest; claims in ``strict``
        failed and stay out, those in ``requote`` may return with a quote that the source contains."""
        journal = self.journal
        ids = [passage.chunk.chunk_id for passage in first]
        rest = [passage for passage in journal.passages if passage.chunk.chunk_id not in ids]
        usable = tuple(
            p for p in journal.force.only_in_force((*first, *rest)) if p.relevant and not p.set_aside
        )
        with journal.stage("stricter retry" if strict or requote else "generation") as notes:
            request = GenerationRequest(
                question=self.ask.question,
                aspects=tuple(aspects),
                passages=usable,
                strict=tuple(strict),
                requote=tuple(requote),
                seed=seed,
            )
            generate = self._generate if listened and self.streaming else self.parts.generator.generate
            draft = generate(request)
            journal.wrote(draft, usable if draft.sources is None else draft.sources)
            notes += draft.notes
            notes += [
                f"offered the writer words that support it: \u201c{one.claim[:120]}\u201d" for one in requote
            ]
        return draft

    def check(self, draft: Draft) -> Checked:
        with self.journal.stage("verification") as notes:
            checked = self.parts.checker.check(self.ask.question, self.aspects, draft, self.journal.passages)
            notes += checked.notes
        return checked

    def _generate(self, request: GenerationRequest) -> Draft:
        """Generates with streaming; the claims of a writer that cannot stream are sent at its end."""
        streaming, generator = self.streaming, self.parts.generator
        assert streaming is not None  # noqa: S101 - only called with a listener
        stream = getattr(generator, "stream", None)
        if stream is None:
            draft = generator.generate(request)
        else:
            draft = stream(request, lambda partial: streaming.emit(partial, self._alone(request)))
        streaming.emit(draft, self._alone(request))
        return draft

    def _alone(self, request: GenerationRequest) -> Callable[[DraftClaim], Claim]:
        """A function that checks one claim before the rest is written."""

        def alone(claim: DraftClaim) -> Claim:
            length = claim.end - claim.start
            only = msgspec.structs.replace(claim, start=0, end=length)
            maker = self.parts.generator.maker
            draft = Draft(text=claim.text.ljust(length), raw="", claims=(only,), maker=maker)
            passages = self.journal.passages
            return self.parts.checker.check(self.ask.question, request.aspects, draft, passages).claims[0]

        return alone


def searchable(missing: Sequence[str], aspects: Sequence[str]) -> list[str]:
    """What of ``missing`` to search for: aspects, then the writer's own descriptions if they contain words
    and are not too long or too many."""
    own = [words for words in missing if words not in aspects and len(words) <= LONGEST_MISSING]
    words = [*(aspect for aspect in aspects if aspect in missing), *own]
    return [one for one in words if any(map(str.isalnum, one))][: max(MOST_SEARCHES, len(aspects))]


def join_drafts(first: Draft, second: Draft, lacking: Sequence[str]) -> Draft:
    """Both drafts as one, the second on lines of its own; ``lacking`` is no longer missing unless the second
    says so. If only one thing was lacking, claims without an aspect are for it."""
    if not second.claims:
        return first
    text = f"{first.text}\n" if first.text else ""
    only = lacking[0] if len(lacking) == 1 else ""
    moved = tuple(
        msgspec.structs.replace(
            claim, start=claim.start + len(text), end=claim.end + len(text), aspect=claim.aspect or only
        )
        for claim in second.claims
    )
    missing = [name for name in first.missing if name not in lacking]
    costs = [draft.cost for draft in (first, second) if draft.cost is not None]
    return msgspec.structs.replace(
        first,
        text=text + second.text,
        raw=f"{first.raw}\n{second.raw}",
        claims=(*first.claims, *moved),
        missing=tuple(dict.fromkeys((*missing, *second.missing))),
        usage=TokenUsage(
            prompt=first.usage.prompt + second.usage.prompt,
            completion=first.usage.completion + second.usage.completion,
            total=first.usage.total + second.usage.total,
        ),
        cost=sum(costs) if costs else None,
        deterministic=first.deterministic and second.deterministic,
    )


def _merit(checked: Checked) -> tuple[int, int, int]:
    """Ranks by fewer broken or contradicted claims, then more verified ones, then fewer unsupported ones."""
    statuses = [claim.verdict.status for claim in checked.claims]
    wrong = statuses.count(Status.BROKEN) + statuses.count(Status.CONTRADICTED)
    return (-wrong, statuses.count(Status.VERIFIED), -statuses.count(Status.UNSUPPORTED))
