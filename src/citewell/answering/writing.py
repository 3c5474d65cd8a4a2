"""Drafts and their checks: one stricter retry, and one broader search for what is missing.

In: a question, its aspects, the passages in the journal. Out: the :class:`Checked` draft that holds most.
Everything tried is a stage or a note. A listener hears claims as they become whole, each checked by itself
before the draft is. Knows nothing about retrieval, confidence or the record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from citewell.answering.asking import Ask
from citewell.answering.journal import Journal
from citewell.answering.streaming import Streaming
from citewell.core.errors import GeneratorError
from citewell.core.ports import GenerationRequest, Generator, Requote
from citewell.core.records import Claim, Draft, DraftClaim, Passage, Status, TokenUsage
from citewell.verification.checking import Checked, Checker


@dataclass(frozen=True, kw_only=True)
class Writing:
    """``streaming`` is None when nobody listens."""

    generator: Generator
    checker: Checker
    streaming: Streaming | None = None

    def checked(self, ask: Ask, aspects: Sequence[str], journal: Journal) -> Checked:
        """The draft's check, or that of one stricter retry when it holds more than the first. A retry that
        fails leaves the first."""
        first = self.check(ask, aspects, self.draft(ask, aspects, journal, listened=True), journal)
        if not first.failing:
            return first
        draft = journal.draft
        if self.streaming is not None:
            self.streaming.again("claims of the first draft failed")
        again = {one.claim for one in first.requotable}
        failing = [text for text in first.failing if text not in again]
        try:
            strict = self.draft(
                ask, aspects, journal, strict=failing, requote=first.requotable, listened=True
            )
        except GeneratorError as error:
            journal.survived(error, "the stricter retry failed, so the first draft is kept")
            return first
        second = self.check(ask, aspects, strict, journal)
        better = _merit(second) > _merit(first)
        if not better:
            journal.draft = draft
        journal.note(
            f"the {'stricter retry' if better else 'first draft'} has more verified claims and is kept"
        )
        return second if better else first

    def completed(
        self,
        ask: Ask,
        aspects: Sequence[str],
        lacking: Sequence[str],
        fresh: Sequence[Passage],
        checked: Checked,
        journal: Journal,
    ) -> Checked:
        """``checked`` with what a draft for the ``lacking`` alone adds to it, when that holds more and is
        written at all. ``fresh``, what was found for them, is shown to the writer before all others: only so
        many fit. What is lacking and no aspect stays missing until a verified claim is for it."""
        before = journal.draft
        if before is None:
            return checked
        if self.streaming is not None:
            self.streaming.again("the missing parts are written separately")
        try:
            more = self.draft(ask, lacking, journal, first=fresh, listened=True)
        except GeneratorError as error:
            journal.survived(
                error, "nothing could be written for the missing parts, so the previous draft is kept"
            )
            return checked
        journal.draft = joined(before, more, lacking)
        both = self.check(ask, aspects, journal.draft, journal)
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
        ask: Ask,
        aspects: Sequence[str],
        journal: Journal,
        *,
        strict: Sequence[str] = (),
        requote: Sequence[Requote] = (),
        first: Sequence[Passage] = (),
        seed: int = 0,
        listened: bool = False,
    ) -> Draft:
        """From what is relevant and not set aside, ``first`` before the rest; claims in ``strict`` failed and
        stay out, those in ``requote`` may come again with words that stand there."""
        ids = [passage.chunk.chunk_id for passage in first]
        rest = [passage for passage in journal.passages if passage.chunk.chunk_id not in ids]
        usable = tuple(p for p in (*first, *rest) if p.relevant and not p.set_aside)
        with journal.stage("stricter retry" if strict or requote else "generation") as notes:
            request = GenerationRequest(
                question=ask.question,
                aspects=tuple(aspects),
                passages=usable,
                strict=tuple(strict),
                requote=tuple(requote),
                seed=seed,
            )
            draft = self._generate(ask, aspects, request, journal) if listened else None
            draft = draft or self.generator.generate(request)
            journal.wrote(draft, usable if draft.sources is None else draft.sources)
            notes += draft.notes
            notes += [
                f"offered the writer words that support it: \u201c{one.claim[:120]}\u201d" for one in requote
            ]
        return draft

    def check(self, ask: Ask, aspects: Sequence[str], draft: Draft, journal: Journal) -> Checked:
        with journal.stage("verification") as notes:
            checked = self.checker.check(ask.question, aspects, draft, journal.passages)
            notes += checked.notes
        return checked

    def _generate(
        self, ask: Ask, aspects: Sequence[str], request: GenerationRequest, journal: Journal
    ) -> Draft | None:
        """Aloud, when somebody listens: a writer that cannot be listened to is heard at its end."""
        streaming = self.streaming
        if streaming is None:
            return None

        def alone(claim: DraftClaim) -> Claim:
            return self._alone(ask, aspects, claim, journal.passages)

        stream = getattr(self.generator, "stream", None)
        if stream is None:
            draft = self.generator.generate(request)
        else:
            draft = stream(request, lambda partial: streaming.hear(partial, alone))
        streaming.hear(draft, alone)
        return draft

    def _alone(
        self, ask: Ask, aspects: Sequence[str], claim: DraftClaim, passages: Sequence[Passage]
    ) -> Claim:
        """The verdict on a claim before the rest is written."""
        length = claim.end - claim.start
        only = msgspec.structs.replace(claim, start=0, end=length)
        draft = Draft(text=claim.text.ljust(length), raw="", claims=(only,), maker=self.generator.maker)
        return self.checker.check(ask.question, aspects, draft, passages).claims[0]


def joined(first: Draft, second: Draft, lacking: Sequence[str]) -> Draft:
    """Both drafts as one, the second on lines of its own; what it found for ``lacking`` is missing no
    more. A draft for one thing alone is for that, said or not."""
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
    """Fewer broken or contradicted claims first, then more verified ones, then fewer without support."""
    statuses = [claim.verdict.status for claim in checked.claims]
    wrong = statuses.count(Status.BROKEN) + statuses.count(Status.CONTRADICTED)
    return (-wrong, statuses.count(Status.VERIFIED), -statuses.count(Status.UNSUPPORTED))
