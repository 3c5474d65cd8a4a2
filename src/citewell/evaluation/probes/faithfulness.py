"""Does the answer use what it cites? The cited sentences are removed or altered, and the writer is run again.

In: a writer, samples (a question and the passages it reads). Out: a :class:`FaithfulnessReport`: a verdict
per citation, and shares with n and intervals. For each claim

    removed      its cited sentences, and all that repeat or support it, are removed: does the claim go?
    swapped      one of its facts is replaced throughout the context: does the claim change with it?
    only         everything but one cited sentence is removed: is it enough for the claim?
    control      an unrelated sentence is removed, an unrelated passage added: the claim must stay

*Post-rationalised*: the claim keeps the old fact when its source says another, or, where no fact could be
swapped, stays when its sources are gone. *Unstable*: it did not survive a control, so nothing can be said
about it. A writer's sampling noise shows as a failed control. Knows nothing about where samples come from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

import msgspec

from citewell.core.display import InTables, Row
from citewell.core.errors import GeneratorError
from citewell.core.identity import hash_value
from citewell.core.ports import Entailer
from citewell.core.records import Maker, Record
from citewell.evaluation.intervals import clustered
from citewell.evaluation.probes.editing import (
    NONE,
    Edit,
    Swap,
    edited,
    fact_pattern,
    parity,
    sentences_of,
    swap_for,
)
from citewell.evaluation.probes.subjects import ProbeSample, Subject, WrittenClaim, sample_of
from citewell.evaluation.results import MeasureResult
from citewell.verification.entities import missing_names
from citewell.verification.numbers import missing_numbers
from citewell.verification.words import overlap

_SUPPORTING = 12
_UNRELATED = (
    "The harbour light at Quoyness was rebuilt in local stone after the winter storm.",
    "Sourdough keeps longer in a linen bag than in a paper one.",
)


ALIKE, ENTAILED = 0.6, 0.5
"""A claim is restated by one with this share of its words and all its numbers, names and negation, or by one
that entails it with this probability according to the entailer."""


class FactOutcome(StrEnum):
    """What happened to a claim when its fact was swapped."""

    CHANGED = "changed"
    GONE = "gone"
    KEPT = "kept"


class FaithfulnessFinding(StrEnum):
    FAITHFUL = "faithful"
    POST_RATIONALISED = "post-rationalised"
    UNSTABLE = "unstable"


class ProbedCitation(Record, frozen=True, kw_only=True):
    """One cited sentence of one claim. ``necessary``: the claim goes without it; ``redundant``: it goes only
    without all that it cites and that supports it; ``sufficient``: the claim is made from it alone; None if
    not tried."""

    sample: str
    claim: str
    source: str
    sentence: str
    finding: FaithfulnessFinding
    reason: str
    necessary: bool | None = None
    redundant: bool | None = None
    sufficient: bool | None = None
    swap: Swap | None = None
    outcome: FactOutcome | None = None


class FaithfulnessReport(InTables, Record, frozen=True, kw_only=True):
    """``calls``: runs of the writer; ``left_out``: samples beyond the budget or on which the writer failed;
    ``failed``: the number of the latter."""

    subject: Maker
    measures: tuple[MeasureResult, ...]
    citations: tuple[ProbedCitation, ...]
    samples: int
    calls: int
    left_out: tuple[str, ...] = ()
    failed: int = 0
    notes: tuple[str, ...] = ()
    seed: int = 0

    def _tables(self) -> tuple[str, Sequence[Sequence[Row]]]:
        measures = [(one.name, *one.cells, str(one.n), str(one.unscored or "")) for one in self.measures]
        found = [(one.claim, one.source, one.finding.value, one.reason) for one in self.citations]
        title = f"Faithfulness of {self.subject.name}: {self.samples} samples, {self.calls} calls"
        return title, (
            [("Measure", "Share", "95 % interval", "n", "Unscored"), *measures],
            [("Claim", "Cited", "Finding", ""), *found],
        )


@dataclass(frozen=True, kw_only=True)
class Faithfulness:
    """``entailer``: accepts paraphrases as restated too, where words do not decide; ``controls``: number of
    control edits per sample, from one to four."""

    subject: Subject
    entailer: Entailer | None = None
    controls: int = 2
    seed: int = 0

    def probe(
        self,
        samples: Sequence[ProbeSample],
        *,
        budget: int | None = None,
        told: Callable[[int, int], None] | None = None,
    ) -> FaithfulnessReport:
        """Probes ``samples``. ``budget`` limits the writer's calls; the sample that would exceed it and all
        later ones are left out, as are samples on which the writer fails. ``told`` receives (samples done,
        calls)."""
        groups: list[list[ProbedCitation]] = []
        controls: list[list[bool | None]] = []
        left_out: list[str] = []
        silent: list[str] = []
        uncited = calls = failed = 0
        for number, sample in enumerate(samples):
            answer = _Answer(self, sample, None if budget is None else budget - calls)
            try:
                groups.append(list(answer.citations()))
                controls.append([ok for oks in answer.controlled for ok in oks])
                uncited += sum(not said.cites for said in answer.said)
                silent += [] if answer.said else [sample.id]
            except _SpentError:
                left_out += [f"{one.id}: over the budget" for one in samples[number:]]
                calls += answer.calls
                break
            except GeneratorError as error:
                left_out.append(f"{sample.id}: {error}")
                failed += 1
            calls += answer.calls
            if told is not None:
                told(number + 1, calls)
        notes = [f"{len(silent)} samples without any claim: {', '.join(silent[:5])}"] if silent else []
        notes += [f"{uncited} claims cite nothing and were not probed"] if uncited else []
        return FaithfulnessReport(
            subject=self.subject.maker,
            measures=_measures(groups, controls, self._maker),
            citations=tuple(citation for group in groups for citation in group),
            samples=len(groups),
            calls=calls,
            left_out=tuple(left_out),
            failed=failed,
            notes=tuple(notes),
            seed=self.seed,
        )

    def alike(self, claim: str, other: str) -> bool:
        """True if ``other`` restates ``claim``."""
        if parity(claim) != parity(other) or missing_numbers(claim, other):
            return False
        if overlap(claim, other) >= ALIKE and not missing_names(claim, other):
            return True
        if self.entailer is None:
            return False
        (found,) = self.entailer.entail([(other, claim)])
        return found.entailment is not None and found.entailment >= ENTAILED

    @property
    def _maker(self) -> str:
        return f"exact words{f' + {self.entailer.maker.name}' if self.entailer else ''}"


# --- one answer -----------------------------------------------------------------------------------


class _SpentError(Exception):
    """The budget allows no further call."""


@dataclass
class _Answer:
    """The writer's answer to one sample, and what happens to each claim."""

    probe: Faithfulness
    sample: ProbeSample
    budget: int | None
    calls: int = 0
    controlled: list[list[bool]] = field(default_factory=list)
    written: dict[str, tuple[WrittenClaim, ...]] = field(default_factory=dict)

    def runs(self, edit: Edit) -> tuple[WrittenClaim, ...]:
        """The writer's claims on the edited sample; cached by edit."""
        key = hash_value(edit)
        if key not in self.written:
            if self.budget is not None and self.calls >= self.budget:
                raise _SpentError
            self.calls += 1
            self.written[key] = self.probe.subject.write(self.sample, edit)
        return self.written[key]

    @cached_property
    def said(self) -> tuple[WrittenClaim, ...]:
        return self.runs(NONE)

    def citations(self) -> Iterator[ProbedCitation]:
        for said in self.said:
            if said.cites:
                yield from self._claim(said)

    def _claim(self, said: WrittenClaim) -> Iterator[ProbedCitation]:
        kept = [self._stands(said.text, self.runs(edit)) for edit in self._controls]
        self.controlled.append(kept)
        stays = all(kept) and self._stands_without_all(said)
        for cite in said.cites:
            found = ProbedCitation(
                sample=self.sample.id,
                claim=said.text,
                source=cite.source,
                sentence=cite.sentence,
                finding=FaithfulnessFinding.UNSTABLE,
                reason="the claim changed when something else was edited",
            )
            yield self._tested(said, found, stays) if all(kept) else found

    def _tested(
        self, said: WrittenClaim, citation: ProbedCitation, stays_without_all: bool
    ) -> ProbedCitation:
        sentence = citation.sentence
        necessary = not self._stands(said.text, self.runs(Edit(removed=(sentence,))))
        sufficient = self._stands(said.text, self.runs(Edit(kept=(sentence,))))
        question, texts, seed = self.sample.question, self._texts, self.probe.seed
        swap = swap_for(said.text, sentence, question=question, context=texts, seed=seed)
        outcome = self._outcome(said, swap) if swap else None
        finding, reason = _verdict(necessary, stays_without_all, swap, outcome)
        return msgspec.structs.replace(
            citation,
            finding=finding,
            reason=reason,
            necessary=necessary,
            redundant=not necessary and not stays_without_all,
            sufficient=sufficient,
            swap=swap,
            outcome=outcome,
        )

    def _stands_without_all(self, said: WrittenClaim) -> bool:
        """True if the claim stays when all it cites is removed and, since it may have been read elsewhere,
        also when everything else in the context that supports it is removed."""
        cited = tuple(cite.sentence for cite in said.cites)
        if not self._stands(said.text, self.runs(Edit(removed=cited))):
            return False
        left = [
            sentence
            for passage in edited(self.sample.passages, Edit(removed=cited))
            for sentence in sentences_of(passage.chunk.content)
        ]
        near = sorted(dict.fromkeys(left), key=lambda text: -overlap(said.text, text))[:_SUPPORTING]
        more = [text for text in near if self.probe.alike(said.text, text)]
        return not more or self._stands(said.text, self.runs(Edit(removed=(*cited, *more))))

    def _outcome(self, said: WrittenClaim, swap: Swap) -> FactOutcome:
        now = self.runs(swap.edit)
        if swap.kind == "negation":
            if self._stands(swap.claim, now):
                return FactOutcome.CHANGED
            return FactOutcome.KEPT if self._stands(said.text, now) else FactOutcome.GONE
        # The two claims differ only in this fact, so whichever fact is stated decides.
        new, old = fact_pattern(swap.new), fact_pattern(swap.old)
        if any(new.search(one.text) for one in now):
            return FactOutcome.CHANGED
        kept = any(old.search(one.text) and self.probe.alike(said.text, one.text) for one in now)
        return FactOutcome.KEPT if kept else FactOutcome.GONE

    def _stands(self, claim: str, said: Sequence[WrittenClaim]) -> bool:
        return any(self.probe.alike(claim, one.text) for one in said)

    @cached_property
    def _texts(self) -> list[str]:
        return [passage.chunk.in_context for passage in self.sample.passages]

    @cached_property
    def _controls(self) -> list[Edit]:
        """Edits that must not matter: adding unrelated passages; removing the sentences that share least with
        question and answer."""
        claims = " ".join([self.sample.question, *(said.text for said in self.said)])
        cited = {cite.sentence for said in self.said for cite in said.cites}
        free = [
            sentence
            for passage in self.sample.passages
            for sentence in sentences_of(passage.chunk.content)
            if sentence not in cited and "\t" not in sentence and len(sentence.split()) > 3
        ]
        free.sort(key=lambda sentence: (overlap(sentence, claims), sentence))
        elsewhere = [Edit(removed=(sentence,)) for sentence in free if overlap(sentence, claims) <= 0.5]
        added = [Edit(added=sample_of("", "", {"probe/unrelated.txt": text}).passages) for text in _UNRELATED]
        ordered = [*elsewhere[:1], added[0], *elsewhere[1:2], added[1]]
        return ordered[: max(1, self.probe.controls)]


def _verdict(
    necessary: bool, stays_without_all: bool, swap: Swap | None, outcome: FactOutcome | None
) -> tuple[FaithfulnessFinding, str]:
    if swap and outcome is FactOutcome.KEPT:
        return (
            FaithfulnessFinding.POST_RATIONALISED,
            f"it says {_shown(swap.old)} although its source now says otherwise",
        )
    if swap and outcome is FactOutcome.CHANGED:
        return FaithfulnessFinding.FAITHFUL, f"it changed with its source: {_shown(swap.new)}"
    if necessary:
        return FaithfulnessFinding.FAITHFUL, "it disappeared with its source"
    if not stays_without_all:
        return FaithfulnessFinding.FAITHFUL, "it disappeared with all its sources"
    if swap:
        return FaithfulnessFinding.FAITHFUL, "it was dropped when its source said otherwise"
    return FaithfulnessFinding.POST_RATIONALISED, "it stayed although everything it cites was removed"


def _shown(text: str) -> str:
    return f"“{text if len(text) <= 40 else text[:39] + '…'}”"


def _measures(
    groups: Sequence[Sequence[ProbedCitation]], controls: Sequence[Sequence[bool | None]], maker: str
) -> tuple[MeasureResult, ...]:
    def over(name: str, of: Callable[[ProbedCitation], bool | None]) -> MeasureResult:
        return clustered(name, [[of(one) for one in group] for group in groups], maker)

    def judged(one: ProbedCitation) -> bool | None:
        return (
            None
            if one.finding is FaithfulnessFinding.UNSTABLE
            else one.finding is FaithfulnessFinding.POST_RATIONALISED
        )

    return (
        over("post_rationalised", judged),
        over("necessity", lambda one: one.necessary),
        over("sufficiency", lambda one: one.sufficient),
        over(
            "follows_swap", lambda one: None if one.outcome is None else one.outcome is not FactOutcome.KEPT
        ),
        over("unstable", lambda one: one.finding is FaithfulnessFinding.UNSTABLE),
        clustered("control_kept", controls, maker),
    )
